"""Exponentials of f64, within 0.6 units of the last place, 0.8 where the result is subnormal;
`expm1` within 0.9.

The whole multiple of ln(2) nearest to x is taken off in two parts, of which the first is exact
(W. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980). The polynomial starts at
the square of the rest; what comes before is added exactly.
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import double_nearest_multiple, pair_of_sum
from amdjit.intrinsics.maths.float_evaluation import polynomial
from amdjit.intrinsics.maths.native_math import ldexp
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64

__all__ = [
    "LARGEST_QUARTER",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "exponential_less_1",
    "exponential_pair",
    "quarter_less_1",
    "reduced_by_ln2",
]

LARGEST_QUARTER = 710.5
"""Beyond it the hyperbolic functions are infinite, and a quarter of e to this power is not."""

_LOG2_E = 1.4426950408889634
_LOG2_10 = 3.321928094887362
_LN2 = (0.6931471805599453, 2.3190468138462996e-17)
_LN10 = (2.302585092994046, -2.1707562233822494e-16)
# log10(2), and ln(10) times what it lacks.
_LOG10_2, _LACKING = 0.3010299956639812, -6.455822591846238e-18
# (exp(r) - 1 - r) / (r * r)
_EXPONENTIAL = (
    2.4978266404520753e-08, 2.7625175163840016e-07, 2.75576411661045e-06, 2.4801508705548204e-05,
    0.00019841269465903618, 0.0013888888926783768, 0.008333333333500208, 0.04166666666660397,
    0.16666666666666433, 0.5,
)  # fmt: skip
# (exp(r) - 1 - r - r * r / 2) / r**3
_CUBIC = (
    2.0925636929279834e-09, 2.5112161626376522e-08, 2.755723885865492e-07, 2.755723448987465e-06,
    2.4801587364817234e-05, 0.00019841269896764326, 0.0013888888888865356, 0.008333333333316883,
    0.0416666666666667, 0.16666666666666682,
)  # fmt: skip


@device_function
def exp(x):
    """Return e to the power x."""
    limited = min(max(x, f64(-746)), f64(710))
    whole, rest, n = reduced_by_ln2(limited)
    r = fma(whole, -_LN2[1], rest)
    total, low = pair_of_sum(f64(1), rest)
    small = fma(r * r, polynomial(r, _EXPONENTIAL), fma(whole, -_LN2[1], low))
    return ldexp(total + small, n)


@device_function
def exp2(x):
    """Return 2 to the power x."""
    limited = min(max(x, f64(-1076)), f64(1025))
    whole, n = double_nearest_multiple(limited, f64(1))
    rest = limited - whole
    high = rest * _LN2[0]
    total, small = exponential_pair(high, fma(rest, _LN2[1], fma(rest, _LN2[0], -high)))
    return ldexp(total + small, n)


@device_function
def exp10(x):
    """Return 10 to the power x."""
    limited = min(max(x, f64(-324)), f64(309))
    whole, n = double_nearest_multiple(limited, f64(_LOG2_10))
    rest = fma(whole, -_LOG10_2, limited)  # exact
    high = rest * _LN10[0]
    low = fma(rest, _LN10[1], fma(rest, _LN10[0], -high))
    total, small = exponential_pair(high, fma(whole, -_LACKING, low))
    return ldexp(total + small, n)


@device_function
def expm1(x):
    """Return e to the power x, minus 1."""
    high, low, n = exponential_less_1(min(max(x, f64(-40)), f64(710)))
    return x if abs(x) < 2.0**-54 else ldexp(high + low, n)


@device_function
def reduced_by_ln2(x):
    """Return the whole number nearest to x / ln(2), as f64 and, third, as i32, and x less as many
    times the nearest f64 to ln(2).

    The difference is exact: its last bit is not below that of x or that of the product, and it is
    below 1/2.
    """
    whole, n = double_nearest_multiple(x, f64(_LOG2_E))
    return whole, fma(whole, -_LN2[0], x), n


@device_function
def exponential_pair(high, low):
    """Return e to the power high + low as the sum of two numbers, the second below 1/10 of the
    first; |high| <= ln(2) / 2, |low| < 2**-40."""
    r = high + low
    total, rest = pair_of_sum(f64(1), high)
    return total, fma(r * r, polynomial(r, _EXPONENTIAL), low + rest)


@device_function
def exponential_less_1(x):
    """Return e to the power x, minus 1, as the sum of two numbers, the second below 1/4 of the
    first, times 2 to the power of the third, an i32; |x| < 800."""
    whole, rest, n = reduced_by_ln2(x)
    r = fma(whole, -_LN2[1], rest)
    square = r * r
    inner = fma(fma(r, r, -square), 0.5, whole * -_LN2[1])
    inner = fma(square * r, polynomial(r, _CUBIC), inner)
    below, lacking = pair_of_sum(f64(1), -ldexp(f64(1), -n))
    total, low = pair_of_sum(below, rest)
    return total, fma(square, 0.5, inner + (low + lacking)), n


@device_function
def quarter_less_1(x):
    """Return (e to the power x, minus 1) / 4 as a pair of f64; x from 0 to LARGEST_QUARTER.

    A quarter, because the hyperbolic functions halve e to a power that may be infinite.
    """
    total, small, n = exponential_less_1(x)
    high, low = pair_of_sum(total, small)
    return ldexp(high, n - 2), ldexp(low, n - 2)
