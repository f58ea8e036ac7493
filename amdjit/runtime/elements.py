"""The bytes, types and shapes of host arrays, as arrays of a device take them."""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from amdjit.runtime.strides import Shape


def bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the memory of a C-contiguous, non-empty array of any type as bytes."""
    # As uint8, because the buffer protocol does not know the types of ml_dtypes.
    return array.reshape(-1).view(np.uint8).data


def element_bytes(value: Any, dtype: np.dtype[Any]) -> bytes:
    """Return the bytes of one element, converted as NumPy does it in `array[...] = value`."""
    element = np.empty((), dtype)
    element[...] = value
    return element.tobytes()


def element_type(dtype: DTypeLike) -> np.dtype[Any]:
    """Return the type of an array's elements; TypeError for Python objects."""
    kind = np.dtype(dtype)
    if kind.hasobject:
        raise TypeError(f"device memory cannot hold Python objects ({kind})")
    return kind


def extents_of(shape: object) -> Shape:
    """Return the shape of a new array as a tuple; TypeError or ValueError for anything else."""
    extents = _extents(shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"a shape has no negative extents: {extents}")
    return extents


def _extents(shape: object) -> Shape:
    """Return a shape, which is an integer or a sequence of integers, as a tuple."""
    is_several = isinstance(shape, Sequence) or (isinstance(shape, np.ndarray) and shape.ndim > 0)
    try:
        return tuple(map(operator.index, shape)) if is_several else (operator.index(shape),)  # type: ignore[call-overload,arg-type]
    except TypeError:
        raise TypeError(f"a shape is an integer or a tuple of integers, not {shape!r}") from None


def refuse_masked(array: object, what: str) -> None:
    """Refuse a masked array: its mask would be lost."""
    # NumPy loads this module late. As long as nobody has, no array is masked.
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(array, masked.MaskedArray):
        raise TypeError(
            f"{what} is a masked array, and a device has no masks: fill it, "
            "`array.filled(value)`, or pass "
            "`array.data` and `array.mask`"
        )
