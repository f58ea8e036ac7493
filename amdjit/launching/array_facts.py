"""What compiled code may rely on about arrays: their types, and which of them share memory."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from amdjit.devices import current_device
from amdjit.frontend import element_of_dtype
from amdjit.runtime import foreign_arrays
from amdjit.runtime.arrays import DeviceArray
from amdjit.types import Array, Layout, Record, Scalar

__all__ = ["ArrayFacts", "facts_of", "sharing", "type_outside"]

# Byte offsets into an array up to here fit the signed 32-bit arithmetic of indices.
_SMALL_ARRAY_BYTES = 2**31


class ArrayFacts(NamedTuple):
    """What a launch needs to know about an array. It never changes, so the array caches it."""

    type: Array | None
    """The type of the array if it shares no memory with other arrays; None if kernels cannot take
    it, or if it has no elements. Equal types are one object, so that they can be compared by
    identity."""
    low: int
    """The first address that its elements span."""
    high: int
    """The end of the addresses that its elements span."""
    steps: tuple[int, ...]
    """Its strides in elements; empty for a contiguous array."""


def facts_of(array: DeviceArray) -> ArrayFacts:
    """Return the facts of an array, from its cache after the first call."""
    facts = array.launch_key
    if facts is None:
        facts = array.launch_key = _find_facts(array)
    return facts  # type: ignore[no-any-return]


def _find_facts(array: DeviceArray) -> ArrayFacts:
    low, high = array.byte_span
    address, itemsize = array.address, array.dtype.itemsize
    found = distinct_type(array)
    steps: tuple[int, ...] = ()
    if found is not None and found.layout.has_strides:
        steps = tuple(stride // itemsize for stride in array.strides)
        if any(stride % itemsize for stride in array.strides):
            found = None
    return ArrayFacts(found if low < high else None, address + low, address + high, steps)


def distinct_type(array: DeviceArray) -> Array | None:
    """Return the type of an array that shares no memory with other arguments; None if kernels
    cannot take it."""
    element = element_of_dtype(array.dtype)
    if element is None:
        return None
    low, high = array.byte_span
    is_small = high - low < _SMALL_ARRAY_BYTES
    return _distinct_array(element, array.ndim, _layout(array), 32 if is_small else 64)


def type_outside(value: object) -> Array | None:
    """Return the type of an array in a device's memory that kernels read from outside, amdjit's or
    another library's; None for other objects."""
    array = value if isinstance(value, DeviceArray) else _foreign_array(value)
    found = None if array is None else distinct_type(array)
    return None if found is None else found.without_promises()


def _foreign_array(value: object) -> DeviceArray | None:
    """Return another library's array in a device's memory only to describe it, None for other
    objects."""
    if not foreign_arrays.is_foreign(value):
        return None
    marked = foreign_arrays.marked_array(value)
    if marked is not None:
        return marked
    try:
        found = foreign_arrays.described(value, current_device())
    except BufferError:
        return None
    return found if isinstance(found, DeviceArray) else None


@functools.cache
def _distinct_array(element: Scalar | Record, ndim: int, layout: Layout, offset_bits: int) -> Array:
    # One object for each type, so that types can be compared by identity.
    return Array(element, ndim, layout, offset_bits=offset_bits, distinct=True)


def _layout(value: DeviceArray) -> Layout:
    if value.is_contiguous:
        return Layout.CONTIGUOUS
    return Layout.ROWS if value.has_rows else Layout.STRIDED


def sharing(values: Sequence[Any]) -> set[int]:
    """Return the ids of the arrays that share memory with another argument, or are given twice."""
    spans = []
    for value in values:
        if isinstance(value, DeviceArray):
            low, high = value.byte_span
            if low < high:
                spans.append((value.address + low, value.address + high, id(value)))
    spans.sort()
    found: set[int] = set()
    farthest, owner = 0, 0
    for low, high, array in spans:
        if low < farthest:
            found.update((array, owner))
        if high > farthest:
            farthest, owner = high, array
    return found
