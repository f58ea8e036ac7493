"""Numba's `cuda.bf16`: functions of bf16. Conversions are in `bf16_conversions`.

All are rounded once: sums, products and quotients, and the functions of one number for each of the
65,536 numbers. Source for NaN, saturation and the results' types: CUDA Math API, "Bfloat16
Precision Intrinsics".
"""

from __future__ import annotations

import math

import numpy as np

from amdjit.declarations import device_function
from amdjit.intrinsics import math as real
from amdjit.intrinsics.numbers.floats import fma_bf16
from amdjit.types import bf16, f32, i32

__all__ = [
    "bfloat16",
    "habs",
    "hadd",
    "hadd_rn",
    "hadd_sat",
    "hceil",
    "hcos",
    "hdiv",
    "heq",
    "hequ",
    "hexp",
    "hexp2",
    "hexp10",
    "hfloor",
    "hfma",
    "hfma_relu",
    "hfma_sat",
    "hge",
    "hgeu",
    "hgt",
    "hgtu",
    "hisinf",
    "hisnan",
    "hle",
    "hleu",
    "hlog",
    "hlog2",
    "hlog10",
    "hlt",
    "hltu",
    "hmax",
    "hmax_nan",
    "hmin",
    "hmin_nan",
    "hmul",
    "hmul_rn",
    "hmul_sat",
    "hne",
    "hneg",
    "hneu",
    "hrcp",
    "hrint",
    "hrsqrt",
    "hsin",
    "hsqrt",
    "hsub",
    "hsub_rn",
    "hsub_sat",
    "htanh",
    "htanh_approx",
    "htrunc",
]

bfloat16 = bf16


@device_function
def hadd(a, b):
    """Return a + b."""
    return bf16(a) + bf16(b)


@device_function
def hsub(a, b):
    """Return a - b."""
    return bf16(a) - bf16(b)


@device_function
def hmul(a, b):
    """Return a * b."""
    return bf16(a) * bf16(b)


@device_function
def hdiv(a, b):
    """Return a / b."""
    return bf16(a) / bf16(b)


@device_function
def hfma(a, b, c):
    """Return a * b + c, rounded once."""
    return fma_bf16(bf16(a), bf16(b), bf16(c))


# Arithmetic that no compiler may fuse, which holds for all of amdjit's.
hadd_rn, hsub_rn, hmul_rn = hadd, hsub, hmul


@device_function
def _saturated(x):
    """Return the nearest number in [0, 1], 0 for NaN."""
    return min(np.fmax(x, bf16(0.0)), bf16(1.0))


@device_function
def hadd_sat(a, b):
    """Return a + b, limited to [0, 1]; 0 for NaN."""
    return _saturated(hadd(a, b))


@device_function
def hsub_sat(a, b):
    """Return a - b, limited to [0, 1]; 0 for NaN."""
    return _saturated(hsub(a, b))


@device_function
def hmul_sat(a, b):
    """Return a * b, limited to [0, 1]; 0 for NaN."""
    return _saturated(hmul(a, b))


@device_function
def hfma_sat(a, b, c):
    """Return a * b + c, rounded once and limited to [0, 1]; 0 for NaN."""
    return _saturated(hfma(a, b, c))


@device_function
def hfma_relu(a, b, c):
    """Return a * b + c, rounded once, or 0 where that is negative; NaN stays."""
    return np.maximum(hfma(a, b, c), bf16(0.0))


@device_function
def hneg(a):
    """Return -a."""
    return -bf16(a)


@device_function
def habs(a):
    """Return the absolute value."""
    return abs(bf16(a))


@device_function
def heq(a, b):
    """Return a == b."""
    return bf16(a) == bf16(b)


@device_function
def hne(a, b):
    """Return whether two numbers differ; False if one is NaN."""
    return bf16(a) < bf16(b) or bf16(a) > bf16(b)


@device_function
def hge(a, b):
    """Return a >= b."""
    return bf16(a) >= bf16(b)


@device_function
def hgt(a, b):
    """Return a > b."""
    return bf16(a) > bf16(b)


@device_function
def hle(a, b):
    """Return a <= b."""
    return bf16(a) <= bf16(b)


@device_function
def hlt(a, b):
    """Return a < b."""
    return bf16(a) < bf16(b)


@device_function
def hequ(a, b):
    """Return a == b; True if one is NaN."""
    return not hne(a, b)


@device_function
def hneu(a, b):
    """Return a != b; True if one is NaN."""
    return bf16(a) != bf16(b)


@device_function
def hgeu(a, b):
    """Return a >= b; True if one is NaN."""
    return not hlt(a, b)


@device_function
def hgtu(a, b):
    """Return a > b; True if one is NaN."""
    return not hle(a, b)


@device_function
def hleu(a, b):
    """Return a <= b; True if one is NaN."""
    return not hgt(a, b)


@device_function
def hltu(a, b):
    """Return a < b; True if one is NaN."""
    return not hge(a, b)


@device_function
def hmax(a, b):
    """Return the greater one, or the one that is not NaN."""
    return np.fmax(bf16(a), bf16(b))


@device_function
def hmin(a, b):
    """Return the lesser one, or the one that is not NaN."""
    return np.fmin(bf16(a), bf16(b))


@device_function
def hmax_nan(a, b):
    """Return the greater one; NaN if one is NaN."""
    return np.maximum(bf16(a), bf16(b))


@device_function
def hmin_nan(a, b):
    """Return the lesser one; NaN if one is NaN."""
    return np.minimum(bf16(a), bf16(b))


@device_function
def hisnan(a):
    """Return whether a number is NaN."""
    return bf16(a) != bf16(a)


@device_function
def hisinf(a):
    """Return 1 for infinity, -1 for minus infinity, else 0, an i32."""
    infinity = bf16(math.inf)
    return i32(bf16(a) == infinity) - i32(bf16(a) == -infinity)


@device_function
def hsin(a):
    """Return the sine."""
    return math.sin(bf16(a))


@device_function
def hcos(a):
    """Return the cosine."""
    return math.cos(bf16(a))


@device_function
def htanh(a):
    """Return the hyperbolic tangent."""
    return math.tanh(bf16(a))


htanh_approx = htanh


@device_function
def hlog(a):
    """Return the natural logarithm."""
    return math.log(bf16(a))


@device_function
def hlog10(a):
    """Return the logarithm to base 10."""
    return math.log10(bf16(a))


@device_function
def hlog2(a):
    """Return the logarithm to base 2."""
    return math.log2(bf16(a))


@device_function
def hexp(a):
    """Return e to the power of a."""
    return math.exp(bf16(a))


@device_function
def hexp10(a):
    """Return 10 to the power of a."""
    return real.exp10(bf16(a))


@device_function
def hexp2(a):
    """Return 2 to the power of a."""
    return np.exp2(bf16(a))


@device_function
def hfloor(a):
    """Return the greatest integer that is not above a."""
    return np.floor(bf16(a))


@device_function
def hceil(a):
    """Return the least integer that is not below a."""
    return np.ceil(bf16(a))


@device_function
def hrint(a):
    """Return the nearest integer, of two the even one."""
    return np.rint(bf16(a))


@device_function
def htrunc(a):
    """Return the integer part."""
    return np.trunc(bf16(a))


@device_function
def hsqrt(a):
    """Return the square root."""
    return math.sqrt(bf16(a))


@device_function
def hrcp(a):
    """Return 1 / a."""
    return bf16(1.0) / bf16(a)


@device_function
def hrsqrt(a):
    """Return 1 / sqrt(a)."""
    return bf16(f32(1.0) / math.sqrt(f32(a)))
