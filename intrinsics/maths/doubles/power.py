"""Powers of f64 with exponents known only at run time, within 0.6 units of the last place; 0.8
where the result is subnormal.

The scheme is the usual one: e to the power y * log(x), with the logarithm as a pair of f64 and a
relative error of 2**-67, because y multiplies it. Its series is that of artanh, over mantissas
divided by 1 or 3/2 (FreeBSD's msun, e_pow.c). Special cases: C23, F.10.4.5.
"""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import double_reciprocal, pair_of_sum
from amdjit.intrinsics.maths.doubles.exponentials import exponential_pair, reduced_by_ln2
from amdjit.intrinsics.maths.float_evaluation import (
    bitcast,
    exponent_of,
    mantissa_of,
    polynomial,
)
from amdjit.intrinsics.maths.native_math import copysign, isfinite, ldexp, rint
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i64, u32, u64

__all__ = ["power"]

_LEAST, _LARGEST = -760.0, 720.0  # beyond them the result is 0 or infinity
_LN2_LOW = 2.3190468138462996e-17
_INFINITE = 0x7FF << 52
# The upper words of sqrt(3/8) and sqrt(3/4).
_SQRT_3_8, _SQRT_3_4 = 0x3FE3988E, 0x3FEBB67B
# Pairs whose first part has at most 42 bits, so that its multiples and their sums are exact.
_LN2 = (0.6931471805598903, 5.497923018708371e-14)
_LN_3_2 = (0.40546510810827385, -1.094708713660664e-13)
_TWELFTH = (0.08333333333333333, 4.625929269271485e-18)
# What log((1 + w / 2) / (1 - w / 2)) has beyond w + w**3 / 12, over w**5, in w * w
_SERIES = (
    4.2109283708762395e-06, 1.877121869141537e-05, 8.877868614454016e-05, 0.0004340277732018041,
    0.0022321428571799255, 0.012499999999999888,
)  # fmt: skip


@device_function
def power(x, y):
    """Return x to the power y; special cases as in C."""
    result = _of_positive(abs(x), y)
    if bitcast(x, u64) - 1 < _INFINITE - 1 and isfinite(y):
        return result
    return _with_special_powers(x, y, result)


@device_function
def _with_special_powers(x, y, of_positive):
    """Return x to the power y, given the power of x's magnitude for finite nonzero numbers."""
    is_whole = rint(y) == y
    is_odd = is_whole and rint(y * 0.5) != y * 0.5
    magnitude = abs(x)
    result = of_positive
    if abs(y) == math.inf:
        result = f64(math.inf) if (magnitude > 1) == (y > 0) else f64(0)
    if magnitude == 0 or magnitude == math.inf:
        result = f64(math.inf) if (magnitude == 0) == (y < 0) else f64(0)
    if x < 0 and not is_whole and x != -math.inf:
        result = f64(math.nan)
    if is_odd:
        result = copysign(result, x)
    if x != x or y != y:
        result = x + y
    if magnitude == 1 and abs(y) == math.inf:
        result = f64(1)
    return f64(1) if y == 0 or x == 1 else result


@device_function
def _of_positive(x, y):
    """Return x to the power y for finite x above 0."""
    high, low = _precise_logarithm(x)
    product = y * high
    rest = fma(y, low, fma(y, high, -product))
    limited = min(max(product, f64(_LEAST)), f64(_LARGEST))
    if limited != product:
        rest = f64(0)
    whole, first, n = reduced_by_ln2(limited)
    total, small = exponential_pair(first, fma(whole, -_LN2_LOW, rest))
    return ldexp(total + small, n)


@device_function
def _precise_logarithm(x):
    """Return log(x) as a pair of f64."""
    f, sum, rest_of_sum, count, middle = _mantissa_and_middle(x)
    # w = 2 * f / (sum + rest_of_sum)
    inverse = double_reciprocal(sum)
    twice = f + f
    w = twice * inverse
    w_low = fma(-rest_of_sum, w, fma(-sum, w, twice)) * inverse
    # its square, and that over 12 with the terms beyond
    square = w * w
    square_low = fma(w + w, w_low, fma(w, w, -square))
    inner = square * _TWELFTH[0]
    inner_low = fma(square, _TWELFTH[1], fma(square, _TWELFTH[0], -inner))
    inner_low = fma(square_low, _TWELFTH[0], inner_low)
    inner_low = fma(square * square, polynomial(square, _SERIES), inner_low)
    cubic = w * inner
    cubic_low = fma(w_low, inner, fma(w, inner_low, fma(w, inner, -cubic)))
    # all terms, the greatest first
    first, rest = pair_of_sum(fma(count, _LN2[0], middle[0]), w)
    second, rest_of_cubic = pair_of_sum(first, cubic)
    low = fma(count, _LN2[1], middle[1]) + w_low
    return pair_of_sum(second, rest + (rest_of_cubic + (low + cubic_low)))


@device_function
def _mantissa_and_middle(x):
    """Return m - c, m + c as a pair of f64, n as f64 and log(c) as a pair, with x = m * 2**n and
    m / c in [sqrt(3/4), sqrt(3/2)); c is 1 or 3/2."""
    bits, exponent = bitcast(mantissa_of(x), i64), exponent_of(x)
    upper = u32(bits >> 32)
    is_low = upper < _SQRT_3_4
    is_middle = is_low and upper >= _SQRT_3_8
    mantissa = bitcast(bits + (i64(1 << 52) if is_low else i64(0)), f64)
    c = f64(1.5) if is_middle else f64(1)
    sum = mantissa + c
    logarithm = (
        f64(_LN_3_2[0]) if is_middle else f64(0),
        f64(_LN_3_2[1]) if is_middle else f64(0),
    )
    count = f64(exponent - 1 if is_low else exponent)
    return mantissa - c, sum, mantissa - (sum - c), count, logarithm
