"""Gamma functions in f64, for cases where f32 is too rough: 16-bit floats close to a tie, and
`lgamma` below 0.

Stirling's formula serves from 3 on; smaller numbers are moved there, negative ones reflected.
`lgamma` has an absolute error of about 1e-14, because its zeros among the negative numbers are
differences; at the f32 next to them it is 1e-7 and more.
"""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.float_evaluation import bitcast, exponential, polynomial
from amdjit.intrinsics.maths.native_math import copysign, isinf, rcp, rint
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i32, i64

__all__ = ["lgamma", "lgamma_of_negative", "tgamma"]

_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52
_LN2 = (
    0.6931471803691238,
    1.9082149292705877e-10,
)  # the first has 32 bits, so that its multiples are exact
_LARGEST = 60.0  # beyond it the gamma function is infinite, or 0, in f32
_HALF_LN_2PI = 0.9189385332046728
_ARTANH = tuple(1 / n for n in range(21, 2, -2))
_SINE = tuple((-1) ** n / math.factorial(2 * n + 1) for n in range(10, -1, -1))
# Polynomials: tests/intrinsics/fit_polynomials.py.
# The correction to Stirling's formula, times z,
# over 1 / (z * z) for z above 3
_STIRLING = (
    1.4772634411177644e-02, -1.1457367721946578e-02, 4.889557986191583e-03, -1.8292724768879196e-03,
    8.384287285943276e-04, -5.9516217448575e-04, 7.936498444359221e-04, -2.7777777724593603e-03,
    8.33333333333252e-02,
)  # fmt: skip
# lgamma(x) / ((x - 1) * (x - 2)) over x - 1.5 in [-0.8, 0.8]
_BETWEEN = (
    -0.00022582254265715067, 0.00033083932018174454, 5.3454216026886375e-05, -1.610281039439163e-05,
    -0.0005857892711541682, 0.0008839483385182667, -0.001110706088251684, 0.0018678248991030506,
    -0.0032229262090682676, 0.005455828890625455, -0.009424472399230213, 0.01679632471834803,
    -0.03130854187550309, 0.06291142525002677, -0.14595989516705737, 0.483128950417659,
)  # fmt: skip


@device_function
def tgamma(x):
    """Return the gamma function."""
    z, product = _moved(min(abs(x), _LARGEST))
    grown = exponential(_stirling(z))
    numerator, denominator = grown, product
    if x < 0:
        numerator, denominator = -math.pi * product, -x * _sine_of_half_turns(-x) * grown
    result = numerator / denominator
    if x == 0:
        result = copysign(f64(math.inf), x)
    if x == rint(x):
        result = (
            f64(math.nan) if x < 0 else rint(result)
        )  # factorials, some of which are ties of 16-bit floats
    return x if x != x or x == math.inf else result


@device_function
def lgamma(x):
    """Return the natural logarithm of the gamma function's magnitude."""
    if x < 0:
        return lgamma_of_negative(x)
    z, product = _moved(x)
    result = _stirling(z) - _logarithm(product)
    if abs(x - 1.5) < 0.8:
        result = fma(
            (x - 1) * (x - 2), polynomial(x - 1.5, _BETWEEN), f64(0)
        )  # 0, not -0, at 1 and 2
    if isinf(x) or x == 0:
        result = f64(math.inf)
    return x if x != x else result


@device_function
def lgamma_of_negative(x):
    """Return `lgamma` of a number below 0."""
    z, product = _moved(-x)
    less = abs(_quotient(math.pi * product, x * _sine_of_half_turns(-x)))
    return f64(math.inf) if x == rint(x) else _logarithm(less) - _stirling(z)


@device_function
def _moved(x):
    """Return z >= 3, and p with gamma(x) = gamma(z) / p."""
    is_low = x < 3
    return x + 3 if is_low else x, x * (x + 1) * (x + 2) if is_low else f64(1)


@device_function
def _stirling(z):
    """Return lgamma(z) for z >= 3."""
    inverse = _inverse(z)
    rest = fma(inverse, polynomial(inverse * inverse, _STIRLING), _HALF_LN_2PI)
    return fma(z - 0.5, _logarithm(z), rest - z)


@device_function
def _sine_of_half_turns(x):
    """Return sin(pi * x) for nonnegative x."""
    turn = x - 2 * rint(0.5 * x)
    nearest = min(abs(turn), 1 - abs(turn)) * math.pi
    return copysign(nearest * polynomial(nearest * nearest, _SINE), turn)


@device_function
def _logarithm(x):
    """Return the natural logarithm of finite x above 0."""
    bits = bitcast(x, i64)
    exponent = i32(bits >> 52) - 1023
    mantissa = bitcast(bits & _MANTISSA | _ONE, f64)
    if mantissa > math.sqrt(2):
        mantissa = mantissa * 0.5
        exponent += 1
    s = _quotient(mantissa - 1, mantissa + 1)
    square = s * s
    small = fma(f64(exponent), _LN2[1], 2 * s * square * polynomial(square, _ARTANH))
    return fma(f64(exponent), _LN2[0], fma(f64(2), s, small))


@device_function
def _inverse(x):
    """Return 1 / x to about 1 unit, for x neither large nor small, in a third of the instructions
    of a division."""
    guess = rcp(x)
    return fma(fma(-x, guess, f64(1)), guess, guess)


@device_function
def _quotient(x, y):
    """Return x / y likewise."""
    inverse = _inverse(y)
    guess = x * inverse
    return fma(fma(-y, guess, x), inverse, guess)
