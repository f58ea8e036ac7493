"""LLVM types and constants for those of the kernel language."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from llvmlite import ir
from llvmlite.ir.values import Value

from amdjit.diagnostics.errors import InternalError
from amdjit.types import AddressSpace, Pointer, Scalar, Type, Vector, Void

__all__ = [
    "BFLOAT",
    "CONSTANT_SPACE",
    "DOUBLE",
    "FLOAT",
    "GENERIC",
    "HALF",
    "I1",
    "I8",
    "I16",
    "I32",
    "I64",
    "PRIVATE_SPACE",
    "VOID",
    "Literal",
    "constant",
    "constant_value",
    "element_type",
    "like",
    "literal",
    "llvm_type",
    "mangled",
    "memory_type",
    "pointer_to",
    "undefined",
]


class BFloatType(ir.Type):  # type: ignore[misc]
    """LLVM's bfloat, which llvmlite lacks."""

    null = "0.0"
    intrinsic_name = "bf16"

    def _to_string(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BFloatType)

    def __hash__(self) -> int:
        return hash(BFloatType)


class Literal(Value):  # type: ignore[misc]
    """A constant, given by its text."""

    __slots__ = ("text", "type")

    def __init__(self, llvm: Any, text: str) -> None:
        self.type = llvm
        self.text = text

    def get_reference(self) -> str:
        """Return the text by which instructions refer to the value."""
        return self.text

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
HALF, BFLOAT, FLOAT, DOUBLE = ir.HalfType(), BFloatType(), ir.FloatType(), ir.DoubleType()
VOID = ir.VoidType()

_POINTERS: Mapping[AddressSpace, Any] = MappingProxyType(
    {space: ir.PointerType(addrspace=space.value) for space in AddressSpace}
)
PRIVATE_SPACE = _POINTERS[AddressSpace.PRIVATE]
CONSTANT_SPACE = _POINTERS[AddressSpace.CONSTANT]
GENERIC = _POINTERS[AddressSpace.GENERIC]

# LLVM has no types for 8-bit floats: they are represented by their bytes.
_FLOATS: Mapping[str, Any] = MappingProxyType(
    {
        "f16": HALF, "bf16": BFLOAT, "f32": FLOAT, "f64": DOUBLE,
        "fp8": I8, "bf8": I8, "fp8_fnuz": I8, "bf8_fnuz": I8,
    }
)  # fmt: skip


def pointer_to(space: AddressSpace) -> Any:
    """Return the pointer type of an address space."""
    return _POINTERS[space]


@lru_cache(maxsize=512)
def llvm_type(type: Type) -> Any:
    """Return the type of a value in registers; a boolean is an i1. Arrays and tuples are several
    values (abi.py)."""
    if isinstance(type, Scalar):
        return _FLOATS[type.name] if type.is_float else ir.IntType(type.bits)
    if isinstance(type, Vector):
        return ir.VectorType(llvm_type(type.element), type.length)
    if isinstance(type, Pointer):
        return _POINTERS[type.address_space]
    if isinstance(type, Void):
        return VOID
    raise InternalError(f"{type} is not a single LLVM value")


def memory_type(type: Type) -> Any:
    """Return the type of a value in memory: a boolean takes a byte."""
    llvm = llvm_type(type)
    return I8 if llvm == I1 else llvm


def element_type(llvm: Any) -> Any:
    """Return a vector type's element type, any other type itself."""
    return llvm.element if isinstance(llvm, ir.VectorType) else llvm


def like(shape: Any, element: Any) -> Any:
    """Return `element`, or a vector of it as long as the vector type `shape`."""
    return ir.VectorType(element, shape.count) if isinstance(shape, ir.VectorType) else element


def mangled(llvm: Any) -> str:
    """Return the name of a type in an overloaded LLVM intrinsic's name: i32, bf16, v8f16, p1."""
    if isinstance(llvm, ir.VectorType):
        return f"v{llvm.count}{llvm.element.intrinsic_name}"
    return str(llvm.intrinsic_name)


def literal(llvm: Any, value: int | bool) -> Any:
    """Return an integer constant, in every element of a vector type; the value is wrapped to the
    type."""
    if isinstance(llvm, ir.VectorType):
        return Literal(llvm, f"splat ({llvm.element} {_integer_text(llvm.element.width, value)})")
    return Literal(llvm, _integer_text(llvm.width, value))


def undefined(llvm: Any) -> Any:
    """Return a value that may be anything."""
    return Literal(llvm, "poison")


def constant(type: Type, value: float | int | bool) -> Any:
    """Return a constant of a scalar or vector type: integers wrap, floats are rounded to nearest
    even."""
    scalar = type.element if isinstance(type, Vector) else type
    if not isinstance(scalar, Scalar):
        raise InternalError(f"no constants of {type}")
    text = (
        _float_text(scalar, value)
        if scalar.is_float
        else _integer_text(scalar.bits, _as_integer(scalar, value))
    )
    if isinstance(type, Vector):
        return Literal(llvm_type(type), f"splat ({llvm_type(scalar)} {text})")
    return Literal(llvm_type(type), text)


def constant_value(value: Any) -> int | None:
    """Return the integer of a constant, or of a vector that has it in every element, else None."""
    if not isinstance(value, Literal):
        return None
    text = value.text.removeprefix("splat (").removesuffix(")").split(" ")[-1]
    return int(text) if text.lstrip("-").isdecimal() else None


def _as_integer(scalar: Scalar, value: float | int | bool) -> int:
    if int(value) != value:
        raise InternalError(f"{value!r} is not a constant of {scalar}")
    return int(value) if scalar.is_integer else int(bool(value))


def _integer_text(bits: int, value: int | bool) -> str:
    if bits == 1:
        return "true" if value else "false"
    wrapped = int(value) & ((1 << bits) - 1)
    return str(wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped)


def _float_text(scalar: Scalar, value: float | int | bool) -> str:
    with np.errstate(over="ignore"):
        match scalar.name:
            case "f64":
                return f"0x{_bits_of_double(float(value)):016X}"
            case "f32":
                return f"0x{_bits_of_double(float(np.float32(value))):016X}"
            case "f16":
                return f"0xH{int(np.float16(value).view(np.uint16)):04X}"
            case "bf16":
                return f"0xR{_bits_of_bfloat(float(value)):04X}"
            case _:
                return _integer_text(8, int(np.asarray(value, scalar.dtype).view(np.uint8)))


def _bits_of_double(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def _bits_of_bfloat(value: float) -> int:
    return int(np.asarray(value, ml_dtypes.bfloat16).view(np.uint16))
