"""Exponentials minus 1, logarithms of 1 + x and hyperbolic functions of f32, in f32 arithmetic;
special cases as in C.

Results are within 2 units of the last place (docs/reference/math.md); 16-bit floats are the
nearest. Special cases: C23, F.10.2 and F.10.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amdjit.declarations import device_function
from amdjit.intrinsics.maths import device_library as library
from amdjit.intrinsics.maths import double_functions as double
from amdjit.intrinsics.maths.float_evaluation import (
    DOUBLES,
    SMALL_FLOATS,
    prefers_library,
    single,
)
from amdjit.intrinsics.maths.native_math import copysign, ldexp, rcp
from amdjit.intrinsics.maths.single_evaluation import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    exponential_parts,
    horner,
    logarithm,
    nearest,
    nearest_multiple,
    reciprocal,
    root_of_normal,
    sum_of_ordered,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.late import late
from amdjit.types import f32, f64

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import exponentials, logarithms
    from amdjit.intrinsics.maths.doubles import hyperbolic as doubles
else:
    exponentials = late("amdjit.intrinsics.maths.doubles.exponentials")
    doubles = late("amdjit.intrinsics.maths.doubles.hyperbolic")
    logarithms = late("amdjit.intrinsics.maths.doubles.logarithms")

__all__ = ["acosh", "asinh", "atanh", "cosh", "expm1", "log1p", "sinh", "tanh"]

# Polynomials: tests/intrinsics/fit_polynomials.py
_LESS_1 = (1.3898117e-03, 8.366172e-03, 4.1666858e-02, 1.6666548e-01, 5.0e-01)
_TANH = (2.1576358e-03, -8.195086e-03, 2.170875e-02, -5.3948462e-02, 1.3333222e-01, -3.333333e-01)
_SINH = (2.7839255e-06, 1.9842635e-04, 8.333311e-03, 1.6666667e-01)

_ASINH = (9.044222e-03, -1.9876776e-02, 2.9982144e-02, -4.46095e-02, 7.4998766e-02, -1.6666666e-01)
_ACOSH = (-4.1335842e-04, 1.7601826e-03, -5.5479e-03, 1.8746603e-02, -8.333322e-02)
_ATANH = (1.7724265e-01, 5.0945878e-02, 1.1835246e-01, 1.4221294e-01, 2.00026e-01, 3.33333e-01)
_LARGE = 4096.0  # from here on, 1 is negligible beside the square


@device_function
def expm1(x):
    """Return e to the power x, minus 1."""
    if isinstance(x, DOUBLES):
        return library.expm1(f64(x)) if prefers_library() else exponentials.expm1(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_expm1(f32(x)), x, double.expm1)
    return _expm1(single(x))


@device_function
def log1p(x):
    """Return the natural logarithm of 1 + x: -infinity at -1, NaN below."""
    if isinstance(x, DOUBLES):
        return library.log1p(f64(x)) if prefers_library() else logarithms.log1p(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_log1p(f32(x)), x, double.log1p)
    return _log1p(single(x))


@device_function
def sinh(x):
    """Return the hyperbolic sine."""
    if isinstance(x, DOUBLES):
        return library.sinh(f64(x)) if prefers_library() else doubles.sinh(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_sinh(f32(x)), x, double.sinh)
    return _sinh(single(x))


@device_function
def cosh(x):
    """Return the hyperbolic cosine."""
    if isinstance(x, DOUBLES):
        return library.cosh(f64(x)) if prefers_library() else doubles.cosh(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_cosh(f32(x)), x, double.cosh)
    return _cosh(single(x))


@device_function
def tanh(x):
    """Return the hyperbolic tangent."""
    if isinstance(x, DOUBLES):
        return library.tanh(f64(x)) if prefers_library() else doubles.tanh(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_tanh(f32(x)), x, double.tanh)
    return _tanh(single(x))


@device_function
def asinh(x):
    """Return the number whose hyperbolic sine is x."""
    if isinstance(x, DOUBLES):
        return library.asinh(f64(x)) if prefers_library() else doubles.asinh(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_asinh(f32(x)), x, double.asinh)
    return _asinh(single(x))


@device_function
def acosh(x):
    """Return the nonnegative number whose hyperbolic cosine is x; NaN below 1."""
    if isinstance(x, DOUBLES):
        return library.acosh(f64(x)) if prefers_library() else doubles.acosh(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_acosh(f32(x)), x, double.acosh)
    return _acosh(single(x))


@device_function
def atanh(x):
    """Return the number whose hyperbolic tangent is x: infinite at -1 and 1, NaN beyond."""
    if isinstance(x, DOUBLES):
        return library.atanh(f64(x)) if prefers_library() else doubles.atanh(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_atanh(f32(x)), x, double.atanh)
    return _atanh(single(x))


@device_function
def _expm1(x):
    limited = min(max(x, f32(-30)), f32(89))
    whole, n = nearest_multiple(limited, f32(LOG2_E))
    high = fma(whole, -LN2_HIGH, limited)
    r = fma(whole, -LN2_LOW, high)
    small = fma(r * r, horner(r, _LESS_1), whole * -LN2_LOW)
    # Half of the result, because 2**whole is not finite for the largest arguments.
    scale = ldexp(f32(0.5), n)
    half = fma(small, scale, fma(high, scale, scale - 0.5))
    return x if abs(x) < 2.0**-24 else half + half


@device_function
def _log1p(x):
    high, low = sum_of_ordered(max(x, f32(1)), min(x, f32(1)))
    return x if abs(x) < 2.0**-24 else logarithm(high, low, 0)


@device_function
def _sinh(x):
    magnitude = abs(x)
    square = magnitude * magnitude
    small = fma(magnitude * square, horner(square, _SINH), magnitude)
    grown = _half_exponential(magnitude)
    return copysign(small if magnitude < 1 else grown - 0.25 * rcp(grown), x)


@device_function
def _cosh(x):
    grown = _half_exponential(abs(x))
    return grown + 0.25 * rcp(grown)


@device_function
def _half_exponential(x):
    """Return exp(x) / 2 for nonnegative x."""
    p, n = exponential_parts(min(x, f32(90)))
    return ldexp(p, n - 1)


@device_function
def _tanh(x):
    magnitude = abs(x)
    square = magnitude * magnitude
    small = fma(magnitude * square, horner(square, _TANH), magnitude)
    p, n = exponential_parts(2 * min(magnitude, f32(10)))
    large = fma(f32(-2), reciprocal(ldexp(p, n) + 1), f32(1))
    return copysign(small if magnitude < 0.625 else large, x)


@device_function
def _asinh(x):
    magnitude = abs(x)
    square = magnitude * magnitude
    small = fma(magnitude * square, horner(square, _ASINH), magnitude)
    total, rest = sum_of_ordered(max(square, f32(1)), min(square, f32(1)))
    sum, low = _sum_with_root(magnitude, total, rest + fma(magnitude, magnitude, -square))
    is_large = magnitude >= _LARGE
    large = logarithm(
        magnitude if is_large else sum, f32(0) if is_large else low, 1 if is_large else 0
    )
    return copysign(small if magnitude < 0.5 else large, x)


@device_function
def _acosh(x):
    above = x - 1
    root, _ = root_of_normal(above + above)
    small = fma(root * above, horner(above, _ACOSH), root)
    square = x * x
    total, rest = sum_of_ordered(square, f32(-1))
    sum, low = _sum_with_root(x, total, rest + fma(x, x, -square))
    is_large = x >= _LARGE
    large = logarithm(x if is_large else sum, f32(0) if is_large else low, 1 if is_large else 0)
    if not x >= 1:
        large = f32(math.nan)
    return small if x < 1.5 and x >= 1 else large


@device_function
def _sum_with_root(x, high, low):
    """Return x + sqrt(high + low), not below sqrt(high + low) - x, as a pair of f32."""
    root, half = root_of_normal(high)
    rest = (fma(-root, root, high) + low) * half
    total, low_of_total = sum_of_ordered(max(root, x), min(root, x))
    return total, low_of_total + rest


@device_function
def _atanh(x):
    magnitude = abs(x)
    square = magnitude * magnitude
    small = fma(magnitude * square, horner(square, _ATANH), magnitude)
    # (1 + x) / (1 - x), whose denominator is exact.
    above, rest = sum_of_ordered(f32(1), magnitude)
    below = 1 - magnitude
    inverse = reciprocal(below)
    ratio = above * inverse
    large = 0.5 * logarithm(ratio, (fma(-ratio, below, above) + rest) * inverse, 0)
    if magnitude >= 1:
        large = f32(math.inf) if magnitude == 1 else f32(math.nan)
    return copysign(small if magnitude < 0.5 else large, x)
