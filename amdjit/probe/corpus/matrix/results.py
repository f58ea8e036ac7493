"""Conversions between bits and numbers, and bits as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models import matrix_layouts, mfma_layouts
from amdjit.intrinsics.models.sums_of_products import multiply_accumulate
from amdjit.isa.matrix_rounding import FORMATS, Rule

__all__ = [
    "Bits",
    "Sums",
    "encoded",
    "hexadecimal",
    "is_nan",
    "joined",
    "typed",
    "without_payloads",
]


Bits = NDArray[np.uint64]
_DTYPES = {**mfma_layouts.DTYPES, **matrix_layouts.DTYPES}
_SHOWN = 32  # how many numbers of a row are shown


def typed(bits: Bits, kind: str) -> NDArray[Any]:
    """Return bits as numbers of a type."""
    dtype = _DTYPES[kind]
    return bits.astype(f"u{dtype.itemsize}").view(dtype)


def encoded(values: NDArray[Any], kind: str) -> Bits:
    """Return numbers as the bits of a type, rounded to the nearest even; integers are not
    changed."""
    if kind in ("i8", "iu8", "iu4", "i32"):
        width = {"iu4": 4, "i32": 32}.get(kind, 8)
        return values.astype(np.int64).astype(np.uint64) & np.uint64((1 << width) - 1)
    with np.errstate(all="ignore"):
        numbers = np.ascontiguousarray(values.astype(_DTYPES[kind]))
    raw = numbers.view(f"u{numbers.dtype.itemsize}").astype(np.uint64)
    return raw & np.uint64((1 << mfma_layouts.BITS[kind]) - 1)


def hexadecimal(bits: Bits) -> str:
    """Return the bits of numbers as text."""
    shown = " ".join(f"{int(each):x}" for each in bits[:_SHOWN])
    return shown + (" ..." if len(bits) > _SHOWN else "")


def without_payloads(results: NDArray[Any]) -> NDArray[Any]:
    """Return floats in which all NaNs are the same."""
    return np.where(np.isnan(results), results.dtype.type(np.nan), results).astype(results.dtype)


def is_nan(bits: Bits, kind: str) -> NDArray[np.bool_]:
    """Return for the bits of each result whether it is NaN."""
    form = FORMATS[kind]
    size = bits & np.uint64((1 << form.bits - 1) - 1)
    return size > np.uint64(form.top << form.fraction_bits)


# The elements of matrix products, each as one sum of C and its products along k. The instruction's
# shape and layout do not matter here.


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
