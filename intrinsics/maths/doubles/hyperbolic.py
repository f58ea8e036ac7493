"""Hyperbolic functions of f64 and their inverses, from exponentials and logarithms as pairs of f64,
within 0.8 units of the last place. Special cases: C23, F.10.2."""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import (
    double_root_pair,
    pair_of_sum,
    pair_of_unordered,
    rough_reciprocal,
)
from amdjit.intrinsics.maths.doubles.exponentials import (
    LARGEST_QUARTER,
    exponential_pair,
    quarter_less_1,
    reduced_by_ln2,
)
from amdjit.intrinsics.maths.doubles.logarithms import logarithm_of_sum
from amdjit.intrinsics.maths.float_evaluation import bitcast, polynomial
from amdjit.intrinsics.maths.native_math import copysign
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i64

__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]

_LN2_LOW = 2.3190468138462996e-17
_LARGE = 2.0**28  # from here on, 1 is negligible beside the square
_SMALL = 2.0**-28  # up to here, the cube is negligible beside the number
# (asinh(x) - x) / x**3 over x * x
_ASINH = (
    0.0017197391909475664, -0.004749973484269831, 0.0074671984688938, -0.009534738034138112,
    0.011513124416700176, -0.013960254038544936, 0.017352389202591228, -0.022372138510211283,
    0.03038194372286273, -0.04464285712799205, 0.07499999999984618, -0.1666666666666661,
)  # fmt: skip


@device_function
def sinh(x):
    """Return the hyperbolic sine."""
    magnitude = abs(x)
    high, low = quarter_less_1(min(magnitude, f64(LARGEST_QUARTER)))
    # With q, a quarter of exp(x) - 1: 2 * (q + q / (4 * q + 1)).
    divisor, rest_of_divisor = pair_of_unordered(high, f64(0.25))
    ratio, rest = _quotient(high, low, divisor, rest_of_divisor + low)
    total, rest_of_sum = pair_of_sum(high, 0.25 * ratio)
    result = total + (fma(rest, 0.25, low) + rest_of_sum)
    return x if magnitude < _SMALL else copysign(result + result, x)


@device_function
def cosh(x):
    """Return the hyperbolic cosine."""
    whole, rest, n = reduced_by_ln2(min(abs(x), f64(LARGEST_QUARTER)))
    high, low = pair_of_sum(*exponential_pair(rest, whole * -_LN2_LOW))
    scale = bitcast((i64(n) + 1021) << 52, f64)
    high, low = high * scale, low * scale
    # With g, a quarter of exp(x): 2 * (g + 1 / (16 * g)).
    inverse = rough_reciprocal(high)
    inverse = fma(fma(-low, inverse, fma(-high, inverse, f64(1))), inverse, inverse)
    total, rest = pair_of_unordered(high, 0.0625 * inverse)
    result = total + (low + rest)
    return result + result


@device_function
def tanh(x):
    """Return the hyperbolic tangent."""
    magnitude = abs(x)
    high, low = quarter_less_1(2 * min(magnitude, f64(22)))
    # With q, a quarter of exp(2 * x) - 1: q / (q + 1 / 2).
    divisor, rest_of_divisor = pair_of_unordered(high, f64(0.5))
    ratio, rest = _quotient(high, low, divisor, rest_of_divisor + low)
    return x if magnitude < _SMALL else copysign(ratio + rest, x)


@device_function
def asinh(x):
    """Return the number whose hyperbolic sine is x."""
    magnitude = abs(x)
    square = magnitude * magnitude
    if magnitude < 0.5:
        small = fma(magnitude * square, polynomial(square, _ASINH), magnitude)
        return copysign(small, x)
    high, rest = pair_of_unordered(square, f64(1))
    root, rest_of_root = double_root_pair(high, rest + fma(magnitude, magnitude, -square))
    sum, low = pair_of_sum(root, magnitude)
    is_large = magnitude >= _LARGE
    result = logarithm_of_sum(
        magnitude if is_large else sum,
        f64(0) if is_large else low + rest_of_root,
        f64(0),
        f64(0),
        1 if is_large else 0,
    )
    return copysign(magnitude if magnitude == math.inf else result, x)


@device_function
def acosh(x):
    """Return the nonnegative number whose hyperbolic cosine is x; NaN below 1."""
    # The logarithm of 1 + (t + sqrt(t * (x + 1))) with t = x - 1, which is exact below _LARGE.
    t = x - 1
    above, rest = pair_of_sum(x, f64(1))
    square = t * above
    root, rest_of_root = double_root_pair(square, fma(t, rest, fma(t, above, -square)))
    beyond, rest_beyond = pair_of_sum(root, t)
    rest_beyond += rest_of_root
    sum, low = pair_of_unordered(beyond, f64(1))
    is_large = x >= _LARGE
    result = logarithm_of_sum(
        x if is_large else sum,
        f64(0) if is_large else low + rest_beyond,
        beyond,
        rest_beyond,
        1 if is_large else 0,
    )
    if x == math.inf:
        return x
    return result if x >= 1 else f64(math.nan)


@device_function
def atanh(x):
    """Return the number whose hyperbolic tangent is x: infinite at -1 and 1, NaN beyond."""
    magnitude = abs(x)
    # Half of the logarithm of 1 + 2 * x / (1 - x).
    beyond, rest = _quotient(
        magnitude + magnitude, f64(0), *pair_of_sum(f64(1), -min(magnitude, f64(_BELOW_1)))
    )
    sum, low = pair_of_unordered(beyond, f64(1))
    result = 0.5 * logarithm_of_sum(sum, low + rest, beyond, rest, 0)
    if not magnitude < 1:
        result = f64(math.inf) if magnitude == 1 else f64(math.nan)
    return x if magnitude < _SMALL else copysign(result, x)


_BELOW_1 = 1 - 2.0**-53


@device_function
def _quotient(high, low, divisor, rest):
    """Return (high + low) / (divisor + rest) as a pair of f64 with a relative error of 2**-80."""
    inverse = rough_reciprocal(divisor)
    ratio = high * inverse
    lacking = fma(-divisor, ratio, high) + fma(-rest, ratio, low)
    return ratio, lacking * inverse
