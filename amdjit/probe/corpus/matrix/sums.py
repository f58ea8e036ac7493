"""Elements of products of matrices, each as one sum: C and its products along k, whatever the
instruction's shape and layout are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.probe.corpus.matrix.formats import FORMATS, Bits, Integers, Numbers, taken_apart

__all__ = ["Sums", "joined", "rounded", "shifted"]


@dataclass(frozen=True)
class Sums:
    """Sums to compute. a, b: factors [sums, k]; c: bits of the result's type [sums]; scale: what
    is added to the exponents of products [sums, k], None if nothing; nan_scale: where a scale is
    NaN."""

    a: Bits
    b: Bits
    c: Bits
    kinds: tuple[str, str, str]
    scale: Integers | None = None
    nan_scale: NDArray[np.bool_] | None = None

    def ordered(self, order: NDArray[np.int64]) -> Sums:
        """Return them with k in another order."""
        scale = None if self.scale is None else self.scale[:, order]
        nan = None if self.nan_scale is None else self.nan_scale[:, order]
        return Sums(self.a[:, order], self.b[:, order], self.c, self.kinds, scale, nan)

    def some(self, places: NDArray[np.int64]) -> Sums:
        """Return some of the sums."""
        scale = None if self.scale is None else self.scale[places]
        nan = None if self.nan_scale is None else self.nan_scale[places]
        return Sums(self.a[places], self.b[places], self.c[places], self.kinds, scale, nan)

    @property
    def depth(self) -> int:
        """Products of a sum."""
        return int(self.a.shape[1])

    def factors(self) -> tuple[Numbers, Numbers]:
        """Return A's and B's factors, taken apart; scales are in A's."""
        left, right = taken_apart(self.a, self.kinds[0]), taken_apart(self.b, self.kinds[1])
        if self.scale is not None and self.nan_scale is not None:
            left = Numbers(
                left.negative, left.significand, left.exponent + self.scale,
                left.is_nan | self.nan_scale, left.is_infinite, left.fraction_bits,
            )  # fmt: skip
        return left, right


def joined(parts: list[Sums]) -> Sums:
    """Return the sums of all parts, which have the same types and depth."""
    first = parts[0]
    scale = nan_scale = None
    if first.scale is not None:
        scale = np.concatenate([each.scale for each in parts if each.scale is not None])
        nan_scale = np.concatenate([each.nan_scale for each in parts if each.nan_scale is not None])
    a, b, c = (np.concatenate([getattr(each, name) for each in parts]) for name in ("a", "b", "c"))
    return Sums(a, b, c, first.kinds, scale, nan_scale)


def shifted(units: Integers, amount: Integers, cut: str = "floor") -> Integers:
    """Return integers shifted left, or right where the amount is negative: cut to the "floor", by
    "truncation" towards zero or to the "nearest" one, ties to even."""
    left = units << np.clip(amount, 0, 40)
    right = np.clip(-amount, 0, 62)
    if cut == "floor":
        lower = units >> right
    elif cut == "truncation":
        lower = np.where(units < 0, -(-units >> right), units >> right)
    else:
        lower = units >> right
        rest = units - (lower << right)
        half = (np.int64(1) << np.maximum(right, 1)) >> 1
        up = (rest > half) | ((rest == half) & (lower & 1 == 1))
        lower = lower + np.where(up & (right > 0), 1, 0)
    found: Integers = np.where(amount < 0, lower, left)
    return found


def rounded(units: Integers, grid: Integers, kind: str, mode: str = "nearest even") -> Bits:
    """Return units * 2**grid as the bits of a type, with gradual underflow; 0 is +0, and what
    becomes 0 by rounding keeps its sign.

    mode: "nearest even", "nearest away", "truncation" (towards zero) or "floor".
    """
    form = FORMATS[kind]
    size = np.abs(units)
    leading = np.frexp(size.astype(np.float64))[1] - 1 + grid
    last = np.maximum(leading, form.lowest) - form.fraction_bits
    amount = last - grid
    cut = np.clip(amount, 0, 62)
    whole = np.where(amount > 0, size >> cut, size << np.clip(-amount, 0, 60))
    rest = size - (whole << cut)
    half = (np.int64(1) << np.maximum(cut, 1)) >> 1
    if mode == "nearest even":
        up = (rest > half) | ((rest == half) & (whole & 1 == 1))
    elif mode == "nearest away":
        up = rest >= half
    elif mode == "floor":
        up = (rest > 0) & (units < 0)
    else:
        up = np.zeros(rest.shape, bool)
    whole = whole + np.where(up & (amount > 0), 1, 0)
    # A carry out of the fraction goes on into the exponent.
    code = whole + ((last + form.fraction_bits - form.lowest) << form.fraction_bits)
    infinity = form.top << form.fraction_bits
    largest = infinity - 1 if mode == "truncation" else infinity
    code = np.where(code >= infinity, largest, code)
    code = np.where(units == 0, 0, code)
    sign = np.where(units < 0, np.int64(1) << (form.bits - 1), 0)
    return (code | sign).astype(np.uint64)
