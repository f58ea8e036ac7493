"""NumPy's types of arrays' elements."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["dtype_of_element"]


def dtype_of_element(element: Any) -> np.dtype[Any]:
    """Return the NumPy type with the layout of a scalar, vector or record."""
    if hasattr(element, "fields"):
        return np.dtype(element.title) if element.title else _dtype_of_record(element)
    if hasattr(element, "length"):
        return np.dtype((element.element.dtype, (element.length,)))
    dtype: np.dtype[Any] = element.dtype
    return dtype


def _dtype_of_record(record: Any) -> np.dtype[Any]:
    parts = {
        "names": [field.name for field in record.fields],
        "formats": [(dtype_of_element(field.type), field.shape) for field in record.fields],
        "offsets": [field.offset for field in record.fields],
        "itemsize": record.nbytes,
    }
    return np.dtype(parts, align=record.alignment > 1)  # type: ignore[call-overload,no-any-return]
