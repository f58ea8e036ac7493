"""Values of host code: their LLVM types, and constants."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

LANES = 32  # of a wave32, of a half of a wave64

_FLOAT_BITS = {"half": 16, "float": 32, "double": 64}


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value or a constant: its LLVM type and its text (`%12`, `7`, `splat (i32 7)`).

    known: the bits of an integer constant whose lanes are all the same, None for other values.
    """

    type: str
    text: str
    known: int | None = field(default=None, compare=False, repr=False)


# What a function or a block without a result returns.
NOTHING = Value("void", "")
NULL = Value("ptr", "null")


def vector(element: str, lanes: int = LANES) -> str:
    """Return the type of a vector of `lanes` elements."""
    return f"<{lanes} x {element}>"


def lanes_of(type_name: str) -> int | None:
    """Return how many lanes a vector type has, None for a scalar."""
    return int(type_name[1 : type_name.index(" ")]) if type_name[0] == "<" else None


def element_of(type_name: str) -> str:
    """Return the element type of a vector type, a scalar type itself."""
    return type_name[type_name.index("x ") + 2 : -1] if type_name[0] == "<" else type_name


def like(type_name: str, element: str) -> str:
    """Return `element` with the shape (scalar or vector) of `type_name`."""
    lanes = lanes_of(type_name)
    return element if lanes is None else vector(element, lanes)


def bits_of(type_name: str) -> int:
    """Return the width of one element in bits."""
    element = element_of(type_name)
    return _FLOAT_BITS[element] if element in _FLOAT_BITS else int(element[1:])


def is_float(type_name: str) -> bool:
    """Return whether the elements are floats."""
    return element_of(type_name) in _FLOAT_BITS


def _scalar_text(element: str, value: float) -> str:
    if element == "half":
        return f"0xH{int.from_bytes(struct.pack('<e', value), 'little'):04X}"
    if element == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    if element in ("float", "double"):
        return f"0x{int.from_bytes(struct.pack('<d', value), 'little'):016X}"
    bits = int(element[1:])
    number = int(value) & ((1 << bits) - 1)
    if bits == 1:
        return "true" if number else "false"
    return str(number - (1 << bits) if number >> (bits - 1) else number)


def constant(type_name: str, value: float) -> Value:
    """Return a constant; for a vector type, all lanes hold it."""
    if is_float(type_name):
        return Value(type_name, _constant_text(type_name, value))
    return _integer(type_name, int(value))


# Kernels use few different ones, and many of each.
@lru_cache(maxsize=1024)
def _integer(type_name: str, value: int) -> Value:
    bits = bits_of(type_name)
    known = value & (1 << bits) - 1 if bits > 1 else None
    return Value(type_name, _constant_text(type_name, value), known)


def _constant_text(type_name: str, value: float) -> str:
    element = element_of(type_name)
    text = _scalar_text(element, value)
    return text if type_name == element else f"splat ({element} {text})"


def sequence(element: str, values: Iterable[int]) -> Value:
    """Return a vector constant of integers."""
    items = [_scalar_text(element, value) for value in values]
    return Value(
        vector(element, len(items)), "<" + ", ".join(f"{element} {item}" for item in items) + ">"
    )


def mangle(type_name: str) -> str:
    """Return a type's suffix in the name of an overloaded intrinsic."""
    names = {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}
    element = element_of(type_name)
    lanes = lanes_of(type_name)
    short = names.get(element, element)
    return short if lanes is None else f"v{lanes}{short}"
