"""Sums and products of floats that are rounded once, in NumPy: exact sums are taken apart into two
f64 numbers, rounded to odd, and then to the result's type.

A number rounded to odd (towards zero, and its last bit set if anything was lost) and then to a type
of at least two bits less is the exact number rounded to that type.

Sources: J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997 (sums as expansions);
S. Boldo and G. Melquiond, "Emulation of FMA and Correctly Rounded Sums", 2008 (rounding to odd).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_SPLIT = float(2**27 + 1)
# Exponents of factors and of C for which no part of an exact f64 product or sum under- or
# overflows.
_SAFE = 400


def sum_rounded_once(terms: Sequence[Array]) -> Array:
    """Return the f32 next to the exact sum of f64 arrays. Where a term is not finite, the result
    means nothing; terms and their sum have to be well inside of f64's range."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        return np.asarray(_to_odd(terms).astype(np.float32))


def fused_f32(x: Array, y: Array, z: Array) -> Array:
    """Return x y + z, rounded once to f32. x and y: f64 arrays of f32 numbers; z: f32."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        product = x * y
        total = product + z.astype(np.float64)
        exact = sum_rounded_once([product, z.astype(np.float64)])
        # A sum of 0 has the sign that IEEE 754 gives it.
        usual = ~np.isfinite(total) | (total == 0)
        return np.where(usual, total.astype(np.float32), exact)


def fused_f64(x: Array, y: Array, z: Array) -> Array:
    """Return x y + z, rounded once to f64."""
    x, y, z = np.broadcast_arrays(x, y, z)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        high = x * y
        low = _product_error(x, y, high)
        tail, tail_error = _two_sum(z, low)
        head, head_error = _two_sum(high, tail)
        fused = head + _odd_pair(*_two_sum(head_error, tail_error))
        # An infinite C decides, whether the product overflows f64 or not.
        plain = np.where(np.isinf(z) & np.isfinite(x) & np.isfinite(y), z, high + z)
    safe = np.ones(plain.shape, bool)
    for each in (x, y, z):
        safe &= (each == 0) | (np.abs(np.frexp(each)[1]) < _SAFE)
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    fused = np.where(finite & (x != 0) & (y != 0), fused, plain)
    for at in zip(*np.nonzero(finite & ~safe & (x != 0) & (y != 0)), strict=True):
        fused[at] = _fused_exactly(float(x[at]), float(y[at]), float(z[at]))
    # An exact 0 has the sign of the plain sum.
    return np.where(finite & safe & (fused == 0) & (plain == 0), plain, fused)


def _fused_exactly(x: float, y: float, z: float) -> float:
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        rounded = float(exact)
    except OverflowError:
        rounded = float("inf") if exact > 0 else -float("inf")
    return rounded or (0.0 if exact > 0 else -0.0)


def _to_odd(terms: Sequence[Array]) -> Array:
    """Return the exact sum of f64 arrays rounded to odd."""
    parts: list[Array] = []
    for term in terms:
        carried = term
        grown = []
        for part in parts:
            carried, error = _two_sum(carried, part)
            grown.append(error)
        parts = [*grown, carried]
    # The parts do not overlap and grow: the sum from the last one down has one rest at the end.
    total = parts[-1]
    rest = np.zeros_like(total)
    for part in reversed(parts[:-1]):
        whole, error = _two_sum(total, part)
        # Once there is a rest, all later parts are below it and cannot change its sign.
        is_open = rest == 0
        total = np.where(is_open, whole, total)
        rest = np.where(is_open, error, rest)
    return _odd_pair(total, rest)


def _odd_pair(total: Array, rest: Array) -> Array:
    """Return total + rest rounded to odd, |rest| at most half a unit of total's last place."""
    bits = np.ascontiguousarray(total).view(np.int64)
    is_even = (bits & 1) == 0
    towards = np.where(rest > 0, np.inf, -np.inf)
    return np.where((rest != 0) & is_even, np.nextafter(total, towards), total)


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x + y and its error."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def _product_error(x: Array, y: Array, product: Array) -> Array:
    """Return x y - product, exact where nothing under- or overflows."""
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    error: Array = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return error


def _halves(x: Array) -> tuple[Array, Array]:
    scaled = x * _SPLIT
    high = scaled - (scaled - x)
    return high, x - high
