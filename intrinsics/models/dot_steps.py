"""Sums of products as the dot units of gfx12 compute them, bit for bit, in NumPy over whole arrays.

WMMA and SWMMAC are chains of steps, each of four products along k (DOT4); `v_dot2_*` is one step of
two products. A step adds its products and C, the result of the step before, as integers on one
grid, and rounds once, to the result's format:

- The grid is 2**g, g = max(e_a + e_b - 24 of each product that is not 0, max(L, exponent of C) -
  26). e_a and e_b are the factors' exponents as they are encoded, the lowest one for subnormals; L
  is -126, or -14 for f16 results.
- The sum of two neighbouring products is floored to the grid, and so is C. A negative C that
  vanishes there is 0 if g > L.
- Their sum is rounded to the nearest, ties to even. A bf16 result is the upper half of the f32 one.
- NaN among the factors, then infinity times 0 or infinities of both signs, then NaN as C, then
  infinity decide the result, in this order.
- For fp8 and bf8, which nobody has measured, each of the four products is floored to the largest
  e_a + e_b - 24, and then their sum to the grid.

Numbers here are f64. 2**g and 2**-g are made by writing exponents into the upper 16 bits; `floor`
of a number times 2**-g is the integer on the grid. The sum of two products is exact in f64 if their
exponents are not too far apart, as in nearly all data. Otherwise each product is first floored to
the larger one's grid, which does not change the sum.

Sources: ROCm/rocm-systems, issue 12056 and pull request 12120: measured on a Radeon AI PRO R9700
(gfx1201); for fp8 and bf8, rocjitsu's `gfx12_dot.h` in the same place.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["decided_by_specials", "dot", "multiply_accumulate", "narrowed", "smallest_normal"]

Array = np.ndarray[Any, Any]
_ALL = slice(None)

_BF16, _F16, _F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(np.float32)

# Exponents are kept where f64 has them in its upper 16 bits, above 4 bits of the fraction.
_SHIFT, _BIAS, _EXPONENT = 4, 1023, 0x7FF0
# The exponent of a factor that is 0: the sum of two of them still fits in 16 bits.
_NO_EXPONENT = -400 << _SHIFT
_LOWEST_GROUP_GRID = (_BIAS - 300) << _SHIFT  # below those of all products
_UPPER = 3 if sys.byteorder == "little" else 0
_INFINITY, _NEGATIVE_INFINITY, _INVALID, _QUIET = 0x7F800000, 0xFF800000, 0xFFC00000, 0x00400000
# The result of a NaN among the factors, as an f32; narrowed, it is 0xfe3d and 0xfffd.
_FACTOR_NAN: Mapping[np.dtype[Any], int] = MappingProxyType(
    {_F32: 0xFFC00A3D, _F16: 0xFFC7A000, _BF16: 0xFFFD0000}
)
# The type represents all integers up to this one.
_LARGEST_INTEGER: Mapping[np.dtype[Any], int] = MappingProxyType(
    {_F32: 1 << 24, _F16: 1 << 11, _BF16: 1 << 8}
)
_TILE = 128  # rows and columns per turn, so that a step's data stays in a core's cache


@dataclass(frozen=True, slots=True)
class _Format:
    """How factors are encoded."""

    exponent_bits: int
    fraction_bits: int


_FORMATS: Mapping[np.dtype[Any], _Format] = MappingProxyType(
    {
        _F16: _Format(5, 10),
        _BF16: _Format(8, 7),
        np.dtype(ml_dtypes.float8_e4m3fn): _Format(4, 3),
        np.dtype(ml_dtypes.float8_e5m2): _Format(5, 2),
    }
)


def smallest_normal(factors: np.dtype[Any]) -> float:
    """Return the smallest normal number of a type; subnormal factors have its exponent."""
    return float(2.0 ** (2 - (1 << _FORMATS[factors].exponent_bits - 1)))


@dataclass(frozen=True, slots=True)
class _Factors:
    """A as [groups, ..., rows, width] or B as [groups, ..., width, columns]: groups of neighbours
    along k.

    values: as f64, 0 where not finite. exponents: see `_SHIFT`. For each group, spread is the
    largest difference between exponents in a row or column, and special says whether the group has
    NaN or infinities.
    """

    raw: Array
    values: Array
    exponents: Array
    spread: Array
    special: Array

    def part(self, groups: slice, rows: slice, columns: slice) -> _Factors:
        """Return some of the groups, with some rows and columns of the last two axes."""
        at = (groups, ..., rows, columns)
        return _Factors(
            self.raw[at],
            self.values[at],
            self.exponents[at],
            self.spread[groups],
            self.special[groups],
        )


def _factors(raw: Array, axis: int, added: int = 0) -> _Factors:
    """Take grouped factors apart. axis: the axis of a group's members; added: a number added to all
    exponents."""
    format = _FORMATS[raw.dtype]
    raw = np.ascontiguousarray(raw)
    bits = raw.view(f"u{raw.dtype.itemsize}")
    field = (bits >> format.fraction_bits & (1 << format.exponent_bits) - 1).astype(np.int16)
    values = raw.astype(np.float64)
    finite = np.isfinite(values)
    values = np.where(finite, values, 0)
    bias = (1 << format.exponent_bits - 1) - 1
    exponents = (np.maximum(field, 1) - bias) << _SHIFT
    there = values != 0
    highest = np.max(exponents, axis=axis, where=there, initial=_NO_EXPONENT)
    lowest = np.min(exponents, axis=axis, where=there, initial=-_NO_EXPONENT)
    others = tuple(range(1, raw.ndim))
    spread = np.maximum(highest - lowest, 0).max(axis=others[:-1]) >> _SHIFT
    exponents = (np.where(there, exponents, _NO_EXPONENT) + (added << _SHIFT)).astype(np.int16)
    return _Factors(raw, values, exponents, spread, np.asarray(~finite.all(axis=others)))


@dataclass(frozen=True, slots=True)
class _Work:
    """Working arrays of one shape for the steps. unit, inverse: 2**g and 2**-g; sums: the sum of
    each group."""

    unit: Array
    inverse: Array
    added: Array
    floored: Array
    sums: Array
    grid: Array
    exponent: Array

    @classmethod
    def of(cls, shape: tuple[int, ...], groups: int) -> _Work:
        unit, inverse, added, floored = (np.zeros(shape) for _ in range(4))
        grid, exponent = np.empty(shape, np.int16), np.empty(shape, np.int16)
        return cls(unit, inverse, added, floored, np.empty((groups, *shape)), grid, exponent)


@dataclass(frozen=True, slots=True)
class _Dots:
    """Chains of steps. groups: groups of products in a step; result: the type that each step rounds
    to.

    widest: the largest difference between exponents in a group whose sum is taken in one operation.
    """

    left: _Factors
    right: _Factors
    groups: int
    widest: int
    result: np.dtype[Any]
    fp16_ovfl: bool

    def run(self, rows: slice, columns: slice, total: Array) -> None:
        """Add the contribution of all steps to a part of the result, in place. total: f32."""
        work = _Work.of(total.shape, self.groups)
        for first in range(0, len(self.left.raw), self.groups):
            groups = slice(first, first + self.groups)
            left, right = self.left.part(groups, rows, _ALL), self.right.part(groups, _ALL, columns)
            self._step(left, right, total, work)

    def _step(self, left: _Factors, right: _Factors, total: Array, work: _Work) -> None:
        work.added[...] = total
        has_special = (
            self._place_grid(left, right, work) or left.special.any() or right.special.any()
        )
        if (left.spread + right.spread).max() <= self.widest:
            np.matmul(left.values, right.values, out=work.sums)
        else:
            _floor_each(left, right, work)
        np.multiply(work.sums, work.inverse, out=work.sums)
        np.floor(work.sums, out=work.sums)
        self._floor_added(work)
        for each in work.sums:
            np.add(work.floored, each, out=work.floored)
        np.multiply(work.floored, work.unit, out=work.floored)
        decided = (
            decided_by_specials(left.raw, right.raw, total, self.result) if has_special else None
        )
        self._round(work.floored, total)
        if decided is not None:
            where, bits = decided
            np.copyto(total.view(np.uint32), bits, where=where)

    def _place_grid(self, left: _Factors, right: _Factors, work: _Work) -> bool:
        """Write 2**g and 2**-g; return whether C holds NaN or infinity."""
        np.bitwise_and(_upper(work.added), _EXPONENT, out=work.grid)
        has_special = bool(work.grid.max() == _EXPONENT)
        np.maximum(work.grid, self._lowest, out=work.grid)
        np.subtract(work.grid, 26 << _SHIFT, out=work.grid)
        for group in range(len(left.exponents)):
            for member in range(left.exponents.shape[-1]):
                _product_grid(left, right, (group, member), work.exponent)
                np.maximum(work.grid, work.exponent, out=work.grid)
        _write_powers(work, work.grid)
        return has_special

    @property
    def _lowest(self) -> int:
        """Return L, placed as f64 places exponents."""
        return (_BIAS - (14 if self.result == _F16 else 126)) << _SHIFT

    def _floor_added(self, work: _Work) -> None:
        """Write C as an integer on the grid."""
        np.multiply(work.added, work.inverse, out=work.added)
        np.floor(work.added, out=work.floored)
        vanished = work.floored == -1
        if vanished.any():
            vanished &= (work.added > -1) & (work.grid > self._lowest)
            work.floored[vanished] = 0

    def _round(self, sums: Array, total: Array) -> None:
        """Round to the result's type, zeros to +0."""
        if self.result == _F16:
            total[...] = (np.clip(sums, -65504.0, 65504.0) if self.fp16_ovfl else sums).astype(
                np.float16
            )
        else:
            total[...] = sums
        total += np.float32(0)
        if self.result == _BF16:
            total.view(np.uint32)[...] &= 0xFFFF0000


def _upper(numbers: Array) -> Array:
    """Return a writable view of the upper 16 bits of f64."""
    return numbers.view(np.int16)[..., _UPPER::4]


def _write_powers(work: _Work, grid: Array) -> None:
    _upper(work.unit)[...] = grid
    np.subtract(2 * _BIAS << _SHIFT, grid, out=_upper(work.inverse))


def _product_grid(left: _Factors, right: _Factors, at: tuple[int, int], out: Array) -> None:
    """Write e_a + e_b - 24 of the products of one k, placed as f64 places exponents."""
    group, member = at
    np.add(
        left.exponents[group][..., member, None],
        right.exponents[group][..., None, member, :],
        out=out,
    )


def _floor_each(left: _Factors, right: _Factors, work: _Work) -> None:
    """Write the groups' sums, each product floored to its group's largest grid, and leave the
    powers as they are."""
    grid = np.empty_like(work.grid)
    kept = work.unit.copy(), work.inverse.copy()
    for group, out in enumerate(work.sums):
        grid.fill(_LOWEST_GROUP_GRID)
        members = range(left.exponents.shape[-1])
        for member in members:
            _product_grid(left, right, (group, member), work.exponent)
            np.maximum(grid, work.exponent, out=grid)
        _write_powers(work, grid)
        out.fill(0)
        for member in members:
            product = (
                left.values[group][..., member, None] * right.values[group][..., None, member, :]
            )
            out += np.floor(product * work.inverse)
        out *= work.unit
    work.unit[...], work.inverse[...] = kept


def decided_by_specials(
    left: Iterable[Array], right: Iterable[Array], total: Array, result: np.dtype[Any]
) -> tuple[Array, Array]:
    """Return where NaN and infinities decide a step's results, and the bits of these results as
    f32.

    left, right: groups of A [..., rows, width] and B [..., width, columns]; total: C as f32.
    """
    factor_nan, invalid, plus, minus = (np.zeros(total.shape, bool) for _ in range(4))
    is_byte = False
    for a, b in zip(left, right, strict=True):
        is_byte = a.dtype.itemsize == 1
        for member in range(a.shape[-1]):
            x, y = (
                a[..., member, None].astype(np.float32),
                b[..., None, member, :].astype(np.float32),
            )
            factor_nan |= np.isnan(x) | np.isnan(y)
            infinite = np.isinf(x) | np.isinf(y)
            invalid |= infinite & ((x == 0) | (y == 0))
            negative = np.signbit(x) ^ np.signbit(y)
            plus |= infinite & ~negative
            minus |= infinite & negative
    invalid |= plus & minus
    added_nan = np.isnan(total)
    plus |= np.isposinf(total)
    minus |= np.isneginf(total)
    nan = _FACTOR_NAN[result]
    invalid_bits = nan if is_byte else _INVALID
    bits = np.where(minus, np.uint32(_NEGATIVE_INFINITY), np.uint32(_INFINITY))
    bits[plus & minus] = invalid_bits
    bits = np.where(added_nan, total.view(np.uint32) | np.uint32(_QUIET), bits)
    bits[invalid] = invalid_bits
    bits[factor_nan] = nan
    return factor_nan | invalid | plus | minus | added_nan, bits


def multiply_accumulate(
    a: Array, b: Array, c: Array, *, step: int = 4, fp16_ovfl: bool = False
) -> Array:
    """Return c + a b, of c's type (f32, f16, bf16), in steps of `step` products along k.

    a: [..., m, k], b: [..., k, n] of f16 or bf16, or of fp8 and bf8 in any mix; c: [..., m, n].
    fp16_ovfl: the bit of MODE under which sums that overflow f16 become its largest number.
    """
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        total = _sum_of_integers(a, b, c)
        if total is None:
            total = c.astype(np.float32)
            dots = _dots(a, b, c.dtype, step, fp16_ovfl)
            for row in range(0, c.shape[-2], _TILE):
                for column in range(0, c.shape[-1], _TILE):
                    rows, columns = slice(row, row + _TILE), slice(column, column + _TILE)
                    part = np.ascontiguousarray(total[..., rows, columns])
                    dots.run(rows, columns, part)
                    total[..., rows, columns] = part
        return narrowed(total, c.dtype)


def _dots(a: Array, b: Array, result: np.dtype[Any], step: int, fp16_ovfl: bool) -> _Dots:
    is_byte = a.dtype.itemsize == 1
    width = step if is_byte else 2
    fractions = _FORMATS[a.dtype].fraction_bits + _FORMATS[b.dtype].fraction_bits
    left, right = (
        _factors(_grouped(a, -1, width), -1, _BIAS - 24),
        _factors(_grouped(b, -2, width), -2),
    )
    # For bytes, no product loses bits on the largest one's grid. Otherwise the sum of two has at
    # most 53 bits.
    return _Dots(left, right, step // width, (24 if is_byte else 50) - fractions, result, fp16_ovfl)


def _sum_of_integers(a: Array, b: Array, c: Array) -> Array | None:
    """Return c + a b if all are integers small enough that no step can lose a bit, else None."""
    limit = _LARGEST_INTEGER[c.dtype]
    parts = [each.astype(np.float64) for each in (a, b, c)]
    largest = [np.abs(each).max(initial=0) for each in parts]
    if not a.shape[-1] * largest[0] * largest[1] + largest[2] <= limit:
        return None
    if any((np.rint(each) != each).any() for each in parts):
        return None
    total: Array = (parts[0] @ parts[1] + parts[2]).astype(np.float32)
    return total + np.float32(0)


def _grouped(factors: Array, axis: int, width: int) -> Array:
    """Return factors with k split into groups, which become the first axis."""
    place = factors.ndim + axis
    shape = factors.shape
    split = factors.reshape(*shape[:place], shape[place] // width, width, *shape[place + 1 :])
    return np.moveaxis(split, place, 0)


def narrowed(total: Array, result: np.dtype[Any]) -> Array:
    """Convert f32 values to a type that represents them; NaN keep their payload."""
    if result == _BF16:
        return (total.view(np.uint32) >> 16).astype(np.uint16).view(_BF16)
    return total.astype(result, copy=False)


def dot(a: Array, b: Array, c: Array, *, fp16_ovfl: bool = False) -> Array:
    """Return c + the dot products of the two or four neighbours of a and b [..., 2 or 4], each in
    one step."""
    total = multiply_accumulate(
        a[..., None, :], b[..., :, None], c[..., None, None], step=a.shape[-1], fp16_ovfl=fp16_ovfl
    )
    return total[..., 0, 0]
