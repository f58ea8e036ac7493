"""Sorting of arrays along an axis: `sort` and `argsort`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.algorithms.elements import kind_of
from amdjit.algorithms.kernels.radix import BLOCK as SORT_BLOCK
from amdjit.algorithms.kernels.radix import (
    DIGITS,
    count_digits,
    scatter_by_digit,
    sort_tiles,
)
from amdjit.algorithms.kernels.values import BLOCK, gather_rows, nan_placement, take_field
from amdjit.algorithms.operations import addition
from amdjit.algorithms.outputs import check_output, contiguous, copy_elements
from amdjit.algorithms.placement import Placement, placement
from amdjit.algorithms.scan import scan_segments
from amdjit.algorithms.segments import Segments, checked_axes
from amdjit.algorithms.vectorize import Vectorized
from amdjit.algorithms.views import index_type, part_of, strided
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.streams import Stream
from amdjit.types import Scalar

__all__ = ["argsort", "narrow_places", "order_of_rows", "sort", "sorted_rows", "taken"]


_INDEX = np.dtype(np.int64)


def sort(
    array: Any,
    axis: int | None = -1,
    *,
    key: Callable[[Any], Any] | None = None,
    descending: bool = False,
    out: Any = None,
    stream: Stream | None = None,
) -> Any:
    """Return an array's elements in order along an axis, or all of them if it is None.

    The sort is stable, and the order NumPy's: NaN comes last, -0.0 and 0.0 are equal, complex
    numbers and records are compared part by part. key: a function of an element; the elements are
    sorted by what it returns, a number or a tuple. descending: in the opposite order, NaN first;
    equal elements keep their order. `out` may be `array` itself.

    TypeError for elements that cannot be compared, and where `out` does not fit.
    """
    with placement((array, out), stream) as place:
        source, along = _along(place.place(array, "array"), axis, place)
        rows = _rows(source, along, place)
        if rows.size == 0:
            result = rows
        elif key is None and isinstance(kind_of(rows.dtype).constructor, Scalar):
            result = sorted_rows(rows, None, None, descending, place).values
        else:
            result = taken(
                rows,
                order_of_rows(rows, key, narrow_places(rows.shape[1]), descending, place),
                place,
            )
        return _delivered(result, source, along, out, place)


def argsort(
    array: Any,
    axis: int | None = -1,
    *,
    key: Callable[[Any], Any] | None = None,
    descending: bool = False,
    out: Any = None,
    stream: Stream | None = None,
) -> Any:
    """Return the indices, as i64, that put an array's elements in order along an axis.

    The arguments and the order are those of `sort`.
    """
    with placement((array, out), stream) as place:
        source, along = _along(place.place(array, "array"), axis, place)
        rows = _rows(source, along, place)
        if rows.size == 0:
            result = place.empty(rows.shape, _INDEX)
        else:
            result = order_of_rows(rows, key, _INDEX, descending, place)
        return _delivered(result, source, along, out, place)


def _along(array: DeviceArray, axis: int | None, place: Placement) -> tuple[DeviceArray, int]:
    """Return the array to sort and its axis."""
    if axis is None:
        return contiguous(array, place).reshape(-1), 0
    return array, checked_axes((axis,), array.ndim)[0]


def _moved(array: DeviceArray, origin: int, to: int) -> DeviceArray:
    """Return a view with one axis moved to another place."""
    order = [axis for axis in range(array.ndim) if axis != origin]
    order.insert(to, origin)
    shape = tuple(array.shape[axis] for axis in order)
    return strided(array, shape, tuple(array.strides[axis] for axis in order))


def _rows(array: DeviceArray, axis: int, place: Placement) -> DeviceArray:
    """Return an array's elements as rows along an axis, copied if need be."""
    last = contiguous(_moved(array, axis, array.ndim - 1), place)
    return last.reshape(last.size // max(last.shape[-1], 1), last.shape[-1])


def _delivered(
    rows: DeviceArray, source: DeviceArray, axis: int, out: Any, place: Placement
) -> Any:
    """Return rows as an array of the source's shape, or write them to `out`."""
    if out is not None:
        check_output(out, rows.dtype, source.shape)
    last = (*source.shape[:axis], *source.shape[axis + 1 :], source.shape[axis])
    moved = _moved(rows.reshape(last), source.ndim - 1, axis)
    if out is None:
        return place.returned(contiguous(moved, place))
    copy_elements(moved, out, place)
    return out


def order_of_rows(
    rows: DeviceArray,
    key: Callable[[Any], Any] | None,
    places_type: np.dtype[np.signedinteger],
    descending: bool,
    place: Placement,
) -> DeviceArray:
    """Return the places that put the elements of each row in order."""
    columns = _columns(rows, place) if key is None else _keys(rows, key, place)
    order: DeviceArray | None = None
    # The last sort decides most: from the last part on, each one keeps the order of the one before.
    for number, column in reversed(list(enumerate(columns))):
        keys = contiguous(column, place) if order is None else taken(column, order, place)
        kept = places_type if number == 0 else narrow_places(rows.shape[1])
        order = sorted_rows(keys, order, kept, descending, place).places
    assert order is not None
    return order


def _columns(rows: DeviceArray, place: Placement) -> list[DeviceArray]:
    """Return the numbers that elements consist of, as arrays of the rows' shape."""
    kind = kind_of(rows.dtype)
    if rows.dtype.names is not None:
        return [_field(rows, name, place) for name in rows.dtype.names]
    if isinstance(kind.constructor, Scalar):
        return [rows]
    part = np.dtype(f"f{rows.dtype.itemsize // 2}")
    nan_parts = _vectorized(nan_placement)(rows, stream=place.stream)
    return [nan_parts, part_of(rows, part, 0), part_of(rows, part, part.itemsize)]


def _field(rows: DeviceArray, name: str, place: Placement) -> DeviceArray:
    result = place.scratch(rows.shape, rows.dtype[name])
    groups = -(-result.size // BLOCK)
    index = index_type([rows], groups * BLOCK)
    take_field[groups, BLOCK, place.stream](index, name, rows.reshape(-1), result.reshape(-1))
    return result


def _keys(rows: DeviceArray, key: Callable[[Any], Any], place: Placement) -> Sequence[DeviceArray]:
    found = _vectorized(key)(rows, stream=place.stream)
    keys = found if isinstance(found, tuple) else (found,)
    return [column for each in keys for column in _columns(each, place)]


@functools.lru_cache(maxsize=64)
def _vectorized(function: Callable[[Any], Any]) -> Vectorized:
    return Vectorized(function, {"warnings": False})


def taken(rows: DeviceArray, order: DeviceArray, place: Placement) -> DeviceArray:
    """Return the elements of each row in an order of their places."""
    result = place.empty(order.shape, rows.dtype)
    groups = -(-result.size // BLOCK)
    index = index_type([rows, order, result], groups * BLOCK)
    gather_rows[groups, BLOCK, place.stream](index, rows, order, result)
    return result


# Rows of numbers in order, by a stable radix sort: in LDS if they are short, else pass by pass.


_DIGIT_BITS = 8
# Elements of a work-item: tiles of 512, 2048 and 4096, the largest for rows of several tiles.
_ITEMS = (1, 4, 8)
TILE = SORT_BLOCK * _ITEMS[-1]


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows in order. places: where in its row each element was, None if that was not asked for."""

    values: DeviceArray
    places: DeviceArray | None


def sorted_rows(
    keys: DeviceArray,
    places: DeviceArray | None,
    places_type: np.dtype[np.signedinteger] | None,
    descending: bool,
    place: Placement,
) -> Sorted:
    """Sort each row of numbers, keeping the order of equal ones.

    keys: [row, element], at least one. places: what moves along, by default the elements' places in
    their row. places_type: the integers in which the moved places are returned, None for no places.
    """
    bits = 1 if keys.dtype == np.bool_ else 8 * keys.dtype.itemsize
    shifts = range(0, bits, _DIGIT_BITS)
    if keys.shape[1] <= TILE:
        return _in_lds(
            keys,
            places,
            places_type=places_type,
            passes=len(shifts),
            descending=descending,
            place=place,
        )
    result = Sorted(keys, places)
    between = None if places_type is None else narrow_places(keys.shape[1])
    for shift in shifts:
        kept = places_type if shift == shifts[-1] else between
        result = _pass(result, kept, shift, descending, place)
    return result


def narrow_places(length: int) -> np.dtype[np.signedinteger]:
    """Return the narrower integers that hold places in a row of this length."""
    return np.dtype(np.int32) if length <= 2**31 else np.dtype(np.int64)


def _outputs(
    keys: DeviceArray, places_type: np.dtype[np.signedinteger] | None, place: Placement
) -> Sorted:
    places = None if places_type is None else place.empty(keys.shape, places_type)
    return Sorted(place.empty(keys.shape, keys.dtype), places)


def _in_lds(
    keys: DeviceArray,
    places: DeviceArray | None,
    places_type: np.dtype[np.signedinteger] | None,
    passes: int,
    descending: bool,
    place: Placement,
) -> Sorted:
    rows, length = keys.shape
    items = next(items for items in _ITEMS if length <= SORT_BLOCK * items)
    result = _outputs(keys, places_type, place)
    sort_tiles[rows, SORT_BLOCK, place.stream](
        items, passes, descending, keys, result.values, places, result.places
    )
    return result


def _pass(
    rows: Sorted,
    places_type: np.dtype[np.signedinteger] | None,
    shift: int,
    descending: bool,
    place: Placement,
) -> Sorted:
    """Return rows in the order of one digit: a pass counts the digits, a scan finds where those of
    each tile go, another pass moves the elements."""
    keys = rows.values
    count, length = keys.shape
    items, tiles = _ITEMS[-1], -(-length // TILE)
    index = index_type([keys], count * tiles)
    counts = place.scratch((count, DIGITS, tiles), index.dtype)
    count_digits[count * tiles, SORT_BLOCK, place.stream](
        index, items, shift, descending, keys, counts
    )
    starts = place.scratch(counts.shape, counts.dtype)
    shape = (1, count, DIGITS * tiles)
    scan_segments(
        addition(counts.dtype),
        Segments(counts.reshape(shape)),
        outputs=Segments(starts.reshape(shape)),
        init=0,
        exclusive=True,
        place=place,
    )
    result = _outputs(keys, places_type, place)
    scatter_by_digit[count * tiles, SORT_BLOCK, place.stream](
        index, items, shift, descending, keys, starts, result.values, rows.places, result.places
    )
    return result
