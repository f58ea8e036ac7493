"""Seeded mistakes of synchronisation."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import f32, f32x8, shared, syncthreads, threadIdx
from amdjit.intrinsics import amdgcn, memory, sync
from tests.emulator.checks.seeded_kernels.seeded import Case


def floats(*shape: int, kind: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.ones(shape, kind)


@amdjit.kernel
def barrier_in_a_branch_of_lanes(x):
    tile = shared.array(64, f32)
    t = threadIdx.x
    if t % 2 == 0:
        tile[t] = x[t]
        syncthreads()  # BUG sync/divergent-barrier
        x[t] = tile[63 - t - 1]


@amdjit.kernel
def early_return_of_lanes(x):
    tile = shared.array(64, f32)
    t = threadIdx.x
    if t >= 40:
        return
    tile[t] = x[t]
    syncthreads()  # BUG sync/divergent-barrier
    x[t] = tile[39 - t]


@amdjit.kernel
def early_return_of_a_wave(x):
    tile = shared.array(64, f32)
    t = threadIdx.x
    if t >= 32:  # OTHER
        return
    tile[t] = x[t]
    syncthreads()  # BUG sync/unreached-barrier
    x[t] = tile[31 - t]


@amdjit.kernel
def different_barriers(x):
    tile = shared.array(64, f32)
    t = threadIdx.x
    tile[t] = x[t]
    if t < 32:
        syncthreads()  # OTHER
        x[t] = tile[63 - t]
    else:
        x[t] = 1
        syncthreads()  # BUG sync/different-barriers
        x[t] = tile[63 - t] + 1


@amdjit.kernel
def barrier_in_a_loop_of_lanes(x):
    tile = shared.array(64, f32)
    t = threadIdx.x
    for k in range(t % 4):
        tile[t] = x[t] + k
        syncthreads()  # BUG sync/divergent-barrier
        x[t] = tile[t ^ 1]


@amdjit.kernel
def one_more_barrier_for_the_first_wave(x):
    tile = shared.array(64, f32)
    t = threadIdx.x
    tile[t] = x[t]
    syncthreads()
    if t < 32:  # OTHER
        x[t] = tile[63 - t]
        syncthreads()  # BUG sync/unreached-barrier
        x[t] += 1


@amdjit.kernel
def second_signal_before_the_wait(x):
    t = threadIdx.x
    sync.barrier_signal()
    if t < 64:
        sync.barrier_signal()  # BUG sync/signalled-twice
    sync.barrier_wait()
    x[t] = 1


@amdjit.kernel
def product_of_half_a_wave(a, c):
    t = threadIdx.x
    if t < 16:
        part = a.load(8 * t, 8)
        total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(  # BUG sync/matrix-partial-exec
            part, part, f32x8()
        )
        c[t] = total[0]


@amdjit.kernel
def product_of_a_block_that_is_no_wave(a, c):
    t = threadIdx.x
    part = a.load(8 * (t % 32), 8)
    total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(  # BUG sync/matrix-partial-exec
        part, part, f32x8()
    )
    c[t] = total[0]


@amdjit.kernel
def product_in_a_loop_of_lanes(a, c):
    t = threadIdx.x
    total = f32x8()
    for _ in range(t // 8):
        part = a.load(8 * t, 8)
        total = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(  # BUG sync/matrix-partial-exec
            part, part, total
        )
    c[t] = total[0]


@amdjit.kernel
def transposing_load_of_half_a_wave(a, c):
    t = threadIdx.x
    if t < 16:
        c[t] = memory.load_transposed(a, 0, 0)[0]  # BUG sync/transpose-partial-exec


X = floats(64)
HALVES, SUMS = floats(256, kind=np.float16), floats(64)
CASES = [
    Case(barrier_in_a_branch_of_lanes, lambda kernel: kernel[1, 64](X)),
    Case(early_return_of_lanes, lambda kernel: kernel[1, 64](X)),
    Case(early_return_of_a_wave, lambda kernel: kernel[1, 64](X)),
    Case(different_barriers, lambda kernel: kernel[1, 64](X)),
    Case(barrier_in_a_loop_of_lanes, lambda kernel: kernel[1, 64](X)),
    Case(one_more_barrier_for_the_first_wave, lambda kernel: kernel[1, 64](X)),
    Case(second_signal_before_the_wait, lambda kernel: kernel[1, 128](floats(128))),
    Case(product_of_half_a_wave, lambda kernel: kernel[1, 32](HALVES, SUMS)),
    Case(product_of_a_block_that_is_no_wave, lambda kernel: kernel[1, 40](HALVES, SUMS)),
    Case(product_in_a_loop_of_lanes, lambda kernel: kernel[1, 32](HALVES, SUMS)),
    Case(
        transposing_load_of_half_a_wave, lambda kernel: kernel[1, 64](HALVES.reshape(16, 16), SUMS)
    ),
]
