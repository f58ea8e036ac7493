"""Correct kernels that a careless check would complain of: synchronised in many ways, at the edges
of their arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import atomic, f32, i32, local, shared, syncthreads
from amdjit.intrinsics import wave
from amdjit.intrinsics.sync import fence, lds_barrier, threadfence, threadfence_block
from tests.emulator.checks.seeded_kernels.seeded import Case


def ints(n: int) -> np.ndarray[Any, Any]:
    return np.arange(n, dtype=np.int32)


def zeros(n: int) -> np.ndarray[Any, Any]:
    return np.zeros(n, np.int32)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


@amdjit.kernel
def tail_of_a_grid(x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i]


@amdjit.kernel
def reverse_through_lds(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    syncthreads()
    out[i] = box[63 - i]


@amdjit.kernel
def tiles_with_two_barriers(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    total = f32(0)
    for tile in range(4):
        box[i] = x[tile * 64 + i]
        syncthreads()
        total += box[63 - i]
        syncthreads()
    out[i] = total


@amdjit.kernel
def double_buffer_with_one_barrier(x, out):
    box = shared.array((2, 64), f32)
    i = amdjit.threadIdx.x
    total = f32(0)
    for tile in range(4):
        box[tile % 2, i] = x[tile * 64 + i]
        syncthreads()
        total += box[tile % 2, 63 - i]
    out[i] = total


@amdjit.kernel
def tree_reduction(x, out):
    box = shared.array(128, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    syncthreads()
    step = 64
    while step > 0:
        if i < step:
            box[i] += box[i + step]
        syncthreads()
        step //= 2
    if i == 0:
        out[amdjit.blockIdx.x] = box[0]


@amdjit.kernel
def waves_keep_to_themselves(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    fence("acq_rel", "wavefront", "lds")
    out[i] = box[i ^ 1]


@amdjit.kernel
def wave_reduction(x, out):
    total = wave.reduce_add(x[amdjit.grid(1)])
    if amdjit.lane_id() == 0:
        atomic.add(out, 0, total)


@amdjit.kernel
def histogram_in_lds(x, bins):
    mine = shared.array(16, i32)
    i = amdjit.threadIdx.x
    if i < 16:
        mine[i] = 0
    syncthreads()
    atomic.add(mine, x[amdjit.grid(1)] % 16, 1)
    syncthreads()
    if i < 16:
        atomic.add(bins, i, mine[i])


@amdjit.kernel
def histogram_in_global_memory(x, bins):
    atomic.add(bins, x[amdjit.grid(1)] % bins.shape[0], 1)


@amdjit.kernel
def all_waves_store_the_same(x, out):
    box = shared.array(1, i32)
    if x[amdjit.threadIdx.x] >= 0:
        box[0] = 1
    syncthreads()
    out[0] = box[0]


@amdjit.kernel
def all_groups_raise_a_flag(x, flag):
    if x[amdjit.grid(1)] >= 0:
        flag[0] = 1


@amdjit.kernel
def through_global_memory(x, out):
    i = amdjit.grid(1)
    x[i] = i
    syncthreads()
    out[i] = x[i ^ 63]


@amdjit.kernel
def in_place_after_a_barrier(x):
    i = amdjit.threadIdx.x
    value = x[(i + 1) % 64]
    syncthreads()
    x[i] = value


@amdjit.kernel
def in_place_of_its_own(x):
    i = amdjit.grid(1)
    x[i] = x[i] * 2 + 1
    x[i] += x[i]


@amdjit.kernel
def neighbouring_bytes(x):
    i = amdjit.grid(1)
    x[i] = amdjit.u8(i)


@amdjit.kernel
def every_other_half(x):
    i = amdjit.grid(1)
    x[2 * i % x.shape[0] + 2 * i // x.shape[0]] = amdjit.i16(i)


@amdjit.kernel
def last_group_adds_up(x, partial, count, out):
    box = shared.array(1, i32)
    i = amdjit.threadIdx.x
    group = amdjit.blockIdx.x
    if i == 0:
        partial[group] = x[group] * 2
        threadfence()
        box[0] = atomic.add(count, 0, 1)
    syncthreads()
    if box[0] == amdjit.gridDim.x - 1:
        threadfence()
        if i < amdjit.gridDim.x:
            out[i] = partial[i]


@amdjit.kernel
def last_group_by_acq_rel(x, partial, count, out):
    i = amdjit.threadIdx.x
    if i == 0:
        partial[amdjit.blockIdx.x] = x[amdjit.blockIdx.x]
        before = atomic.add(count, 0, 1, order="acq_rel")
        if before == amdjit.gridDim.x - 1:
            total = 0
            for group in range(amdjit.gridDim.x):
                total += partial[group]
            out[0] = total


@amdjit.kernel
def all_items_then_last_group(x, partial, count, out):
    box = shared.array(1, i32)
    i = amdjit.grid(1)
    partial[i] = x[i] + 1
    syncthreads()
    if amdjit.threadIdx.x == 0:
        threadfence()
        box[0] = atomic.add(count, 0, 1)
        threadfence()
    syncthreads()
    if box[0] == amdjit.gridDim.x - 1:
        total = 0
        for k in range(amdjit.threadIdx.x, partial.shape[0], amdjit.blockDim.x):
            total += partial[k]
        atomic.add(out, 0, total)


@amdjit.kernel
def spin_lock(lock, value):
    if amdjit.threadIdx.x == 0:
        while atomic.cas(lock, 0, 0, 1, order="acquire") != 0:
            pass
        value[0] = value[0] + 1
        atomic.exch(lock, 0, 0, order="release")


@amdjit.kernel
def chain_of_groups(data, flags):
    group = amdjit.blockIdx.x
    if amdjit.threadIdx.x == 0:
        if group > 0:
            while atomic.add(flags, group - 1, 0, order="acquire") == 0:
                pass
            data[group] = data[group - 1] + 1
        atomic.exch(flags, group, 1, order="release")


@amdjit.kernel
def grid_barrier(x, count, out):
    i = amdjit.grid(1)
    x[i] = i
    syncthreads()
    if amdjit.threadIdx.x == 0:
        threadfence()
        atomic.add(count, 0, 1)
        while atomic.add(count, 0, 0) < amdjit.gridDim.x:
            pass
        threadfence()
    syncthreads()
    out[i] = x[(i + 64) % x.shape[0]]


@amdjit.kernel
def waves_hand_over_in_lds(x, out):
    box = shared.array(33, i32)
    i = amdjit.threadIdx.x
    if i == 0:
        box[32] = 0
    syncthreads()
    if i < 32:
        box[i] = x[i]
        threadfence_block()
        if i == 0:
            atomic.exch(box, 32, 1, order="release", scope="workgroup")
    else:
        while atomic.add(box, 32, 0, order="acquire", scope="workgroup") == 0:
            pass
        out[i - 32] = box[i - 32]


@amdjit.kernel
def work_queue(head, out):
    box = shared.array(1, i32)
    while True:
        if amdjit.threadIdx.x == 0:
            box[0] = atomic.add(head, 0, 1)
        syncthreads()
        item = box[0]
        syncthreads()
        if item >= out.shape[0] // 64:
            break
        out[item * 64 + amdjit.threadIdx.x] = item


@amdjit.kernel
def scatter_to_own_slots(x, cursor, out):
    place = atomic.add(cursor, 0, 1)
    out[place] = x[amdjit.grid(1)]


@amdjit.kernel
def transpose_with_padding(a, out):
    tile = shared.array((16, 17), f32)
    x, y = amdjit.threadIdx.x, amdjit.threadIdx.y
    tile[y, x] = a[y, x]
    syncthreads()
    out[y, x] = tile[x, y]


@amdjit.kernel
def lds_only_barrier(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    lds_barrier()
    out[i] = box[63 - i]


@amdjit.kernel
def dynamic_lds(out):
    box = shared.dynamic(i32)
    i = amdjit.threadIdx.x
    box[i] = i
    syncthreads()
    out[i] = box[63 - i]


@amdjit.kernel
def private_arrays(x, out):
    mine = local.array(100, i32)
    i = amdjit.threadIdx.x
    for k in range(100):
        mine[k] = x[k % 32]
    out[i] = mine[x[i] * 3]


@amdjit.kernel
def wide_vectors(x, out):
    i = amdjit.grid(1)
    out.store(4 * i, x.load(4 * i, 4) * f32(2))


@amdjit.kernel
def lanes_store_the_same(x, out):
    out[amdjit.threadIdx.x // 4] = x[amdjit.threadIdx.x // 4]


@amdjit.kernel
def stencil(a, out):
    x, y = amdjit.grid(2)
    if 0 < x < a.shape[1] - 1 and 0 < y < a.shape[0] - 1:
        out[y, x] = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]


@amdjit.kernel
def strided_loop(x, out):
    for i in range(amdjit.grid(1), x.shape[0], amdjit.gridsize(1)):
        out[i] = x[x.shape[0] - 1 - i]


def backwards(kernel: amdjit.Kernel) -> None:
    """Arrays with negative strides, and views of one array."""
    whole = amdjit.to_device(ints(256))
    kernel[2, 64](whole[:128], whole[128:])
    kernel[2, 64](ints(128)[::-1], zeros(256)[::2])


CASES = [
    Case(tail_of_a_grid, backwards),
    Case(reverse_through_lds, lambda k: k[4, 64](floats(64), floats(64))),
    Case(tiles_with_two_barriers, lambda k: k[1, 64](floats(256), floats(64))),
    Case(double_buffer_with_one_barrier, lambda k: k[1, 64](floats(256), floats(64))),
    Case(tree_reduction, lambda k: k[4, 128](floats(128), floats(4))),
    Case(waves_keep_to_themselves, lambda k: k[1, 64](floats(64), floats(64))),
    Case(wave_reduction, lambda k: k[4, 64](ints(256), zeros(1))),
    Case(histogram_in_lds, lambda k: k[4, 64](ints(256), zeros(16))),
    Case(histogram_in_global_memory, lambda k: k[4, 64](ints(256), zeros(5))),
    Case(all_waves_store_the_same, lambda k: k[1, 128](ints(128), zeros(1))),
    Case(all_groups_raise_a_flag, lambda k: k[4, 64](ints(256), zeros(1))),
    Case(through_global_memory, lambda k: k[2, 64](zeros(128), zeros(128))),
    Case(in_place_after_a_barrier, lambda k: k[1, 64](floats(64))),
    Case(in_place_of_its_own, lambda k: k[4, 64](floats(256))),
    Case(neighbouring_bytes, lambda k: k[3, 33](np.zeros(99, np.uint8))),
    Case(every_other_half, lambda k: k[2, 64](np.zeros(128, np.int16))),
    Case(last_group_adds_up, lambda k: k[6, 64](ints(6), zeros(6), zeros(1), zeros(6))),
    Case(last_group_by_acq_rel, lambda k: k[6, 32](ints(6), zeros(6), zeros(1), zeros(1))),
    Case(all_items_then_last_group, lambda k: k[4, 64](ints(256), zeros(256), zeros(1), zeros(1))),
    Case(spin_lock, lambda k: k[4, 32](zeros(1), zeros(1))),
    Case(chain_of_groups, lambda k: k[6, 32](zeros(6), zeros(6))),
    Case(grid_barrier, lambda k: k[4, 64](zeros(256), zeros(1), zeros(256))),
    Case(waves_hand_over_in_lds, lambda k: k[1, 64](ints(32), zeros(32))),
    Case(work_queue, lambda k: k[3, 64](zeros(1), zeros(640))),
    Case(scatter_to_own_slots, lambda k: k[4, 64](ints(256), zeros(1), zeros(256))),
    Case(transpose_with_padding, lambda k: k[1, (16, 16)](floats(16, 16), floats(16, 16))),
    Case(lds_only_barrier, lambda k: k[2, 64](floats(64), floats(64))),
    Case(dynamic_lds, lambda k: k[1, 64, None, 256](zeros(64))),
    Case(private_arrays, lambda k: k[1, 32](ints(32), zeros(32))),
    Case(wide_vectors, lambda k: k[2, 32](floats(256), floats(256))),
    Case(lanes_store_the_same, lambda k: k[1, 32](ints(8), zeros(8))),
    Case(stencil, lambda k: k[(2, 2), (16, 16)](floats(30, 31), floats(30, 31))),
    Case(strided_loop, lambda k: k[3, 64](ints(1000), zeros(1000))),
]
