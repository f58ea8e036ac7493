"""Results in their types, and bits in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models import matrix_layouts, mfma_layouts
from amdjit.probe.corpus.matrix.formats import FORMATS

__all__ = ["hexadecimal", "is_nan", "typed", "without_payloads"]

_DTYPES = {**mfma_layouts.DTYPES, **matrix_layouts.DTYPES}
_SHOWN = 32  # numbers of a row that are shown


def typed(bits: NDArray[np.uint64], kind: str) -> NDArray[Any]:
    """Return bits as numbers of a type."""
    dtype = _DTYPES[kind]
    return bits.astype(f"u{dtype.itemsize}").view(dtype)


def hexadecimal(bits: NDArray[np.uint64]) -> str:
    """Return the bits of numbers in words."""
    shown = " ".join(f"{int(each):x}" for each in bits[:_SHOWN])
    return shown + (" ..." if len(bits) > _SHOWN else "")


def without_payloads(results: NDArray[Any]) -> NDArray[Any]:
    """Return floats whose NaN are all the same one."""
    return np.where(np.isnan(results), results.dtype.type(np.nan), results).astype(results.dtype)


def is_nan(bits: NDArray[np.uint64], kind: str) -> NDArray[np.bool_]:
    """Return which bits of results are NaN."""
    form = FORMATS[kind]
    size = bits & np.uint64((1 << form.bits - 1) - 1)
    return size > np.uint64(form.top << form.fraction_bits)
