"""Sums of products as the matrix cores of CDNA 1 to 3 compute them, by published rules, in NumPy
over whole arrays.

A product of matrices goes along k in steps; the result of a step is the C of the next. Exponents
are those of encodings: a subnormal number has that of the smallest normal one. One step adds
products p of a and b to C:

- `chain` (f64, f32): one product, fused, rounded to the nearest, ties to even.
- `exact` (gfx908): the exact sum, rounded once. Subnormal numbers are kept.
- `pairs` (gfx90a): subnormal factors and a subnormal C are +0. Each product is rounded to f32, then
  p0 + p1, p2 + p3, their sum, and C plus that; each subnormal result becomes a zero of its sign.
- `grid` (gfx942): products are cut towards zero to multiples of 2**(e - 24), e the largest exponent
  of a product, the sum of its factors'. With m the larger of e and C's exponent (-126 for 0), their
  exact sum is floored to 2**(m - 32), and C to 2**(m - 24). These are added, floored to 31 bits
  after the leading one (of 2**-126 at least), and rounded to f32.
- `halves` (gfx942, 8-bit floats): the products of even k and of odd k are cut and added as in
  `grid`, each with its own e. Both sums are floored to 24 bits below the larger e, and added; then
  as `grid`, but C is 0 if its exponent is below m - 25.

On gfx942 a finite product of 2**128 or more counts as infinite. A NaN, infinity times 0 and
infinities of both signs give NaN; an infinity otherwise wins. The sign of a zero result is not
known but for `pairs` and `chain`; it is + here. NaN is 0x7fffffff on gfx942; on the others nobody
has published which NaN it is, and it is 0x7fc00000 here.

Sources: MMA-Sim 2.1.1 (arXiv 2511.10909), whose authors fitted these rules to an MI100, an MI250X
and an MI300X; of the MI100 they are the least certain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from amdjit.intrinsics.models.exact_sums import fused_f32, fused_f64, sum_rounded_once

Array = np.ndarray[Any, Any]
Step = Callable[["Terms", Array], Array]

# The exponent that the byte 255 of a scale would have (OCP Microscaling Formats 1.0, "E8M0").
NAN_SCALE = 128
# The exponent of the products if all of them are 0: below all others.
_NONE = -(1 << 20)
_LOWEST = -126
_SMALLEST = np.float32(2.0**_LOWEST)


@dataclass(frozen=True, slots=True)
class Factors:
    """A or B, taken apart. value: the numbers as f64; significand: as integers, at 2**(exponent -
    fraction_bits)."""

    value: Array
    significand: Array
    exponent: Array
    fraction_bits: int
    smallest_normal: float

    @classmethod
    def of(cls, numbers: Array, shift: Array | None = None) -> Factors:
        """Take floats apart. shift: exponents to add to theirs, of scales; `NAN_SCALE` makes
        them NaN."""
        information: Any = ml_dtypes.finfo(numbers.dtype)  # type: ignore[no-untyped-call]
        fraction_bits, lowest = int(information.nmant), int(information.minexp)
        with np.errstate(invalid="ignore"):
            value = numbers.astype(np.float64)
        finite = np.where(np.isfinite(value), value, 0.0)
        exponent = np.maximum(np.frexp(finite)[1] - 1, lowest).astype(np.int64)
        significand = np.ldexp(finite, fraction_bits - exponent).astype(np.int64)
        if shift is not None:
            scaled = np.ldexp(value, shift)
            value, exponent = np.where(shift == NAN_SCALE, np.nan, scaled), exponent + shift
        return cls(value, significand, exponent, fraction_bits, 2.0**lowest)

    def part(self, at: Any) -> Factors:
        """Return some of the factors."""
        return Factors(
            self.value[at], self.significand[at], self.exponent[at], self.fraction_bits,
            self.smallest_normal,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Terms:
    """The products of one step, the first axis along k. value: as f64, exact where it is finite;
    significand: as integers, at 2**(exponent - fraction_bits)."""

    left: Array
    right: Array
    value: Array
    significand: Array
    exponent: Array
    fraction_bits: int
    smallest_normal: float

    @classmethod
    def of(cls, left: Factors, right: Factors) -> Terms:
        """Multiply a[..., m, k] by b[..., k, n]."""
        x, y = _along_first(left, -1), _along_first(right, -2)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            return cls(
                x.value, y.value, x.value * y.value, x.significand * y.significand,
                x.exponent + y.exponent, x.fraction_bits + y.fraction_bits, x.smallest_normal,
            )  # fmt: skip

    def every_second(self, first: int) -> Terms:
        """Return the products of even (0) or odd (1) k."""
        at = slice(first, None, 2)
        return Terms(
            self.left[at], self.right[at], self.value[at], self.significand[at],
            self.exponent[at], self.fraction_bits, self.smallest_normal,
        )  # fmt: skip


def _along_first(factors: Factors, axis: int) -> Factors:
    """Return factors [k, ..., m, 1] or [k, ..., 1, n]."""
    value, significand, exponent = (
        np.expand_dims(np.moveaxis(each, axis, 0), axis)
        for each in (factors.value, factors.significand, factors.exponent)
    )
    return Factors(value, significand, exponent, factors.fraction_bits, factors.smallest_normal)


def chain(terms: Terms, added: Array) -> Array:
    """Return C + a product, of one step of f64 or f32."""
    fused = fused_f64 if added.dtype == np.float64 else fused_f32
    return fused(terms.left[0], terms.right[0], added)


def exact(terms: Terms, added: Array) -> Array:
    """Return the sum of C and the products, rounded once: gfx908."""
    with np.errstate(invalid="ignore"):
        total = sum_rounded_once([*terms.value, added.astype(np.float64)])
    return _with_specials(terms, added, total, np.inf)


def pairs(terms: Terms, added: Array) -> Array:
    """Return C plus two or four products, which are added in pairs: gfx90a."""
    factors = (
        np.where(np.abs(each) < terms.smallest_normal, 0.0, each).astype(np.float32)
        for each in (terms.left, terms.right)
    )
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        left, right = factors
        products = [_flushed(x * y) for x, y in zip(left, right, strict=True)]
        while len(products) > 1:
            products = [_flushed(x + y) for x, y in zip(products[::2], products[1::2], strict=True)]
        own = np.where(np.abs(added) < _SMALLEST, np.float32(0), added)
        return _flushed(own + products[0])


def _flushed(numbers: Array) -> Array:
    """Return numbers with zeros of their sign instead of subnormal ones."""
    tiny = np.abs(numbers) < _SMALLEST
    return np.where(tiny, np.copysign(np.float32(0), numbers), numbers)


def grid(terms: Terms, added: Array) -> Array:
    """Return C plus products on one grid: gfx942."""
    return _with_specials(terms, added, _on_grid(*_cut_sum(terms), added, drops=False))


def halves(terms: Terms, added: Array) -> Array:
    """Return C plus products on a grid each for even and odd k: 8-bit floats of gfx942."""
    sums = [_cut_sum(terms.every_second(first)) for first in (0, 1)]
    largest = np.maximum(sums[0][1], sums[1][1])
    total = np.zeros(added.shape, np.int64)
    for units, exponent in sums:
        total = total + _shifted(units, np.where(units == 0, 0, exponent - largest))
    return _with_specials(terms, added, _on_grid(total, largest, added, drops=True))


def _cut_sum(terms: Terms) -> tuple[Array, Array]:
    """Return the sum of the products, each cut towards zero, in units of 2**(e - 24), and e."""
    counted = np.where(terms.significand == 0, _NONE, terms.exponent)
    largest = counted.max(axis=0)
    amount = np.where(terms.significand == 0, 0, terms.exponent - largest)
    size = _shifted(np.abs(terms.significand), amount + 24 - terms.fraction_bits)
    return np.where(terms.significand < 0, -size, size).sum(axis=0), largest


def _on_grid(units: Array, exponent: Array, added: Array, drops: bool) -> Array:
    """Return units of 2**(exponent - 24) plus C, as f32. drops: whether a C far below counts as
    0."""
    finite = np.where(np.isfinite(added), added, np.float32(0))
    own = np.where(finite == 0, _LOWEST, np.maximum(np.frexp(finite)[1] - 1, _LOWEST))
    own = own.astype(np.int64)
    c_units = np.ldexp(finite.astype(np.float64), 23 - own).astype(np.int64)
    top = np.maximum(exponent, own)
    if drops:
        c_units = np.where(own < top - 25, 0, c_units)
    total = _shifted(units, np.where(units == 0, 0, exponent - top + 8))
    total = total + (_shifted(c_units, own - top + 1) << 8)
    leading = top - 32 + np.frexp(total.astype(np.float64))[1] - 1
    cut = np.clip(np.maximum(leading, _LOWEST) + 1 - top, 0, 62)
    total = total >> cut << cut
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(total.astype(np.float64), top - 32).astype(np.float32)


def _shifted(units: Array, amount: Array) -> Array:
    """Return integers shifted left, or right with a floor where the amount is negative."""
    left = units << np.clip(amount, 0, 40)
    shifted: Array = np.where(amount < 0, units >> np.clip(-amount, 0, 62), left)
    return shifted


def _with_specials(terms: Terms, added: Array, total: Array, overflow: float = 2.0**128) -> Array:
    """Return sums with NaN and infinities where an operand, or a product of `overflow` or more,
    demands them."""
    infinite = ~np.isfinite(terms.value) | (np.abs(terms.value) >= overflow)
    with np.errstate(invalid="ignore"):
        limits = np.where(infinite, np.copysign(np.inf, terms.value), 0.0)
        limits = np.where(np.isnan(terms.value), np.nan, limits).sum(axis=0)
        limits = limits + np.where(np.isfinite(added), 0.0, added)
    return np.where(limits == 0, total, limits.astype(np.float32))
