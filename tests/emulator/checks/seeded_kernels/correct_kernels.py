"""Correct kernels that look suspicious: memory that is partly written, lanes and waves that do
different things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import amdjit
from amdjit import f16, f32, f32x8, i32, local, shared, syncthreads, threadIdx
from amdjit.intrinsics import amdgcn, wave

TILE = 64


@amdjit.kernel
def loads_that_are_masked_out(x, n, out):
    i = amdjit.grid(1)
    value = x[i]
    out[i] = value if i < n else f32(0)


@amdjit.kernel
def a_halo_that_is_filled(x, out):
    box = shared.array(66, f32)
    t = threadIdx.x
    box[t + 1] = x[t]
    if t < 2:
        box[65 * t] = 0
    syncthreads()
    out[t] = box[t] + box[t + 2]


@amdjit.kernel
def a_padded_tile(x, out):
    tile = shared.array((8, 9), f32)
    t = threadIdx.x
    tile[t // 8, t % 8] = x[t]
    syncthreads()
    out[t] = tile[t % 8, t // 8]


@amdjit.kernel
def a_reduction_of_half_the_lanes(x, out):
    tile = shared.array(32, f32)
    t = threadIdx.x
    if t < 32:
        tile[t] = x[t]
    syncthreads()
    stride = 16
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        syncthreads()
        stride //= 2
    if t == 0:
        out[0] = tile[0]


@amdjit.kernel
def a_counter_that_is_cleared(x, out):
    counter = shared.array(1, i32)
    t = threadIdx.x
    if t == 0:
        counter[0] = 0
    syncthreads()
    amdjit.atomic.add(counter, 0, x[t])
    syncthreads()
    out[t] = counter[0]


@amdjit.kernel
def a_local_array_by_parts(n, out):
    values = local.array(256, i32)
    for k in range(n):
        values[k] = 2 * k
    total = 0
    for k in range(n):
        total += values[n - 1 - k]
    out[amdjit.grid(1)] = total


@amdjit.kernel
def halves_side_by_side(x, out):
    i = amdjit.grid(1)
    out[2 * i] = x[2 * i + 1]
    out[2 * i + 1] = f16(2) * x[2 * i]


@amdjit.kernel
def bytes_of_words(x, out):
    i = amdjit.grid(1)
    out[i] = (x[i] // 3) ^ (x[i] % 5)


@amdjit.kernel
def a_shuffle_in_a_branch(x, out):
    i = amdjit.grid(1)
    value = f32(0)
    if i < 48:
        value = x[i]
    value += wave.shuffle_xor(value, 16)
    out[i] = value


@amdjit.kernel
def a_vote(x, out):
    i = amdjit.grid(1)
    out[i] = 1 if wave.all(x[i] > 0) else 2


@amdjit.kernel
def a_sum_over_the_wave(x, out):
    """A permutation between rows of lanes goes into a register that held nothing."""
    i = amdjit.grid(1)
    out[i] = wave.reduce_add(x[i])


@amdjit.kernel
def a_swap_into_memory_that_is_new(x, out):
    i = amdjit.grid(1)
    amdjit.atomic.exch(out, i, x[i])


@amdjit.kernel
def waves_that_work_on_their_own(x, out):
    t = threadIdx.x
    if t < 32:
        out[t] = x[t] + 1
    else:
        for k in range(t % 7):
            out[t] = x[t] + k
    syncthreads()
    out[t] = 2


@amdjit.kernel
def a_product_with_an_empty_corner(a, c):
    lane = threadIdx.x
    part = a.load(8 * lane, 8)
    total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(part, part, f32x8())
    if lane < 8:
        c[lane] = total[0]


@amdjit.kernel
def results_after_a_return(x, n, out):
    i = amdjit.grid(1)
    if i >= n:
        return
    out[i] = x[i] * x[i]


def empty(*shape: int, kind: Any = np.float32) -> amdjit.DeviceArray:
    return amdjit.empty(shape, kind)


def ones(*shape: int, kind: Any = np.float32) -> amdjit.DeviceArray:
    return amdjit.to_device(np.ones(shape, kind))


def half_written() -> amdjit.DeviceArray:
    x = empty(TILE)
    x[:32].copy_from_host(np.ones(32, np.float32))
    return x


def first_rows() -> amdjit.DeviceArray:
    """Rows 0 to 7 of 16 by 16: lanes 0 to 7 hold their first halves, lanes 16 to 23 their second
    ones."""
    x = empty(256, kind=np.float16)
    x[:64].copy_from_host(np.ones(64, np.float16))
    x[128:192].copy_from_host(np.ones(64, np.float16))
    return x


Launch = tuple[amdjit.Kernel, int, Callable[[], list[Any]]]
LAUNCHES: list[Launch] = [
    (loads_that_are_masked_out, TILE, lambda: [half_written(), 32, empty(TILE)]),
    (a_halo_that_is_filled, TILE, lambda: [ones(TILE), empty(TILE)]),
    (a_padded_tile, TILE, lambda: [ones(TILE), empty(TILE)]),
    (a_reduction_of_half_the_lanes, TILE, lambda: [half_written(), empty(1)]),
    (
        a_counter_that_is_cleared,
        TILE,
        lambda: [ones(TILE, kind=np.int32), empty(TILE, kind=np.int32)],
    ),
    (a_local_array_by_parts, TILE, lambda: [100, empty(TILE, kind=np.int32)]),
    (halves_side_by_side, 32, lambda: [ones(TILE, kind=np.float16), empty(TILE, kind=np.float16)]),
    (bytes_of_words, TILE, lambda: [ones(TILE, kind=np.uint8), empty(TILE, kind=np.uint8)]),
    (a_shuffle_in_a_branch, TILE, lambda: [ones(TILE), empty(TILE)]),
    (a_vote, TILE, lambda: [ones(TILE), empty(TILE)]),
    (a_sum_over_the_wave, TILE, lambda: [ones(TILE), empty(TILE)]),
    (
        a_swap_into_memory_that_is_new,
        TILE,
        lambda: [ones(TILE, kind=np.int32), empty(TILE, kind=np.int32)],
    ),
    (waves_that_work_on_their_own, TILE, lambda: [ones(TILE), empty(TILE)]),
    (a_product_with_an_empty_corner, 32, lambda: [first_rows(), empty(8)]),
    (results_after_a_return, TILE, lambda: [half_written(), 32, empty(TILE)]),
]
