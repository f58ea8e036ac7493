"""Conversions between scalar types, elementwise between vectors, and between registers and memory.

before: `i32(x)` of f32
after:  `call i32 @llvm.fptosi.sat.i32.f32(float %x)`
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.builder import Builder
from amdjit.lowering.eight_bit_floats import from_eight_bits, to_eight_bits
from amdjit.lowering.types import (
    BFLOAT,
    DOUBLE,
    FLOAT,
    HALF,
    I8,
    I32,
    Literal,
    element_type,
    like,
    literal,
    llvm_type,
    mangled,
)
from amdjit.types import Scalar, ScalarKind, Type, Vector, boolean

__all__ = ["bitcast", "convert", "from_memory", "resize", "scalar_of", "to_memory"]

_WIDTH = {HALF: 16, BFLOAT: 16, FLOAT: 32, DOUBLE: 64}


def scalar_of(type: Type) -> Scalar:
    """Return the scalar type of a scalar, or of a vector's elements."""
    scalar = type.element if isinstance(type, Vector) else type
    if not isinstance(scalar, Scalar):
        raise InternalError(f"{type} is neither scalar nor vector")
    return scalar


def convert(builder: Builder, value: Any, source: Type, target: Type) -> Any:
    """Convert as `tree.Convert` says.

    Integers become f16 and bf16 through f32, as NumPy and ml_dtypes convert them: for bf16 that
    rounds twice.
    """
    old, new = scalar_of(source), scalar_of(target)
    if old == new:
        return value
    llvm = llvm_type(target)
    if new == boolean:
        return _to_boolean(builder, value, old)
    if new.is_float:
        return (
            _float_to_float(builder, value, old, new)
            if old.is_float
            else _to_float(builder, value, old, new, llvm)
        )
    if old.is_float:
        return _float_to_integer(builder, value, old, new, llvm)
    return resize(builder, value, old, llvm)


def resize(builder: Builder, value: Any, scalar: Scalar, llvm: Any) -> Any:
    """Convert an integer of type `scalar` to another width; a value that does not fit wraps."""
    if isinstance(value, Literal) and value.text.lstrip("-").isdecimal():
        return _resize_constant(int(value.text), scalar, llvm)
    old, new = element_type(value.type).width, element_type(llvm).width
    if old == new:
        return value
    if new < old:
        return builder.trunc(value, llvm)
    return builder.sext(value, llvm) if scalar.is_signed else builder.zext(value, llvm)


def _resize_constant(value: int, scalar: Scalar, llvm: Any) -> Any:
    return literal(llvm, value if scalar.is_signed else value & ((1 << scalar.bits) - 1))


def to_memory(builder: Builder, value: Any, type: Type) -> Any:
    """Return the representation of a value in memory: a boolean is a byte, 0 or 1."""
    return builder.zext(value, I8) if type == boolean else value


def from_memory(builder: Builder, value: Any, type: Type) -> Any:
    """Return the value of its representation in memory: a boolean is true if its byte is not 0."""
    return builder.icmp_unsigned("!=", value, literal(I8, 0)) if type == boolean else value


def bitcast(builder: Builder, value: Any, llvm: Any) -> Any:
    """Return the same bits as another type of the same size, or the same place as a pointer in
    another address space."""
    if value.type == llvm:
        return value
    if isinstance(llvm, ir.PointerType):
        return builder.text(llvm, "addrspacecast", (value,), f" to {llvm}")
    return builder.bitcast(value, llvm)


def _to_boolean(builder: Builder, value: Any, old: Scalar) -> Any:
    if old.is_float:
        wide = _widened(builder, value, old)
        return builder.fcmp_unordered("!=", wide, _zero(wide.type))
    return builder.icmp_unsigned("!=", value, literal(value.type, 0))


def _zero(llvm: Any) -> Any:
    return Literal(llvm, "zeroinitializer")


def _to_float(builder: Builder, value: Any, old: Scalar, new: Scalar, llvm: Any) -> Any:
    name = "sitofp" if old.is_signed else "uitofp"
    if new.bits >= 32:
        return builder.text(llvm, name, (value,), f" to {llvm}")
    wide = like(llvm, FLOAT)
    single = builder.text(wide, name, (value,), f" to {wide}")
    return _narrowed(builder, single, new)


def _float_to_integer(builder: Builder, value: Any, old: Scalar, new: Scalar, llvm: Any) -> Any:
    value = _widened(builder, value, old)
    name = "llvm.fptosi.sat" if new.kind is ScalarKind.SIGNED else "llvm.fptoui.sat"
    return builder.invoke_name(f"{name}.{mangled(llvm)}.{mangled(value.type)}", llvm, [value])


def _float_to_float(builder: Builder, value: Any, old: Scalar, new: Scalar) -> Any:
    if old.bits == 64 and new.storage_only:
        return _narrowed(builder, _round_to_odd(builder, value), new)
    value = _widened(builder, value, old)
    return _narrowed(builder, value, new)


def _widened(builder: Builder, value: Any, old: Scalar) -> Any:
    """Return bf16, fp8 and bf8 as f32, which represents them exactly; others unchanged."""
    if old.storage_only:
        return from_eight_bits(builder, value, old)
    return builder.fpext(value, like(value.type, FLOAT)) if old.name == "bf16" else value


def _narrowed(builder: Builder, value: Any, new: Scalar) -> Any:
    if new.storage_only:
        single = (
            value
            if element_type(value.type) == FLOAT
            else builder.fpext(value, like(value.type, FLOAT))
        )
        return to_eight_bits(builder, single, new)
    llvm = like(value.type, llvm_type(new))
    old_width, new_width = _WIDTH[element_type(value.type)], new.bits
    if value.type == llvm:
        return value
    if old_width == new_width:
        # f16 to bf16, through f32, which represents every f16; a bf16 is already an f32 here.
        return builder.fptrunc(builder.fpext(value, like(value.type, FLOAT)), llvm)
    return builder.fptrunc(value, llvm) if new_width < old_width else builder.fpext(value, llvm)


def _round_to_odd(builder: Builder, value: Any) -> Any:
    """Return an f64 as f32 such that rounding the result once more equals rounding the f64 once.

    Where f32 is not exact, its last bit is set after rounding toward zero (Boldo and Melquiond,
    "Emulation of a FMA and Correctly-Rounded Sums: Proved Algorithms Using Rounding to Odd").
    """
    single = builder.fptrunc(value, like(value.type, FLOAT))
    back = builder.fpext(single, value.type)
    bits = builder.bitcast(single, like(value.type, I32))
    magnitude = builder.intrinsic("llvm.fabs", back)
    too_far = builder.fcmp_ordered(">", magnitude, builder.intrinsic("llvm.fabs", value))
    toward_zero = builder.sub(bits, builder.zext(too_far, bits.type))
    odd = builder.or_(toward_zero, literal(bits.type, 1))
    inexact = builder.fcmp_ordered("!=", back, value)
    return builder.bitcast(builder.select(inexact, odd, bits), single.type)
