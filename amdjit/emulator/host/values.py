"""Values of host code: constants, and their spelling in LLVM IR."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache

from amdjit.isa.arithmetic import Value, bits_of, element_of, is_float, lanes_of, vector

# What a function or a block without a result returns.
NOTHING = Value("void", "")
NULL = Value("ptr", "null")


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
