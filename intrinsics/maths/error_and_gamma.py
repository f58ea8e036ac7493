"""Gamma and error functions of f32 and 16-bit floats; special cases of C23, F.10.5.

From 3 on, Stirling's formula in f32 arithmetic, with a logarithm that is a pair of f32; smaller
numbers are moved there, negative ones reflected. Only `lgamma` of negative numbers is computed in
f64: it has a zero between any two of its poles, where every term would have to be a pair.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amdjit.declarations import device_function
from amdjit.intrinsics.maths import device_library as library
from amdjit.intrinsics.maths import double_functions as double
from amdjit.intrinsics.maths.exponentials import log
from amdjit.intrinsics.maths.float_evaluation import (
    DOUBLES,
    SMALL_FLOATS,
    prefers_library,
    rounded,
    single,
)
from amdjit.intrinsics.maths.native_math import copysign, fast_exp2, isinf, ldexp, rcp, rint
from amdjit.intrinsics.maths.power import POWER_OF_2, logarithm_pair
from amdjit.intrinsics.maths.single_evaluation import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    horner,
    nearest,
    nearest_multiple,
    rounds_reliably,
    sum_of_ordered,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.late import late
from amdjit.types import f32, f64

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import error_and_gamma as doubles
else:
    doubles = late("amdjit.intrinsics.maths.doubles.error_and_gamma")

__all__ = ["erf", "erfc", "lgamma", "tgamma"]


_LARGEST = 60.0  # beyond it the gamma function is infinite, or 0, in f32
_MARGIN = 2.0**-21  # bound of the relative errors, for 16-bit floats
_SCALE = 2.0**30  # makes every divisor a normal number
_HUGE = 2.0**100
_LOG2_E = (1.442695e00, 1.925963e-08)
_LOG2_ROOT_2PI = (1.3125, 1.3248065e-02)
# Polynomials: tests/intrinsics/fit_polynomials.py.
# The correction from Stirling's formula to
# log2(gamma(z)), times z, over 1 / (z * z) for z above 2.2
_STIRLING = (-5.1520637e-04, 1.099695e-03, -4.0050545e-03, 1.2022455e-01)
# (sin(pi * r) / (pi * r) - 1) / (r * r) over r * r for r in [0, 1/2]
_SINE = (-2.21548e-03, 2.6104743e-02, -1.9074538e-01, 8.11742e-01, -1.644934e00)
# lgamma(x) / ((x - 1) * (x - 2)) over x - _MIDDLE for x in [0.8, 2.2]
_MIDDLE = 1.484375
_BETWEEN = (
    -8.44074e-04, 1.438224e-03, -1.103516e-03, 1.714114e-03, -3.4993498e-03, 5.9064217e-03,
    -9.950476e-03, 1.754391e-02, -3.2381743e-02, 6.4404264e-02, -1.4794907e-01, 4.8542506e-01,
)  # fmt: skip


@device_function
def tgamma(x):
    """Return the gamma function: infinite at 0, NaN at negative whole numbers."""
    if isinstance(x, DOUBLES):
        return library.tgamma(f64(x)) if prefers_library() else doubles.tgamma(f64(x))
    result = _tgamma(single(x))
    if isinstance(x, SMALL_FLOATS):
        return (
            type(x)(result)
            if rounds_reliably(result, x, _MARGIN)
            else rounded(double.tgamma(f64(x)), x)
        )
    return result


@device_function
def lgamma(x):
    """Return the natural logarithm of the gamma function's magnitude: infinite at 0 and negative
    whole numbers."""
    if isinstance(x, DOUBLES):
        return library.lgamma(f64(x)) if prefers_library() else doubles.lgamma(f64(x))
    result = _lgamma(single(x))
    if isinstance(x, SMALL_FLOATS):
        return (
            type(x)(result)
            if rounds_reliably(result, x, _MARGIN)
            else rounded(double.lgamma(f64(x)), x)
        )
    return result


@device_function
def _tgamma(x):
    magnitude = min(abs(x), f32(_LARGEST))
    is_low, is_negative = magnitude < 3, x < 0
    # gamma(z) = gamma(x) * x * (x + 1) * (x + 2), or gamma(-x) * -x, or gamma(x)
    moved = f32(3) if is_low else (f32(1) if is_negative else f32(0))
    z, z_low = sum_of_ordered(max(magnitude, moved), min(magnitude, moved))
    product = fma(magnitude, z, fma(magnitude, z_low, f32(2))) if is_low else f32(1)
    order, rest = _order(z, z_low, f32(1))
    whole, n = nearest_multiple(order + _LOG2_ROOT_2PI[0], f32(1))
    grown = horner(((order - whole) + _LOG2_ROOT_2PI[0]) + rest, POWER_OF_2)
    # gamma(x) * gamma(-x) = -pi / (x * sin(pi * x))
    numerator = product if is_negative else grown
    first = grown if is_negative else product
    second = _scaled_sine(x) if is_negative else (x * _SCALE if is_low else f32(_SCALE))
    result = ldexp(
        _quotient(numerator, first, second), (-n if is_negative else n) + int(math.log2(_SCALE))
    )
    return rcp(x) if x == 0 else result


@device_function
def _scaled_sine(x):
    """Return sin(pi * x) / pi times _SCALE; 0 where x is whole, which makes the quotient NaN."""
    turn = fma(rint(0.5 * x), f32(-2), x)
    distance = min(abs(turn), 1 - abs(turn))
    scaled, square = distance * _SCALE, distance * distance
    return copysign(fma(scaled * square, horner(square, _SINE), scaled), turn)


@device_function
def _quotient(x, y, z):
    """Return x / (y * z) without the error of rounding the product; no number may be a denormal."""
    product = y * z
    inverse = rcp(product)
    quotient = x * inverse
    missed = fma(-quotient, product, x) - quotient * fma(y, z, -product)
    return fma(missed, inverse, quotient)


@device_function
def _order(z, z_low, factor):
    """Return log2(gamma(z + z_low)) * factor, minus _LOG2_ROOT_2PI[0], as a pair, for z above 2.2.

    factor: a power of 2 that keeps products finite; where it is not 1, terms that do not grow with
    z are negligible.
    """
    high, low = logarithm_pair(z, 0)
    inverse = rcp(z)
    x, y = (z - 0.5) * factor, z * factor
    product, less = x * high, y * _LOG2_E[0]
    order = product - less
    rest = (product - order) - less
    rest += fma(x, high, -product) - fma(y, _LOG2_E[0], -less)
    rest += fma(x, low, y * -_LOG2_E[1])
    rest = fma(z_low, fma(inverse, f32(-0.5 * _LOG2_E[0]), high), rest)
    return order, rest + fma(inverse, horner(inverse * inverse, _STIRLING), _LOG2_ROOT_2PI[1])


@device_function
def _lgamma(x):
    if x < 0:
        return f32(double.lgamma_of_negative(f64(x)))
    if x < 2.2:
        return _between(x)
    return x if isinf(x) else _beyond(x)


@device_function
def _between(x):
    """Return lgamma(x) by a polynomial with its zeros, from that of x + 1 for small x."""
    is_low = x < 0.8
    beyond = x if is_low else x - 1
    # 0, not -0, at both zeros
    result = fma(fma(beyond, beyond, -beyond), horner(beyond - (_MIDDLE - 1), _BETWEEN), f32(0))
    return result - log(x) if is_low else result


@device_function
def _beyond(x):
    factor = f32(2.0**-8) if x > _HUGE else f32(1)
    order, rest = _order(x, f32(0), factor)
    high = order + _LOG2_ROOT_2PI[0]
    low = _LOG2_ROOT_2PI[0] - (high - order)
    return (high + (low + rest)) * f32(math.log(2)) * (f32(2.0**8) if x > _HUGE else f32(1))


# Error functions of f32, in f32 arithmetic and one `v_exp_f32`; special cases of C23, F.10.5.


# Polynomials: tests/intrinsics/fit_polynomials.py
# erf(x) / x - 1 over x * x in [0, 1]
_ERROR = (
    7.920368e-05,
    -8.0307614e-04,
    5.190734e-03,
    -2.6855126e-02,
    1.1283618e-01,
    -3.761263e-01,
    1.2837917e-01,
)
# log2(erfc(x)) over x in [1, 3.95]
_ORDERS = (
    2.68884e-04, -4.2525483e-03, 3.1505644e-02, -1.4875169e-01, -9.2064816e-01, -1.6260462e+00,
    -4.9265585e-04,
)  # fmt: skip
# (1 + 2x) exp(x*x) erfc(x) over t = (x - 2.875) / (x + 2.875) for x in [0.79, 10.1]
_COMPLEMENT = (
    1.9915586e-03, -6.57917e-04, -1.700818e-02, 6.0865995e-02, -1.1762157e-01, 1.374682e-01,
    -5.8954816e-02, -1.3335602e-01, 1.2558708e+00,
)  # fmt: skip
# exp(r) - 1 - r over r * r, for |r| <= ln(2) / 2
_EXPONENTIAL = (1.3898117e-03, 8.366172e-03, 4.1666858e-02, 1.6666548e-01, 5.0e-01)
_ERFC_MIDDLE = 2.875
_ERFC_LARGEST = 10.1  # beyond it erfc is 0


@device_function
def erf(x):
    """Return the error function."""
    if isinstance(x, DOUBLES):
        return library.erf(f64(x)) if prefers_library() else doubles.erf(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_erf(f32(x)), x, double.erf)
    return _erf(single(x))


@device_function
def erfc(x):
    """Return 1 minus the error function."""
    if isinstance(x, DOUBLES):
        return library.erfc(f64(x)) if prefers_library() else doubles.erfc(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_erfc(f32(x)), x, double.erfc)
    return _erfc(single(x))


@device_function
def _erf(x):
    magnitude = abs(x)
    small = fma(horner(x * x, _ERROR), x, x)
    large = copysign(1 - fast_exp2(horner(min(magnitude, f32(3.95)), _ORDERS)), x)
    return small if magnitude < 1 else large


@device_function
def _erfc(x):
    magnitude = min(abs(x), f32(_ERFC_LARGEST))
    # The quotient of the polynomial, and of 1 + 2x, as a pair. An error in t hardly matters, but
    # that of v_rcp_f32 is too large for far results, and is taken out.
    below, above = magnitude - _ERFC_MIDDLE, magnitude + _ERFC_MIDDLE
    guess = rcp(above)
    t = below * guess
    polynomial = horner(fma(fma(-t, above, below), guess, t), _COMPLEMENT)
    inverse = rcp(fma(magnitude, f32(2), f32(1)))
    high = polynomial * inverse
    low = (fma(high, magnitude * -2, polynomial) - high) * inverse
    # exp(-x * x) as a pair and a power of 2.
    square = magnitude * magnitude
    whole, n = nearest_multiple(square, f32(-LOG2_E))
    reduced = fma(whole, -LN2_HIGH, -square)
    r = reduced - fma(whole, LN2_LOW, fma(magnitude, magnitude, -square))
    less_1 = fma(r * r, horner(r, _EXPONENTIAL), r)
    falling = 1 + less_1
    rest = less_1 - (falling - 1)
    tail = ldexp(fma(falling, high, fma(falling, low, rest * high)), n)
    small = fma(-x, horner(x * x, _ERROR), 1 - x)
    return small if abs(x) < 0.8 else 2 - tail if x < 0 else tail
