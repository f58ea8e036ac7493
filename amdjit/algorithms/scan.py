"""Inclusive and exclusive scans over associative functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from amdjit.algorithms.kernels.scanning import BLOCK, scan_columns, scan_looking_back, scan_tiles
from amdjit.algorithms.operations import (
    Operation,
    initial_argument,
    initial_value,
    operation_of,
)
from amdjit.algorithms.outputs import contiguous, copy_elements, target
from amdjit.algorithms.placement import Placement, placement
from amdjit.algorithms.reduction import reduce_parts
from amdjit.algorithms.segments import Segments, checked_axes, segments_of
from amdjit.algorithms.views import index_type
from amdjit.arrays.creation import zeros
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.streams import Stream

__all__ = ["exclusive_scan", "inclusive_scan", "scan_segments"]

# What a work-item scans: two 128-bit loads, at most 16 elements.
_BYTES_PER_WORK_ITEM, _MOST_ITEMS = 32, 16
# With more tiles than these in a segment, exact operations scan in one pass.
LOOK_BACK_TILES = 32
# Segments up to this length, or this many beside each other, are left to one work-item each.
_SHORT, _MANY = 32, 2048


def inclusive_scan(
    op: Callable[[Any, Any], Any],
    array: Any,
    axis: int | None = None,
    *,
    init: Any = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    stream: Stream | None = None,
) -> Any:
    """Combine each element with all before it, along an axis or, without one, in C order.

    op, init, dtype, out, stream: as `reduce` has them. The result has the array's shape, without an
    axis one axis. Elements are combined in their order, and equal calls give equal bits.
    """
    return _scan(op, array, axis=axis, form=_Form(False, init, dtype), out=out, stream=stream)


def exclusive_scan(
    op: Callable[[Any, Any], Any],
    array: Any,
    axis: int | None = None,
    *,
    init: Any = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    stream: Stream | None = None,
) -> Any:
    """Combine all elements before each element, along an axis or, without one, in C order.

    The first result is `init`, or the neutral value of the operation if that is known; ValueError
    otherwise. The rest is as for `inclusive_scan`.
    """
    return _scan(op, array, axis=axis, form=_Form(True, init, dtype), out=out, stream=stream)


@dataclass(frozen=True, slots=True)
class _Form:
    """What is asked of a scan besides its operation."""

    exclusive: bool
    init: Any
    dtype: DTypeLike | None

    def first(self, operation: Operation) -> Any:
        """Return the value that the scan begins with, or None."""
        what = "exclusive_scan" if self.exclusive else "inclusive_scan"
        return initial_value(self.init, operation, 0 if self.exclusive else 1, what)


def _scan(
    op: Callable[[Any, Any], Any],
    array: Any,
    axis: int | None,
    form: _Form,
    out: Any,
    stream: Stream | None,
) -> Any:
    with placement((array, out), stream) as place:
        source = place.place(array, "array")
        operation = operation_of(op, source.dtype, form.dtype, place.device.target)
        first = form.first(operation)
        if axis is None:
            source = contiguous(source, place).reshape(-1)
            axis = 0
        (along,) = checked_axes((axis,), source.ndim)
        result = target(out, source.shape, operation.result.dtype, (source,), place)
        if result.size:
            segments = segments_of(source, (along,), place)
            outputs = segments_of(result, (along,), place)
            scan_segments(
                operation,
                segments,
                outputs=outputs,
                init=first,
                exclusive=form.exclusive,
                place=place,
            )
        if out is None:
            return place.returned(result)
        if result is not out:
            copy_elements(result, out, place)
        return out


def scan_segments(
    operation: Operation,
    segments: Segments,
    outputs: Segments,
    init: Any,
    exclusive: bool,
    place: Placement,
) -> None:
    """Scan each segment into the outputs' one: in one pass if it is short or the grouping of the
    elements does not matter, else in three.

    The passes combine each tile, scan these totals, and scan the tiles after them.
    """
    if segments.length <= _SHORT or (segments.beside and segments.count >= _MANY):
        _by_work_items(
            operation, segments, outputs=outputs, init=init, exclusive=exclusive, place=place
        )
        return
    tile = BLOCK * _items(operation)
    if operation.is_exact and segments.length > LOOK_BACK_TILES * tile:
        _looking_back(
            operation, segments, outputs=outputs, init=init, exclusive=exclusive, place=place
        )
        return
    before = None
    if segments.length > tile:
        totals = reduce_parts(operation, segments, tile, place)
        count, tiles = totals.shape
        rows = Segments(totals.reshape(1, count, tiles))
        scanned = place.scratch((1, count, tiles), operation.kind.dtype)
        inner = operation.unrounded
        scan_segments(
            inner, rows, outputs=Segments(scanned), init=None, exclusive=False, place=place
        )
        before = scanned.reshape(count, tiles)
    _by_tiles(
        operation,
        segments,
        outputs=outputs,
        before=before,
        init=init,
        exclusive=exclusive,
        place=place,
    )


def _items(operation: Operation) -> int:
    """Return how many elements a work-item scans."""
    return min(_MOST_ITEMS, max(1, _BYTES_PER_WORK_ITEM // operation.kind.dtype.itemsize))


def _by_work_items(
    operation: Operation,
    segments: Segments,
    outputs: Segments,
    init: Any,
    exclusive: bool,
    place: Placement,
) -> None:
    groups = -(-segments.count // BLOCK)
    index = index_type([segments.view, outputs.view], groups * BLOCK)
    scan_columns[groups, BLOCK, place.stream](
        operation.function,
        operation.kind.constructor,
        index,
        exclusive,
        segments.view,
        outputs.view,
        *initial_argument(init),
    )


def _looking_back(
    operation: Operation,
    segments: Segments,
    outputs: Segments,
    init: Any,
    exclusive: bool,
    place: Placement,
) -> None:
    """Scan in one pass: each tile combines what is known of those before it (decoupled look-back).

    How tiles are grouped differs from run to run, so the operation must be exact.
    """
    items = _items(operation)
    tiles = segments.count * -(-segments.length // (BLOCK * items))
    index = index_type([segments.view, outputs.view], segments.length + BLOCK * items)
    flags = zeros(tiles + 1, np.int32, place.stream)
    totals, ends = (place.scratch(tiles, operation.kind.dtype) for _ in range(2))
    scan_looking_back[tiles, BLOCK, place.stream](
        operation.function,
        operation.kind.constructor,
        index,
        items,
        exclusive,
        segments.view,
        outputs.view,
        flags,
        totals,
        ends,
        *initial_argument(init),
    )


def _by_tiles(
    operation: Operation,
    segments: Segments,
    outputs: Segments,
    before: DeviceArray | None,
    init: Any,
    exclusive: bool,
    place: Placement,
) -> None:
    items = _items(operation)
    tiles = -(-segments.length // (BLOCK * items))
    index = index_type([segments.view, outputs.view], segments.length + BLOCK * items)
    scan_tiles[segments.count * tiles, BLOCK, place.stream](
        operation.function,
        operation.kind.constructor,
        index,
        items,
        exclusive,
        segments.view,
        outputs.view,
        outputs.view if before is None else before,
        before is not None,
        *initial_argument(init),
    )
