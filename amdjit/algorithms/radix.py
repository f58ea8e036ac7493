"""Rows of numbers in order, by a stable radix sort: in LDS if they are short, else pass by pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amdjit.algorithms.kernels.radix import (
    BLOCK,
    DIGITS,
    count_digits,
    scatter_by_digit,
    sort_tiles,
)
from amdjit.algorithms.operations import addition
from amdjit.algorithms.placement import Placement
from amdjit.algorithms.scan import scan_segments
from amdjit.algorithms.segments import Segments
from amdjit.algorithms.views import index_type
from amdjit.runtime.arrays import DeviceArray

__all__ = ["TILE", "Sorted", "narrow_places", "sorted_rows"]

_DIGIT_BITS = 8
# Elements of a work-item: tiles of 512, 2048 and 4096, the largest for rows of several tiles.
_ITEMS = (1, 4, 8)
TILE = BLOCK * _ITEMS[-1]


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
        result = _moved(result, kept, shift, descending, place)
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
    items = next(items for items in _ITEMS if length <= BLOCK * items)
    result = _outputs(keys, places_type, place)
    sort_tiles[rows, BLOCK, place.stream](
        items, passes, descending, keys, result.values, places, result.places
    )
    return result


def _moved(
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
    count_digits[count * tiles, BLOCK, place.stream](index, items, shift, descending, keys, counts)
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
    scatter_by_digit[count * tiles, BLOCK, place.stream](
        index, items, shift, descending, keys, starts, result.values, rows.places, result.places
    )
    return result
