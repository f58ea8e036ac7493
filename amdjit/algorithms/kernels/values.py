"""Elements of any type as values: numbers, complex numbers, and records as named tuples.

`kind` is the type of a value, known when compiling: a scalar type, `complex64`, or a named tuple
whose fields are annotated with scalar types.
"""

from __future__ import annotations

from typing import Any, no_type_check

import amdjit.intrinsics.wave as wave
from amdjit.api import kernel
from amdjit.declarations import device_function
from amdjit.intrinsics.lds import shared
from amdjit.intrinsics.sync import syncthreads
from amdjit.intrinsics.workitem import (
    blockDim,
    blockIdx,
    lane_id,
    threadIdx,
    wave_id,
    wavefront_size,
)
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import Const, Scalar, boolean, i32, u8, u32, vector

__all__ = [
    "BLOCK",
    "convert",
    "gather_rows",
    "get",
    "load",
    "load_neighbours",
    "nan_placement",
    "ordered_total",
    "prefixes",
    "put",
    "shared_values",
    "shuffled_down",
    "shuffled_up",
    "store",
    "store_neighbours",
    "take_field",
    "unravel",
    "wave_total",
    "waves_total",
]

MAX_WAVES = 32


@compile_time
def fields_of(compilation: Compilation, kind: Any) -> Any:
    """Return the names of a record's fields; None for numbers."""
    return getattr(kind, "_fields", None)


@compile_time
def types_of(compilation: Compilation, kind: Any) -> Any:
    """Return the types of a record's fields."""
    return tuple(kind.__annotations__[name] for name in kind._fields)


@device_function
def convert(value, kind):
    """Return a value as this kind; a record from any tuple of its fields."""
    names = fields_of(kind)
    if names is None:
        return kind(value)
    if isinstance(value, tuple):
        return kind(*value)
    return kind(*[value[name] for name in names])


@device_function
def load(array, index, kind):
    """Return an element of an array as a value of this kind."""
    names = fields_of(kind)
    if names is None:
        return kind(array[index])
    element = array[index]
    return kind(*[element[name] for name in names])


@compile_time
def wide_type(compilation: Compilation, element: Any, count: int) -> Any:
    """Return the vector type of `count` elements of an array, or None if they form no vector."""
    is_number = isinstance(element, Scalar) and element is not boolean
    return vector(element, count) if is_number and count > 1 else None


@device_function
def load_neighbours(array, row, first, count, kind):
    """Return `count` neighbours along the last axis as a tuple, in wide accesses where possible."""
    if wide_type(array.dtype, count) is not None:
        wide = array.load((*row, first), count)
        return tuple(convert(wide[k], kind) for k in range(count))
    return tuple(load(array, (*row, first + k), kind) for k in range(count))


@device_function
def store_neighbours(array, row, first, values):
    """Write a tuple of values to neighbours along the last axis."""
    wide = wide_type(array.dtype, len(values))
    if wide is not None:
        element = array.dtype
        array.store((*row, first), wide(*[element(value) for value in values]))
    else:
        for k, value in enumerate(values):
            store(array, (*row, first + k), value)


@device_function
def store(array, index, value):
    """Write a value to an element of an array."""
    array[index] = value


@device_function
def unravel(flat, shape):
    """Return the index of an element whose place in C order is given."""
    if len(shape) == 1:
        return (flat,)
    index = ()
    for extent in reversed(shape[1:]):
        rest = unsigned(flat) // unsigned(extent)
        index = (flat - flat.dtype(rest) * extent, *index)
        flat = flat.dtype(rest)
    return (flat, *index)


@device_function
def unsigned(number):
    """Return a number that is not negative so that its division is cheap."""
    if number.dtype == i32:
        return u32(number)
    return number


@device_function
def shuffled_down(value, distance, kind):
    """Return the value of the lane `distance` above."""
    if fields_of(kind) is not None:
        return kind(*[wave.shuffle_down(field, distance) for field in value])
    if isinstance(value, complex):
        return kind(
            complex(
                wave.shuffle_down(value.real, distance), wave.shuffle_down(value.imag, distance)
            )
        )
    return wave.shuffle_down(value, distance)


@device_function
def shuffled_up(value, distance, kind):
    """Return the value of the lane `distance` below."""
    if fields_of(kind) is not None:
        return kind(*[wave.shuffle_up(field, distance) for field in value])
    if isinstance(value, complex):
        return kind(
            complex(wave.shuffle_up(value.real, distance), wave.shuffle_up(value.imag, distance))
        )
    return wave.shuffle_up(value, distance)


@device_function
def shared_values(count, kind):
    """Return LDS for `count` values: an array for each field of a record."""
    if fields_of(kind) is None:
        return (shared.array(count, kind),)
    return tuple(shared.array(count, field) for field in types_of(kind))


@device_function
def put(arrays, index, value, kind):
    """Write a value into LDS."""
    if fields_of(kind) is None:
        arrays[0][index] = value
    else:
        for array, field in zip(arrays, value):  # noqa: B905
            array[index] = field


@device_function
def get(arrays, index, kind):
    """Read a value from LDS."""
    if fields_of(kind) is None:
        return kind(arrays[0][index])
    return kind(*[array[index] for array in arrays])


@device_function
def wave_total(op, value, count, kind):
    """Combine the values of a wave's first `count` lanes in their order; lane 0 gets the result."""
    lane = lane_id()
    distance = 1
    while distance < wavefront_size:
        other = shuffled_down(value, distance, kind)
        if lane + distance < count:
            value = convert(op(value, other), kind)
        distance *= 2
    return value


@device_function
def ordered_total(op, value, count, kind):
    """Combine the values of a workgroup's first `count` work-items in their order.

    Work-item 0 gets the result. count: at least 1, the same in all work-items.
    """
    size = wavefront_size
    value = wave_total(op, value, count - wave_id() * size, kind)
    return waves_total(op, value, (count + size - 1) // size, kind)


@device_function
def waves_total(op, value, waves, kind):
    """Combine the values of the lanes 0 of a workgroup's first waves in the order of the waves."""
    totals = shared_values(MAX_WAVES, kind)
    if lane_id() == 0:
        put(totals, wave_id(), value, kind)
    syncthreads()
    if wave_id() == 0:
        value = get(totals, lane_id() if lane_id() < waves else 0, kind)
        value = wave_total(op, value, waves, kind)
    return value


@device_function
def wave_scan(op, value, kind):
    """Combine the values of each lane and those below in their order."""
    lane = lane_id()
    distance = 1
    while distance < wavefront_size:
        other = shuffled_up(value, distance, kind)
        if lane >= distance:
            value = convert(op(other, value), kind)
        distance *= 2
    return value


@device_function
def prefixes(op, value, kind):
    """Return what comes before each work-item of a workgroup, and whether anything does.

    The values of the work-items below are combined in their order. The third result is the total of
    the whole workgroup.
    """
    size = wavefront_size
    totals = shared_values(MAX_WAVES, kind)
    inclusive = wave_scan(op, value, kind)
    if lane_id() == size - 1:
        put(totals, wave_id(), inclusive, kind)
    syncthreads()
    within = shuffled_up(inclusive, 1, kind)
    before = get(totals, 0, kind)
    total = before
    for other in range(1, (blockDim.x + size - 1) // size):
        if other == wave_id():
            before = total
        total = convert(op(total, get(totals, other, kind)), kind)
    if wave_id() == 0:
        before = within
    elif lane_id() > 0:
        before = convert(op(before, within), kind)
    has_any = boolean(wave_id() + lane_id() > 0)
    return before, has_any, total


# Elements moved to other places.

BLOCK = 256


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def gather_rows(index_type: Const, rows, order, out):
    """out[row, i] = rows[row, order[row, i]]"""
    flat = index_type(blockIdx.x) * BLOCK + threadIdx.x
    length = out.shape[1]
    if flat < out.size:
        row, place = flat // length, flat % length
        store(out, (row, place), rows[row, index_type(order[row, place])])


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def take_field(index_type: Const, name: Const, records, out):
    """out[i] = records[i].name, of records that may lie at any address."""
    flat = index_type(blockIdx.x) * BLOCK + threadIdx.x
    if flat < out.size:
        record = records[flat]
        out[flat] = record[name]


@device_function
def nan_placement(z):
    """Return the parts of a complex number that are NaN as a number: 1 imaginary, 2 real.

    NumPy sorts by this first.
    """
    return u8(z.imag != z.imag) + u8(2) * u8(z.real != z.real)
