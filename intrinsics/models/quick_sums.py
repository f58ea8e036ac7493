"""The sums of gfx12's WMMA, SWMMAC and dot products, in f64: a quick path of `sums_of_products` for
usual data.

It gives the bits of the rule: tests compare them. Sums of small integers, which no step can round,
are one product of matrices. In the others all steps are computed in f64. IEEE 754 carries NaN and
infinities through them to the sums that have them by the rule, too; which NaN it is depends on the
last step whose products made one.

2**g and 2**-g, g the exponent of a grid, are made by writing exponents into the upper 16 bits;
`floor` of a number times 2**-g is the integer on the grid. The sum of two products is exact in f64
if their exponents are not too far apart, as in nearly all data. Otherwise each product is first
floored to the larger one's grid, which does not change the sum.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.intrinsics.models.sums_of_products import LARGEST_HALF
from amdjit.isa.matrix_rounding import FORMATS, GridRule

__all__ = ["multiply_accumulate"]

Array = np.ndarray[Any, Any]
_ALL = slice(None)

# Exponents are held where f64 has them in its upper 16 bits, above 4 bits of the fraction.
_SHIFT, _BIAS, _EXPONENT = 4, 1023, 0x7FF0
_F64_BITS = 53
# The exponent of a factor that is 0: the sum of two of them still fits in 16 bits.
_NO_EXPONENT = -400 << _SHIFT
_LOWEST_GROUP_GRID = (_BIAS - 300) << _SHIFT  # below those of all products
_UPPER = 3 if sys.byteorder == "little" else 0
_TILE = 128  # rows and columns per turn, so that a step's data stays in a core's cache


@dataclass(frozen=True, slots=True)
class _Factors:
    """A as [groups, ..., rows, width] or B as [groups, ..., width, columns]: groups of neighbours
    along k.

    values: as f64. exponents: see `_SHIFT`. For each group, spread is the largest difference
    between exponents of numbers in a row or column, and special says whether there are NaN or
    infinities.
    """

    values: Array
    exponents: Array
    spread: Array
    special: Array

    def part(self, groups: slice, rows: slice, columns: slice) -> _Factors:
        """Return some of the groups, with some rows and columns of the last two axes."""
        at = (groups, ..., rows, columns)
        return _Factors(
            self.values[at], self.exponents[at], self.spread[groups], self.special[groups]
        )


def _factors(raw: Array, kind: str, axis: int, added: int = 0) -> _Factors:
    """Take grouped factors apart. axis: the axis of a group's members; added: a number added to all
    exponents."""
    form = FORMATS[kind]
    raw = np.ascontiguousarray(raw)
    bits = raw.view(f"u{raw.dtype.itemsize}")
    field = (bits >> form.fraction_bits & form.top).astype(np.int16)
    values = raw.astype(np.float64)
    finite = np.isfinite(values)
    exponents = (np.maximum(field, 1) - form.bias) << _SHIFT
    there = (values != 0) & finite
    highest = np.max(exponents, axis=axis, where=there, initial=_NO_EXPONENT)
    lowest = np.min(exponents, axis=axis, where=there, initial=-_NO_EXPONENT)
    others = tuple(range(1, raw.ndim))
    spread = np.maximum(highest - lowest, 0).max(axis=others[:-1]) >> _SHIFT
    exponents = (np.where(there, exponents, _NO_EXPONENT) + (added << _SHIFT)).astype(np.int16)
    return _Factors(values, exponents, spread, np.asarray(~finite.all(axis=others)))


@dataclass(frozen=True, slots=True)
class _Work:
    """Working arrays of one shape for the steps. unit, inverse: 2**g and 2**-g; sums: the sum of
    each group; nans: the bits of the NaN that a sum is if it is one."""

    unit: Array
    inverse: Array
    added: Array
    floored: Array
    sums: Array
    grid: Array
    exponent: Array
    nans: Array

    @classmethod
    def of(cls, groups: int, nans: Array) -> _Work:
        shape = nans.shape
        unit, inverse, added, floored = (np.zeros(shape) for _ in range(4))
        grid, exponent = np.empty(shape, np.int16), np.empty(shape, np.int16)
        return cls(
            unit,
            inverse,
            added=added,
            floored=floored,
            sums=np.empty((groups, *shape)),
            grid=grid,
            exponent=exponent,
            nans=nans,
        )


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of a rule. groups: groups of products in a step; result: the type that each step
    rounds to.

    widest: the largest difference between exponents in a group whose sum is taken in one operation.
    """

    rule: GridRule
    left: _Factors
    right: _Factors
    groups: int
    widest: int
    result: str
    fp16_ovfl: bool

    @classmethod
    def of(
        cls, rule: GridRule, a: Array, b: Array, kinds: tuple[str, str, str], fp16_ovfl: bool
    ) -> _Steps:
        step = min(rule.step, a.shape[-1])
        width = min(rule.group, step)
        fractions = FORMATS[kinds[0]].fraction_bits + FORMATS[kinds[1]].fraction_bits
        # Of more than two, no product may lose bits on the largest one's grid. The sum of two may
        # have as many bits as f64.
        widest = (_F64_BITS - 3 if width == 2 else rule.product_bits) - fractions
        left = _factors(_grouped(a, -1, width), kinds[0], -1, _BIAS - rule.product_bits)
        right = _factors(_grouped(b, -2, width), kinds[1], -2)
        return cls(
            rule,
            left,
            right=right,
            groups=step // width,
            widest=widest,
            result=kinds[2],
            fp16_ovfl=fp16_ovfl,
        )

    def run(self, rows: slice, columns: slice, total: Array, nans: Array) -> None:
        """Add the contribution of all steps to a part of the result, in place. total: f32."""
        work = _Work.of(self.groups, nans)
        for first in range(0, len(self.left.values), self.groups):
            groups = slice(first, first + self.groups)
            left, right = self.left.part(groups, rows, _ALL), self.right.part(groups, _ALL, columns)
            self._step(left, right, total, work)

    def _step(self, left: _Factors, right: _Factors, total: Array, work: _Work) -> None:
        work.added[...] = total
        self._place_grid(left, right, work)
        if (left.spread + right.spread).max() <= self.widest:
            np.matmul(left.values, right.values, out=work.sums)
        else:
            _floor_each(left, right, work)
        np.multiply(work.sums, work.inverse, out=work.sums)
        np.floor(work.sums, out=work.sums)
        self._floor_added(work)
        products, *others = work.sums
        for each in others:
            np.add(products, each, out=products)
        if left.special.any() or right.special.any():
            self._note_nans(left, right, products, work.nans)
        np.add(work.floored, products, out=work.floored)
        np.multiply(work.floored, work.unit, out=work.floored)
        self._round(work.floored, total)

    def _place_grid(self, left: _Factors, right: _Factors, work: _Work) -> None:
        """Write 2**g and 2**-g."""
        np.bitwise_and(_upper(work.added), _EXPONENT, out=work.grid)
        np.maximum(work.grid, self._lowest, out=work.grid)
        np.subtract(work.grid, self.rule.c_sum_bits << _SHIFT, out=work.grid)
        for group in range(len(left.exponents)):
            for member in range(left.exponents.shape[-1]):
                _product_grid(left, right, (group, member), work.exponent)
                np.maximum(work.grid, work.exponent, out=work.grid)
        _write_powers(work, work.grid)

    @property
    def _lowest(self) -> int:
        """Return C's least exponent, placed as f64 places exponents."""
        return (_BIAS + FORMATS[self.result].lowest) << _SHIFT

    def _floor_added(self, work: _Work) -> None:
        """Write C as an integer on the grid."""
        np.multiply(work.added, work.inverse, out=work.added)
        np.floor(work.added, out=work.floored)
        vanished = work.floored == -1
        if vanished.any():
            vanished &= (work.added > -1) & (work.grid > self._lowest)
            work.floored[vanished] = 0

    def _note_nans(self, left: _Factors, right: _Factors, products: Array, nans: Array) -> None:
        """Write which NaN the products of a step make. products: their sum."""
        specials = self.rule.specials
        rows = np.isnan(left.values).any((0, -1), keepdims=True)
        columns = np.isnan(right.values).any((0, -2), keepdims=True)
        factor_nan = np.asarray(rows | columns)[0]
        nans[np.isnan(products)] = specials.nan(specials.invalid, self.result)
        np.copyto(nans, specials.nan(specials.factor_nan, self.result), where=factor_nan)

    def _round(self, sums: Array, total: Array) -> None:
        """Round to the result's type, zeros to +0."""
        if self.result == "f16":
            if self.fp16_ovfl:
                np.clip(sums, -LARGEST_HALF, LARGEST_HALF, out=sums, where=np.isfinite(sums))
            total[...] = sums.astype(np.float16)
        else:
            total[...] = sums
        total += np.float32(0)
        if self.result == "bf16":
            total.view(np.uint32)[...] &= 0xFFFF0000


def _upper(numbers: Array) -> Array:
    """Return a writable view of the upper 16 bits of f64."""
    return numbers.view(np.int16)[..., _UPPER::4]


def _write_powers(work: _Work, grid: Array) -> None:
    _upper(work.unit)[...] = grid
    np.subtract(2 * _BIAS << _SHIFT, grid, out=_upper(work.inverse))


def _product_grid(left: _Factors, right: _Factors, at: tuple[int, int], out: Array) -> None:
    """Write the grids of the products of one k, placed as f64 places exponents."""
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


def multiply_accumulate(
    rule: GridRule,
    a: Array,
    b: Array,
    c: Array,
    kinds: tuple[str, str, str],
    *,
    fp16_ovfl: bool = False,
) -> Array:
    """Return c + a b by a rule of gfx12, as `sums_of_products.multiply_accumulate` does."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        total = _sum_of_integers(a, b, c, kinds[2])
        if total is not None:
            return _narrowed(total, c)
        return _total(_Steps.of(rule, a, b, kinds, fp16_ovfl), c)


def _total(steps: _Steps, c: Array) -> Array:
    """Return what all steps make of C."""
    total, bits = c.astype(np.float32), np.ascontiguousarray(c).view(f"u{c.dtype.itemsize}")
    specials, quiet = steps.rule.specials, 1 << FORMATS[steps.result].fraction_bits - 1
    # Without a NaN among the operands of C's step, infinities of both signs make one.
    invalid = bits.dtype.type(specials.nan(specials.invalid, steps.result))
    nans = np.where(np.isnan(total), bits | bits.dtype.type(quiet), invalid)
    for row in range(0, c.shape[-2], _TILE):
        for column in range(0, c.shape[-1], _TILE):
            at = (..., slice(row, row + _TILE), slice(column, column + _TILE))
            part = np.ascontiguousarray(total[at])
            steps.run(at[1], at[2], part, nans[at])
            total[at] = part
    found = np.where(np.isnan(total), nans, _narrowed(total, c).view(bits.dtype))
    return found.view(c.dtype)


def _sum_of_integers(a: Array, b: Array, c: Array, result: str) -> Array | None:
    """Return c + a b if all are integers small enough that no step can lose a bit, else None."""
    # The result's type represents all integers up to this one.
    limit = 2 << FORMATS[result].fraction_bits
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


def _narrowed(total: Array, c: Array) -> Array:
    """Return f32 numbers that C's type represents in that type."""
    return total.astype(c.dtype, copy=False)
