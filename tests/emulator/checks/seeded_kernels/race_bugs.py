"""Seeded races. `# BUG` marks the later access in the order in which the emulator runs waves, `#
OTHER` the earlier."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import atomic, f32, i32, shared, syncthreads
from amdjit.intrinsics.sync import lds_barrier, threadfence, threadfence_block
from tests.emulator.checks.seeded_kernels.seeded import Case


def ints(n: int) -> np.ndarray[Any, Any]:
    return np.zeros(n, np.int32)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


@amdjit.kernel
def no_barrier_before_reading_lds(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]  # BUG race/lds  # OTHER
    out[i] = box[63 - i]  # BUG race/lds  # OTHER


@amdjit.kernel
def no_barrier_before_the_next_tile(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    total = f32(0)
    for tile in range(4):
        box[i] = x[tile * 64 + i]  # BUG race/lds  # OTHER
        syncthreads()
        total += box[63 - i]  # BUG race/lds  # OTHER
    out[i] = total


@amdjit.kernel
def reduction_without_barrier(x, out):
    box = shared.array(128, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    syncthreads()
    step = 64
    while step > 0:
        if i < step:
            box[i] += box[i + step]  # BUG race/lds  # OTHER
        step //= 2
    if i == 0:
        out[0] = box[0]


@amdjit.kernel
def all_waves_count_in_lds(out):
    count = shared.array(1, i32)
    if amdjit.threadIdx.x == 0:
        count[0] = 0  # OTHER
    atomic.add(count, 0, 1)  # BUG race/lds
    syncthreads()
    out[0] = count[0]


@amdjit.kernel
def resets_a_counter_too_soon(x, out):
    count = shared.array(1, i32)
    i = amdjit.threadIdx.x
    if i == 0:
        count[0] = 0
    syncthreads()
    if i < 32:
        atomic.add(count, 0, x[i])  # OTHER
    if i == 32:
        count[0] = 0  # BUG race/lds
    syncthreads()
    out[i] = count[0]


@amdjit.kernel
def one_wave_writes_for_all(x, out):
    box = shared.array(1, f32)
    i = amdjit.threadIdx.x
    if i == 0:
        box[0] = x[0]  # OTHER
    out[i] = box[0]  # BUG race/lds


@amdjit.kernel
def bytes_of_two_waves(out):
    box = shared.array(64, amdjit.u8)
    i = amdjit.threadIdx.x
    box[i // 2] = amdjit.u8(i // 2)
    syncthreads()
    box[i % 33] = amdjit.u8(i)  # BUG race/lds
    syncthreads()
    out[i] = box[i]


@amdjit.kernel
def transpose_through_lds(a, out):
    tile = shared.array((16, 17), f32)
    x, y = amdjit.threadIdx.x, amdjit.threadIdx.y
    tile[y, x] = a[y, x]  # BUG race/lds  # OTHER
    out[y, x] = tile[x, y]  # BUG race/lds  # OTHER


@amdjit.kernel
def shift_in_place(x):
    i = amdjit.grid(1)
    if i + 1 < x.shape[0]:
        x[i] = x[i + 1]  # BUG race/global  # OTHER


@amdjit.kernel
def neighbour_of_another_group(x):
    i = amdjit.grid(1)
    x[i] = i  # OTHER
    if amdjit.threadIdx.x == 0 and i > 0:
        x[i] = x[i - 1]  # BUG race/global


@amdjit.kernel
def all_groups_write_one_element(x):
    if amdjit.threadIdx.x == 0:
        x[0] = amdjit.blockIdx.x  # BUG race/global  # OTHER


@amdjit.kernel
def plain_increment(x):
    if amdjit.threadIdx.x == 0:
        x[0] += 1  # BUG race/global  # OTHER


@amdjit.kernel
def histogram_without_atomics(x, bins):
    i = amdjit.grid(1)
    if amdjit.lane_id() == 0:
        bins[x[i]] += 1  # BUG race/global  # OTHER


@amdjit.kernel
def barrier_between_groups(x, out):
    i = amdjit.grid(1)
    x[i] = i  # OTHER
    syncthreads()
    if i >= 64:
        out[i] = x[i - 64]  # BUG race/global


@amdjit.kernel
def atomic_and_plain_store(x):
    if amdjit.threadIdx.x == 0:
        if amdjit.blockIdx.x == 0:
            atomic.add(x, 0, 1)  # OTHER
        else:
            x[0] = 5  # BUG race/global


@amdjit.kernel
def plain_load_beside_atomics(x, out):
    if amdjit.threadIdx.x == 0:
        atomic.add(x, 0, 1)  # BUG race/global
        out[amdjit.blockIdx.x] = x[0]  # OTHER


@amdjit.kernel
def workgroup_scope_between_groups(x):
    if amdjit.threadIdx.x == 0:
        atomic.add(x, 0, 1, scope="workgroup")  # BUG race/scope  # OTHER


@amdjit.kernel
def last_group_without_release(x, partial, count, out):
    i = amdjit.threadIdx.x
    last = shared.array(1, i32)
    if i == 0:
        partial[amdjit.blockIdx.x] = x[amdjit.blockIdx.x]  # OTHER
        last[0] = atomic.add(count, 0, 1)
    lds_barrier()
    if last[0] == amdjit.gridDim.x - 1:
        threadfence()
        if i < amdjit.gridDim.x:
            out[i] = partial[i]  # BUG race/global


@amdjit.kernel
def last_group_without_acquire(x, partial, count, out):
    i = amdjit.threadIdx.x
    last = shared.array(1, i32)
    if i == 0:
        partial[amdjit.blockIdx.x] = x[amdjit.blockIdx.x]  # OTHER
        threadfence()
        last[0] = atomic.add(count, 0, 1)
    syncthreads()
    if last[0] == amdjit.gridDim.x - 1 and i < amdjit.gridDim.x:
        out[i] = partial[i]  # BUG race/global


@amdjit.kernel
def flag_with_a_fence_of_the_group(data, flag, out):
    if amdjit.blockIdx.x == 0:
        data[amdjit.threadIdx.x] = 7  # OTHER
        threadfence_block()
        if amdjit.threadIdx.x == 0:
            atomic.exch(flag, 0, 1)
    elif atomic.add(flag, 0, 0) == 1:
        threadfence_block()
        out[amdjit.threadIdx.x] = data[amdjit.threadIdx.x]  # BUG race/global


@amdjit.kernel
def lds_barrier_for_global_memory(x, out):
    i = amdjit.threadIdx.x
    x[i] = i  # OTHER
    lds_barrier()
    out[i] = x[127 - i]  # BUG race/fence


@amdjit.kernel
def lanes_contradict(x):
    x[amdjit.threadIdx.x // 4] = amdjit.threadIdx.x  # BUG race/lanes  # OTHER


@amdjit.kernel
def lanes_contradict_in_lds(x, out):
    box = shared.array(32, i32)
    i = amdjit.threadIdx.x
    box[x[i]] = i  # BUG race/lanes  # OTHER
    syncthreads()
    out[i] = box[i]


@amdjit.kernel
def lanes_contradict_in_vectors(x):
    i = amdjit.threadIdx.x
    x.store(4 * (i // 2), amdjit.i32x4(0, 0, i, 0))  # BUG race/lanes  # OTHER


CASES = [
    Case(no_barrier_before_reading_lds, lambda k: k[1, 64](floats(64), floats(64))),
    Case(no_barrier_before_the_next_tile, lambda k: k[1, 64](floats(256), floats(64))),
    Case(reduction_without_barrier, lambda k: k[1, 128](floats(128), floats(1))),
    Case(all_waves_count_in_lds, lambda k: k[1, 128](ints(1))),
    Case(resets_a_counter_too_soon, lambda k: k[1, 64](ints(64), ints(64))),
    Case(one_wave_writes_for_all, lambda k: k[1, 64](floats(64), floats(64))),
    Case(bytes_of_two_waves, lambda k: k[1, 64](ints(64))),
    Case(transpose_through_lds, lambda k: k[1, (16, 16)](floats(16, 16), floats(16, 16))),
    Case(shift_in_place, lambda k: k[2, 128](floats(256))),
    Case(neighbour_of_another_group, lambda k: k[2, 32](ints(64))),
    Case(all_groups_write_one_element, lambda k: k[3, 32](ints(1))),
    Case(plain_increment, lambda k: k[3, 32](ints(1))),
    Case(histogram_without_atomics, lambda k: k[2, 64](ints(128), ints(4))),
    Case(barrier_between_groups, lambda k: k[2, 64](ints(128), ints(128))),
    Case(atomic_and_plain_store, lambda k: k[2, 32](ints(1))),
    Case(plain_load_beside_atomics, lambda k: k[2, 32](ints(1), ints(2))),
    Case(workgroup_scope_between_groups, lambda k: k[3, 32](ints(1))),
    Case(last_group_without_release, lambda k: k[4, 64](ints(4), ints(4), ints(1), ints(4))),
    Case(last_group_without_acquire, lambda k: k[4, 64](ints(4), ints(4), ints(1), ints(4))),
    Case(flag_with_a_fence_of_the_group, lambda k: k[2, 32](ints(32), ints(1), ints(32))),
    Case(lds_barrier_for_global_memory, lambda k: k[1, 128](ints(128), ints(128))),
    Case(lanes_contradict, lambda k: k[1, 32](ints(8))),
    Case(lanes_contradict_in_lds, lambda k: k[1, 32](ints(32), ints(32))),
    Case(lanes_contradict_in_vectors, lambda k: k[1, 32](ints(64))),
]
