"""Seeded bugs of memory accesses."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import amdjit
from amdjit import DeviceArray, f32, i32, local, shared, syncthreads
from tests.emulator.checks.seeded_kernels.seeded import Case


def ints(n: int) -> np.ndarray[Any, Any]:
    return np.arange(n, dtype=np.int32)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.zeros(shape, np.float32)


@amdjit.kernel
def store_past_the_end(x):
    x[amdjit.grid(1)] = 1  # BUG memory/out-of-bounds


@amdjit.kernel
def load_past_the_end(x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i + 1]  # BUG memory/out-of-bounds


@amdjit.kernel
def store_before_the_start(x):
    i = amdjit.grid(1)
    x[i - 3] = 1  # BUG memory/out-of-bounds


@amdjit.kernel
def load_before_the_start(x, out):
    i = amdjit.grid(1)
    out[i] = x[i - 1]  # BUG memory/out-of-bounds


@amdjit.kernel
def two_bugs(x, y):
    i = amdjit.grid(1)
    y[i + 2] = 3  # BUG memory/out-of-bounds
    if i == 7:
        x[i - 9] = 3  # BUG memory/out-of-bounds


@amdjit.kernel
def rows_and_columns_exchanged(a, out):
    x, y = amdjit.grid(2)
    out[y, x] = a[x, y]  # BUG memory/out-of-bounds


@amdjit.kernel
def atomic_past_the_end(x, bins):
    amdjit.atomic.add(bins, x[amdjit.grid(1)], 1)  # BUG memory/out-of-bounds


@amdjit.kernel
def scalar_load_far_away(x, n, out):
    out[0] = x[n]  # BUG memory/out-of-bounds


@amdjit.kernel
def vector_store_past_the_end(x):
    i = amdjit.grid(1)
    x.store(4 * i, amdjit.f32x4(1, 2, 3, 4))  # BUG memory/out-of-bounds


@amdjit.kernel
def bytes_past_the_end(x):
    i = amdjit.grid(1)
    x[i] = amdjit.u8(i)  # BUG memory/out-of-bounds


@amdjit.kernel
def into_another_input(x, table):
    i = amdjit.grid(1)
    x[i + (table[0] - 3)] = table[i]  # BUG memory/read-only


@amdjit.kernel
def through_null(x):
    x[amdjit.grid(1)] = 1  # BUG memory/null


@amdjit.kernel
def load_through_null(x, out):
    out[amdjit.grid(1)] = x[amdjit.grid(1)]  # BUG memory/null


@amdjit.kernel
def after_free(x):
    x[amdjit.grid(1)] = 1  # BUG memory/use-after-free


@amdjit.kernel
def load_after_free(x, out):
    i = amdjit.grid(1)
    out[i] = x[i]  # BUG memory/use-after-free


@amdjit.kernel
def lds_past_the_end(out, n):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i + n] = 1  # BUG memory/lds-out-of-bounds
    syncthreads()
    out[i] = box[i]


@amdjit.kernel
def lds_load_past_the_end(out, n):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = 1
    syncthreads()
    out[i] = box[i + n]  # BUG memory/lds-out-of-bounds


@amdjit.kernel
def lds_before_the_start(out, n):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i - n] = 1  # BUG memory/lds-out-of-bounds
    syncthreads()
    out[i] = box[i]


@amdjit.kernel
def too_little_dynamic_lds(out):
    box = shared.dynamic(i32)
    i = amdjit.threadIdx.x
    box[i] = i  # BUG memory/lds-out-of-bounds
    syncthreads()
    out[i] = i


@amdjit.kernel
def scratch_overflow(x, out):
    mine = local.array(100, i32)
    i = amdjit.threadIdx.x
    for k in range(100):
        mine[k] = x[k % 32]
    out[i] = mine[x[i] + 90]  # BUG memory/scratch-overflow


@amdjit.kernel
def lds_vector_misaligned(out, n):
    box = shared.array(256, f32)
    i = amdjit.threadIdx.x
    box.store(4 * i + n, amdjit.f32x4(1, 2, 3, 4))  # BUG memory/misaligned
    syncthreads()
    out[i] = box[i]


def device_array(address: int, like: DeviceArray) -> DeviceArray:
    """An array over an address that nobody keeps alive."""
    return DeviceArray(like.device, address, like.shape, like.dtype, like.strides, None)


def freed() -> DeviceArray:
    """An array whose memory was given back."""
    array = amdjit.zeros(64, np.int32)
    return device_array(array.address, array)


def null() -> DeviceArray:
    """An array at address 0."""
    return device_array(0, amdjit.zeros(64, np.int32))


def neighbours(kernel: amdjit.Kernel) -> None:
    """Launch with an index that leads from one array exactly to another one after it."""
    arrays = sorted((amdjit.zeros(64, np.int32) for _ in range(8)), key=lambda array: array.address)
    # Some may lie in the heap and some far from it.
    x, table = min(pairwise(arrays), key=lambda pair: pair[1].address - pair[0].address)
    distance = (table.address - x.address) // 4
    values = np.arange(64, dtype=np.int32)
    values[0] = distance + 3
    table.copy_from_host(values)
    kernel[1, 32](x, table)


CASES = [
    Case(store_past_the_end, lambda k: k[1, 64](floats(40))),
    Case(load_past_the_end, lambda k: k[2, 64](floats(100), floats(100))),
    Case(store_before_the_start, lambda k: k[1, 64](ints(64))),
    Case(load_before_the_start, lambda k: k[1, 64](floats(64), floats(64))),
    Case(two_bugs, lambda k: k[1, 32](floats(32), floats(32))),
    Case(rows_and_columns_exchanged, lambda k: k[(4, 1), (8, 8)](floats(8, 32), floats(8, 32))),
    Case(atomic_past_the_end, lambda k: k[1, 32](ints(32), ints(16))),
    Case(scalar_load_far_away, lambda k: k[1, 32](floats(32), 40, floats(1))),
    Case(vector_store_past_the_end, lambda k: k[1, 32](floats(100))),
    Case(bytes_past_the_end, lambda k: k[1, 64](np.zeros(50, np.uint8))),
    Case(into_another_input, neighbours),
    Case(through_null, lambda k: k[1, 32](null())),
    Case(load_through_null, lambda k: k[1, 32](null(), ints(32))),
    Case(after_free, lambda k: k[1, 64](freed())),
    Case(load_after_free, lambda k: k[1, 64](freed(), amdjit.zeros(64, np.int32))),
    Case(lds_past_the_end, lambda k: k[1, 64](floats(64), 8)),
    Case(lds_load_past_the_end, lambda k: k[1, 64](floats(64), 8)),
    Case(lds_before_the_start, lambda k: k[1, 64](floats(64), 1)),
    Case(too_little_dynamic_lds, lambda k: k[1, 64, None, 128](ints(64))),
    Case(lds_vector_misaligned, lambda k: k[1, 32](floats(32), 1)),
    Case(scratch_overflow, lambda k: k[1, 32](ints(32), ints(32))),
]
