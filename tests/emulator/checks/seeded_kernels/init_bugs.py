"""Seeded uses of values that nobody has written."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import f16, f32, i32, local, shared, syncthreads, threadIdx
from amdjit.intrinsics import amdgcn, memory, wave
from tests.emulator.checks.seeded_kernels.seeded import Case


def empty(*shape: int, kind: Any = np.float32) -> amdjit.DeviceArray:
    return amdjit.empty(shape, kind)


def ones(*shape: int, kind: Any = np.float32) -> amdjit.DeviceArray:
    return amdjit.to_device(np.ones(shape, kind))


@amdjit.kernel
def copy_of_nothing(x, out):
    i = amdjit.grid(1)
    out[i] = x[i]  # BUG init/undefined-store


@amdjit.kernel
def sum_of_something_and_nothing(x, y, out):
    i = amdjit.grid(1)
    a = y[i]
    b = x[i]  # OTHER
    out[i] = a + b * 2  # BUG init/undefined-store


@amdjit.kernel
def branch_on_nothing(x, out):
    i = amdjit.grid(1)
    if x[i] > 0:  # BUG init/undefined-branch
        out[i] = 1


@amdjit.kernel
def uniform_branch_on_nothing(x, out):
    if x[0] > 0:  # BUG init/undefined-branch
        out[amdjit.grid(1)] = 1


@amdjit.kernel
def loop_until_nothing(x, out):
    i = amdjit.grid(1)
    end = x[i] & 7
    n = 0
    while n < end:  # BUG init/undefined-branch
        out[n] = i
        n += 1


@amdjit.kernel
def index_from_nothing(x, table, out):
    i = amdjit.grid(1)
    out[i] = table[x[i] & 7]  # BUG init/undefined-address


@amdjit.kernel
def scatter_by_nothing(x, out):
    i = amdjit.grid(1)
    out[x[i] & 63] = 1  # BUG init/undefined-address


@amdjit.kernel
def accumulator_never_cleared(x, total):
    amdjit.atomic.add(total, 0, x[amdjit.grid(1)])  # BUG init/undefined-atomic


@amdjit.kernel
def maximum_never_set(x, best):
    amdjit.atomic.max(best, 0, x[amdjit.grid(1)])  # BUG init/undefined-atomic


@amdjit.kernel
def last_element_forgotten(x, out):
    i = amdjit.grid(1)
    out[i] = x[i] + 1  # BUG init/undefined-store


def all_but_one(kernel: amdjit.Kernel) -> None:
    x = empty(64)
    x[:63].copy_from_host(np.ones(63, np.float32))
    kernel[1, 64](x, empty(64))


@amdjit.kernel
def half_of_lds(out):
    tile = shared.array(64, f32)
    t = threadIdx.x
    if t < 32:
        tile[t] = 1
    syncthreads()
    out[t] = tile[t]  # BUG init/undefined-store


@amdjit.kernel
def lds_of_the_last_group(out):
    tile = shared.array(64, i32)
    t = threadIdx.x
    if amdjit.blockIdx.x == 0:
        tile[t] = t
    syncthreads()
    out[amdjit.grid(1)] = tile[63 - t]  # BUG init/undefined-store


@amdjit.kernel
def reduction_over_too_much(x, out):
    tile = shared.array(128, f32)
    t = threadIdx.x
    tile[t] = x[t]
    syncthreads()
    total = f32(0)
    for k in range(65):
        total += tile[k]
    out[t] = total  # BUG init/undefined-store


@amdjit.kernel
def lds_counter_never_cleared(x, out):
    counter = shared.array(1, i32)
    t = threadIdx.x
    amdjit.atomic.add(counter, 0, x[t])
    syncthreads()
    out[t] = counter[0]  # BUG init/undefined-store


@amdjit.kernel
def lds_as_index(table, out):
    order = shared.array(64, i32)
    t = threadIdx.x
    if t != 5:
        order[t] = t
    syncthreads()
    out[t] = table[order[t] & 63]  # BUG init/undefined-address


@amdjit.kernel
def local_array_with_a_gap(n, out):
    values = local.array(256, i32)
    for k in range(n):
        values[(k * n) & 255] = k
    total = 0
    for k in range(n):
        total += values[(k * n + 1) & 255]
    out[amdjit.grid(1)] = total  # BUG init/undefined-store


@amdjit.kernel
def narrow_elements(x, out):
    i = amdjit.grid(1)
    out[i] = x[i]  # BUG init/undefined-store


@amdjit.kernel
def halves_of_a_pair(x, out):
    i = amdjit.grid(1)
    out[i] = f32(x[2 * i]) + f32(x[2 * i + 1])  # BUG init/undefined-store


def every_other_half(kernel: amdjit.Kernel) -> None:
    x = amdjit.zeros(128, np.float16)
    fresh = empty(128, kind=np.float16)
    fresh[:64].copy_from_host(np.ones(64, np.float16))
    kernel[1, 32](x, empty(64))
    kernel[1, 64](fresh, empty(64))


@amdjit.kernel
def wide_load_of_nothing(x, out):
    i = amdjit.grid(1)
    four = x.load(4 * i, 4)
    out[i] = four[0] + four[3]  # BUG init/undefined-store


@amdjit.kernel
def through_a_shuffle(x, out):
    i = amdjit.grid(1)
    value = x[i]  # OTHER
    out[i] = wave.shuffle_xor(value, 1)  # BUG init/undefined-store


@amdjit.kernel
def vote_on_nothing(x, out):
    i = amdjit.grid(1)
    if wave.any(x[i] > 3):  # BUG init/undefined-branch
        out[i] = 1


@amdjit.kernel
def chosen_by_nothing(x, out):
    i = amdjit.grid(1)
    out[i] = 1 if x[i] > 0 else 2  # BUG init/undefined-store


@amdjit.kernel
def double_of_nothing(x, out):
    i = amdjit.grid(1)
    out[i] = x[i] * 2.0  # BUG init/undefined-store


@amdjit.kernel
def long_of_nothing(x, out):
    i = amdjit.grid(1)
    out[i] = x[i] + 5  # BUG init/undefined-store


@amdjit.kernel
def handed_on_through_lds(x, out):
    tile = shared.array(64, f32)
    t = threadIdx.x
    tile[t] = x[t]
    syncthreads()
    out[t] = tile[t ^ 1]  # BUG init/undefined-store


@amdjit.kernel
def lane_that_computed_nothing(x, out):
    t = threadIdx.x
    if t < 16:
        tripled = x[t] * 3
        out[t] = amdgcn.readlane(tripled, 20)  # BUG init/undefined-store


def one(*arguments: Any) -> Any:
    """Launch one block of 64 on these arguments, made when the checks are on."""
    return lambda kernel: kernel[1, 64](*(make() for make in arguments))


def of(make: Any, *shape: int, kind: Any = np.float32) -> Any:
    return lambda: make(*shape, kind=kind)


OUT, INTS = of(empty, 64), of(empty, 64, kind=np.int32)
ONES, INDICES = of(ones, 64), of(ones, 64, kind=np.int32)


def upper_rows() -> amdjit.DeviceArray:
    """The first 8 of 16 rows are written."""
    x = empty(16, 16, kind=np.float16)
    x[:8].copy_from_host(np.ones((8, 16), np.float16))
    return x


@amdjit.kernel
def transposed_rows_of_nothing(x, out):
    fragment = memory.load_transposed(x, 0, 0)  # OTHER
    out[threadIdx.x] = fragment[3]  # BUG init/undefined-store


CASES = [
    Case(copy_of_nothing, one(OUT, OUT)),
    Case(sum_of_something_and_nothing, one(OUT, ONES, OUT)),
    Case(branch_on_nothing, one(OUT, OUT)),
    Case(uniform_branch_on_nothing, one(OUT, OUT)),
    Case(loop_until_nothing, one(INTS, INTS)),
    Case(index_from_nothing, one(INTS, ONES, OUT)),
    Case(scatter_by_nothing, one(INTS, OUT)),
    Case(accumulator_never_cleared, one(INDICES, of(empty, 1, kind=np.int32))),
    Case(maximum_never_set, one(INDICES, of(empty, 1, kind=np.int32))),
    Case(last_element_forgotten, all_but_one),
    Case(half_of_lds, one(OUT)),
    Case(lds_of_the_last_group, lambda kernel: kernel[2, 64](empty(128, kind=np.int32))),
    Case(reduction_over_too_much, one(ONES, OUT)),
    Case(lds_counter_never_cleared, one(INDICES, INTS)),
    Case(lds_as_index, one(ONES, OUT)),
    Case(local_array_with_a_gap, lambda kernel: kernel[1, 64](5, empty(64, kind=np.int32))),
    Case(narrow_elements, one(of(empty, 64, kind=np.uint8), of(empty, 64, kind=np.int32))),
    Case(halves_of_a_pair, every_other_half),
    Case(wide_load_of_nothing, one(of(empty, 256), OUT)),
    Case(through_a_shuffle, one(OUT, OUT)),
    Case(vote_on_nothing, one(OUT, OUT)),
    Case(chosen_by_nothing, one(OUT, OUT)),
    Case(double_of_nothing, one(of(empty, 64, kind=np.float64), of(empty, 64, kind=np.float64))),
    Case(long_of_nothing, one(of(empty, 64, kind=np.int64), of(empty, 64, kind=np.int64))),
    Case(handed_on_through_lds, one(OUT, OUT)),
    Case(
        lane_that_computed_nothing,
        lambda kernel: kernel[1, 32](ones(32, kind=np.int32), empty(32, kind=np.int32)),
    ),
    Case(
        transposed_rows_of_nothing,
        lambda kernel: kernel[1, 64](upper_rows(), empty(64, kind=np.float16)),
    ),
]

__all__ = ["CASES", "f16"]
