"""Arithmetic that Python has no operator for.

Sources: LLVM language reference, "Standard C/C++ Library Intrinsics" and "Bit Manipulation Intrinsics".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.declarations import Emit, EmitContext, LlvmCall, intrinsic
from amdjit.intrinsics.type_variables import FLOAT_OR_VECTOR, HALF_OR_SINGLE, INTEGER, WORD
from amdjit.types import Scalar, i64

__all__ = [
    "add_saturating",
    "bit_reverse",
    "clz",
    "ctz",
    "fma",
    "funnel_shift_left",
    "funnel_shift_right",
    "med3",
    "mulhi",
    "popcount",
    "subtract_saturating",
]


def _emit_saturating(context: EmitContext, x: Any, y: Any, operation: str) -> Any:
    type = context.types[0]
    if not isinstance(type, Scalar):
        raise TypeError(f"saturating arithmetic is on scalars, not on {type}")
    sign = "s" if type.is_signed else "u"
    return context.call(f"llvm.{sign}{operation}.sat.i{type.bits}", context.llvm_type(type), [x, y])


def _emit_add_saturating(context: EmitContext, x: Any, y: Any) -> Any:
    return _emit_saturating(context, x, y, "add")


def _emit_subtract_saturating(context: EmitContext, x: Any, y: Any) -> Any:
    return _emit_saturating(context, x, y, "sub")


def _emit_mulhi(context: EmitContext, x: Any, y: Any) -> Any:
    # LLVM recognises the widened product as one v_mul_hi_{i32,u32}.
    type = context.types[0]
    builder = context.builder
    signed = isinstance(type, Scalar) and type.is_signed
    extend, wide = (builder.sext if signed else builder.zext), context.llvm_type(i64)
    product = builder.mul(extend(x, wide), extend(y, wide))
    return builder.trunc(builder.lshr(product, context.constant(i64, 32)), context.llvm_type(type))


@intrinsic(LlvmCall("llvm.fma.{x}"), isa="v_fma")
def fma(x: FLOAT_OR_VECTOR, y: FLOAT_OR_VECTOR, z: FLOAT_OR_VECTOR) -> FLOAT_OR_VECTOR:
    """Return x * y + z, rounded once (`llvm.fma`)."""


@intrinsic(LlvmCall("llvm.amdgcn.fmed3.{x}"), isa="v_med3_num")
def med3(x: HALF_OR_SINGLE, y: HALF_OR_SINGLE, z: HALF_OR_SINGLE) -> HALF_OR_SINGLE:
    """Return the middle one of three values (`__builtin_amdgcn_fmed3f`)."""
    return sorted((x, y, z))[1]


@intrinsic(LlvmCall("llvm.ctpop.{x}"), isa="v_bcnt_u32_b32")
def popcount(x: INTEGER) -> INTEGER:
    """Return the number of bits that are 1 (`llvm.ctpop`)."""


@intrinsic(LlvmCall("llvm.ctlz.{x}", ("x", False)), isa="v_clz_i32_u32")
def clz(x: INTEGER) -> INTEGER:
    """Return the number of zero bits above the highest 1, the type's width for 0 (`llvm.ctlz`)."""


@intrinsic(LlvmCall("llvm.cttz.{x}", ("x", False)), isa="v_ctz_i32_b32")
def ctz(x: INTEGER) -> INTEGER:
    """Return the number of zero bits below the lowest 1, the type's width for 0 (`llvm.cttz`)."""


@intrinsic(LlvmCall("llvm.bitreverse.{x}"), isa="v_bfrev_b32")
def bit_reverse(x: INTEGER) -> INTEGER:
    """Return the bits in opposite order (`llvm.bitreverse`)."""


@intrinsic(LlvmCall("llvm.fshl.{high}"))
def funnel_shift_left(high: WORD, low: WORD, count: WORD) -> WORD:
    """Return the upper word of high:low shifted left by count % 32 (`llvm.fshl`)."""
    high, low, count = (int(np.uint32(value)) for value in (high, low, count))
    return np.uint32((((high << 32 | low) << count % 32) >> 32) & 0xFFFFFFFF)


@intrinsic(LlvmCall("llvm.fshr.{high}"), isa="v_alignbit_b32")
def funnel_shift_right(high: WORD, low: WORD, count: WORD) -> WORD:
    """Return the lower word of high:low shifted right by count % 32 (`llvm.fshr`)."""
    high, low, count = (int(np.uint32(value)) for value in (high, low, count))
    return np.uint32(((high << 32 | low) >> count % 32) & 0xFFFFFFFF)


@intrinsic(Emit(_emit_mulhi), isa="v_mul_hi")
def mulhi(x: WORD, y: WORD) -> WORD:
    """Return the upper 32 bits of the 64-bit product (`v_mul_hi_i32`, `v_mul_hi_u32`)."""
    return (int(x) * int(y)) >> 32


@intrinsic(Emit(_emit_add_saturating))
def add_saturating(x: INTEGER, y: INTEGER) -> INTEGER:
    """Return x + y, clamped to the type's range (`llvm.sadd.sat`, `llvm.uadd.sat`)."""


@intrinsic(Emit(_emit_subtract_saturating))
def subtract_saturating(x: INTEGER, y: INTEGER) -> INTEGER:
    """Return x - y, clamped to the type's range (`llvm.ssub.sat`, `llvm.usub.sat`)."""
