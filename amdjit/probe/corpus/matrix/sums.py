"""The elements of matrix products, each as one sum of C and its products along k. The instruction's
shape and layout do not matter here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.sums_of_products import multiply_accumulate
from amdjit.isa.matrix_rounding import Rule
from amdjit.probe.corpus.matrix.results import Bits, typed

__all__ = ["Sums", "joined"]


@dataclass(frozen=True)
class Sums:
    """Sums to compute."""

    a: Bits
    """The factors from A, with axes [sums, k]."""
    b: Bits
    """The factors from B, with axes [sums, k]."""
    c: Bits
    """The bits of C in the result's type, with the axis [sums]."""
    kinds: tuple[str, str, str]
    scale: NDArray[np.int64] | None = None
    """What is added to the exponents of the products, with axes [sums, k]; `NAN_SCALE` makes a
    product NaN. None if nothing is added."""

    def some(self, places: NDArray[np.int64]) -> Sums:
        """Return some of the sums."""
        scale = None if self.scale is None else self.scale[places]
        return Sums(self.a[places], self.b[places], self.c[places], self.kinds, scale)

    @property
    def depth(self) -> int:
        """The number of products of a sum."""
        return int(self.a.shape[1])

    def by(self, rule: Rule) -> Bits:
        """Return the sums as a rule computes them, as bits of the result's type."""
        a, b, c = (
            typed(each, kind)
            for each, kind in zip((self.a, self.b, self.c), self.kinds, strict=True)
        )
        shifts = None
        if self.scale is not None:
            shifts = self.scale[:, None, :], np.zeros_like(self.scale)[:, :, None]
        found = multiply_accumulate(
            rule, a[:, None, :], b[:, :, None], c[:, None, None], self.kinds, shifts=shifts
        )
        bits: Bits = found[:, 0, 0].view(f"u{found.dtype.itemsize}").astype(np.uint64)
        return bits


def joined(parts: list[Sums]) -> Sums:
    """Return the sums of all parts, which have the same types and depth."""
    first = parts[0]
    scale = None
    if first.scale is not None:
        scale = np.concatenate([each.scale for each in parts if each.scale is not None])
    a, b, c = (np.concatenate([getattr(each, name) for each in parts]) for name in ("a", "b", "c"))
    return Sums(a, b, c, first.kinds, scale)
