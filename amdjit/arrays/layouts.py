"""Layouts of views: how NumPy would treat a shape and strides, and the fewest copies of rows that
move an array."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import DTypeLike, NDArray

from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.strides import Shape


class Rows(NamedTuple):
    """Runs of bytes that two arrays have in common.

    nbytes: of a run. shape: how many runs there are along each axis, outermost first. strides:
    bytes between runs, of the one array and the other.
    """

    nbytes: int
    shape: Shape
    strides: tuple[Shape, Shape]


def common_rows(shape: Shape, itemsize: int, first: Shape, second: Shape) -> Rows:
    """Merge the axes of two arrays of the same shape as far as both layouts allow. Strides are in
    bytes."""
    axes = [axis for axis in zip(shape, first, second, strict=True) if axis[0] != 1]
    # In the memory order of the first array, because that is the one that is written.
    axes.sort(key=lambda axis: (abs(axis[1]), abs(axis[2])))
    nbytes = itemsize
    joined: list[tuple[int, int, int]] = []
    for extent, one, other in axes:
        if not joined and one == other == nbytes:
            nbytes *= extent
            continue
        if joined:
            count, inner_one, inner_other = joined[-1]
            if one == inner_one * count and other == inner_other * count:
                joined[-1] = (count * extent, inner_one, inner_other)
                continue
        joined.append((extent, one, other))
    joined.reverse()
    counts = tuple(axis[0] for axis in joined)
    return Rows(nbytes, counts, (tuple(a[1] for a in joined), tuple(a[2] for a in joined)))


def unit_of(rows: Rows, *addresses: int) -> int:
    """Return the largest unit, at most 8 bytes, that divides all sizes and strides of a copy."""
    unit = math.gcd(8, rows.nbytes, *addresses, *rows.strides[0], *rows.strides[1])
    return unit


def without_memory(shape: Shape, strides: Shape, itemsize: int) -> NDArray[Any]:
    """Return a NumPy array of this layout, whose elements must not be accessed. It serves to apply
    NumPy's own rules for views."""
    return as_strided(np.empty((), np.dtype((np.void, itemsize))), shape, strides)


def viewed_as(array: DeviceArray, dtype: DTypeLike) -> tuple[np.dtype[Any], Shape, Shape]:
    """Return type, shape and strides of an array whose bytes are read as another type.

    NumPy's ValueError if the sizes do not fit.
    """
    view = without_memory(array.shape, array.strides, array.itemsize).view(np.dtype(dtype))
    return view.dtype, view.shape, view.strides


def broadcast_strides(array: DeviceArray, shape: Shape) -> Shape:
    """Return the strides with which an array has a larger shape, as NumPy's assignment broadcasts.

    Axes of extent 1 in front of the shape are dropped. ValueError if the shapes do not fit."""
    kept_shape, kept = array.shape, array.strides
    while len(kept_shape) > len(shape) and kept_shape[0] == 1:
        kept_shape, kept = kept_shape[1:], kept[1:]
    view = without_memory(kept_shape, kept, array.itemsize)
    try:
        return np.broadcast_to(view, shape).strides
    except ValueError:
        raise ValueError(
            f"an array of shape {array.shape} does not fit into shape {shape}, also not by "
            "broadcasting"
        ) from None


# How long NumPy searches for a common byte of two interleaved arrays before it gives up.
_MOST_WORK = 10_000


class _Place:
    """A layout at an address, as NumPy's array interface describes it."""

    def __init__(self, array: DeviceArray) -> None:
        self.__array_interface__ = {
            "data": (array.address, True),
            "shape": array.shape,
            "strides": array.strides,
            "typestr": f"|V{array.itemsize}",
            "version": 3,
        }


def share_memory(one: DeviceArray, other: DeviceArray) -> bool:
    """Whether two arrays may have a byte in common. False is certain."""
    (low, high), (other_low, other_high) = one.byte_span, other.byte_span
    if (
        one.address + high <= other.address + other_low
        or other.address + other_high <= one.address + low
    ):
        return False
    # NumPy solves this exactly from the addresses, without reading the memory.
    places: list[Any] = [_Place(one), _Place(other)]
    first, second = (np.asarray(place) for place in places)
    shares: Any = np.shares_memory  # NumPy's stubs allow only two values of this limit.
    try:
        return bool(shares(first, second, max_work=_MOST_WORK))
    except np.exceptions.TooHardError:
        return True
