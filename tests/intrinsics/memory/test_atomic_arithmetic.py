"""Atomics lose no update and return the old value, in global memory and LDS."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import (
    atomic,
    blockDim,
    i32,
    shared,
    syncthreads,
    threadIdx,
    u32,
)
from amdjit.intrinsics.sync import lds_barrier, threadfence

RANDOM = np.random.default_rng(11)


@amdjit.kernel
def update(values, out):
    i = amdjit.grid(1)
    if i < values.shape[0]:
        value = values[i]
        atomic.add(out, 0, value)
        atomic.sub(out, 1, value)
        atomic.min(out, 2, value, order="acq_rel", scope="system")
        atomic.max(out, 3, value)
        atomic.add(out, 4, 1)


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_atomic_arithmetic_loses_no_update(dtype: str) -> None:
    values = RANDOM.integers(0, 100, 1000).astype(dtype)
    if dtype[0] != "u":
        values -= values.dtype.type(50)
    out = np.zeros(5, dtype)
    update[8, 128](values, out)
    expected = [values.sum(dtype=dtype), (np.zeros(1, dtype) - values.sum(dtype=dtype))[0],
        min(0, values.min()),
                max(0, values.max()), 1000]  # fmt: skip
    np.testing.assert_array_equal(out, np.array(expected, dtype))


@amdjit.kernel
def combine(values, out, old):
    i = amdjit.grid(1)
    atomic.and_(out, 0, values[i])
    atomic.or_(out, 1, values[i])
    atomic.xor(out, 2, values[i])
    old[i] = atomic.exch(out, 3, values[i])
    atomic.inc(out, 4, u32(9))
    atomic.dec(out, 5, u32(9))


def test_atomic_bits_exchange_and_counters() -> None:
    values = RANDOM.integers(0, 2**32, 64).astype(np.uint32)
    out = np.array([0xFFFFFFFF, 0, 0, 77, 0, 0], np.uint32)
    old = np.zeros(64, np.uint32)
    combine[2, 32](values, out, old)
    assert out[0] == np.bitwise_and.reduce(values)
    assert out[1] == np.bitwise_or.reduce(values)
    assert out[2] == np.bitwise_xor.reduce(values)
    assert sorted([*old, out[3]]) == sorted([*values, 77])
    assert out[4] == 64 % 10
    assert out[5] == -64 % 10


@amdjit.kernel
def histogram(values, out):
    counts = shared.array(16, i32)
    t = threadIdx.x
    if t < 16:
        counts[t] = 0
    syncthreads()
    for i in range(t, values.shape[0], blockDim.x):
        atomic.add(counts, values[i], 1, scope="workgroup")
    lds_barrier()
    if t < 16:
        out[t] = counts[t]
    threadfence()


def test_atomics_on_lds_count_a_histogram() -> None:
    values = RANDOM.integers(0, 16, 5000).astype(np.int32)
    out = np.zeros(16, np.int32)
    histogram[1, 96](values, out)
    np.testing.assert_array_equal(out, np.bincount(values, minlength=16))


@amdjit.kernel
def multiply_by_three(out):
    done = False
    while not done:
        seen = out[0]
        done = atomic.cas(out, 0, seen, seen * 3) == seen


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_compare_and_swap_makes_any_update_atomic(dtype: str) -> None:
    out = np.ones(1, dtype)
    multiply_by_three[2, 40](out)
    assert int(out[0]) == 3**80 % 2 ** (8 * out.itemsize)
