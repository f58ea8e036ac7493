"""Histograms: each workgroup counts in LDS and adds its counts to those of all."""

from __future__ import annotations

from typing import no_type_check

from amdjit.api import kernel
from amdjit.declarations import device_function
from amdjit.intrinsics import atomic, wave
from amdjit.intrinsics.lds import shared
from amdjit.intrinsics.numbers.integers import clz
from amdjit.intrinsics.sync import syncthreads
from amdjit.intrinsics.workitem import blockIdx, gridDim, lane_id, threadIdx
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import Const, f32, i32, i64, u32, u64

__all__ = ["BLOCK", "count_bins", "highest_lane", "lanes_below", "votes_of", "waves_of"]

BLOCK = 256


@device_function
def number_of(value):
    """Return a value as a number that compares."""
    if value.dtype.is_float and value.dtype.bits == 8:
        return f32(value)
    return value


@device_function
def unit_bin(value, edges, bins, first):
    """Return the bin of an integer among bins of width 1 that begin at integers."""
    return min(i32(value - value.dtype(first)), bins - 1)


@device_function
def uniform_bin(value, edges, bins, first):
    """Return the bin among bins of about the same width: a guess that the edges correct."""
    width = edges[bins] - edges[0]
    guess = i32((edges.dtype(value) - edges[0]) * (edges.dtype(bins) / width))
    found = max(min(guess, bins - 1), 0)
    while found > 0 and value < edges[found]:
        found -= 1
    while found < bins - 1 and value >= edges[found + 1]:
        found += 1
    return found


@device_function
def searched_bin(value, edges, bins, first):
    """Return the bin among any bins, by bisection."""
    low, high = 0, bins
    while high - low > 1:
        middle = (low + high) // 2
        if value >= edges[middle]:
            low = middle
        else:
            high = middle
    return low


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def count_bins(find: Const, in_lds: Const, index_type: Const, x, edges, first, counts):
    """Add to counts[bin] how many elements lie in each bin; the last one includes its end.

    find: one of the functions above. in_lds: whether the dynamic LDS holds a count for each bin.
    """
    bins = counts.shape[0]
    local = shared.dynamic(i32)
    if in_lds:
        for each in range(threadIdx.x, bins, BLOCK):
            local[each] = 0
        syncthreads()
    start, step = index_type(blockIdx.x) * BLOCK + threadIdx.x, index_type(gridDim.x) * BLOCK
    for place in range(start, x.shape[0], step):
        value = number_of(x[place])
        if value >= edges[0] and value <= edges[bins]:
            found = find(value, edges, bins, first)
            if in_lds:
                atomic.add(local, found, 1)
            else:
                atomic.add(counts, found, i64(1))
    if in_lds:
        syncthreads()
        for each in range(threadIdx.x, bins, BLOCK):
            if local[each] > 0:
                atomic.add(counts, each, i64(local[each]))


# Conditions of all lanes as the bits of a number, which has as many as a wave has lanes.


@compile_time
def _is_wide(compilation: Compilation) -> bool:
    return compilation.wave_size == 64


@compile_time
def waves_of(compilation: Compilation, work_items: int) -> int:
    """Return how many waves a workgroup has."""
    return work_items // compilation.wave_size


@device_function
def votes_of(flag):
    """Return the lanes in which a condition holds."""
    if _is_wide():
        return wave.ballot64(flag)
    return wave.ballot(flag)


@device_function
def lanes_below():
    """Return the lanes with lower numbers than this one."""
    if _is_wide():
        return (u64(1) << u64(lane_id())) - 1
    return (u32(1) << u32(lane_id())) - 1


@device_function
def highest_lane(votes):
    """Return the highest lane of some."""
    return votes.dtype.bits - 1 - i32(clz(votes))
