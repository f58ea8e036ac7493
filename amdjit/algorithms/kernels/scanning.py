"""Scans along the last axis of arrays of three axes: one tile of a segment in each workgroup."""

from __future__ import annotations

from typing import no_type_check

from amdjit.algorithms.kernels.counting import highest_lane, votes_of
from amdjit.algorithms.kernels.reduction import segment_of
from amdjit.algorithms.kernels.values import (
    convert,
    get,
    load,
    load_neighbours,
    prefixes,
    put,
    shared_values,
    shuffled_down,
    store,
    store_neighbours,
)
from amdjit.api import kernel
from amdjit.declarations import device_function
from amdjit.intrinsics import atomic, wave
from amdjit.intrinsics.lds import shared
from amdjit.intrinsics.sync import syncthreads
from amdjit.intrinsics.workitem import blockIdx, lane_id, threadIdx, wave_id, wavefront_size
from amdjit.types import Const, i32

__all__ = ["BLOCK", "scan_columns", "scan_looking_back", "scan_tiles"]

BLOCK = 256
# What is known of a tile: nothing, what it combines, what all tiles up to it do.
_NOTHING, _TOTAL, _END = 0, 1, 2


@device_function
def neighbours(x, row, first, stop, items, instead, kind):
    """Return `items` neighbouring elements; those from `stop` on are the element `instead`."""
    if first + items <= stop:
        values = load_neighbours(x, row, first, items, kind)
    else:
        values = tuple(
            load(x, (*row, first + k if first + k < stop else instead), kind) for k in range(items)
        )
    return values


@device_function
def put_neighbours(out, row, first, stop, values):
    """Write values to neighbouring elements below `stop`."""
    if first + len(values) <= stop:
        store_neighbours(out, row, first, values)
    else:
        for k, value in enumerate(values):
            if first + k < stop:
                store(out, (*row, first + k), value)


@device_function
def scan_of(op, kind, values):
    """Return the combinations of the first values of a tuple, the first 1, 2, ..."""
    total = values[0]
    results = (total,)
    for value in values[1:]:
        total = convert(op(total, value), kind)
        results = (*results, total)
    return results


@device_function
def with_prefix(op, kind, prefix, has_prefix, value):
    """Return a value after what comes before it, if anything does."""
    if has_prefix:
        value = convert(op(prefix, value), kind)
    return value


@device_function
def results_of(op, kind, sums, prefix, has_prefix, exclusive):
    """Return a work-item's results from its own sums and what comes before it."""
    if exclusive:
        return (
            prefix,
            *[with_prefix(op, kind, prefix, has_prefix, value) for value in sums[:-1]],
        )
    return tuple(with_prefix(op, kind, prefix, has_prefix, value) for value in sums)


@device_function
def store_scan(op, kind, out, row, first, sums, within, carry, has_carry, exclusive):
    """Write a work-item's results. within: what comes before it in its workgroup, and whether
    anything does. carry: what comes before the workgroup."""
    before, has_any = within
    prefix = carry
    if has_any:
        prefix = with_prefix(op, kind, carry, has_carry, before)
    results = results_of(op, kind, sums, prefix, has_any or has_carry, exclusive)
    put_neighbours(out, row, first, out.shape[2], results)


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def scan_tiles(
    op: Const, kind: Const, index_type: Const, items: Const, exclusive: Const,
    x, out, before, has_before: Const, init, has_init: Const,
):  # fmt: skip
    """Scan `BLOCK * items` elements of a segment in each workgroup.

    before: [segment, tile], the combination of each segment's tiles up to that one.
    """
    tiles = (x.shape[2] + BLOCK * items - 1) // (BLOCK * items)
    segment, tile = index_type(blockIdx.x) // tiles, index_type(blockIdx.x) % tiles
    base = tile * (BLOCK * items)
    first = base + threadIdx.x * items
    values = neighbours(x, segment_of(x, segment), first, x.shape[2], items, base, kind)
    sums = scan_of(op, kind, values)
    within, has_any, _ = prefixes(op, sums[-1], kind)
    carry = values[0]
    if has_init:
        carry = convert(init, kind)
    if has_before and tile > 0:
        carry = with_prefix(op, kind, carry, has_init, load(before, (segment, tile - 1), kind))
    has_carry = has_init or tile > 0
    row = segment_of(out, segment)
    store_scan(op, kind, out, row, first, sums, (within, has_any), carry, has_carry, exclusive)


@device_function
def suffix_total(op, kind, value, first):
    """Combine the values of a wave's lanes from `first` on in their order; lane 0 gets the
    result."""
    lane = lane_id()
    distance = 1
    while distance < wavefront_size:
        other = shuffled_down(value, distance, kind)
        if lane + distance < wavefront_size:
            # The lane stands for `distance` lanes, of which none may count.
            value = convert(op(value, other), kind) if lane + distance > first else other
        distance *= 2
    return value


@device_function
def known_before(flags, begin, last):
    """Wait until enough is known of the tiles up to `last`, one for each lane, the nearest in the
    highest.

    Returns the lane's flag, the first lane that counts, and whether its tile's end is known, so
    that no tiles before it are needed.
    """
    place = last - (wavefront_size - 1) + lane_id()
    flag, first, found, waiting = 0, 0, False, True
    while waiting:
        flag = atomic.load(flags, begin + max(place, 0), order="acquire", scope="agent")
        ends = votes_of(flag == _END and place >= 0)
        found = ends != 0
        first = highest_lane(ends) if found else 0
        waiting = wave.any(flag == _NOTHING and lane_id() >= first and place >= 0)
    return flag, first, found


@device_function
def look_back(op, kind, flags, totals, ends, begin, tile, spare):
    """Combine all tiles before one, as far as they are known: a wave's work; lane 0 gets the
    result. spare: any value."""
    last, is_first, done, carry = tile - 1, True, False, spare
    while not done:
        flag, first, done = known_before(flags, begin, last)
        place, value = begin + last - (wavefront_size - 1) + lane_id(), spare
        if lane_id() >= first and place >= begin:
            value = load(ends, place, kind) if flag == _END else load(totals, place, kind)
        value = suffix_total(op, kind, value, first)
        carry = value if is_first else convert(op(value, carry), kind)
        last, is_first = last - wavefront_size, False
    return carry


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def scan_looking_back(
    op: Const, kind: Const, index_type: Const, items: Const, exclusive: Const,
    x, out, flags, totals, ends, init, has_init: Const,
):  # fmt: skip
    """Scan `BLOCK * items` elements of a segment in each workgroup, after what workgroups before it
    have found.

    flags: zeros, one for each tile of each segment, and a counter. totals, ends: what a tile
    combines, and what all tiles of its segment up to it do. Workgroups take tiles in the order in
    which they begin, so that those that one waits for have begun.
    """
    ticket, carried = shared.array(1, i32), shared_values(1, kind)
    tiles = (x.shape[2] + BLOCK * items - 1) // (BLOCK * items)
    if threadIdx.x == 0:
        ticket[0] = atomic.add(flags, flags.shape[0] - 1, 1)
    syncthreads()
    segment, tile = ticket[0] // tiles, ticket[0] % tiles
    begin, base = segment * tiles, index_type(tile) * (BLOCK * items)
    first = base + threadIdx.x * items
    values = neighbours(x, segment_of(x, segment), first, x.shape[2], items, base, kind)
    sums = scan_of(op, kind, values)
    within, has_any, total = prefixes(op, sums[-1], kind)
    if wave_id() == 0:
        if lane_id() == 0 and tile > 0:
            store(totals, begin + tile, total)
            atomic.store(flags, begin + tile, _TOTAL, order="release", scope="agent")
        carry = total
        if tile > 0:
            carry = look_back(op, kind, flags, totals, ends, begin, tile, total)
        elif has_init:
            carry = convert(init, kind)
        if lane_id() == 0:
            put(carried, 0, carry, kind)
            has_carry = has_init or tile > 0
            store(ends, begin + tile, with_prefix(op, kind, carry, has_carry, total))
            atomic.store(flags, begin + tile, _END, order="release", scope="agent")
    syncthreads()
    has_carry = has_init or tile > 0
    carry = get(carried, 0, kind)
    row = segment_of(out, segment)
    store_scan(op, kind, out, row, first, sums, (within, has_any), carry, has_carry, exclusive)


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def scan_columns(
    op: Const, kind: Const, index_type: Const, exclusive: Const, x, out, init, has_init: Const
):
    """Scan a segment in each work-item."""
    segment = index_type(blockIdx.x) * BLOCK + threadIdx.x
    if segment < x.shape[0] * x.shape[1]:
        source, row = segment_of(x, segment), segment_of(out, segment)
        total = load(x, (*source, 0), kind)
        if has_init:
            initial = convert(init, kind)
            if exclusive:
                store(out, (*row, 0), initial)
            total = convert(op(initial, total), kind)
        if not exclusive:
            store(out, (*row, 0), total)
        for place in range(1, x.shape[2]):
            value = load(x, (*source, place), kind)
            if exclusive:
                store(out, (*row, place), total)
            total = convert(op(total, value), kind)
            if not exclusive:
                store(out, (*row, place), total)
