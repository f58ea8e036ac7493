"""Roots, lengths, remainders and parts of real numbers, special cases as in C.

Sources: C23, F.10.4 and F.10.7; LLVM language reference, "frem"; LLVM AMDGPU guide, `llvm.amdgcn.frexp`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from amdjit.declarations import Emit, EmitContext, LlvmCall, device_function, intrinsic
from amdjit.intrinsics import device_library as library
from amdjit.intrinsics.arithmetic import fma
from amdjit.intrinsics.float_evaluation import DOUBLES, SMALL_FLOATS, bitcast, rounded, single
from amdjit.intrinsics.native_math import copysign, isfinite, isinf, isnan, sqrt, trunc
from amdjit.intrinsics.type_variables import NATIVE_FLOAT, SINGLE_OR_DOUBLE
from amdjit.types import f64, i32, u32, u64

__all__ = ["cbrt", "fmod", "frexp", "hypot", "modf", "remainder", "rsqrt"]

# Of a double's upper word: two thirds of the exponent's bias, less what makes the error of a guess alike on both sides.
_GUESS = int((1023 - 1023 / 3 - 0.0331) * 2**20)


def _emit_remainder(context: EmitContext, x: Any, y: Any) -> Any:
    return context.builder.frem(x, y)


@intrinsic(Emit(_emit_remainder))
def fmod(x: NATIVE_FLOAT, y: NATIVE_FLOAT) -> NATIVE_FLOAT:
    """Return x - n * y exactly, n the quotient rounded toward zero; it has the sign of x (LLVM's `frem`)."""
    return np.fmod(x, y)


@intrinsic(LlvmCall("llvm.amdgcn.frexp.mant.{x}"), isa="v_frexp_mant")
def _mantissa(x: SINGLE_OR_DOUBLE) -> SINGLE_OR_DOUBLE:
    """Return the mantissa in [0.5, 1) (`llvm.amdgcn.frexp.mant`)."""
    return np.frexp(x)[0]


@intrinsic(LlvmCall("llvm.amdgcn.frexp.exp.i32.{x}"), isa="v_frexp_exp")
def _exponent(x: SINGLE_OR_DOUBLE) -> i32:
    """Return the exponent that goes with the mantissa (`llvm.amdgcn.frexp.exp`)."""
    return np.frexp(x)[1]


@device_function
def rsqrt(x):
    """Return 1 / sqrt(x) within 0.501 units of the last place; `rsq` is the instruction."""
    if isinstance(x, DOUBLES):
        return library.rsqrt(f64(x))
    return rounded(1 / sqrt(f64(single(x))), x)


@device_function
def cbrt(x):
    """Return the cube root, also of negative numbers, within 0.501 units of the last place."""
    if isinstance(x, DOUBLES):
        return library.cbrt(f64(x))
    value = f64(single(x))
    magnitude = abs(value)
    guess = u32(bitcast(magnitude, u64) >> 32) // 3 + _GUESS
    root = bitcast(u64(guess) << 32, f64)
    # Halley's iteration: from 6 right bits to 16, then to 46.
    for _ in range(2):
        cube = root * root * root
        root = root * (cube + 2 * magnitude) / (2 * cube + magnitude)
    if value == 0 or not isfinite(value):
        root = magnitude
    return rounded(copysign(root, value), x)


@device_function
def hypot(x, y):
    """Return sqrt(x * x + y * y) within 0.501 units of the last place; infinite if x or y is, also beside NaN."""
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        return library.hypot(f64(x), f64(y))
    a, b = f64(single(x)), f64(single(y))
    length = sqrt(fma(a, a, b * b))
    return rounded(f64(math.inf) if isinf(a) or isinf(b) else length, x + y)


@device_function
def remainder(x, y):
    """Return x - n * y exactly, n the nearest whole number to the quotient, the even one of two."""
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        return library.remainder(f64(x), f64(y))
    a, b = f64(single(x)), abs(f64(single(y)))
    rest = abs(fmod(a, 2 * b)) if isfinite(b) else abs(a)
    if 2 * rest > b:
        rest -= b
        if 2 * rest >= b:
            rest -= b
    if b == 0 or not isfinite(a) or isnan(b):
        rest = f64(math.nan)
    return rounded(-rest if copysign(f64(1), a) < 0 else rest, x + y)


@device_function
def frexp(x):
    """Return m in [0.5, 1) and an i32 e with x = m * 2**e; (x, 0) where x is 0, infinite or NaN."""
    mantissa = _mantissa(x)
    return type(x)(mantissa) if isinstance(x, SMALL_FLOATS) else mantissa, _exponent(x)


@device_function
def modf(x):
    """Return the fractional and the whole part of x, both with its sign."""
    whole = trunc(x)
    return copysign(type(whole)(0) if isinf(x) else x - whole, x), whole
