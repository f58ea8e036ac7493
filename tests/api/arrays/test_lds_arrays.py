"""LDS arrays: several in dynamic LDS, padded ones, arrays of vectors, and which memory each access
goes to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import KernelFault, f16, f32, f32x3, f32x4, i32, local, shared, syncthreads, threadIdx
from amdjit.testing import isa

pytestmark = pytest.mark.usefixtures("emulator")


@amdjit.kernel
def three_arrays(out, n):
    """After a static array: n f32, then n f16, then i32 to the end."""
    t = threadIdx.x
    fixed = shared.array(32, i32)
    floats = shared.dynamic(f32)
    halves = shared.dynamic(f16, 4 * n)
    words = shared.dynamic(i32, offset=4 * n + 2 * n)
    fixed[t], floats[t], halves[t], words[t] = 7000 + t, f32(t), f16(100 + t), 5000 + t
    syncthreads()
    other = 31 - t
    out[0, t], out[1, t] = i32(floats[other]), i32(halves[other])
    out[2, t], out[3, t] = words[other], fixed[other]
    out[4, t], out[5, t], out[6, t] = floats.shape[0], halves.shape[0], words.shape[0]


def test_several_arrays_share_dynamic_lds() -> None:
    out = np.zeros((7, 32), np.int32)
    three_arrays[1, 32, None, 32 * (4 + 2 + 4)](out, 32)
    other = 31 - np.arange(32)
    assert (out[:4] == [other, 100 + other, 5000 + other, 7000 + other]).all()
    assert list(out[4:, 0]) == [80, 96, 32]


def test_an_offset_behind_the_launchs_lds_gives_an_empty_array() -> None:
    @amdjit.kernel
    def extent(out, offset):
        out[0] = shared.dynamic(f32, offset).shape[0]

    out = np.full(1, -1, np.int32)
    extent[1, 1, None, 64](out, 80)
    assert out[0] == 0


def test_a_dynamic_array_may_have_a_shape() -> None:
    @amdjit.kernel
    def turn(x, out):
        t = threadIdx.x
        tile = shared.dynamic(f32, 128, (8, 5))
        tile[t // 4, t % 4] = x[t]
        syncthreads()
        out[t] = tile[t % 8, t // 8]

    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    turn[1, 32, None, 128 + 8 * 5 * 4](x, out)
    assert (out == x.reshape(8, 4).T.reshape(-1)).all()


def test_dynamic_lds_that_the_launch_does_not_add_is_a_fault() -> None:
    with pytest.raises(KernelFault):
        three_arrays[1, 32, None, 32](np.zeros((7, 32), np.int32), 32)


def test_padded_rows_hold_a_transposed_tile() -> None:
    @amdjit.kernel
    def transpose(x, out):
        tile = shared.array((16, 17), f32)
        column, row = threadIdx.x, threadIdx.y
        tile[row, column] = x[row, column]
        syncthreads()
        out[row, column] = tile[column, row]

    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    out = np.zeros_like(x)
    transpose[1, (16, 16)](x, out)
    assert (out == x.T).all()
    assert transpose.specialisations[0].resources.lds_bytes == 16 * 17 * 4


@pytest.mark.parametrize("kind", [f32x4, f32x3])
def test_lds_arrays_of_vectors_hold_whole_vectors(kind: Any) -> None:
    length = kind.length

    @amdjit.kernel
    def reverse(x, out, kind: amdjit.Const, length: amdjit.Const):
        t = threadIdx.x
        vectors, mine = shared.array(32, kind), local.array(2, kind)
        mine[0] = kind()
        for e in amdjit.static_range(length):
            v = mine[0]
            v[e] = x[length * t + e]
            mine[0] = v
        vectors[t] = mine[0]
        syncthreads()
        v = vectors[31 - t]
        for e in amdjit.static_range(length):
            out[length * t + e] = v[e]

    x = np.arange(32 * length, dtype=np.float32)
    out = np.zeros_like(x)
    reverse[1, 32](x, out, kind, length)
    assert (out.reshape(32, length) == x.reshape(32, length)[::-1]).all()
    assert reverse.specialisations[0].resources.lds_bytes == 32 * kind.nbytes


@amdjit.device_function(inline=False)
def first_of(a):
    return a[0]


def test_every_access_goes_to_its_arrays_own_memory() -> None:
    """No access is a flat one, which would look at the address to find the memory; not in helpers
    either."""

    @amdjit.kernel
    def mixed(x, out):
        t = threadIdx.x
        tile, mine, more = shared.array(64, f32), local.array(400, f32), shared.dynamic(f32)
        tile[t] = x[t]
        more[t] = x[t + 1]
        for e in amdjit.unroll(range(400), 1):
            mine[(e + t) % 400] = f32(e)
        syncthreads()
        out[t] = tile[t ^ 1] + mine[t] + more[t ^ 1] + first_of(tile) + first_of(x)

    code = isa(mixed.compile(f32[:], f32[:], target="gfx1201"))
    code.absent("flat_*", "buffer_*")
    for memory in ("ds", "global", "scratch"):
        code.count(f"{memory}_*", at_least=1)
    x, out = np.arange(40, dtype=np.float32), np.zeros(32, np.float32)
    mixed[1, 32, None, 128](x, out)
    t = np.arange(32)
    assert (out == (t ^ 1) + 0 + (t ^ 1) + 1).all()


def test_an_array_of_one_memory_cannot_become_one_of_another() -> None:
    @amdjit.kernel
    def either(x, out):
        tile = shared.array(32, f32)
        chosen = x
        if out.shape[0] > 3:
            chosen = tile
        out[0] = chosen[0]

    with pytest.raises(amdjit.CompileError, match="chosen"):
        either.compile(f32[:], f32[:], target="gfx1201")
