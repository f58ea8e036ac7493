"""Sums, quotients, logarithms and exponentials of f64 as pairs of f64."""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import pair_of_sum
from amdjit.intrinsics.maths.doubles.exponentials import exponential_pair, reduced_by_ln2
from amdjit.intrinsics.maths.float_evaluation import exponent_of, mantissa_of, polynomial
from amdjit.intrinsics.maths.native_math import rcp
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64

__all__ = [
    "LN2",
    "double_exponential_parts",
    "double_logarithm_pair",
    "double_quotient_pair",
    "double_sum",
    "quotient_by_product",
]

LN2 = (0.6931471805598903, 5.497923018708371e-14)
"""ln(2) as a pair whose first part has 42 bits, so that its multiples are exact."""

_LN2_LOW = 2.3190468138462996e-17  # ln(2) minus the nearest f64
# (artanh(s) / s - 1) / (s * s) over s * s for the mantissas in [sqrt(1/2), sqrt(2)]
_ARTANH = (
    0.06625485584760779, 0.06625079538171026, 0.07693544433055587, 0.09090887855311384,
    0.11111111323104166, 0.1428571428454498, 0.20000000000003118, 0.3333333333333333,
)  # fmt: skip


@device_function
def double_sum(x, y):
    """Return x + y and its rounding error (D. Knuth, "The Art of Computer Programming", 4.2.2)."""
    total = x + y
    of_y = total - x
    return total, (x - (total - of_y)) + (y - of_y)


@device_function
def double_quotient_pair(x, y):
    """Return x / y, within 0.51 units, and its error, where y, 1 / y and the quotient are normal
    numbers."""
    guess = rcp(y)
    guess = fma(fma(-y, guess, f64(1)), guess, guess)
    first = x * guess
    value = fma(fma(-first, y, x), guess, first)
    return value, fma(-value, y, x) * guess


@device_function
def quotient_by_product(x, y, z):
    """Return x / (y * z) without the error of rounding the product; no number may be a denormal."""
    product = y * z
    guess = rcp(product)
    guess = fma(fma(-product, guess, f64(1)), guess, guess)
    value = x * guess
    missed = fma(-value, product, x) - value * fma(y, z, -product)
    return fma(missed, guess, value)


@device_function
def double_exponential_parts(high, low):
    """Return p in [0.7, 1.42] and the i32 n with exp(high + low) = p * 2**n."""
    whole, rest, n = reduced_by_ln2(high)
    total, small = exponential_pair(rest, fma(whole, -_LN2_LOW, low))
    return total + small, n


@device_function
def double_logarithm_pair(x):
    """Return the natural logarithm of finite x above 0 as a pair, with an error of 2**-60 of it or
    of 2**-62."""
    exponent = exponent_of(x)
    mantissa = mantissa_of(x)
    if mantissa < math.sqrt(0.5):
        mantissa += mantissa
        exponent -= 1
    above, below = mantissa - 1, mantissa + 1
    missing = mantissa - (below - 1)
    guess = rcp(below)
    guess = fma(fma(-below, guess, f64(1)), guess, guess)
    s = above * guess
    s = fma(fma(-s, below, above), guess, s)
    s_low = fma(-s, missing, fma(-s, below, above)) * guess
    square = s * s
    count = f64(exponent)
    whole = count * LN2[0]
    total, rest = pair_of_sum(whole, s + s)
    rest += fma(count, LN2[1], 2 * s_low)
    return pair_of_sum(total, fma(2 * s * square, polynomial(square, _ARTANH), rest))
