"""Rules that add by operations of IEEE 754, each rounded: chains of fused products, those of gfx908
and gfx90a, and others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.exact_sums import fused_f32, fused_f64, sum_rounded_once
from amdjit.probe.corpus.matrix.formats import FORMATS, Bits, Numbers
from amdjit.probe.corpus.matrix.grid_rules import order_of
from amdjit.probe.corpus.matrix.sums import Sums

__all__ = ["RoundedRule"]

Floats = NDArray[np.float64]
_SMALLEST = 2.0**-126


@dataclass(frozen=True)
class RoundedRule:
    """Steps of `step` products, whose result is the C of the next.

    how: "fused" (each product and sum rounded once), "unfused" (products rounded, then added one
    after the other), "pairs" (products rounded and added in pairs, then to C) or "exact" (all
    rounded once). order: see `order_of`. flushes_factors, flushes_c, flushes_products,
    flushes_result: whether subnormal numbers are zeros; of factors and C +0, else of their sign.
    nan: the bits of every NaN, None if the sums are made of f64. final_only: whether f16 and bf16
    results are rounded at the end only.
    """

    how: str = "fused"
    step: int = 1
    order: str = "ascending"
    flushes_factors: bool = False
    flushes_c: bool = False
    flushes_products: bool = False
    flushes_result: bool = False
    nan: int = 0x7FC00000
    final_only: bool = True

    def __call__(self, sums: Sums) -> Bits:
        """Return the sums' bits in the result's type."""
        sums = sums.ordered(order_of(self.order, sums.depth))
        left, right = (
            self._factors(each, kind)
            for each, kind in zip(sums.factors(), sums.kinds, strict=False)
        )
        result = sums.kinds[2]
        total = _floats(sums.c, result)
        with np.errstate(all="ignore"):
            for first in range(0, sums.depth, self.step):
                k = slice(first, first + self.step)
                total = self._step(left[:, k], right[:, k], total, result)
                if not self.final_only:
                    total = _floats(_bits_of(total, result, self.nan), result)
        return _bits_of(total, result, self.nan)

    def _factors(self, numbers: Numbers, kind: str) -> Floats:
        if self.flushes_factors:
            flushed = numbers.without_subnormal(FORMATS[kind].lowest)
            values = _values(flushed)
            return np.where((flushed.significand == 0) & ~flushed.is_nan & ~flushed.is_infinite,
                            0.0, values)  # fmt: skip
        return _values(numbers)

    def _step(self, left: Floats, right: Floats, added: Floats, result: str) -> Floats:
        if self.flushes_c:
            added = np.where(np.abs(added) < _SMALLEST, 0.0, added)
        if result == "f64":
            return self._doubles(left, right, added)
        if self.how == "fused":
            total = added.astype(np.float32)
            for a, b in zip(left.T, right.T, strict=True):
                total = self._flushed(fused_f32(a, b, total))
            return total.astype(np.float64)
        if self.how == "exact":
            return self._exact(left, right, added)
        products = [
            self._flushed((a * b).astype(np.float32), self.flushes_products)
            for a, b in zip(left.T, right.T, strict=True)
        ]
        if self.how == "unfused":
            total = added.astype(np.float32)
            for each in products:
                total = self._flushed(total + each)
            return total.astype(np.float64)
        while len(products) > 1:
            odd = products[-1:] if len(products) % 2 else []
            pairs = zip(products[::2], products[1::2], strict=False)
            products = [self._flushed(x + y, self.flushes_products) for x, y in pairs] + odd
        return self._flushed(added.astype(np.float32) + products[0]).astype(np.float64)

    def _exact(self, left: Floats, right: Floats, added: Floats) -> Floats:
        products = left * right
        plain = products.sum(axis=1) + added
        total = sum_rounded_once([*products.T, added]).astype(np.float64)
        return np.where(np.isfinite(plain), self._flushed(total), plain)

    def _doubles(self, left: Floats, right: Floats, added: Floats) -> Floats:
        for a, b in zip(left.T, right.T, strict=True):
            added = fused_f64(a, b, added) if self.how == "fused" else added + a * b
        return added

    def _flushed(self, numbers: NDArray[np.floating], flushes: bool | None = None) -> NDArray:  # type: ignore[type-arg]
        if not (self.flushes_result if flushes is None else flushes):
            return numbers
        tiny = np.abs(numbers) < _SMALLEST
        return np.where(tiny, np.copysign(numbers.dtype.type(0), numbers), numbers)


def _values(numbers: Numbers) -> Floats:
    """Return numbers as f64."""
    with np.errstate(all="ignore"):
        values = np.ldexp(
            numbers.significand.astype(np.float64), numbers.exponent - numbers.fraction_bits
        )
    values = np.where(numbers.is_infinite, np.inf, np.abs(values))
    values = np.where(numbers.is_nan, np.nan, values)
    return np.copysign(values, np.where(numbers.negative, -1.0, 1.0))


def _floats(bits: Bits, kind: str) -> Floats:
    with np.errstate(all="ignore"):
        if kind == "f64":
            return bits.view(np.float64)
        if kind == "f16":
            return bits.astype(np.uint16).view(np.float16).astype(np.float64)
        wide = bits << np.uint64(16) if kind == "bf16" else bits
        return wide.astype(np.uint32).view(np.float32).astype(np.float64)


def _bits_of(values: Floats, kind: str, nan: int) -> Bits:
    if kind == "f64":
        canonical = np.where(np.isnan(values), np.nan, values)
        return np.ascontiguousarray(canonical).view(np.uint64)
    with np.errstate(all="ignore"):
        if kind == "f16":
            bits = values.astype(np.float32).astype(np.float16).view(np.uint16).astype(np.uint64)
            return np.where(np.isnan(values), np.uint64(0x7E00), bits)
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = np.where(np.isnan(values), np.uint64(nan), bits)
    if kind == "bf16":
        rounded = bits + np.uint64(0x7FFF) + (bits >> np.uint64(16) & np.uint64(1))
        return np.where(np.isnan(values), bits, rounded) >> np.uint64(16)
    return bits
