"""Conversions between bits and numbers, and bits as text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models import matrix_layouts, mfma_layouts
from amdjit.isa.matrix_rounding import FORMATS

__all__ = ["Bits", "encoded", "hexadecimal", "is_nan", "typed", "without_payloads"]

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
