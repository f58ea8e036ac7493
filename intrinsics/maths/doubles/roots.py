"""Roots of f64 and lengths of vectors, within 0.51 units of the last place, 0.75 where a length is
subnormal; and remainders, which are exact."""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import (
    double_reciprocal,
    double_root_pair,
    pair_of_sum,
    pair_of_unordered,
    rough_reciprocal,
)
from amdjit.intrinsics.maths.float_evaluation import bitcast, double_sqrt, exponent_of, mantissa_of
from amdjit.intrinsics.maths.native_math import (
    copysign,
    fast_exp2,
    fast_log2,
    isinf,
    ldexp,
    rcp,
    rint,
    rsq,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.intrinsics.numbers.integers import mul24
from amdjit.types import f32, f64, i64

__all__ = ["cbrt", "fmod", "hypot", "length", "remainder", "rsqrt", "sqrt"]


_THIRD = 21846  # of 2**16


@device_function
def sqrt(x):
    """Return the square root, correctly rounded: NaN below 0, -0 of -0."""
    return double_sqrt(x)


@device_function
def rsqrt(x):
    """Return 1 / sqrt(x): infinite at 0, NaN below."""
    guess = rsq(x)
    product = x * guess
    lacking = fma(-fma(x, guess, -product), guess, fma(-product, guess, f64(1)))
    result = fma(guess * lacking, fma(lacking, 0.375, f64(0.5)), guess)
    return guess if lacking != lacking else result


@device_function
def cbrt(x):
    """Return the cube root, also of negative numbers."""
    third = mul24(exponent_of(x), _THIRD) >> 16
    magnitude = ldexp(abs(x), third * -3)
    # f32 arithmetic costs next to nothing here; its 24 bits make the square below exact.
    guess = fast_exp2(fast_log2(f32(magnitude)) * f32(1 / 3))
    root, inverse_root = f64(guess), f64(rcp(guess))
    square = root * root
    step = fma(-square, root, magnitude) * rough_reciprocal(3 * square)
    # The next term of the series for the root of (1 + 3 * e).
    result = root + fma(-step, step * inverse_root, step)
    unchanged = x + x
    return unchanged if x == unchanged else copysign(ldexp(result, third), x)


@device_function
def hypot(x, y):
    """Return sqrt(x * x + y * y); infinite if x or y is, even if the other is NaN."""
    a, b = abs(x), abs(y)
    greater = max(a, b)
    exponent = exponent_of(greater)
    first, second = ldexp(greater, -exponent), ldexp(min(a, b), -exponent)
    square = first * first
    sum = fma(second, second, square)
    rest = fma(second, second, square - sum) + fma(first, first, -square)
    root, low = double_root_pair(sum, rest)
    return f64(math.inf) if isinf(x) or isinf(y) else ldexp(root + low, exponent)


@device_function
def length(parts):
    """Return the root of the sum of the squares of a tuple's items likewise."""
    greatest = abs(parts[0])
    for part in parts[1:]:
        greatest = max(greatest, abs(part))
    exponent = exponent_of(greatest)
    sum, rest = f64(0), f64(0)
    for part in parts:
        scaled = ldexp(part, -exponent)
        square = scaled * scaled
        sum, low = pair_of_unordered(sum, square)
        rest += low + fma(scaled, scaled, -square)
    root, low = double_root_pair(*pair_of_sum(sum, rest))
    return f64(math.inf) if any(isinf(part) for part in parts) else ldexp(root + low, exponent)


# Remainders of f64, exact; special cases of C23, F.10.7.


_STEP_OF_DOUBLES = 49  # bits of a quotient that one step of a division finds


@device_function
def fmod(x, y):
    """Return x - n * y exactly, where n is the quotient rounded toward zero; the result has the
    sign of x.

    Long division: mantissas are multiples of 2**-53 below 1, so each remainder, which is less than
    the divisor, is exact.
    """
    rest, divisor = abs(x), abs(y)
    if not rest < divisor:
        exponent = exponent_of(divisor)
        bits = exponent_of(rest) - exponent
        rest, divisor = mantissa_of(rest), mantissa_of(divisor)
        inverse = double_reciprocal(divisor)
        while True:
            # The quotient is off by less than 1, so the remainder may be negative.
            rest = ldexp(rest, min(bits, _STEP_OF_DOUBLES))
            rest = fma(-rint(rest * inverse), divisor, rest)
            bits -= _STEP_OF_DOUBLES
            if bits <= 0:
                break
        rest = ldexp(rest + divisor if rest < 0 else rest, exponent)
    return copysign(rest, x)


@device_function
def remainder(x, y):
    """Return x - n * y exactly, where n is the whole number nearest to the quotient, ties to
    even."""
    b = abs(y)
    # The remainder by 2 * b, so that even multiples of b drop out. Where b + b is infinite, x is
    # less than that.
    rest = fmod(abs(x), b + b)
    # This is 2 * rest > b, whose left side could be infinite; b - rest is exact where the two are
    # close.
    if rest > b - rest:
        rest -= b
        if rest >= b - rest:
            rest -= b
    return -rest if bitcast(x, i64) < 0 else rest
