"""Numba's `cuda.fp16`: functions of f16."""

from __future__ import annotations

import math

import numpy as np

from amdjit.declarations import device_function
from amdjit.intrinsics import math as real
from amdjit.intrinsics.arithmetic import fma
from amdjit.types import f16, f32

__all__ = [
    "habs",
    "hadd",
    "hceil",
    "hcos",
    "hdiv",
    "heq",
    "hexp",
    "hexp2",
    "hexp10",
    "hfloor",
    "hfma",
    "hge",
    "hgt",
    "hle",
    "hlog",
    "hlog2",
    "hlog10",
    "hlt",
    "hmax",
    "hmin",
    "hmul",
    "hne",
    "hneg",
    "hrcp",
    "hrint",
    "hrsqrt",
    "hsin",
    "hsqrt",
    "hsub",
    "htrunc",
]


@device_function
def hadd(a, b):
    """Return a + b."""
    return f16(a) + f16(b)


@device_function
def hsub(a, b):
    """Return a - b."""
    return f16(a) - f16(b)


@device_function
def hmul(a, b):
    """Return a * b."""
    return f16(a) * f16(b)


@device_function
def hdiv(a, b):
    """Return a / b."""
    return f16(a) / f16(b)


@device_function
def hfma(a, b, c):
    """Return a * b + c, rounded once."""
    return fma(f16(a), f16(b), f16(c))


@device_function
def hneg(a):
    """Return -a."""
    return -f16(a)


@device_function
def habs(a):
    """Return the absolute value."""
    return abs(f16(a))


@device_function
def heq(a, b):
    """Return a == b."""
    return f16(a) == f16(b)


@device_function
def hne(a, b):
    """Return whether two numbers differ; False if one is NaN."""
    return f16(a) < f16(b) or f16(a) > f16(b)


@device_function
def hge(a, b):
    """Return a >= b."""
    return f16(a) >= f16(b)


@device_function
def hgt(a, b):
    """Return a > b."""
    return f16(a) > f16(b)


@device_function
def hle(a, b):
    """Return a <= b."""
    return f16(a) <= f16(b)


@device_function
def hlt(a, b):
    """Return a < b."""
    return f16(a) < f16(b)


@device_function
def hmax(a, b):
    """Return the greater one, or the one that is not NaN."""
    return np.fmax(f16(a), f16(b))


@device_function
def hmin(a, b):
    """Return the lesser one, or the one that is not NaN."""
    return np.fmin(f16(a), f16(b))


@device_function
def hsin(a):
    """Return the sine."""
    return f16(math.sin(f32(a)))


@device_function
def hcos(a):
    """Return the cosine."""
    return f16(math.cos(f32(a)))


@device_function
def hlog(a):
    """Return the natural logarithm."""
    return f16(math.log(f32(a)))


@device_function
def hlog10(a):
    """Return the logarithm to base 10."""
    return f16(math.log10(f32(a)))


@device_function
def hlog2(a):
    """Return the logarithm to base 2."""
    return f16(math.log2(f32(a)))


@device_function
def hexp(a):
    """Return e to the power of a."""
    return f16(math.exp(f32(a)))


@device_function
def hexp10(a):
    """Return 10 to the power of a."""
    return f16(real.exp10(f32(a)))


@device_function
def hexp2(a):
    """Return 2 to the power of a."""
    return f16(np.exp2(f32(a)))


@device_function
def hfloor(a):
    """Return the greatest integer that is not above a."""
    return np.floor(f16(a))


@device_function
def hceil(a):
    """Return the least integer that is not below a."""
    return np.ceil(f16(a))


@device_function
def hrint(a):
    """Return the nearest integer, of two the even one."""
    return np.rint(f16(a))


@device_function
def htrunc(a):
    """Return the integer part."""
    return np.trunc(f16(a))


@device_function
def hsqrt(a):
    """Return the square root."""
    return f16(math.sqrt(f32(a)))


@device_function
def hrcp(a):
    """Return 1 / a."""
    return f16(1.0) / f16(a)


@device_function
def hrsqrt(a):
    """Return 1 / sqrt(a)."""
    return f16(f32(1.0) / math.sqrt(f32(a)))
