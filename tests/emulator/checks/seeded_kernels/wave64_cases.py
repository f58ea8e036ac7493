"""Kernels in waves of 64 lanes, with mistakes and without: their upper halves, and lane masks in
pairs of registers."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import DeviceArray, f32, f32x4, shared, syncthreads, threadIdx
from amdjit.intrinsics import amdgcn, memory, wave
from tests.emulator.checks.seeded_kernels.init_bugs import empty, ones, upper_rows
from tests.emulator.checks.seeded_kernels.seeded import Case


def upper_half_empty(kind: Any = np.float32) -> DeviceArray:
    x = empty(64, kind=kind)
    x[:32].copy_from_host(np.ones(32, kind))
    return x


@amdjit.kernel(wave_size=64)
def upper_half_of_a_copy(x, out):
    i = threadIdx.x
    out[i] = x[i] * 2  # BUG init/undefined-store


@amdjit.kernel(wave_size=64)
def a_lane_of_the_upper_half(x, out):
    i = threadIdx.x
    value = x[i]  # OTHER
    out[i] = wave.readlane(value, 40)  # BUG init/undefined-store


@amdjit.kernel(wave_size=64)
def shuffle_between_halves(x, out):
    i = threadIdx.x
    value = wave.shuffle_xor(x[i], 32)  # OTHER
    if i < 32:
        out[i] = value  # BUG init/undefined-store


@amdjit.kernel(wave_size=64)
def vote_with_the_upper_half(x, out):
    i = threadIdx.x
    if wave.all(x[i] < 3):  # BUG init/undefined-branch
        out[i] = 1


@amdjit.kernel(wave_size=64)
def rows_of_the_upper_half(a, c):
    lane = threadIdx.x
    left = a.load(4 * lane, 4)
    right = a.load(4 * (lane % 16), 4)
    total = amdgcn.wmma_f32_16x16x16_f16_w64_gfx12(left, right, f32x4())
    c[lane] = total[0] + total[1] + total[2] + total[3]  # BUG init/undefined-store


@amdjit.kernel(wave_size=64)
def private_memory_of_the_upper_half(n, x, out):
    mine = amdjit.local.array(64, f32)
    i = threadIdx.x
    for k in range(n):
        mine[(k + i) & 63] = x[k]
    out[i] = mine[n & 31]  # BUG init/undefined-store


@amdjit.kernel(wave_size=64)
def barrier_for_one_half(x):
    box = shared.array(128, f32)
    i = threadIdx.x
    box[i] = x[i]
    if i % 64 < 32:
        syncthreads()  # BUG sync/divergent-barrier
        x[i] = box[i ^ 1]


@amdjit.kernel(wave_size=64)
def early_return_of_a_wide_wave(x):
    box = shared.array(128, f32)
    i = threadIdx.x
    if i >= 64:
        return
    box[i] = x[i]
    syncthreads()  # BUG sync/unreached-barrier
    x[i] = box[63 - i]


@amdjit.kernel(wave_size=64)
def different_barriers_of_wide_waves(x):
    box = shared.array(128, f32)
    i = threadIdx.x
    box[i] = x[i]
    if i < 64:
        syncthreads()  # OTHER
        x[i] = box[127 - i]
    else:
        x[i] = 1
        syncthreads()  # BUG sync/different-barriers
        x[i] = box[127 - i] + 1


@amdjit.kernel(wave_size=64)
def product_of_the_lower_half(a, c):
    lane = threadIdx.x
    if lane < 32:
        part = a.load(4 * lane, 4)
        total = amdgcn.wmma_f32_16x16x16_f16_w64_gfx12(  # BUG sync/matrix-partial-exec
            part, part, f32x4()
        )
        c[lane] = total[0]


@amdjit.kernel(wave_size=64)
def no_barrier_between_wide_waves(x, out):
    box = shared.array(128, f32)
    i = threadIdx.x
    box[i] = x[i]  # BUG race/lds
    out[i] = box[127 - i]  # BUG race/lds


@amdjit.kernel(wave_size=64)
def a_counter_of_wide_waves_reset_too_soon(x, out):
    count = shared.array(1, amdjit.i32)
    i = threadIdx.x
    if i == 0:
        count[0] = 0
    syncthreads()
    if i < 64:
        amdjit.atomic.add(count, 0, x[i])  # OTHER
    if i == 64:
        count[0] = 0  # BUG race/lds
    syncthreads()
    out[i] = count[0]


@amdjit.kernel(wave_size=64)
def upper_half_past_the_end(x, out):
    i = threadIdx.x
    out[i] = x[i]  # BUG memory/out-of-bounds


@amdjit.kernel(wave_size=64)
def halves_that_contradict(x):
    i = threadIdx.x
    x[i % 32] = i  # BUG race/lanes  # OTHER


@amdjit.kernel(wave_size=64)
def two_lanes_of_two_halves(x):
    box = shared.array((4, 2), f32)
    i = threadIdx.x
    if i == 5 or i == 60:
        box[i % 5, 1] = i  # BUG race/lanes  # OTHER
    x[i] = box[0, 1]


@amdjit.kernel(wave_size=64)
def bytes_of_two_halves(x):
    i = threadIdx.x
    x[(i * 3) % 60] = amdjit.u8(i)  # BUG race/lanes  # OTHER


def with_empty_rows() -> DeviceArray:
    """Lanes 36 and on hold nothing."""
    a = empty(256, kind=np.float16)
    a[:144].copy_from_host(np.ones(144, np.float16))
    return a


def floats(n: int) -> Any:
    return np.ones(n, np.float32)


BUGS = [
    ("init", Case(upper_half_of_a_copy, lambda k: k[1, 64](upper_half_empty(), empty(64)))),
    ("init", Case(a_lane_of_the_upper_half, lambda k: k[1, 64](upper_half_empty(), empty(64)))),
    ("init", Case(shuffle_between_halves, lambda k: k[1, 64](upper_half_empty(), empty(64)))),
    ("init", Case(vote_with_the_upper_half, lambda k: k[1, 64](upper_half_empty(), empty(64)))),
    ("init", Case(rows_of_the_upper_half, lambda k: k[1, 64](with_empty_rows(), empty(64)))),
    ("init", Case(private_memory_of_the_upper_half, lambda k: k[1, 64](20, ones(64), empty(64)))),
    ("sync", Case(barrier_for_one_half, lambda k: k[1, 128](floats(128)))),
    ("sync", Case(early_return_of_a_wide_wave, lambda k: k[1, 128](floats(128)))),
    ("sync", Case(different_barriers_of_wide_waves, lambda k: k[1, 128](floats(128)))),
    (
        "sync",
        Case(product_of_the_lower_half, lambda k: k[1, 64](np.ones(256, np.float16), floats(64))),
    ),
    ("race", Case(no_barrier_between_wide_waves, lambda k: k[1, 128](floats(128), floats(128)))),
    (
        "race",
        Case(
            a_counter_of_wide_waves_reset_too_soon,
            lambda k: k[1, 128](*np.zeros((2, 128), np.int32)),
        ),
    ),
    ("race", Case(halves_that_contradict, lambda k: k[1, 64](floats(32)))),
    ("race", Case(two_lanes_of_two_halves, lambda k: k[1, 64](floats(64)))),
    ("race", Case(bytes_of_two_halves, lambda k: k[1, 64](np.zeros(64, np.uint8)))),
    ("memory", Case(upper_half_past_the_end, lambda k: k[1, 64](ones(40), floats(64)))),
]


@amdjit.kernel(wave_size=64)
def upper_half_that_is_masked_out(x, out):
    i = threadIdx.x
    value = x[i]
    out[i] = value if i < 32 else f32(0)


@amdjit.kernel(wave_size=64)
def a_lane_of_the_lower_half(x, out):
    out[threadIdx.x] = wave.readlane(x[threadIdx.x], 3)


@amdjit.kernel(wave_size=64)
def halves_exchanged_twice(x, out):
    i = threadIdx.x
    value = wave.shuffle_xor(wave.shuffle_xor(x[i], 32), 32)
    if i < 32:
        out[i] = value


@amdjit.kernel(wave_size=64)
def a_sum_of_the_lower_half(x, out):
    i = threadIdx.x
    value = x[i] if i < 32 else f32(0)
    out[i] = wave.reduce_add(value)


@amdjit.kernel(wave_size=64)
def a_product_with_empty_rows_that_are_not_stored(a, b, c):
    lane = threadIdx.x
    left = a.load(4 * lane, 4)
    right = b.load(4 * lane, 4)
    total = amdgcn.wmma_f32_16x16x16_f16_w64_gfx12(left, right, f32x4())
    if 16 <= lane < 32 or lane >= 48:  # rows 8 to 15
        c[lane] = total[0] + total[3]


@amdjit.kernel(wave_size=64)
def wide_waves_hand_over_with_a_barrier(x, out):
    box = shared.array(128, f32)
    i = threadIdx.x
    box[i] = x[i]
    syncthreads()
    out[i] = box[127 - i]


@amdjit.kernel(wave_size=64)
def halves_that_agree(x, y):
    i = threadIdx.x
    x[i % 32] = i % 32
    x[(i * 5 + 3) % 64] = i
    y[(i % 32) ^ 7] = (i % 32) ** 2


@amdjit.kernel(wave_size=64)
def transposed_rows_that_are_written(x, out):
    fragment = memory.load_transposed(x, 0, 0)
    if threadIdx.x < 32:
        out[threadIdx.x] = fragment[3]


def without_rows_0_to_7() -> DeviceArray:
    """Row n is in lanes n, n + 16, n + 32 and n + 48: those of n < 8 hold nothing."""
    a = empty(256, kind=np.float16)
    for first in range(0, 256, 64):
        a[first + 32 : first + 64].copy_from_host(np.ones(32, np.float16))
    return a


CORRECT = [
    Case(upper_half_that_is_masked_out, lambda k: k[1, 64](upper_half_empty(), empty(64))),
    Case(a_lane_of_the_lower_half, lambda k: k[1, 64](upper_half_empty(), empty(64))),
    Case(halves_exchanged_twice, lambda k: k[1, 64](upper_half_empty(), empty(64))),
    Case(a_sum_of_the_lower_half, lambda k: k[1, 64](upper_half_empty(), empty(64))),
    Case(
        a_product_with_empty_rows_that_are_not_stored,
        lambda k: k[1, 64](without_rows_0_to_7(), ones(256, kind=np.float16), empty(64)),
    ),
    Case(halves_that_agree, lambda k: k[1, 64](floats(64), floats(64))),
    Case(
        transposed_rows_that_are_written,
        lambda k: k[1, 64](upper_rows(), empty(64, kind=np.float16)),
    ),
    Case(wide_waves_hand_over_with_a_barrier, lambda k: k[1, 128](ones(128), empty(128))),
]
