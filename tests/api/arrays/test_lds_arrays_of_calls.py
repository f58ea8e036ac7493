"""Each call of a function that makes an LDS array has an array of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import Const, device_function, f32, i32, local, shared, static_range, syncthreads
from amdjit.intrinsics.sync import syncthreads_count
from amdjit.tree.lds_arrays import lds_arrays

DEVICE = "emulator:gfx1201"
LANES = 64


def plain(value):
    tile = shared.array(LANES, i32)
    tile[amdjit.threadIdx.x] = value
    return tile


@device_function(inline=False)
def not_inlined(value):
    tile = shared.array(LANES, i32)
    tile[amdjit.threadIdx.x] = value
    return tile


def through_another(value):
    return plain(value)


def generic(value, dtype: Const):
    tile = shared.array(LANES, dtype)
    tile[amdjit.threadIdx.x] = dtype(value)
    return tile


MAKERS = [plain, not_inlined, through_another]


@pytest.mark.sample(3)
@pytest.mark.parametrize("make", MAKERS, ids=["plain", "not inlined", "through another"])
@pytest.mark.parametrize("level", [0, 3])
def test_two_calls_have_two_arrays(make: Any, level: int) -> None:
    @amdjit.kernel(opt_level=level, warnings=False)
    def two(out):
        i = amdjit.threadIdx.x
        first = make(i)
        second = make(i * 100)
        syncthreads()
        out[i] = first[LANES - 1 - i] + second[(i + 1) % LANES]

    out = np.zeros(LANES, np.int32)
    with amdjit.use(DEVICE):
        two[1, LANES](out)
    lanes = np.arange(LANES)
    assert (out == LANES - 1 - lanes + (lanes + 1) % LANES * 100).all()


def test_calls_in_one_expression_in_branches_and_of_local_functions_have_their_own() -> None:
    @amdjit.kernel(warnings=False)
    def many(out):
        i = amdjit.threadIdx.x

        def inner(value):
            tile = shared.array(LANES, i32)
            tile[i] = value
            return tile

        a, b = plain(i), plain(i + 1)
        c = inner(i + 2)
        d = inner(i + 3)
        if i < LANES // 2:
            plain(1000)
        else:
            plain(2000)
        e = (lambda v: plain(v))(i + 4)
        out[i] = a[i] + b[i] * 2 + c[i] * 3 + d[i] * 5 + e[i] * 7

    out = np.zeros(LANES, np.int32)
    with amdjit.use(DEVICE):
        many[1, LANES](out)
    i = np.arange(LANES)
    assert (out == i + (i + 1) * 2 + (i + 2) * 3 + (i + 3) * 5 + (i + 4) * 7).all()


def test_unrolled_rounds_are_calls_of_their_own_and_a_loop_at_run_time_has_one() -> None:
    @amdjit.kernel(warnings=False)
    def unrolled(out: i32[:]):
        i = amdjit.threadIdx.x
        tiles = tuple(plain(i + 10 * k) for k in static_range(3))
        out[i] = tiles[0][i] + tiles[1][i] * 2 + tiles[2][i] * 3

    @amdjit.kernel(warnings=False)
    def looped(n: i32, out: i32[:]):
        i = amdjit.threadIdx.x
        total = 0
        while total < n:
            total += plain(i)[i] + 1
        for k in range(n):
            total += plain(k)[i] * 1.0 if k > 0 else 0
        out[i] = i32(total)

    out = np.zeros(LANES, np.int32)
    with amdjit.use(DEVICE):
        unrolled[1, LANES](out)
    i = np.arange(LANES)
    assert (out == i + (i + 10) * 2 + (i + 20) * 3).all()
    assert len(lds_arrays(unrolled.compile().program)) == 3
    # Typing a loop again for a wider type leaves no array of the first attempt.
    assert len(lds_arrays(looped.compile().program)) == 2


def test_private_arrays_and_types_stay_apart() -> None:
    @device_function
    def own(value):
        mine = local.array(4, i32)
        for k in range(4):
            mine[k] = value + k
        return mine

    @amdjit.kernel(warnings=False)
    def kernel(out):
        i = amdjit.threadIdx.x
        x, y = own(i), own(i * 10)
        a, b, c = generic(i, i32), generic(i, f32), generic(i + 1, i32)
        out[i] = x[1] + y[2] + a[i] * 2 + i32(b[i]) * 3 + c[i] * 5

    out = np.zeros(LANES, np.int32)
    with amdjit.use(DEVICE):
        kernel[1, LANES](out)
    i = np.arange(LANES)
    assert (out == i + 1 + i * 10 + 2 + i * 2 + i * 3 + (i + 1) * 5).all()


def test_the_library_keeps_one_array_for_all_calls() -> None:
    @amdjit.kernel(warnings=False)
    def counted(out: i32[:]):
        i = amdjit.threadIdx.x
        out[i] = (
            syncthreads_count(i % 2 == 0)
            + syncthreads_count(i % 3 == 0) * 100
            + syncthreads_count(i < 5) * 10000
        )

    out = np.zeros(LANES, np.int32)
    with amdjit.use(DEVICE):
        counted[1, LANES](out)
    assert (out == 32 + 2200 + 50000).all()
    assert len(lds_arrays(counted.compile().program)) == 1


def test_arrays_of_all_calls_count_against_the_limit() -> None:
    def large():
        return shared.array(3000, f32)

    @amdjit.kernel(warnings=False)
    def kernel(out: f32[:]):
        total = f32(0)
        for k in static_range(6):
            tile = large()
            tile[amdjit.threadIdx.x] = k
            total += tile[0]
        out[0] = total

    with pytest.raises(amdjit.CompileError, match="72000 bytes"):
        kernel.compile()
