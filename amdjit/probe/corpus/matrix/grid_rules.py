"""Rules that add products and C as integers on grids: those of gfx12, of gfx11 and of gfx942, and
what they might be instead."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from amdjit.probe.corpus.matrix.formats import FORMATS, Bits, Integers, Numbers, taken_apart
from amdjit.probe.corpus.matrix.special_values import Specials
from amdjit.probe.corpus.matrix.sums import Sums, rounded, shifted

__all__ = ["GridRule", "order_of"]

_NONE = -(1 << 20)  # the exponent of what is 0: below all others


@dataclass(frozen=True)
class GridRule:
    """Steps of `step` products, whose sum is rounded to the result and is the C of the next.

    order: how k runs through the steps; see `order_of`. group, groups: how many products are added
    on a grid of their own first, "neighbours" or "even and odd" ones. product_bits: that grid,
    below the largest exponent of the group's products. cut: how products are put on it.
    exponents: "encoded", the sum of the factors', or "leading", that of the product's first bit.
    sum_bits, c_sum_bits: the final grid, below the largest exponent of products and below C's.
    groups_meet: whether groups are cut to the largest group's grid before. c_bits: the grid of C
    below the larger of both, None for the final one. c_floor: the least exponent of C; without
    it, a C of 0 has none. c_drops: C counts as 0 if it is more bits below. c_exception: whether a
    negative C that vanishes counts as 0. kept: bits after the leading one that reach the rounding.
    relative: whether all is taken in C's sign, terms of the other one as one's complements.
    flushes_factors, flushes_c, flushes_result: whether subnormal numbers are zeros. rounding: see
    `rounded`. narrowing: how bf16 comes of the f32 result, "truncation" or "nearest". final_only:
    whether only the last step rounds to the result's type, the others to f32. negative_zero:
    whether a sum of 0 takes C's sign.
    """

    step: int = 4
    order: str = "ascending"
    group: int = 2
    groups: str = "neighbours"
    product_bits: int = 24
    cut: str = "floor"
    exponents: str = "encoded"
    sum_bits: int = 24
    c_sum_bits: int = 26
    groups_meet: bool = False
    c_bits: int | None = None
    c_floor: bool = True
    c_cut: str = "floor"
    c_drops: int | None = None
    c_exception: bool = True
    kept: int | None = None
    relative: bool = False
    flushes_factors: bool = False
    flushes_c: bool = False
    flushes_result: bool = False
    vanishing_sign: bool = False
    rounding: str = "nearest even"
    narrowing: str = "truncation"
    final_only: bool = False
    negative_zero: bool = False
    specials: Specials = field(default_factory=Specials)

    def __call__(self, sums: Sums) -> Bits:
        """Return the sums' bits in the result's type."""
        sums = sums.ordered(order_of(self.order, sums.depth))
        left, right = sums.factors()
        if self.flushes_factors:
            left, right = (
                each.without_subnormal(FORMATS[kind].lowest)
                for each, kind in zip((left, right), sums.kinds, strict=False)
            )
        total, result = sums.c, sums.kinds[2]
        kind = "f32" if self.final_only else result
        if kind != result:
            total = _widened(total, result)
        length = min(self.step, sums.depth)
        for first in range(0, sums.depth, length):
            k = (slice(None), slice(first, first + length))
            total = self._step(left.at(k), right.at(k), total, kind)
        if kind != result:
            total = _half(total) if result == "f16" else _narrowed(total, self.narrowing)
        return self.specials.finished(total, result)

    def _step(self, left: Numbers, right: Numbers, added: Bits, kind: str) -> Bits:
        wide = added << np.uint64(16) if kind == "bf16" else added
        own = taken_apart(wide, "f32" if kind == "bf16" else kind)
        if self.flushes_c:
            own = own.without_subnormal(FORMATS["f16" if kind == "f16" else "f32"].lowest)
        units, grid = self._sum(left, right, own, kind)
        total = self._rounded(units, grid, kind, own)
        decided, bits = self.specials.decide(left, right, added, own, kind)
        return np.where(decided, bits, total)

    def _sum(
        self, left: Numbers, right: Numbers, own: Numbers, state: str
    ) -> tuple[Integers, Integers]:
        """Return the step's sum as integers on a grid."""
        product = left.significand * right.significand
        exponent = left.exponent + right.exponent
        last_bit = exponent - left.fraction_bits - right.fraction_bits
        if self.exponents == "leading":
            exponent = last_bit + np.frexp(np.abs(product).astype(np.float64))[1] - 1
        exponent = np.where(product == 0, _NONE, exponent)
        top = exponent.max(axis=1)
        c_top = self._c_exponent(own, state)
        grid = np.maximum(top - self.sum_bits, c_top - self.c_sum_bits)
        if self.c_bits is not None:
            highest = np.maximum(top, c_top)
            grid = highest - self.sum_bits
        if self.relative:
            return self._relative(product, last_bit, left, right, own, grid), grid
        total = np.zeros(grid.shape, np.int64)
        meeting = top - self.product_bits if self.groups_meet else grid
        for members in self._members(product.shape[1]):
            total = total + self._group(
                product[:, members], exponent[:, members], last_bit[:, members], meeting
            )
        total = shifted(total, np.where(total == 0, 0, meeting - grid))
        return total + self._own(own, grid, top, c_top, state), grid

    def _members(self, count: int) -> list[NDArray[np.int64]]:
        size = min(self.group, count)
        places = np.arange(count)
        if self.groups == "even and odd":
            return [places[first::2] for first in range(min(2, count))]
        return [places[first : first + size] for first in range(0, count, size)]

    def _group(
        self, product: Integers, exponent: Integers, last: Integers, grid: Integers
    ) -> Integers:
        """Return a group's sum on a grid."""
        own = exponent.max(axis=1)
        inner = own - self.product_bits
        held = shifted(product, np.where(product == 0, 0, last - inner[:, None]), self.cut)
        units = held.sum(axis=1)
        return shifted(units, np.where(units == 0, 0, inner - grid))

    def _c_exponent(self, own: Numbers, state: str) -> Integers:
        """Return C's exponent as it takes part in the grid."""
        floor = -14 if state == "f16" else -126
        leading = np.where(
            own.significand == 0,
            _NONE,
            np.frexp(np.abs(own.significand).astype(np.float64))[1] - 1
            + own.exponent - own.fraction_bits,
        )  # fmt: skip
        if self.c_floor or state == "f16":
            return np.maximum(leading, floor)
        return leading

    def _own(
        self, own: Numbers, grid: Integers, top: Integers, c_top: Integers, state: str
    ) -> Integers:
        """Return C on the final grid."""
        last = own.exponent - own.fraction_bits
        if self.c_drops is not None:
            drops = c_top < np.maximum(top, c_top) - self.c_drops
            significand = np.where(drops, 0, own.significand)
        else:
            significand = own.significand
        coarse = grid if self.c_bits is None else np.maximum(top, c_top) - self.c_bits
        units = shifted(significand, last - coarse, self.c_cut)
        if self.c_exception:
            floor = -14 if state == "f16" else -126
            vanished = (significand < 0) & (shifted(-significand, last - coarse) == 0)
            units = np.where(vanished & (coarse > floor), 0, units)
        return shifted(units, coarse - grid)

    def _relative(
        self, product: Integers, last: Integers, left: Numbers, right: Numbers, own: Numbers,
        grid: Integers,
    ) -> Integers:  # fmt: skip
        """Return the sum in C's sign, opposing terms as one's complements."""
        negative = left.negative != right.negative
        sizes = shifted(np.abs(product), last - grid[:, None])
        opposes = negative != own.negative[:, None]
        terms = np.where(opposes, ~sizes, sizes).sum(axis=1)
        c_units = shifted(np.abs(own.significand), own.exponent - own.fraction_bits - grid)
        total = c_units + terms
        nothing = (np.abs(product).sum(axis=1) + np.abs(own.significand)) == 0
        total = np.where(own.negative, -total, total)
        return np.where(nothing, 0, total)

    def _rounded(self, units: Integers, grid: Integers, kind: str, own: Numbers) -> Bits:
        if self.kept is not None:
            leading = grid + np.frexp(np.abs(units).astype(np.float64))[1] - 1
            cut = np.clip(np.maximum(leading, -126) - self.kept - grid, 0, 62)
            units = units >> cut << cut
        if kind != "bf16":
            bits = rounded(units, grid, kind, self.rounding)
        else:
            bits = rounded(units, grid, "f32", self.rounding)
        if self.flushes_result:
            exponent = np.uint64(0x7C00 if kind == "f16" else 0x7F800000)
            bits = np.where(bits & exponent == 0, np.uint64(0), bits)
        if not self.vanishing_sign:
            magnitude = np.uint64((1 << (15 if kind == "f16" else 31)) - 1)
            bits = np.where(bits & magnitude == 0, np.uint64(0), bits)
        if self.negative_zero:
            sign = np.uint64(1 << (15 if kind == "f16" else 31))
            bits = np.where((units == 0) & own.negative, sign, bits)
        return _narrowed(bits, self.narrowing) if kind == "bf16" else bits


def _widened(bits: Bits, kind: str) -> Bits:
    """Return floats of 16 bits as f32."""
    if kind == "bf16":
        return bits << np.uint64(16)
    with np.errstate(invalid="ignore"):
        wide = bits.astype(np.uint16).view(np.float16).astype(np.float32)
    return wide.view(np.uint32).astype(np.uint64)


def _half(bits: Bits) -> Bits:
    """Return f32 as f16."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        half = bits.astype(np.uint32).view(np.float32).astype(np.float16)
    return half.view(np.uint16).astype(np.uint64)


def _narrowed(bits: Bits, narrowing: str) -> Bits:
    """Return f32 as bf16."""
    if narrowing == "truncation":
        return bits >> np.uint64(16)
    return bits + np.uint64(0x7FFF) + (bits >> np.uint64(16) & np.uint64(1)) >> np.uint64(16)


def order_of(order: str, depth: int) -> NDArray[np.int64]:
    """Return k in the order in which it is added.

    "ascending", "descending", "halves by 1", "halves by 2", "halves by 4" (a run of the first half,
    then one of the second), "even, odd" (all even k first).
    """
    k = np.arange(depth)
    if order == "descending":
        return k[::-1].copy()
    if order == "even, odd":
        return np.concatenate([k[::2], k[1::2]])
    if order.startswith("halves by"):
        run = int(order.rpartition(" ")[2])
        half = depth // 2
        if half % run or not half:
            return k
        return k.reshape(2, half // run, run).transpose(1, 0, 2).reshape(-1)
    return k
