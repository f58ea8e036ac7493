"""Fused multiply-add and the median of three.

Source: LLVM language reference, `llvm.fma`; RDNA4 ISA, `v_med3_num_f32`, `v_fma_mix_f32`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from amdjit.declarations import (
    Emit,
    EmitContext,
    Form,
    LlvmCall,
    SpecialForm,
    device_function,
    intrinsic,
)
from amdjit.intrinsics.type_variables import FLOAT_OR_VECTOR
from amdjit.types import (
    Scalar,
    TypeVariable,
    bf16,
    f16,
    f32,
    f64,
    i16,
    i32,
    u16,
    u32,
)

_bitcast = SpecialForm(Form.BITCAST, "the same bits read as another type")
MEDIAN = TypeVariable("M", (f16, f32, i16, u16, i32, u32))


def _emit_median(context: EmitContext, x: Any, y: Any, z: Any) -> Any:
    type = context.types[0]
    assert isinstance(type, Scalar)
    llvm = context.llvm_type(type)
    if type.is_float:
        return context.call(f"llvm.amdgcn.fmed3.f{type.bits}", llvm, [x, y, z])
    # LLVM recognises this as one v_med3_{i16,u16,i32,u32}.
    sign = "s" if type.is_signed else "u"

    def extreme(name: str, a: Any, b: Any) -> Any:
        return context.call(f"llvm.{sign}{name}.i{type.bits}", llvm, [a, b])

    return extreme("max", extreme("min", x, y), extreme("min", extreme("max", x, y), z))


def _fused(x: Any, y: Any, z: Any, kind: Any) -> Any:
    """Return x * y + z rounded once to f16 or f32: computed exactly in fractions, then rounded to
    the nearest candidate."""
    x, y, z = (float(value) for value in (x, y, z))
    if not all(map(np.isfinite, (x, y, z))):
        with np.errstate(invalid="ignore"):
            return kind(x * y + z)
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    with np.errstate(over="ignore", invalid="ignore"):
        guess = kind(float(exact)) if exact else kind(x * y + z)
        around = [np.nextafter(guess, kind(-np.inf)), guess, np.nextafter(guess, kind(np.inf))]
    if not all(map(np.isfinite, around)):
        return guess
    # Of two equally near, take the even one: its last bit is 0.
    nearest = min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.tobytes()[0]) & 1))
    return nearest if exact else guess


@intrinsic(LlvmCall("llvm.fma.{x}"), isa="v_fma")
def fma(x: FLOAT_OR_VECTOR, y: FLOAT_OR_VECTOR, z: FLOAT_OR_VECTOR) -> FLOAT_OR_VECTOR:
    """Return x * y + z, rounded once (`llvm.fma`); bf16 is rounded to f32 before."""
    kind: Any = np.asarray(x).dtype.type
    rows: Any = zip(np.ravel(x), np.ravel(y), np.ravel(z), strict=True)
    return np.array([_fused(a, b, c, kind) for a, b, c in rows], kind).reshape(np.shape(x))[()]


@intrinsic(Emit(_emit_median), isa="v_med3")
def med3(x: MEDIAN, y: MEDIAN, z: MEDIAN) -> MEDIAN:
    """Return the median of three values (`v_med3_num_f32`, `v_med3_i32`, ...)."""
    return sorted((x, y, z))[1]


@device_function
def fma_mix(x, y, z):
    """Return f32(x) * f32(y) + f32(z), rounded once, for f16 and f32 in any mix: one
    `v_fma_mix_f32`."""
    return fma(f32(x), f32(y), f32(z))


@device_function
def fma_bf16(x, y, z):
    """Return x * y + z of bf16, rounded once.

    The f32 nearest to the exact result rounds to the same bf16, unless it lies midway between two
    of them: there the exact result's side decides.
    """
    nearest = fma(f32(x), f32(y), f32(z))
    bits = _bitcast(nearest, u32)
    if bits & u32(0xFFFF) == u32(0x8000):
        product, addend = f64(x) * f64(y), f64(z)  # exact
        total = product + addend
        back = total - product
        rest = (product - (total - back)) + (addend - back)  # total + rest is exact (D. Knuth)
        beyond = (total - f64(nearest)) + rest
        if beyond != 0.0:
            is_outward = (beyond > 0.0) == (nearest > 0.0)
            nearest = _bitcast(bits + u32(1) if is_outward else bits - u32(1), f32)
    return bf16(nearest)
