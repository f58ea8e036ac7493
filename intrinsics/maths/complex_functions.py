"""Complex numbers as pairs of floats: division and magnitude, as NumPy computes them."""

from __future__ import annotations

import math

__all__ = ["divide", "magnitude"]


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
