"""Rounding to decimals: NumPy's `round`, by a product, and Python's, which returns the number
itself where the product would overflow."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.native_math import isinf, rint, round_to_int
from amdjit.intrinsics.numbers.floats import fma
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import bf16, f16, f32, f64, i8, i16, i32, i64, u64

__all__ = ["numpy_round", "python_round"]

_FLOATS: Any = (f16, bf16, f32, f64)
_DOUBLE: Any = f64
_SIGNED: Any = (i8, i16, i32, i64)
_LARGEST_POWERS = {f16: 4, bf16: 38, f32: 38, f64: 308}


def _parts(power: int) -> tuple[float, float]:
    """Return 10**power as a double and the remainder."""
    high = float(10**power)
    return high, float(Fraction(10**power) - Fraction(high))


_BINARY_POWERS = tuple((1 << bit, *_parts(1 << bit)) for bit in range(9))
_WHOLE_POWERS = tuple((1 << bit, 10 ** (1 << bit)) for bit in range(5))


@compile_time
def _known_power(compilation: Compilation, n: Any, x: Any) -> float | None:
    """Return 10**n for a known n; infinity if x's type does not hold it."""
    if not isinstance(n, int):
        return None
    return 10.0**n if n <= _LARGEST_POWERS[x] else math.inf


@device_function
def _power_of_ten(n, x):
    """Return 10**n in x's type for n >= 0, correctly rounded, as NumPy does."""
    known = _known_power(n, x)
    if known is not None:
        return type(x)(known)
    if not isinstance(x, _DOUBLE):
        return type(x)(f32(10.0) ** n)
    high, low = f64(1), f64(0)
    for bit, factor, rest in _BINARY_POWERS:
        if n & bit:
            product = high * factor
            low = fma(high, factor, -product) + (high * rest + low * factor)
            high = product
    return f64(math.inf) if n > 308 else high + low


@device_function
def numpy_round(x, decimals=0):
    """Return x rounded to a number of decimals in x's type, ties to even; by a product, as NumPy
    does."""
    if not isinstance(x, _FLOATS):
        return _round_whole(x, decimals)
    if decimals == 0:
        return rint(x)
    factor = _power_of_ten(abs(decimals), x)
    return rint(x * factor) / factor if decimals > 0 else rint(x / factor) * factor


@device_function
def python_round(x, ndigits=None):
    """Return the nearest integer, ties to even, as an i32; with a number of digits, a number of x's
    type.

    With digits the result is that of `numpy.round`, except that it is x itself where NumPy's
    product would overflow the type.
    """
    if ndigits is None:
        return round_to_int(x)
    if not isinstance(x, _FLOATS):
        return _round_whole(x, ndigits)
    if ndigits == 0:
        return rint(x)
    factor = _power_of_ten(abs(ndigits), x)
    if ndigits > 0:
        return x if isinf(factor) or isinf(x * factor) else rint(x * factor) / factor
    return (x if isinf(x) else x * 0) if isinf(factor) else rint(x / factor) * factor


@device_function
def _round_whole(x, decimals):
    """Round an integer to tens, hundreds and so on, exactly; overflow wraps."""
    if decimals >= 0:
        return x
    magnitude = _magnitude(x)
    factor = u64(1)
    for bit, power in _WHOLE_POWERS:
        if -decimals & bit:
            factor *= u64(power)
    whole = magnitude // factor
    rest = magnitude - whole * factor
    is_up = rest > factor - rest or (rest == factor - rest and (whole & 1) == 1)
    rounded = type(x)((whole + 1 if is_up else whole) * factor)
    result = -rounded if isinstance(x, _SIGNED) and x < 0 else rounded
    return type(x)(0) if decimals < -19 else result


@device_function
def _magnitude(x):
    wide = u64(x)
    return -wide if isinstance(x, _SIGNED) and x < 0 else wide
