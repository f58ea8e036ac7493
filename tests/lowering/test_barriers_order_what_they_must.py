"""What a barrier of the workgroup waits for in global memory, by what the kernel does there."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f32, i32, shared, syncthreads, threadIdx
from amdjit.declarations import InlineAsm, intrinsic
from amdjit.emulator import find_missing_waits
from amdjit.intrinsics import memory, sync
from amdjit.types import VOID

SHAPE = 64


@amdjit.kernel(block=SHAPE)
def tree(x: f32[:], out: f32[:]):
    """An LDS tree, whose only store is its last statement."""
    tile = shared.array(SHAPE, f32)
    t = threadIdx.x
    tile[t] = x[t]
    syncthreads()
    half = SHAPE // 2
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        syncthreads()
        half //= 2
    if t == 0:
        out[0] = tile[0]


def written_by(array, t, value):
    array[t] = value


@amdjit.kernel(block=SHAPE)
def stores_first(x: f32[:], out: f32[:]):
    written_by(out, threadIdx.x, x[0])
    syncthreads()
    out[SHAPE - 1 - threadIdx.x] = x[1]


@amdjit.kernel(block=SHAPE)
def stores_again(x: f32[:], out: f32[:]):
    for k in range(3):
        syncthreads()
        out[(threadIdx.x + 13 * k) % SHAPE] = x[k]


def stored_after_a_barrier(array, t, value):
    syncthreads()
    array[t] = value


@amdjit.kernel(block=SHAPE)
def stores_twice_in_calls(x: f32[:], out: f32[:]):
    stored_after_a_barrier(out, threadIdx.x, x[0])
    stored_after_a_barrier(out, SHAPE - 1 - threadIdx.x, x[1])


@amdjit.kernel(block=SHAPE)
def stores_in_a_branch(x: f32[:], out: f32[:]):
    if threadIdx.x < 32:
        out[threadIdx.x] = x[0]
    syncthreads()
    out[threadIdx.x] = x[1]


@amdjit.kernel(block=SHAPE)
def reads_back(x: f32[:], out: f32[:]):
    out[threadIdx.x] = x[0]
    syncthreads()
    out[threadIdx.x] += x[1]


def element(array, t):
    return array[t]


@amdjit.kernel(block=SHAPE)
def reads_back_in_a_call(x: f32[:], out: f32[:]):
    out[threadIdx.x] = x[0]
    syncthreads()
    part = out[1:]
    if threadIdx.x == 0:
        out[0] = element(part, 3)


@amdjit.kernel(block=SHAPE)
def counts(x: f32[:], out: i32[:]):
    if x[threadIdx.x] > 0:
        atomic.add(out, 0, 1)
    syncthreads()
    atomic.max(out, 0, 5)


@amdjit.kernel(block=SHAPE)
def takes_addresses(x: f32[:], out: f32[:]):
    memory.store(out, threadIdx.x, x[0])
    syncthreads()
    memory.store(out, threadIdx.x, x[1])


@intrinsic(InlineAsm("s_nop 0", "", side_effects=True))
def assembly() -> VOID:
    """Do what LLVM cannot see."""


@amdjit.kernel(block=SHAPE)
def contains_assembly(x: f32[:], out: f32[:]):
    assembly()
    syncthreads()
    out[threadIdx.x] = x[1]


@amdjit.kernel(block=SHAPE)
def orders_global_memory(x: f32[:], out: f32[:]):
    sync.fence("release", "workgroup", "global")
    sync.workgroup_barrier()
    sync.fence("acquire", "workgroup", "global")
    out[threadIdx.x] = x[1]


def waits(kernel: Any, *types: Any, target: str = "gfx1201") -> tuple[int, int, int]:
    """Return how many barriers wait for loads, how many for stores, and how many invalidate."""
    lines = re.findall(r"^\s+([sg]\w+.*)$", kernel.compile(*types, target=target).asm, re.MULTILINE)
    loads = stores = 0
    since_barrier: list[str] = []
    for line in lines:
        if line.startswith("s_barrier_signal"):
            # The accesses of these kernels are waited for right before the barrier or not at all.
            last = since_barrier[-4:]
            loads += any("s_wait_loadcnt" in each for each in last)
            stores += any("s_wait_storecnt" in each for each in last)
            since_barrier = []
        since_barrier.append(line)
    return loads, stores, sum(line.startswith("global_inv") for line in lines)


def test_nothing_is_ordered_where_stores_come_last() -> None:
    assert waits(tree) == (1, 0, 0)  # the value that goes to LDS first
    assert find_missing_waits(tree.compile().code_object) == ()


@pytest.mark.parametrize(
    "kernel", [stores_first, stores_again, stores_twice_in_calls, stores_in_a_branch]
)
def test_stores_alone_are_ordered_where_nothing_reads_them(kernel: Any) -> None:
    loads, stores, invalidations = waits(kernel)
    assert (loads, invalidations) == (0, 0)
    assert stores >= 1
    assert find_missing_waits(kernel.compile().code_object) == ()


@pytest.mark.parametrize(
    "kernel",
    [
        reads_back,
        reads_back_in_a_call,
        counts,
        takes_addresses,
        contains_assembly,
        orders_global_memory,
    ],
)
def test_all_is_ordered_where_global_memory_may_be_read_again(kernel: Any) -> None:
    assert waits(kernel)[2] >= 1


def test_all_is_ordered_where_arrays_may_overlap() -> None:
    @amdjit.kernel(block=SHAPE)
    def reverse(x, out):
        out[threadIdx.x] = f32(threadIdx.x)
        syncthreads()
        out[threadIdx.x] = x[SHAPE - 1 - threadIdx.x]

    array = amdjit.to_device(np.zeros(SHAPE, np.float32))
    reverse[1, SHAPE](array, array)
    (assembly_text,) = reverse.inspect_asm().values()
    assert "global_inv" in assembly_text


def test_a_fence_for_all_stays_where_stores_have_no_counter_of_their_own() -> None:
    assert "mmra" not in stores_first.compile(target="gfx1100").llvm
    assert "mmra" in tree.compile(target="gfx1100").llvm


@pytest.mark.parametrize("kernel", [tree, stores_first, stores_again, stores_twice_in_calls])
def test_the_race_check_finds_nothing(kernel: Any) -> None:
    x, out = np.arange(SHAPE, dtype=np.float32), np.zeros(SHAPE, np.float32)
    with amdjit.sanitize("race") as found:
        kernel[1, SHAPE](x, out)
    assert not found.reports
