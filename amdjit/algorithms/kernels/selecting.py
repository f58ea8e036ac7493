"""Elements that pass a test, moved together in their order.

A test is a function of the arrays that it looks at, of what the user gave, and of a place.
"""

from __future__ import annotations

from typing import no_type_check

import amdjit
from amdjit.algorithms.kernels.counting import lanes_below, number_of, votes_of
from amdjit.algorithms.kernels.radix import add, place_of
from amdjit.algorithms.kernels.values import load, ordered_total, prefixes, store
from amdjit.api import kernel
from amdjit.declarations import device_function
from amdjit.intrinsics.numbers.integers import popcount
from amdjit.intrinsics.workitem import blockIdx, lane_id, threadIdx
from amdjit.types import Const, boolean, i32

__all__ = [
    "BLOCK",
    "ITEMS",
    "begins_run",
    "count_selected",
    "is_set",
    "passes",
    "run_lengths",
    "select",
]

BLOCK = 256
ITEMS = 8


@device_function
def is_set(arrays, given, place):
    """Whether a mask's element is true."""
    return boolean(arrays[0][place])


@device_function
def passes(arrays, given, place):
    """Whether a predicate holds for an element. given: the predicate, and the kind of element."""
    predicate, kind = given
    return boolean(predicate(load(arrays[0], place, kind)))


@device_function
def begins_run(arrays, given, place):
    """Whether an element differs from the one before it; NaN equals NaN."""
    value = number_of(arrays[0][place])
    before = number_of(arrays[0][max(place - 1, 0)])
    both_nan = value != value and before != before
    return place == 0 or not (value == before or both_nan)


@device_function
def flags_of(test, given, arrays, base, n):
    """Return for each turn of a work-item whether its element passes."""
    places = tuple(base + place_of(turn, ITEMS) for turn in range(ITEMS))
    return tuple(test(arrays, given, place) if place < n else boolean(False) for place in places)


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def count_selected(test: Const, given: Const, index_type: Const, arrays, n, counts):
    """Count the elements of each tile that pass: counts[tile]."""
    base = index_type(blockIdx.x) * (BLOCK * ITEMS)
    total = 0
    for flag in flags_of(test, given, arrays, base, n):
        total += i32(flag)
    total = ordered_total(add, total, BLOCK, i32)
    if threadIdx.x == 0:
        counts[blockIdx.x] = total


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def select(
    test: Const, given: Const, index_type: Const, arrays, n, ends, source, out, places, ranks, order
):
    """Move the elements that pass. ends: [tile], how many pass up to the tile's end.

    out: gets the elements of source. places: gets their places. ranks: gets at order[i] how many
    pass up to i, without the first. Each may be None.
    """
    base = index_type(blockIdx.x) * (BLOCK * ITEMS)
    flags = flags_of(test, given, arrays, base, n)
    below = lanes_below()
    votes = tuple(votes_of(flag) for flag in flags)
    in_wave = 0
    for vote in votes:
        in_wave += i32(popcount(vote))
    # Only the first lane's number counts, so that the total of the work-items before is the waves'.
    before, has_any, _ = prefixes(add, in_wave if lane_id() == 0 else 0, i32)
    position = index_type(ends[blockIdx.x - 1] if blockIdx.x > 0 else 0)
    if has_any:
        position += before
    if lane_id() > 0:
        position -= in_wave
    for turn in amdjit.static_range(ITEMS):
        place = base + place_of(turn, ITEMS)
        target = position + i32(popcount(votes[turn] & below))
        if flags[turn]:
            if out is not None:
                store(out, target, source[place])
            if places is not None:
                places[target] = place
        if ranks is not None and place < n:
            ranks[order[place]] = target - 1 + i32(flags[turn])
        position += i32(popcount(votes[turn]))


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def run_lengths(index_type: Const, starts, n, lengths):
    """Write how many elements each run has, from the places where they begin."""
    run = index_type(blockIdx.x) * BLOCK + threadIdx.x
    runs = starts.shape[0]
    if run < runs:
        end = starts[run + 1] if run + 1 < runs else n
        lengths[run] = end - starts[run]
