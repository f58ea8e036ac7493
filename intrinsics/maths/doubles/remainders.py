"""Remainders of f64, exact; special cases of C23, F.10.7."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.doubles.evaluation import double_reciprocal
from amdjit.intrinsics.maths.float_evaluation import bitcast, exponent_of, mantissa_of
from amdjit.intrinsics.maths.native_math import copysign, ldexp, rint
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import i64

__all__ = ["fmod", "remainder"]

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
