"""Views of arrays with fewer axes, so that one kernel serves arrays of every shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.strides import Shape
from amdjit.types import Scalar, i32, i64

__all__ = ["broadcast_strides", "broadcasts_to", "index_type", "merged_axes", "part_of", "strided"]

# Byte offsets into arrays up to here, and numbers of work-items, fit an i32.
_SMALL = 2**31


def strided(array: DeviceArray, shape: Shape, strides: Shape) -> DeviceArray:
    """Return a view of an array's memory that begins at the same element. strides: bytes."""
    return array._view(0, shape, strides)


def broadcasts_to(shape: Shape, wanted: Shape) -> bool:
    """Whether NumPy broadcasts an array of one shape to another one."""
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return len(shape) <= len(wanted) and all(own in (1, extent) for own, extent in pairs)


def broadcast_strides(array: DeviceArray, shape: Shape) -> Shape:
    """Return the strides of an array that is broadcast to a shape that it can take."""
    missing = len(shape) - array.ndim
    own = zip(array.shape, shape[missing:], array.strides, strict=True)
    return (0,) * missing + tuple(0 if extent != wanted else s for extent, wanted, s in own)


def merged_axes(shape: Shape, strides: Sequence[Shape]) -> tuple[Shape, list[Shape]]:
    """Return the shape and the strides of arrays with as few axes as hold the same elements.

    Axes of extent 1 vanish; neighbouring axes that every array walks through in one step are one.
    At least one axis remains.
    """
    extents: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        here = [each[axis] for each in strides]
        joins = bool(extents) and all(
            before[-1] == now * extent for before, now in zip(steps, here, strict=True)
        )
        if joins:
            extents[-1] *= extent
        else:
            extents.append(extent)
        for before, now in zip(steps, here, strict=True):
            if joins:
                before[-1] = now
            else:
                before.append(now)
    if not extents:
        return (1,), [(0,) for _ in strides]
    return tuple(extents), [tuple(each) for each in steps]


def index_type(arrays: Sequence[DeviceArray], size: int = 0) -> Scalar:
    """Return the type that holds the places of all elements, and numbers up to `size`."""
    spans = (high - low for low, high in (array.byte_span for array in arrays))
    sizes = (math.prod(array.shape) for array in arrays)
    return i32 if max((size, *spans, *sizes)) < _SMALL else i64


def part_of(array: DeviceArray, dtype: np.dtype[Any], offset: int) -> DeviceArray:
    """Return a view of a part of each element. offset: its bytes from the element's start."""
    return DeviceArray(
        array.device,
        array.address + offset,
        shape=array.shape,
        dtype=dtype,
        strides=array.strides,
        owner=array._owner,
    )
