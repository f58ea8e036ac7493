"""Atomic reads and writes: every type, order, scope and memory; and what waves build with them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import atomic, blockIdx, i32, shared, syncthreads, threadIdx, u32, u64
from amdjit.intrinsics import wave

TYPES = [np.dtype(kind) for kind in (*"bBhHiIqQefd", ml_dtypes.bfloat16)]


@amdjit.kernel(block=32)
def copy(x, out, order_in: amdjit.Const, order_out: amdjit.Const, scope: amdjit.Const):
    tile = shared.array(32, x.dtype)
    t = threadIdx.x
    atomic.store(tile, t, atomic.load(x, (0, t), order_in, scope), order_out, scope)
    atomic.store(out, t, atomic.load(tile, t, order_in, scope), order_out, scope)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_type_is_read_and_written_in_both_memories(dtype: np.dtype) -> None:
    x = np.arange(-16, 16).astype(np.int64).astype(dtype)[None]
    out = np.zeros(32, dtype)
    copy[1, 32](x, out, "relaxed", "relaxed", "agent")
    assert np.array_equal(out.view(np.uint8), x[0].view(np.uint8))


@pytest.mark.parametrize("scope", ["system", "agent", "workgroup", "wavefront"])
@pytest.mark.parametrize(
    ("order_in", "order_out"), [("acquire", "release"), ("seq_cst", "seq_cst")]
)
def test_every_order_and_scope(order_in: str, order_out: str, scope: str) -> None:
    x = np.arange(32, dtype=np.uint32)[None]
    out = np.zeros(32, np.uint32)
    copy[1, 32](x, out, order_in, order_out, scope)
    assert np.array_equal(out, x[0])


@pytest.mark.parametrize(
    ("order_in", "order_out"), [("release", "relaxed"), ("relaxed", "acquire")]
)
def test_orders_without_a_meaning_are_refused(order_in: str, order_out: str) -> None:
    with pytest.raises(amdjit.CompileError, match="relaxed"):
        copy[1, 32](
            np.zeros((1, 32), np.uint32), np.zeros(32, np.uint32), order_in, order_out, "agent"
        )


def test_the_scope_is_in_the_instruction() -> None:
    @amdjit.kernel
    def spin(flag):
        while atomic.load(flag, 0, "acquire") == 0:
            pass

    assembly = spin.compile(u32[:]).asm_full
    assert "global_load_b32" in assembly
    assert "scope:SCOPE_DEV" in assembly
    assert "global_inv scope:SCOPE_DEV" in assembly


@amdjit.device_function
def sum_before(state, block):
    """Sum up what the workgroups before published: (1, own sum) or (2, sum with all before)."""
    before, j = 0, block - 1
    while True:
        word = atomic.load(state, j, "acquire")
        flag = word >> u64(32)
        if flag != 0:
            before += i32(u32(word))
            j -= 1
        if flag == 2:
            break
    return before


@amdjit.kernel(block=64)
def scan(x, out, state, ticket):
    """Sum up to each element, the workgroups passing their sums on (decoupled look-back)."""
    of_waves, shared_word = shared.array(2, i32), shared.array(1, i32)
    if threadIdx.x == 0:
        shared_word[0] = atomic.add(ticket, 0, 1)
    syncthreads()
    block = shared_word[0]
    i = 64 * block + threadIdx.x
    through = wave.inclusive_scan(x[i], "add")
    if threadIdx.x % 32 == 31:
        of_waves[threadIdx.x // 32] = through
    syncthreads()
    if threadIdx.x == 0:
        total, before = of_waves[0] + of_waves[1], 0
        if block > 0:
            atomic.store(state, block, u64(1) << 32 | u64(u32(total)), "release")
            before = sum_before(state, block)
        atomic.store(state, block, u64(2) << 32 | u64(u32(before + total)), "release")
        shared_word[0] = before
    syncthreads()
    out[i] = shared_word[0] + through + (of_waves[0] if threadIdx.x >= 32 else 0)


def test_workgroups_pass_sums_on_through_atomic_words() -> None:
    x = np.random.default_rng(1).integers(-50, 100, 64 * 60).astype(np.int32)
    out = np.empty_like(x)
    with amdjit.sanitize("memory", "race"):
        scan[60, 64](x, out, np.zeros(60, np.uint64), np.zeros(1, np.int32))
    assert np.array_equal(out, np.cumsum(x))


@amdjit.kernel(block=32)
def hand_over(data, flag, out, order: amdjit.Const):
    t = threadIdx.x
    if blockIdx.x == 0:
        data[t] = 3 * t
        atomic.store(flag, t, 1, order)
    else:
        while atomic.load(flag, t, "acquire") == 0:
            pass
        out[t] = data[t]


def test_acquire_and_release_order_what_is_around_them() -> None:
    out = np.zeros(32, np.int32)
    with amdjit.sanitize("race"):
        hand_over[2, 32](np.zeros(32, np.int32), np.zeros(32, np.int32), out, "release")
    assert np.array_equal(out, 3 * np.arange(32))
    with amdjit.sanitize("race"), pytest.raises(amdjit.KernelFault, match="race"):
        hand_over[2, 32](np.zeros(32, np.int32), np.zeros(32, np.int32), out, "relaxed")
