"""Sums of products as the dot units of gfx11 compute them, bit for bit, in NumPy over whole arrays.

WMMA and `v_dot2_*` are chains of steps of two products along k (DOT2), each rounded once:

- Everything is taken in the sign of C. A product of the other sign takes part as the one's
  complement of its magnitude, which is one unit of the grid more: opposing terms do not cancel
  exactly, even if they are small integers. A zero has a sign, too.
- The grid is 2**g, g = max(e_a + e_b - 24 of each product that is not 0, exponent of C - 26).
  e_a and e_b are the factors' exponents as they are encoded, the lowest one for subnormals. For f16
  results, the exponent of C is at least -14, and C may be subnormal or 0; otherwise it does not
  count if C is 0. Magnitudes are cut to the grid.
- Subnormal factors of bf16 count as 0, and so does a subnormal C of f32 or bf16.
- The sum is rounded to the nearest, ties to even, and a number below f32's normal range is then +0.
  f16 results underflow gradually. A bf16 result is the upper half of the f32 one.
- Where all products and C are 0, the result is +0.
- NaN and infinities decide the result as on gfx12 (`dot_steps`).

Sources: ROCm/rocm-systems, issue 12056: measured on a Radeon Pro W7900 (gfx1100).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from amdjit.intrinsics.models.dot_steps import decided_by_specials, narrowed

__all__ = ["multiply_accumulate"]

Array = np.ndarray[Any, Any]
_BF16, _F16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
# The grid of a product that is 0, below all others.
_NO_GRID = -2000
_TILE = 128  # rows and columns per turn, so that a step's data stays in a core's cache
_SMALLEST = 2.0**-126
# The smallest magnitude whose 24 bits round up to the smallest normal number.
_ROUNDS_UP = 2.0**-126 - 2.0**-151


@dataclass(frozen=True, slots=True)
class _Terms:
    """Magnitudes as integers, with the exponents of their last bits and of their grids."""

    is_negative: Array
    magnitude: Array
    last: Array
    grid: Array


@dataclass(frozen=True, slots=True)
class _Factors:
    """A or B, taken apart. raw: as they count, without subnormal numbers of bf16. special: whether
    there are NaN or infinities."""

    special: bool
    raw: Array
    is_negative: Array
    significand: Array
    exponent: Array

    @classmethod
    def of(cls, numbers: Array) -> _Factors:
        fraction_bits, bias = (10, 15) if numbers.dtype == _F16 else (7, 127)
        bits = np.ascontiguousarray(numbers).view(np.uint16)
        field = (bits & 0x7FFF) >> fraction_bits
        if numbers.dtype == _BF16:
            bits = np.where(field == 0, bits & 0x8000, bits).astype(np.uint16)
        fraction = bits & (1 << fraction_bits) - 1
        hidden = np.where(field > 0, 1 << fraction_bits, 0)
        return cls(
            not np.isfinite(numbers.astype(np.float32)).all(),
            bits.view(numbers.dtype),
            bits >= 0x8000,
            (fraction + hidden).astype(np.int64),
            np.maximum(field, 1).astype(np.int64) - bias,
        )


def multiply_accumulate(a: Array, b: Array, c: Array, *, fp16_ovfl: bool = False) -> Array:
    """Return c + a b, of c's type (f32, f16, bf16), in steps of two products along k.

    a: [..., m, k], b: [..., k, n] of f16 or bf16; c: [..., m, n]. fp16_ovfl: the bit of MODE under
    which sums that overflow f16 become its largest number.
    """
    total = c.astype(np.float32)
    left, right = _Factors.of(a), _Factors.of(b)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for row in range(0, c.shape[-2], _TILE):
            for column in range(0, c.shape[-1], _TILE):
                at = (..., slice(row, row + _TILE), slice(column, column + _TILE))
                part = np.ascontiguousarray(total[at])
                for first in range(0, a.shape[-1], 2):
                    k = slice(first, first + 2)
                    part = _step(_rows(left, at[1], k), _columns(right, k, at[2]), part, c.dtype,
                                 fp16_ovfl)  # fmt: skip
                total[at] = part
    return narrowed(total, c.dtype)


def _rows(factors: _Factors, rows: slice, k: slice) -> _Factors:
    at = (..., rows, k)
    return _Factors(
        factors.special,
        factors.raw[at],
        factors.is_negative[at],
        factors.significand[at],
        factors.exponent[at],
    )


def _columns(factors: _Factors, k: slice, columns: slice) -> _Factors:
    return _rows(factors, k, columns)


def _step(
    left: _Factors, right: _Factors, added: Array, result: np.dtype[Any], fp16_ovfl: bool
) -> Array:
    """Return C, as f32, plus two products, rounded to the result's type."""
    own = _accumulator(added, result)
    products = [_products(left, right, member) for member in (0, 1)]
    terms = (own, *products)
    grid = np.maximum(np.maximum(products[0].grid, products[1].grid), own.grid)
    total = np.zeros(added.shape, np.int64)
    for term in terms:
        units = _shifted(term.magnitude, term.last - grid)
        total += np.where(term.is_negative == own.is_negative, units, ~units)
    is_zero = (own.magnitude | products[0].magnitude | products[1].magnitude) == 0
    total = np.where(is_zero, 0, np.where(own.is_negative, -total, total))
    rounded = _rounded(np.ldexp(total.astype(np.float64), grid), result, fp16_ovfl)
    if left.special or right.special or not np.isfinite(added).all():
        where, bits = decided_by_specials([left.raw], [right.raw], added, result)
        np.copyto(rounded.view(np.uint32), bits, where=where)
    return rounded


def _accumulator(added: Array, result: np.dtype[Any]) -> _Terms:
    bits = added.view(np.uint32)
    field = (bits >> 23 & 255).astype(np.int64)
    # As f32, subnormal numbers of f16 are normal.
    magnitude = np.where(field > 0, (bits & 0x7FFFFF).astype(np.int64) | 1 << 23, 0)
    if result == _F16:
        grid = np.maximum(np.where(magnitude > 0, field - 127, -14), -14) - 26
    else:
        grid = np.where(magnitude > 0, field - 127 - 26, _NO_GRID)
    return _Terms(bits >> 31 > 0, magnitude, field - 127 - 23, grid)


def _products(left: _Factors, right: _Factors, member: int) -> _Terms:
    x, y = (..., slice(None), member, None), (..., None, member, slice(None))
    fraction_bits = 10 if left.raw.dtype == _F16 else 7
    magnitude = left.significand[x] * right.significand[y]
    exponent = left.exponent[x] + right.exponent[y]
    return _Terms(
        left.is_negative[x] != right.is_negative[y],
        magnitude,
        exponent - 2 * fraction_bits,
        np.where(magnitude > 0, exponent - 24, _NO_GRID),
    )


def _shifted(magnitude: Array, amount: Array) -> Array:
    """Return magnitudes shifted left, or right where the amount is negative."""
    left = magnitude << np.clip(amount, 0, 30)
    shifted: Array = np.where(amount < 0, magnitude >> np.clip(-amount, 0, 63), left)
    return shifted


def _rounded(sums: Array, result: np.dtype[Any], fp16_ovfl: bool) -> Array:
    """Return f64 sums rounded to the result's type, as f32."""
    if result == _F16:
        limited = np.clip(sums, -65504.0, 65504.0) if fp16_ovfl else sums
        return np.asarray(limited.astype(np.float16).astype(np.float32) + np.float32(0))
    size = np.abs(sums)
    tiny = np.where(size >= _ROUNDS_UP, np.copysign(_SMALLEST, sums), 0.0)
    total = np.where(size < _SMALLEST, tiny, sums).astype(np.float32) + np.float32(0)
    if result == _BF16:
        total.view(np.uint32)[...] &= 0xFFFF0000
    return np.asarray(total)
