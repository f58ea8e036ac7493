"""Stable radix sort, eight bits a pass from the lowest on.

The work-items of a wave take turns at its share of the elements, so that waves read neighbours, and
the order of elements is that of (wave, turn, lane).
"""

from __future__ import annotations

from typing import no_type_check

import amdjit
from amdjit.algorithms.kernels.counting import lanes_below, votes_of, waves_of
from amdjit.algorithms.kernels.values import prefixes
from amdjit.api import kernel
from amdjit.declarations import device_function
from amdjit.intrinsics import atomic
from amdjit.intrinsics.lds import shared
from amdjit.intrinsics.numbers.integers import popcount
from amdjit.intrinsics.sync import syncthreads, wave_barrier
from amdjit.intrinsics.workitem import blockIdx, lane_id, threadIdx, wave_id, wavefront_size
from amdjit.types import Const, i16, i32, u8, u16, u32, u64

__all__ = ["BLOCK", "DIGITS", "count_digits", "scatter_by_digit", "sort_tiles"]

BLOCK = 512
DIGITS = 256
_DIGIT_BITS = 8


@device_function
def bits_of(value):
    """Return the bits of a number in 32 or 64 bits."""
    size = value.dtype.bits
    if size == 64:
        return amdjit.bitcast(value, u64)
    if size == 32:
        return amdjit.bitcast(value, u32)
    if size == 16:
        return u32(amdjit.bitcast(value, u16))
    if size == 8:
        return u32(amdjit.bitcast(value, u8))
    return u32(value)


@device_function
def key_of(value, descending):
    """Return an unsigned number that is ordered as the values are: NaN last, zeros equal."""
    bits = bits_of(value)
    size = value.dtype.bits
    sign = bits.dtype(1) << (size - 1)
    if value.dtype.is_float:
        number = value if size >= 32 else amdjit.f32(value)
        if number == 0:
            bits = bits.dtype(0)
        magnitude = bits & (sign - 1)
        key = (sign - 1) - magnitude if bits & sign else sign + magnitude
        if number != number:
            key = sign | (sign - 1)
    elif value.dtype.is_signed:
        key = (bits ^ sign) & (sign | (sign - 1))
    else:
        key = bits
    if descending:
        key = (sign | (sign - 1)) - key
    return key


@device_function
def digit_of(value, shift, descending):
    """Return the digit of a value for a pass."""
    key = key_of(value, descending)
    return i32(key >> key.dtype(shift)) & (DIGITS - 1)


@device_function
def place_of(turn, items):
    """Return the place in the tile of what a work-item has in a turn."""
    return wave_id() * (items * wavefront_size) + turn * wavefront_size + lane_id()


@device_function
def lanes_with(digit):
    """Return the lanes of the wave that have the same digit, as a bit mask."""
    same = votes_of(True)
    for bit in range(_DIGIT_BITS):
        has = (digit >> bit & 1) != 0
        vote = votes_of(has)
        same &= vote if has else ~vote
    return same


@device_function
def ranked(digits):
    """Rank a tile's elements by their digits, keeping the order of equal ones.

    Returns for each turn how many elements of the digit come before in the same wave, and LDS with
    the number of elements that each wave has of each digit.
    """
    waves = waves_of(BLOCK)
    counts = shared.array((waves, DIGITS), i16)
    for other in range(threadIdx.x // DIGITS, waves, BLOCK // DIGITS):
        counts[other, threadIdx.x % DIGITS] = 0
    syncthreads()
    ranks = ()
    below = lanes_below()
    for digit in digits:
        same = lanes_with(digit)
        before = i32(counts[wave_id(), digit])
        wave_barrier()
        if (same & below) == 0:
            counts[wave_id(), digit] = before + i32(popcount(same))
        wave_barrier()
        ranks = (*ranks, before + i32(popcount(same & below)))
    syncthreads()
    return ranks, counts


@device_function
def add(a, b):
    """Return the sum."""
    return a + b


@device_function
def begin_digits(counts):
    """Replace the numbers of a work-item's digit by where each wave's elements of it begin.

    Returns where the first of them begins: in the tile, digits follow each other.
    """
    digit, total = threadIdx.x, 0
    if digit < DIGITS:
        for other in range(waves_of(BLOCK)):
            total += counts[other, digit]
    before, has_any, _ = prefixes(add, total, i32)
    first = before if has_any else 0
    start = first
    if digit < DIGITS:
        for other in range(waves_of(BLOCK)):
            count = counts[other, digit]
            counts[other, digit] = start
            start += count
    return first


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def count_digits(index_type: Const, items: Const, shift, descending: Const, keys, counts):
    """Count the elements of each digit in each tile: counts[segment, digit, tile].

    keys: [segment, element].
    """
    tiles = counts.shape[2]
    segment, tile = index_type(blockIdx.x) // tiles, index_type(blockIdx.x) % tiles
    local = shared.array(DIGITS, i32)
    if threadIdx.x < DIGITS:
        local[threadIdx.x] = 0
    syncthreads()
    base = tile * (BLOCK * items)
    for turn in range(items):
        place = base + turn * BLOCK + threadIdx.x
        if place < keys.shape[1]:
            atomic.add(local, digit_of(keys[segment, place], shift, descending), 1)
    syncthreads()
    if threadIdx.x < DIGITS:
        counts[segment, threadIdx.x, tile] = local[threadIdx.x]


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def scatter_by_digit(
    index_type: Const, items: Const, shift, descending: Const, keys, starts, out, places, out_places
):
    """Move each element to where its digit's elements begin, behind those that come before it.

    keys, out: [segment, element]. starts: [segment, digit, tile]. places, out_places: values
    that move with the elements, or None for both. If only `places` is None, the elements' positions
    move.
    """
    tiles = starts.shape[2]
    segment, tile = index_type(blockIdx.x) // tiles, index_type(blockIdx.x) % tiles
    base, length = tile * (BLOCK * items), keys.shape[1]
    sources = tuple(base + place_of(turn, items) for turn in range(items))
    values = tuple(keys[segment, min(source, length - 1)] for source in sources)
    digits = tuple(
        digit_of(value, shift, descending) if source < length else DIGITS - 1
        for value, source in zip(values, sources)  # noqa: B905
    )
    ranks, counts = ranked(digits)
    before = begin_digits(counts)
    # From places in the tile, where digits are sorted, to places in the row: runs of neighbours.
    distance = shared.array(DIGITS, index_type)
    if threadIdx.x < DIGITS:
        distance[threadIdx.x] = index_type(starts[segment, threadIdx.x, tile]) - before
    moved_values = shared.array(BLOCK * items, values[0].dtype)
    moved_places = shared.array(1 if out_places is None else BLOCK * items, i16)
    syncthreads()
    for turn, value, digit, rank in zip(range(items), values, digits, ranks):  # noqa: B905
        target = counts[wave_id(), digit] + rank
        moved_values[target] = value
        if out_places is not None:
            moved_places[target] = place_of(turn, items)
    syncthreads()
    for turn in range(items):
        place = turn * BLOCK + threadIdx.x
        if base + place < length:
            value = moved_values[place]
            target = distance[digit_of(value, shift, descending)] + place
            out[segment, target] = value
            if out_places is not None:
                source = base + i32(moved_places[place])
                moved = source if places is None else places[segment, source]
                out_places[segment, target] = moved


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def sort_tiles(items: Const, passes: Const, descending: Const, keys, out, places, out_places):
    """Sort a segment of at most `BLOCK * items` elements in each workgroup, in LDS.

    The arguments are those of `scatter_by_digit`.
    """
    segment, length = blockIdx.x, keys.shape[1]
    own = tuple(place_of(turn, items) for turn in range(items))
    values = tuple(keys[segment, min(place, length - 1)] for place in own)
    order = own
    moved_values = shared.array(BLOCK * items, values[0].dtype)
    moved_order = shared.array(BLOCK * items, i16)
    for number in range(passes):
        digits = tuple(
            digit_of(value, 8 * number, descending) if place < length else DIGITS - 1
            for value, place in zip(values, order)  # noqa: B905
        )
        ranks, counts = ranked(digits)
        begin_digits(counts)
        syncthreads()
        for value, place, digit, rank in zip(values, order, digits, ranks):  # noqa: B905
            target = counts[wave_id(), digit] + rank
            moved_values[target] = value
            moved_order[target] = place
        syncthreads()
        values = tuple(moved_values[place] for place in own)
        order = tuple(i32(moved_order[place]) for place in own)
    for value, place, source in zip(values, own, order):  # noqa: B905
        if place < length:
            out[segment, place] = value
            if out_places is not None:
                moved = source if places is None else places[segment, source]
                out_places[segment, place] = moved
