"""Logarithms of f64, within 0.7 units of the last place.

A mantissa m in [sqrt(1/2), sqrt(2)) has log(m) = f - f * f / 2 + s * (f * f / 2 + R(s * s)) with
f = m - 1 and s = f / (2 + f) (FreeBSD's msun, e_log.c). The first two terms are added exactly, and
so is the multiple of ln(2). Special cases: C23, F.10.3.
"""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import (
    pair_of_sum,
    pair_of_unordered,
    rough_reciprocal,
)
from amdjit.intrinsics.maths.float_evaluation import (
    bitcast,
    exponent_of,
    mantissa_of,
    polynomial,
)
from amdjit.intrinsics.maths.native_math import ldexp, rcp
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i64, u32, u64

__all__ = ["log", "log1p", "log2", "log10", "logarithm_of_sum"]

_SQRT_HALF = 0x3FE6A09F  # the upper word
_INFINITE = 0x7FF << 52
# Pairs whose first part has at most 42 bits, so that its multiples are exact.
_LN2 = (0.6931471805598903, 5.497923018708371e-14)
_LOG10_2 = (0.3010299956640665, -8.532344317057107e-14)
_LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
_LOG10_E = (0.4342944819032518, 1.098319650216765e-17)
# (log((1 + s) / (1 - s)) - 2 * s) / s**3 over s * s
_LOGARITHM = (
    0.14795736054218805, 0.15314072571832238, 0.18183563443943823, 0.22222198590447687,
    0.2857142874221816, 0.3999999999941544, 0.6666666666666734,
)  # fmt: skip


@device_function
def log(x):
    """Return the natural logarithm: -infinity at 0, NaN below."""
    count, f = _count_and_fraction(x)
    high, low = _logarithm_of_1_plus(f)
    total, rest = pair_of_sum(count * _LN2[0], high)
    return _with_special_logarithms(x, total + (rest + fma(count, _LN2[1], low)))


@device_function
def log2(x):
    """Return the logarithm to base 2."""
    count, f = _count_and_fraction(x)
    high, low = _multiple(_LOG2_E, *_logarithm_of_1_plus(f))
    total, rest = pair_of_sum(count, high)
    return _with_special_logarithms(x, total + (rest + low))


@device_function
def log10(x):
    """Return the logarithm to base 10."""
    count, f = _count_and_fraction(x)
    high, low = _multiple(_LOG10_E, *_logarithm_of_1_plus(f))
    total, rest = pair_of_sum(count * _LOG10_2[0], high)
    return _with_special_logarithms(x, total + (rest + fma(count, _LOG10_2[1], low)))


@device_function
def log1p(x):
    """Return the natural logarithm of 1 + x: -infinity at -1, NaN below."""
    sum, low = pair_of_unordered(x, f64(1))
    result = logarithm_of_sum(sum, low, x, f64(0), 0)
    if not x > -1 or x == math.inf:
        result = f64(-math.inf) if x == -1 else (x if x > 0 else f64(math.nan))
    return x if abs(x) < 2.0**-54 else result


@device_function
def logarithm_of_sum(sum, low, high_beyond, low_beyond, doublings):
    """Return the natural logarithm of (sum + low) * 2**doublings for finite sums above 0.

    high_beyond, low_beyond: what sum + low is beyond 1, with a small relative error, which matters
    where it is below sqrt(2) - 1 and above sqrt(1/2) - 1.
    """
    mantissa, exponent = _parts(sum)
    is_near_1 = exponent == 0
    f = high_beyond if is_near_1 else mantissa - 1
    beside = low_beyond if is_near_1 else ldexp(low, -exponent)
    high, rest_of_high = _logarithm_of_1_plus(f)
    # The derivative of the logarithm times the part missing from f.
    rest_of_high = fma(beside, rcp(mantissa), rest_of_high)
    count = f64(exponent + doublings)
    total, rest = pair_of_sum(count * _LN2[0], high)
    return total + (rest + fma(count, _LN2[1], rest_of_high))


@device_function
def _count_and_fraction(x):
    """Return n as f64, and f in [sqrt(1/2) - 1, sqrt(2) - 1), with x = (1 + f) * 2**n."""
    mantissa, exponent = _parts(x)
    return f64(exponent), mantissa - 1


@device_function
def _parts(x):
    """Return a mantissa in [sqrt(1/2), sqrt(2)) and its exponent."""
    bits, exponent = bitcast(mantissa_of(x), i64), exponent_of(x)
    is_low = u32(bits >> 32) < _SQRT_HALF
    mantissa = bitcast(bits + (i64(1 << 52) if is_low else i64(0)), f64)
    return mantissa, exponent - 1 if is_low else exponent


@device_function
def _logarithm_of_1_plus(f):
    """Return log(1 + f) as the sum of two numbers, the second below 1/20 of the first."""
    half = 0.5 * f
    square = half * f
    high = f - square
    below = 2 + f
    inverse = rough_reciprocal(below)
    s = f * inverse
    s = fma(fma(-below, s, f), inverse, s)
    z = s * s
    inner = fma(z, polynomial(z, _LOGARITHM), square)
    return high, fma(s, inner, ((f - high) - square) - fma(half, f, -square))


@device_function
def _multiple(factor, high, low):
    """Return the pair (high, low), times the pair `factor`."""
    product = high * factor[0]
    rest = fma(high, factor[0], -product)
    return product, fma(high, factor[1], fma(low, factor[0], rest))


@device_function
def _with_special_logarithms(x, result):
    if bitcast(x, u64) - 1 < _INFINITE - 1:
        return result
    if x == 0:
        return f64(-math.inf)
    return x if x > 0 else f64(math.nan)
