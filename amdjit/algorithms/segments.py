"""Arrays as segments along some axes: what reductions, scans and sorts walk through."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amdjit.algorithms.outputs import contiguous
from amdjit.algorithms.placement import Placement
from amdjit.algorithms.views import merged_axes, strided
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.strides import Shape

__all__ = ["Segments", "checked_axes", "segments_of"]


@dataclass(frozen=True, slots=True)
class Segments:
    """An array as a view of three axes: two for the segments in C order, the last for their
    elements."""

    view: DeviceArray

    @property
    def count(self) -> int:
        """The number of segments."""
        return self.view.shape[0] * self.view.shape[1]

    @property
    def length(self) -> int:
        """The number of elements of each segment."""
        return self.view.shape[2]

    @property
    def beside(self) -> bool:
        """Whether the first elements of neighbouring segments lie closer than those of one."""
        _, across, along = self.view.strides
        return self.view.shape[1] > 1 and abs(across) < abs(along)


def checked_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes that the user means, in ascending order; None means all.

    TypeError for what is no axis, ValueError for one that is not there or given twice.
    """
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    try:
        axes = [operator.index(each) for each in given]
    except TypeError:
        raise TypeError(f"axis={axis!r}: give an integer, a tuple of integers, or None") from None
    for each in axes:
        if not -ndim <= each < ndim:
            raise ValueError(f"axis {each} is not there: the array has {ndim} axes")
    positive = sorted(each % ndim for each in axes)
    if len(set(positive)) < len(positive):
        raise ValueError(f"axis={axis!r} names an axis twice")
    return tuple(positive)


def segments_of(array: DeviceArray, axes: Sequence[int], place: Placement) -> Segments:
    """Return the segments of an array along some axes; copied if no view has them as three axes."""
    found = _view(array, axes)
    if found is None:
        kept = [axis for axis in range(array.ndim) if axis not in axes]
        order = [*kept, *axes]
        moved = strided(
            array,
            tuple(array.shape[axis] for axis in order),
            tuple(array.strides[axis] for axis in order),
        )
        last = tuple(range(len(kept), array.ndim))
        found = _view(contiguous(moved, place), last)
        assert found is not None
    return Segments(found)


def _view(array: DeviceArray, axes: Sequence[int]) -> DeviceArray | None:
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    outer_shape, outer_strides = _merged(array, kept)
    inner_shape, inner_strides = _merged(array, axes)
    if len(outer_shape) > 2 or len(inner_shape) > 1:
        return None
    missing = (1,) * (2 - len(outer_shape))
    return strided(
        array,
        (*missing, *outer_shape, *inner_shape),
        (*(0 for _ in missing), *outer_strides, *inner_strides),
    )


def _merged(array: DeviceArray, axes: Sequence[int]) -> tuple[Shape, Shape]:
    shape = tuple(array.shape[axis] for axis in axes)
    if math.prod(shape) == 0:
        return (0,), (array.dtype.itemsize,)
    merged, (strides,) = merged_axes(shape, [tuple(array.strides[axis] for axis in axes)])
    if merged == (1,):
        strides = (array.dtype.itemsize,)
    return merged, strides
