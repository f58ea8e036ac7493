"""Reductions of the last axis of arrays of three axes, in parts that further launches combine.

Each result is the combination of a segment's elements in their order, grouped in a way that depends
on the shape alone.
"""

from __future__ import annotations

from typing import no_type_check

from amdjit.algorithms.kernels.values import (
    convert,
    load,
    load_neighbours,
    ordered_total,
    wave_total,
    waves_total,
)
from amdjit.api import kernel
from amdjit.declarations import device_function
from amdjit.intrinsics.workitem import (
    blockDim,
    blockIdx,
    lane_id,
    threadIdx,
    wave_id,
    wavefront_size,
)
from amdjit.types import Const

__all__ = ["BLOCK", "reduce_columns", "reduce_rows"]

BLOCK = 256
# Neighbours that one work-item combines at a time where the order matters.
_RUN = 8
# Loads that one work-item has on the way at once where it does not.
_UNROLLED = 8


@device_function
def segment_of(x, segment):
    """Return the index of a segment: the places on the first two axes."""
    extent = x.shape[1]
    return segment // extent, segment % extent


@device_function
def finish(op, kind, out, place, value, init, has_init):
    """Write a result, after the initial value if there is one."""
    if has_init:
        value = convert(op(convert(init, kind), value), kind)
    out[place] = value


@device_function
def strided_part(op, kind, x, row, start, stop):
    """Combine every `BLOCK`th element: the order of the elements is not kept."""
    column = start + threadIdx.x
    total = load(x, (*row, column if column < stop else start), kind)
    column += BLOCK
    while column + (_UNROLLED - 1) * BLOCK < stop:  # that many loads in flight
        values = tuple(load(x, (*row, column + k * BLOCK), kind) for k in range(_UNROLLED))
        for value in values:
            total = convert(op(total, value), kind)
        column += _UNROLLED * BLOCK
    while column < stop:
        total = convert(op(total, load(x, (*row, column), kind)), kind)
        column += BLOCK
    return total


@device_function
def run_total(op, kind, x, row, first, stop):
    """Combine up to `_RUN` neighbours from `first` on, which is below `stop`."""
    if first + _RUN <= stop:
        values = load_neighbours(x, row, first, _RUN, kind)
        total = values[0]
        for value in values[1:]:
            total = convert(op(total, value), kind)
    else:
        total = load(x, (*row, first), kind)
        for other in range(first + 1, stop):
            total = convert(op(total, load(x, (*row, other), kind)), kind)
    return total


@device_function
def ordered_part(op, kind, x, row, start, stop):
    """Combine a wave's share of the elements in their order; lane 0 gets the result."""
    step = _RUN * wavefront_size
    first = start + lane_id() * _RUN
    total = run_total(op, kind, x, row, first if first < stop else start, stop)
    total = wave_total(op, total, lanes_with_work(start, stop), kind)
    for base in range(start + step, stop, step):
        first = base + lane_id() * _RUN
        more = run_total(op, kind, x, row, first if first < stop else base, stop)
        more = wave_total(op, more, lanes_with_work(base, stop), kind)
        total = convert(op(total, more), kind)
    return total


@device_function
def ordered_parts(op, kind, x, row, start, stop):
    """Combine a workgroup's elements in their order: each wave has a share of neighbours."""
    step = _RUN * wavefront_size
    waves = blockDim.x // wavefront_size
    share = (stop - start + waves * step - 1) // (waves * step) * step
    first = start + share * wave_id()
    end = min(first + share, stop)
    if first >= stop:  # nothing to do: a value of no use
        first, end = start, start + 1
    value = ordered_part(op, kind, x, row, first, end)
    return waves_total(op, value, (stop - start + share - 1) // share, kind)


@device_function
def lanes_with_work(base, stop):
    """Return how many lanes have elements, if each takes `_RUN` neighbours from `base` on."""
    return min((stop - base + _RUN - 1) // _RUN, wavefront_size)


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def reduce_rows(
    op: Const,
    kind: Const,
    index_type: Const,
    commutes: Const,
    x,
    length,
    out,
    init,
    has_init: Const,
):
    """Combine `length` elements of a segment in each workgroup: out[segment, part].

    x: [i, j, element], segments in C order of i and j.
    """
    parts = out.shape[1]
    segment, part = index_type(blockIdx.x) // parts, index_type(blockIdx.x) % parts
    row = segment_of(x, segment)
    start = part * length
    stop = min(start + length, x.shape[2])
    if commutes:
        value = strided_part(op, kind, x, row, start, stop)
        value = ordered_total(op, value, min(stop - start, BLOCK), kind)
    else:
        value = ordered_parts(op, kind, x, row, start, stop)
    if threadIdx.x == 0:
        finish(op, kind, out, (segment, part), value, init, has_init)


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def reduce_columns(
    op: Const, kind: Const, index_type: Const, x, length, out, init, has_init: Const
):
    """Combine `length` elements of a segment in each work-item: out[segment, part]."""
    flat = index_type(blockIdx.x) * BLOCK + threadIdx.x
    segments = x.shape[0] * x.shape[1]
    if flat < segments * out.shape[1]:
        part, segment = flat // segments, flat % segments
        row = segment_of(x, segment)
        start = part * length
        total = load(x, (*row, start), kind)
        for other in range(start + 1, min(start + length, x.shape[2])):
            total = convert(op(total, load(x, (*row, other), kind)), kind)
        finish(op, kind, out, (segment, part), total, init, has_init)
