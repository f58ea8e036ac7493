"""The building blocks of f64 functions: exact sums as pairs of f64, reciprocals, roots, reduction
by multiples of a constant."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.float_evaluation import bitcast
from amdjit.intrinsics.maths.native_math import rcp, rsq
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i32, i64

__all__ = [
    "double_nearest_multiple",
    "double_reciprocal",
    "double_root_pair",
    "pair_of_sum",
    "pair_of_unordered",
    "rough_reciprocal",
]

_ROUNDING = 1.5 * 2.0**52
_LEAST_ROOT = 2.0**-200


@device_function
def pair_of_sum(high, low):
    """Return high + low as the nearest f64 and the rest, exactly; |high| >= |low|, or high is 0."""
    total = high + low
    return total, low - (total - high)


@device_function
def pair_of_unordered(x, y):
    """Return x + y likewise for numbers of which neither is negative or only the lesser is."""
    return pair_of_sum(max(x, y), min(x, y))


@device_function
def double_nearest_multiple(x, factor):
    """Return the whole number nearest to x * factor, below 2**31, as f64 and as i32 (any number
    where x is NaN).

    Adding 1.5 * 2**52 leaves the whole number in the lowest bits: two f64 instructions instead of
    three.
    """
    moved = fma(x, factor, _ROUNDING)
    return moved - _ROUNDING, i32(bitcast(moved, i64))


@device_function
def rough_reciprocal(x):
    """Return 1 / x with a relative error of 2**-44, for x neither large nor small: the instruction
    and a step of Newton's."""
    guess = rcp(x)
    return fma(fma(-x, guess, f64(1)), guess, guess)


@device_function
def double_reciprocal(x):
    """Return 1 / x to about 1 unit likewise, in half of the instructions of a division."""
    guess = rough_reciprocal(x)
    return fma(fma(-x, guess, f64(1)), guess, guess)


@device_function
def double_root_pair(high, low):
    """Return sqrt(high + low) as a pair of f64 with a relative error of 2**-80, for high that is 0
    or above 2**-200."""
    guess = rsq(max(high, f64(_LEAST_ROOT)))
    root, half = high * guess, 0.5 * guess
    lacking = fma(-half, root, f64(0.5))
    root, half = fma(root, lacking, root), fma(half, lacking, half)
    return root, (fma(-root, root, high) + low) * half
