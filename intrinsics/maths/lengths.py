"""Lengths of vectors and distances between points, without intermediate overflow; infinite where a
component is, even if another is NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amdjit.declarations import device_function
from amdjit.intrinsics.maths import device_library as library
from amdjit.intrinsics.maths import double_functions as double
from amdjit.intrinsics.maths.float_evaluation import (
    DOUBLES,
    SMALL_FLOATS,
    exponent_of,
    prefers_library,
    rounded,
    single,
)
from amdjit.intrinsics.maths.native_math import isinf, ldexp
from amdjit.intrinsics.maths.single_evaluation import root_of_normal, rounds_reliably
from amdjit.intrinsics.numbers.floats import fma
from amdjit.late import late
from amdjit.types import f32, f64

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import roots as doubles
else:
    doubles = late("amdjit.intrinsics.maths.doubles.roots")

__all__ = ["dist", "hypot", "sumprod"]


@device_function
def hypot(x, y=None, z=None, w=None):
    """Return sqrt(x * x + y * y), for one to four numbers."""
    if y is None:
        return abs(x)
    if z is None:
        return _hypot_of_two(x, y)
    return _length((x, y, z) if w is None else (x, y, z, w))


@device_function
def dist(p, q):
    """Return the distance between two points, each a tuple of one or more numbers."""
    parts = tuple(a - b for a, b in zip(p, q, strict=True))
    if len(parts) <= 2:
        return hypot(*parts)
    return _length(parts)


@device_function
def sumprod(p, q):
    """Return the sum of the products of two tuples' items."""
    return sum(a * b for a, b in zip(p, q, strict=True))


@device_function
def _hypot_of_two(x, y):
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        if prefers_library():
            return library.hypot(f64(x), f64(y))
        return doubles.hypot(f64(x), f64(y))
    length = _length_of_singles((single(x), single(y)))
    if isinstance(x + y, SMALL_FLOATS):
        both = x + y
        return (
            type(both)(length)
            if rounds_reliably(length, both)
            else rounded(double.hypot(f64(x), f64(y)), both)
        )
    return length


@device_function
def _length(parts):
    total = sum(parts)
    if isinstance(total, DOUBLES):
        return doubles.length(tuple(f64(part) for part in parts))
    length = _length_of_singles(tuple(single(part) for part in parts))
    return type(total)(length) if isinstance(total, SMALL_FLOATS) else length


@device_function
def _length_of_singles(parts):
    square, exponent = _square(parts)
    root, _ = root_of_normal(square)
    return f32(math.inf) if any(isinf(part) for part in parts) else ldexp(root, exponent)


@device_function
def _square(parts):
    """Return the sum of the squares, scaled to 0 or close to 1, and the exponent of its root."""
    greatest = abs(parts[0])
    for part in parts[1:]:
        greatest = max(greatest, abs(part))
    exponent = exponent_of(greatest)
    last = ldexp(abs(parts[-1]), -exponent)
    square = last * last
    for part in parts[:-1]:
        scaled = ldexp(abs(part), -exponent)
        square = fma(scaled, scaled, square)
    return square, exponent
