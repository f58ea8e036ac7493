"""`wraparound=True`: indices that are negative at run time count from the end, as in NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f32, f32x4, i32, i64, local, shared
from tests.api.lanes import DEVICE

RANDOM = np.random.default_rng(7)


def everywhere(a, index, out, counts):
    i = amdjit.grid(1)
    j = index[i]
    tile, own = shared.array((32, 4), f32), local.array((2, 8), f32)
    for k in range(16):
        own[k // 8, k % 8] = 10 * k + i
    for k in range(4):
        tile[i, k] = 100 * k + i
    half = j // 2
    out[i, 0] = a[half, j]
    out[i, 1] = a[half][j] + a[half, ::-1][j]
    out[i, 2] = own[j // 4, j] + own[j // 4][j]
    out[i, 3] = tile[i, half]
    out[i, 4] = a.load((half, j // 8 * 2), 2)[1]
    out[i, 5] = f32x4(1, 2, 3, 4)[half]
    out[i, 6] = a[half, 1:].sum() + a[half:, j].sum()
    atomic.add(counts, j, 1)
    row = out[i]
    row[j // 8 * 2 + 1] += a[j // 2, -1]
    a.T.store((j, half - 4 if half >= 0 else half), a[half, j])


def expected(a, index):
    out, counts = np.zeros((32, 8), np.float32), np.zeros(8, np.int32)
    for i, j in enumerate(index):
        own, half = (10 * np.arange(16) + i).reshape(2, 8), j // 2
        out[i, 0] = a[half, j]
        out[i, 1] = a[half][j] + a[half, ::-1][j]
        out[i, 2] = 2 * own[j // 4, j]
        out[i, 3] = 100 * np.arange(4)[half] + i
        out[i, 4] = a[half, (j // 8 * 2) % 8 + 1]
        out[i, 5] = (1, 2, 3, 4)[half]
        out[i, 6] = a[half, 1:].sum() + a[half:, j].sum()
        out[i, j // 8 * 2 + 1] += a[half, -1]
        counts[j] += 1
    return out, counts


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("bounds_check", [False, True])
def test_negative_indices_count_from_the_end_of_every_array(kind: Any, bounds_check: bool) -> None:
    a = RANDOM.integers(-9, 9, (4, 8)).astype(np.float32)
    index, out = RANDOM.integers(-8, 8, 32).astype(kind), np.zeros((32, 8), np.float32)
    counts, before = np.zeros(8, np.int32), a.copy()
    run = amdjit.kernel(wraparound=True, bounds_check=bounds_check, warnings=False)(everywhere)
    with amdjit.use(DEVICE):
        run[1, 32](a, index, out, counts)
    right, times = expected(before, index)
    assert (out == right).all()
    assert (counts == times).all()


def outside(a, j):
    a[j] = 1


@pytest.mark.parametrize(("wraparound", "index"), [(True, -6), (True, 4), (False, -2)])
def test_a_bad_index_is_reported(wraparound: bool, index: int) -> None:
    run = amdjit.kernel(wraparound=wraparound, bounds_check=True)(outside)
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault) as fault:
        run[1, 1](np.zeros(4, np.float32), np.int32(index))
    hint = "negative indices count from the end with `wraparound=True`"
    assert (hint in str(fault.value)) == (not wraparound)
    assert (", counted from the start," in str(fault.value)) == wraparound


def test_a_fault_of_memory_names_the_option() -> None:
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault, match="`wraparound=True`"):
        amdjit.kernel(outside)[1, 1](np.zeros(4, np.float32), np.int32(-2))
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault) as fault:
        amdjit.kernel(outside)[1, 1](np.zeros(4, np.float32), np.int32(9))
    assert "count from the end" not in str(fault.value)


def never_negative(a, n, u: amdjit.u32, out):
    i, (x, y) = amdjit.grid(1), amdjit.grid(2)
    lane, total = amdjit.intrinsics.workitem.lane_id(), 0.0
    for k in range(n):
        total += a[i, k] * a[lane, k + 1] + a[amdjit.threadIdx.x, k // 2]
    for k in range(i, n, amdjit.gridsize(1)):
        total += a[k % 7, k & 3]
    for k in range(n - 1, -1, -1):
        total *= a[x, k] + a[y, max(k, i)] + a[u, a.shape[1] // 2]
    for k, v in enumerate(a[i]):
        total += a[k, lane] * v
    for k in range(1, 5):
        for m in range(k):
            total -= a[k, m]
    out[i] = total


def may_be_negative(a, n, u: amdjit.u32, out):
    i = amdjit.grid(1)
    for k in range(n):
        i -= 1
        out[k] = a[i, k]


@pytest.mark.parametrize(("function", "same"), [(never_negative, True), (may_be_negative, False)])
def test_indices_that_are_never_negative_cost_nothing(function: Any, same: bool) -> None:
    codes = [
        amdjit.kernel(wraparound=wraparound, warnings=False)(function)
        .compile(f32[:, :], i32, amdjit.u32, f32[:])
        .code_object
        for wraparound in (False, True)
    ]
    assert (codes[0] == codes[1]) == same


def reassigned(out, n):
    k = 0
    for _ in range(n):
        out[k] += 1
        k = -1
    for i in range(3):
        j = i
        while j > -2:
            out[j] += 10
            j -= 3
    for i in range(2):
        out[i] += 100
        for i in range(-2, 0):
            out[i] += 1000
        out[i] += 10000


def test_names_that_become_negative_later_are_not_taken_for_positive() -> None:
    out, right = np.zeros(5, np.int32), np.zeros(5, np.int32)
    reassigned(right, 3)
    with amdjit.use(DEVICE):
        amdjit.kernel(wraparound=True, warnings=False)(reassigned)[1, 1](out, np.int32(3))
    assert list(out) == list(right)


def test_the_option_is_in_the_ir_only_where_an_index_may_be_negative() -> None:
    compiled = amdjit.kernel(wraparound=True)(outside).compile(f32[:], i64)
    assert re.search(r"ashr i64 \S+, 63", compiled.llvm)
    assert "ashr" not in amdjit.kernel(outside).compile(f32[:], i64).llvm
