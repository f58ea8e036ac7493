"""Powers with exponents known only at run time, in f32 arithmetic: `x ** y` and `math.pow`.

The scheme is the usual one: 2 to the power y * log2(x), with the logarithm from the series of
artanh over [sqrt(1/2), sqrt(2)), as a pair of f32 because y multiplies its error. Special cases are
those of C (C23, F.10.4.5).
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
    bitcast,
    prefers_library,
    rounded,
    single,
)
from amdjit.intrinsics.maths.native_math import copysign, ldexp, rcp, rint
from amdjit.intrinsics.maths.single_evaluation import (
    SQRT_HALF,
    horner,
    nearest_multiple,
    rounds_reliably,
    sum_of_ordered,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.late import late
from amdjit.types import f32, f64, i32, u32

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import power as doubles
else:
    doubles = late("amdjit.intrinsics.maths.doubles.power")

__all__ = ["POWER_OF_2", "logarithm_pair", "power"]

_LARGEST = 200.0  # beyond it f32 has only 0 and infinity
_SMALLEST_NORMAL = 2.0**-126
# 2 / ln(2), and a third of it, as pairs of f32.
_LINEAR = (2.88539, 3.851926e-08)
_CUBIC = (9.617967e-01, -7.028462e-09)
# Polynomials: tests/intrinsics/fit_polynomials.py.
# The terms of log2((1 + s) / (1 - s)) beyond the
# cubic one, over s**5, in s * s.
_SERIES = (3.3793944e-01, 4.118445e-01, 5.7708025e-01)
# 2**r for |r| <= 1/2
POWER_OF_2 = (
    1.532998e-04, 1.3391187e-03, 9.618498e-03, 5.5503592e-02, 2.4022648e-01, 6.931472e-01, 1.0,
)  # fmt: skip


@device_function
def power(x, y):
    """Return x to the power y; special cases as in C."""
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        if prefers_library():
            return library.pow(f64(x), f64(y))
        return doubles.power(f64(x), f64(y))
    result = _power(single(x), single(y))
    if isinstance(x + y, SMALL_FLOATS):
        both = x + y
        return (
            type(both)(result)
            if rounds_reliably(result, both)
            else rounded(_power_of_f64(single(x), single(y)), both)
        )
    return result


@device_function
def _power(x, y):
    return _with_special_cases(x, y, _of_positive(abs(x), y))


@device_function
def _power_of_f64(x, y):
    return _with_special_cases(f64(x), f64(y), double.exp2(f64(y) * double.log2(f64(abs(x)))))


@device_function
def _with_special_cases(x, y, of_positive):
    """Return x to the power y, given the power of x's magnitude for finite nonzero numbers."""
    is_whole = rint(y) == y
    is_odd = is_whole and rint(y * 0.5) != y * 0.5
    magnitude = abs(x)
    result = of_positive
    if magnitude == 0 or magnitude == math.inf:
        result = type(x)(math.inf) if (magnitude == 0) == (y < 0) else type(x)(0)
    if x < 0 and not is_whole and x != -math.inf:
        result = type(x)(math.nan)
    if is_odd:
        result = copysign(result, x)
    if x != x or y != y:
        result = x + y
    if magnitude == 1 and abs(y) == math.inf:
        result = type(x)(1)
    return type(x)(1) if y == 0 or x == 1 else result


@device_function
def _of_positive(x, y):
    """Return x to the power y for finite x above 0."""
    high, low = _log2(x)
    product = y * high
    rest = fma(y, high, -product) + y * low
    limited = min(max(product, f32(-_LARGEST)), f32(_LARGEST))
    if limited != product:
        rest = f32(0)
    whole, n = nearest_multiple(limited, f32(1))
    return ldexp(horner((limited - whole) + rest, POWER_OF_2), n)


@device_function
def _log2(x):
    is_small = x < _SMALLEST_NORMAL
    return logarithm_pair(x * 2.0**24 if is_small else x, -24 if is_small else 0)


@device_function
def logarithm_pair(x, doublings):
    """Return the logarithm to base 2 of x * 2**doublings, x not denormal, as a pair of f32."""
    bits = bitcast(x, u32)
    exponent = i32(bits - SQRT_HALF) >> 23
    mantissa = bitcast(bits - u32(exponent << 23), f32)
    # s = (m - 1) / (m + 1) as a pair
    f = mantissa - 1
    above, rest = sum_of_ordered(max(mantissa, f32(1)), min(mantissa, f32(1)))
    inverse = rcp(above)
    s = f * inverse
    s_low = fma(-s, rest, fma(-s, above, f)) * inverse
    # its square and cube
    square = s * s
    cube = square * s
    cube_low = fma(3 * square, s_low, fma(fma(s, s, -square), s, fma(square, s, -cube)))
    # the terms, the greatest first
    linear, cubic = s * _LINEAR[0], cube * _CUBIC[0]
    low = fma(s, _LINEAR[0], -linear) + fma(s_low, _LINEAR[0], s * _LINEAR[1])
    low += fma(cube, _CUBIC[0], -cubic) + fma(cube_low, _CUBIC[0], cube * _CUBIC[1])
    low = fma(cube * square, horner(square, _SERIES), low)
    total, rest = sum_of_ordered(f32(exponent + doublings), linear)
    high, rest_of_cubic = sum_of_ordered(total, cubic)
    return sum_of_ordered(high, rest_of_cubic + rest + low)
