"""Complex numbers as pairs of floats: division and magnitude, as NumPy computes them."""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.trigonometry import sincos
from amdjit.types import i32

__all__ = ["divide", "magnitude", "power"]


def divide(a, b, c, d):
    """Return (a + bi) / (c + di) by Smith's method, in NumPy's order of operations (its
    `nc_quot`)."""
    if abs(c) >= abs(d):
        if c == 0 and d == 0:
            return a / abs(c), b / abs(c)
        ratio = d / c
        scale = 1 / (c + d * ratio)
        return (a + b * ratio) * scale, (b - a * ratio) * scale
    ratio = c / d
    scale = 1 / (d + c * ratio)
    return (a * ratio + b) * scale, (b * ratio - a) * scale


def magnitude(a, b):
    """Return sqrt(a * a + b * b) without intermediate overflow; infinite if either part is, even if
    the other is NaN."""
    return math.hypot(a, b)


# Powers of complex numbers, `z ** w`, as Python computes them (`Objects/complexobject.c`).


@device_function
def power(a, b, c, d):
    """Return (a + bi) to the power (c + di): by products for whole exponents of up to 100, as in
    Python; NaN where Python raises, for powers of 0 that are negative or not real."""
    if a == 0 and b == 0:
        none = type(a)(math.nan)
        whole = c == 0 and d == 0
        return (
            (type(a)(1) if whole else type(a)(0) if c > 0 and d == 0 else none),
            (type(a)(0) if d == 0 and c >= 0 else none),
        )
    if d == 0 and abs(c) <= 100 and math.trunc(abs(c)) == abs(c):
        return _whole_power(a, b, c)
    length, angle = math.hypot(a, b), math.atan2(b, a)
    grown, turned = math.pow(length, c), angle * c
    if d != 0:
        grown *= math.exp(-angle * d)
        turned += d * math.log(length)
    sine, cosine = sincos(turned)
    return grown * cosine, grown * sine


@device_function
def _whole_power(a, b, c):
    """Return (a + bi) to the whole power c, by squares."""
    n = i32(abs(c))
    result, square = complex(type(a)(1), type(a)(0)), complex(a, b)
    while n > 0:
        if n & 1:
            result *= square
        square *= square
        n >>= 1
    if c < 0:
        result = 1 / result
    return result.real, result.imag
