"""Evaluation of f32 functions in f64, by series good to about 1e-11, so that results are rounded
once.

Results are within 0.501 units of the last place, without any care for cancellation, intermediate
overflow or denormals, which f32 values do not reach in f64. The price is speed: a graphics GPU does
f64 arithmetic at a fraction of its f32 rate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from amdjit.declarations import Form, LlvmCall, SpecialForm, device_function, intrinsic
from amdjit.intrinsics.maths.native_math import rint
from amdjit.intrinsics.numbers.floats import fma
from amdjit.intrinsics.type_variables import SINGLE_OR_DOUBLE
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import bf16, f16, f32, f64, i32, i64, u64

__all__ = [
    "approximates",
    "double_sqrt",
    "exponent_of",
    "exponential",
    "exponential_less_1",
    "flushes",
    "logarithm_of_1_plus",
    "mantissa_of",
    "polynomial",
    "prefers_library",
    "rounded",
    "single",
]

bitcast = SpecialForm(Form.BITCAST, "the same bits read as another type")

SMALL_FLOATS: Any = (f16, bf16)
DOUBLES: Any = (f64, i64, u64)
"""For `isinstance`: the types that functions treat as 16-bit floats, and those they treat as f64
(64-bit integers too).
"""

_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52
_BEYOND_F32 = (1 << 29) - 1
_LARGEST = 400  # e to this power is still finite in f64
_LN2 = math.log(2)
_EXPONENTIAL = tuple(1 / math.factorial(n) for n in range(11, 0, -1))
_ARTANH = tuple(1 / n for n in (15, 13, 11, 9, 7, 5, 3, 1))


@intrinsic(LlvmCall("llvm.sqrt.{x}"), isa="v_rsq_f64")
def double_sqrt(x: f64) -> f64:
    """Return the square root, correctly rounded (`llvm.sqrt`)."""
    return np.sqrt(x)


@intrinsic(LlvmCall("llvm.amdgcn.frexp.mant.{x}"), isa="v_frexp_mant", name="mantissa")
def mantissa_of(x: SINGLE_OR_DOUBLE) -> SINGLE_OR_DOUBLE:
    """Return the mantissa in [0.5, 1) (`llvm.amdgcn.frexp.mant`)."""
    return np.frexp(x)[0]


@intrinsic(LlvmCall("llvm.amdgcn.frexp.exp.i32.{x}"), isa="v_frexp_exp")
def exponent_of(x: SINGLE_OR_DOUBLE) -> i32:
    """Return the exponent that goes with the mantissa (`llvm.amdgcn.frexp.exp`)."""
    return np.frexp(x)[1]


@compile_time
def flushes(compilation: Compilation) -> bool:
    """Return whether f32 denormals are read and written as 0 (`denormals="flush"`)."""
    return compilation.flushes_denormals


@compile_time
def approximates(compilation: Compilation) -> bool:
    """Return whether functions may be approximate (`fastmath`, its flag `afn`)."""
    return compilation.approximates_functions


@compile_time
def prefers_library(compilation: Compilation) -> bool:
    """Return whether functions of f64 are OCML's (`f64_math="ocml"`)."""
    return compilation.calls_device_library


@device_function
def single(x):
    """Return a 16-bit float, an f32 or an integer of up to 32 bits as f32."""
    return f32(x)


@device_function
def rounded(value, x):
    """Return `value`, a result in f64, rounded once to f32, or to x's type if that is a 16-bit
    float."""
    if isinstance(x, SMALL_FLOATS):
        # Bits beyond f32 leave a 1 in the last place, so that a value just beside a tie is not
        # mistaken for the tie.
        bits = bitcast(f64(value), i64)
        sticky = i64(1 << 29) if bits & _BEYOND_F32 else i64(0)
        return type(x)(f32(bitcast(bits & ~_BEYOND_F32 | sticky, f64)))
    return f32(value)


@device_function
def polynomial(x, coefficients):
    """Return the polynomial's value at x; the coefficients start at the highest power."""
    value = fma(f64(coefficients[0]), x, coefficients[1])
    for coefficient in coefficients[2:]:
        value = fma(value, x, coefficient)
    return value


@device_function
def exponential_less_1(x):
    """Return e to the power x, minus 1, for f64 x that is not NaN; relative error 1e-11, near 0
    too."""
    r, scale = _reduced(x)
    return fma(scale, r * polynomial(r, _EXPONENTIAL), scale - 1)


@device_function
def exponential(x):
    """Return e to the power x for f64 x that is not NaN; relative error 1e-11."""
    r, scale = _reduced(x)
    return scale * polynomial(r, (*_EXPONENTIAL, 1.0))


@device_function
def _reduced(x):
    """Return r in [-ln(2)/2, ln(2)/2] and a power of 2 whose product with exp(r) is exp(x)."""
    limited = min(max(x, -_LARGEST), _LARGEST)
    whole = rint(limited * (1 / _LN2))
    return fma(whole, -_LN2, limited), bitcast((i64(whole) + 1023) << 52, f64)


@device_function
def logarithm_of_1_plus(x):
    """Return the natural logarithm of 1 + x for finite x above -1 in f64; relative error 1e-11,
    near 0 too."""
    bits = bitcast(1 + x, i64)
    exponent = i32(bits >> 52) - 1023
    mantissa = bitcast(bits & _MANTISSA | _ONE, f64)
    if mantissa > math.sqrt(2):
        mantissa = mantissa * 0.5
        exponent += 1
    f = x if exponent == 0 else mantissa - 1
    s = f / (f + 2)
    return fma(f64(exponent), _LN2, 2 * s * polynomial(s * s, _ARTANH))
