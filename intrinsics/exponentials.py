"""Exponentials and logarithms of f32 and 16-bit floats; f64 by OCML.

`exp` and `exp10` are f32 arithmetic, within 1 unit of the last place; `exp2` and the logarithms are `v_exp_f32` and
`v_log_f32` and what LLVM adds for denormals and more bits (LLVM, lib/Target/AMDGPU/AMDGPULegalizerInfo.cpp).
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics import device_library as library
from amdjit.intrinsics import double_functions as double
from amdjit.intrinsics import native_math
from amdjit.intrinsics.arithmetic import fma
from amdjit.intrinsics.float_evaluation import DOUBLES, SMALL_FLOATS, single
from amdjit.intrinsics.native_math import ldexp
from amdjit.intrinsics.single_evaluation import exponential_parts, horner, nearest, nearest_multiple
from amdjit.types import f32, f64

__all__ = ["exp", "exp2", "exp10", "log", "log2", "log10"]

_LOG2_10 = 3.321928
_LOG10_2 = (3.0103e-01, -1.4320989e-08)
# 10**r for |r| <= log10(2) / 2: tests/intrinsics/fit_polynomials.py
_POWER_OF_10 = (
    2.0621546e-01, 5.418399e-01, 1.1712942e+00, 2.0346558e+00, 2.6509488e+00, 2.3025851e+00, 1.0,
)  # fmt: skip


@device_function
def exp(x):
    """Return e to the power x."""
    if isinstance(x, DOUBLES):
        return library.exp(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_exp(f32(x)), x, double.exp)
    return _exp(single(x))


@device_function
def exp2(x):
    """Return 2 to the power x."""
    if isinstance(x, DOUBLES):
        return library.exp2(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(native_math.exp2(f32(x)), x, double.exp2)
    return native_math.exp2(x)


@device_function
def exp10(x):
    """Return 10 to the power x."""
    if isinstance(x, DOUBLES):
        return library.exp10(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_exp10(f32(x)), x, double.exp10)
    return _exp10(single(x))


@device_function
def log(x):
    """Return the natural logarithm: -infinity at 0, NaN below."""
    if isinstance(x, DOUBLES):
        return library.log(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(native_math.log(f32(x)), x, double.log)
    return native_math.log(x)


@device_function
def log2(x):
    """Return the logarithm to base 2."""
    if isinstance(x, DOUBLES):
        return library.log2(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(native_math.log2(f32(x)), x, double.log2)
    return native_math.log2(x)


@device_function
def log10(x):
    """Return the logarithm to base 10."""
    if isinstance(x, DOUBLES):
        return library.log10(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(native_math.log10(f32(x)), x, double.log10)
    return native_math.log10(x)


@device_function
def _exp(x):
    p, n = exponential_parts(min(max(x, f32(-105)), f32(90)))
    return ldexp(p, n)


@device_function
def _exp10(x):
    limited = min(max(x, f32(-46)), f32(39))
    whole, n = nearest_multiple(limited, f32(_LOG2_10))
    r = fma(whole, -_LOG10_2[1], fma(whole, -_LOG10_2[0], limited))
    return ldexp(horner(r, _POWER_OF_10), n)
