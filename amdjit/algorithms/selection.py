"""Elements chosen from arrays: those that pass a test, and those that are unique."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.algorithms.elements import kind_of
from amdjit.algorithms.kernels.selecting import (
    BLOCK,
    ITEMS,
    begins_run,
    count_selected,
    is_set,
    passes,
    run_lengths,
    select,
)
from amdjit.algorithms.operations import addition
from amdjit.algorithms.outputs import check_output, contiguous, copy_elements, overlaps
from amdjit.algorithms.placement import Placement, placement
from amdjit.algorithms.scan import scan_segments
from amdjit.algorithms.segments import Segments
from amdjit.algorithms.sorting import narrow_places, sorted_rows, taken
from amdjit.algorithms.views import index_type
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.streams import Stream
from amdjit.types import Scalar

__all__ = ["compact", "unique"]

_TILE = BLOCK * ITEMS
_INDEX = np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class _Test:
    """Which elements are chosen: a device function, what it is given, and the arrays it reads."""

    function: Any
    given: Any
    arrays: tuple[DeviceArray, ...]

    @property
    def length(self) -> int:
        """The number of elements that are tested."""
        return self.arrays[0].size


def compact(
    array: Any,
    mask: Any,
    *,
    out: Any = None,
    stream: Stream | None = None,
) -> Any:
    """Return the elements for which a mask or a predicate is true, in their order: `array[mask]`.

    mask: a boolean array of the array's shape, or a function of an element. The result has one
    axis. With `out`, an array of one axis that is long enough, it is the part of `out` that was
    written. Its length must be known on the host, so the call waits for the device.
    """
    predicate = mask if callable(mask) else None
    with placement((array, out) if predicate else (array, mask, out), stream) as place:
        source = place.place(array, "array")
        shape = source.shape
        source = contiguous(source, place).reshape(-1)
        if predicate is not None:
            test = _Test(passes, (predicate, kind_of(source.dtype).constructor), (source,))
        else:
            test = _Test(is_set, None, (_flat_mask(mask, shape, place),))
        ends, count = _counted(test, place)
        result = place.empty(count, source.dtype) if out is None else _part(out, count, source)
        # One workgroup writes where another one still reads, even if all of it is the same array.
        direct = isinstance(result, DeviceArray) and not any(
            overlaps(result, read) for read in (source, *test.arrays)
        )
        target = result if direct else place.empty(count, source.dtype)
        _select(test, ends, (source, target, None, None, None), place)
        if out is None:
            return place.returned(result)
        if target is not result:
            copy_elements(target, result, place)
        return result


def _flat_mask(mask: Any, shape: tuple[int, ...], place: Placement) -> DeviceArray:
    placed = place.place(mask, "mask")
    if placed.dtype != np.bool_:
        raise TypeError(f"mask holds {placed.dtype}: give booleans, or a function of an element")
    if placed.shape != shape:
        raise ValueError(f"mask has shape {placed.shape}, the array {shape}")
    return contiguous(placed, place).reshape(-1)


def _part(out: Any, count: int, source: DeviceArray) -> Any:
    """Return the part of `out` that a result of this length takes."""
    check_output(out, source.dtype)
    if out.ndim != 1 or out.shape[0] < count:
        raise ValueError(f"out has shape {out.shape}, and {count} elements are to be written")
    return out[:count]


def _counted(test: _Test, place: Placement) -> tuple[DeviceArray | None, int]:
    """Return how many elements pass up to each tile's end, and how many in all."""
    if test.length == 0:
        return None, 0
    tiles = -(-test.length // _TILE)
    index = index_type(test.arrays, tiles * _TILE)
    counts = place.scratch(tiles, index.dtype)
    count_selected[tiles, BLOCK, place.stream](
        test.function, test.given, index, test.arrays, test.length, counts
    )
    ends = place.scratch(tiles, counts.dtype)
    shape = (1, 1, tiles)
    rows, results = Segments(counts.reshape(shape)), Segments(ends.reshape(shape))
    scan_segments(
        addition(counts.dtype), rows, outputs=results, init=None, exclusive=False, place=place
    )
    return ends, int(ends[tiles - 1 :].copy_to_host(stream=place.stream)[0])


def _select(
    test: _Test,
    ends: DeviceArray | None,
    moved: tuple[DeviceArray | None, ...],
    place: Placement,
) -> None:
    """Move what passes: source, out, places, ranks and order of the kernel."""
    if ends is None:
        return
    index = index_type(test.arrays, ends.size * _TILE)
    select[ends.size, BLOCK, place.stream](
        test.function, test.given, index, test.arrays, test.length, ends, *moved
    )


def unique(
    array: Any,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    stream: Stream | None = None,
) -> Any:
    """Return the different elements of an array in ascending order, as `numpy.unique` does.

    All NaN count as one, and -0.0 as 0.0; of equal elements the first in C order is taken. On
    request also, in this order and as i64: the index of each one's first appearance, the indices
    that make the array (of its shape) from the result, and how often each appears. The call waits
    for the device. TypeError for complex numbers and records.
    """
    with placement((array,), stream) as place:
        source = place.place(array, "array")
        if not isinstance(kind_of(source.dtype).constructor, Scalar):
            raise TypeError(
                f"unique takes numbers, not {source.dtype}; sort with `key=` what has parts"
            )
        asked = _Asked(return_index, return_inverse, return_counts)
        results = _unique(contiguous(source, place), asked, place)
        values = tuple(map(place.returned, results))
        return values if len(values) > 1 else values[0]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `unique` returns besides the elements."""

    index: bool
    inverse: bool
    counts: bool


def _unique(source: DeviceArray, asked: _Asked, place: Placement) -> list[DeviceArray]:
    row = source.reshape(1, source.size)
    if source.size == 0:
        empty = place.empty(0, _INDEX)
        extra = [(asked.index, empty), (asked.inverse, place.empty(source.shape, _INDEX))]
        extra.append((asked.counts, empty))
        return [source.reshape(-1), *(array for wanted, array in extra if wanted)]
    needs_order = asked.index or asked.inverse
    found = sorted_rows(
        row, None, narrow_places(source.size) if needs_order else None, False, place
    )
    ordered = found.values.reshape(-1)
    order = None if found.places is None else found.places.reshape(-1)
    test = _Test(begins_run, None, (ordered,))
    ends, count = _counted(test, place)
    values = place.empty(count, source.dtype)
    starts = place.scratch(count, _INDEX) if asked.index or asked.counts else None
    ranks = place.empty(source.shape, _INDEX) if asked.inverse else None
    flat = None if ranks is None else ranks.reshape(-1)
    _select(test, ends, (ordered, values, starts, flat, order), place)
    results = [values]
    if asked.index and order is not None and starts is not None:
        results.append(_indices(order, starts, place))
    if ranks is not None:
        results.append(ranks)
    if asked.counts and starts is not None:
        results.append(_lengths(starts, source.size, place))
    return results


def _indices(order: DeviceArray, starts: DeviceArray, place: Placement) -> DeviceArray:
    """Return where in the array the elements are that stand at these places in order."""
    found = taken(order.reshape(1, -1), starts.reshape(1, -1), place)
    result = place.empty(starts.shape, _INDEX)
    copy_elements(found.reshape(-1), result, place)
    return result


def _lengths(starts: DeviceArray, n: int, place: Placement) -> DeviceArray:
    lengths = place.empty(starts.shape, _INDEX)
    groups = -(-starts.size // BLOCK)
    index = index_type([starts], groups * BLOCK)
    run_lengths[groups, BLOCK, place.stream](index, starts, n, lengths)
    return lengths
