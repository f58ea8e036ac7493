"""Reductions over associative functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from amdjit.algorithms.kernels.reduction import BLOCK, reduce_columns, reduce_rows
from amdjit.algorithms.operations import (
    Operation,
    initial_argument,
    initial_value,
    operation_of,
)
from amdjit.algorithms.outputs import check_output, copy_elements
from amdjit.algorithms.placement import Placement, placement
from amdjit.algorithms.segments import Segments, checked_axes, segments_of
from amdjit.algorithms.views import index_type
from amdjit.arrays.creation import to_device
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.streams import Stream

__all__ = ["reduce", "reduce_parts", "reduce_segments"]

# How many workgroups and work-items are wanted at least, and what each should at least have to do.
# These decide the grouping of the elements, so they do not depend on the device.
_WORKGROUPS, _ELEMENTS_PER_WORKGROUP = 512, 8192
_WORK_ITEMS, _ELEMENTS_PER_WORK_ITEM = 65536, 64
# Segments up to this length are left to one work-item each.
_SHORT = 32


@dataclass(frozen=True, slots=True)
class _Last:
    """The last pass of a reduction, which writes results. init: combined first, or None."""

    init: Any


def reduce(
    op: Callable[[Any, Any], Any],
    array: Any,
    axis: Any = None,
    *,
    init: Any = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    out: Any = None,
    stream: Stream | None = None,
) -> Any:
    """Combine an array's elements with an associative function, along all axes or those given.

    op: a Python function, device function or operator of two values, such as `operator.add`, `min`
    or a lambda; records are named tuples of their fields. It need not be commutative: elements are
    combined in C order, and equal calls give equal bits. axis: an integer or a tuple. init: is
    combined first; an empty segment needs one, or an operation whose neutral value is known. dtype:
    the type to combine in and of the result, otherwise what `op` makes of two elements.

    Returns a NumPy array or scalar, a DeviceArray if `array` or `out` is one, or `out`. TypeError
    and ValueError for arguments that do not fit, CompileError for what is wrong in the function.
    """
    with placement((array, out), stream) as place:
        source = place.place(array, "array")
        axes = checked_axes(axis, source.ndim)
        operation = operation_of(op, source.dtype, dtype, place.device.target)
        kept = [
            1 if i in axes else extent
            for i, extent in enumerate(source.shape)
            if keepdims or i not in axes
        ]
        shape, result_type = tuple(kept), operation.result.dtype
        if out is not None:
            check_output(out, result_type, shape)
        segments = segments_of(source, axes, place)
        first = initial_value(init, operation, segments.length, "reduce")
        result = reduce_segments(operation, segments, first, place).reshape(shape)
        if out is None:
            return place.returned(result)
        copy_elements(result, out, place)
        return out


def reduce_segments(
    operation: Operation, segments: Segments, init: Any, place: Placement
) -> DeviceArray:
    """Return the combination of each segment's elements: an array of one axis.

    init: combined first, or None.
    """
    count, length = segments.count, segments.length
    if count == 0:
        return place.empty((0,), operation.result.dtype)
    if length == 0:
        return to_device(np.full(count, init, operation.result.dtype), place.stream)
    while True:
        by_rows = not (length <= _SHORT or (segments.beside and count >= _SHORT))
        part = _part_length(count, length, by_rows)
        if part == length:
            return _launch(
                operation, segments, by_rows=by_rows, part=part, last=_Last(init), place=place
            ).reshape(count)
        partial = _launch(operation, segments, by_rows=by_rows, part=part, last=None, place=place)
        parts = partial.shape[1]
        segments = Segments(partial.reshape(1, count, parts))
        length = parts


def reduce_parts(
    operation: Operation, segments: Segments, part: int, place: Placement
) -> DeviceArray:
    """Combine every `part` elements of each segment, the last ones those that remain.

    The result has a row for each segment and the type in which values are combined.
    """
    return _launch(operation, segments, by_rows=True, part=part, last=None, place=place)


def _part_length(count: int, length: int, by_rows: bool) -> int:
    """Return how many elements of a segment are combined at once."""
    if by_rows:
        wanted, least = _WORKGROUPS // count, _ELEMENTS_PER_WORKGROUP
    else:
        wanted, least = _WORK_ITEMS // count, _ELEMENTS_PER_WORK_ITEM
    parts = max(1, min(wanted, -(-length // least)))
    return -(-length // parts)


def _launch(
    operation: Operation,
    segments: Segments,
    by_rows: bool,
    part: int,
    last: _Last | None,
    place: Placement,
) -> DeviceArray:
    """Combine every `part` elements of each segment: an array of a row for each segment."""
    count, length = segments.count, segments.length
    dtype = operation.kind.dtype if last is None else operation.result.dtype
    parts = -(-length // part)
    make = place.scratch if last is None else place.empty
    out = make((count, parts), dtype)
    init, has_init = initial_argument(None if last is None else last.init)
    kind, view = operation.kind.constructor, segments.view
    if by_rows:
        index = index_type([view, out])
        reduce_rows[count * parts, BLOCK, place.stream](
            operation.function,
            kind,
            index,
            operation.commutes,
            view,
            part,
            out,
            init,
            has_init,
        )
    else:
        groups = -(-count * parts // BLOCK)
        index = index_type([view, out], groups * BLOCK)
        reduce_columns[groups, BLOCK, place.stream](
            operation.function, kind, index, view, part, out, init, has_init
        )
    return out
