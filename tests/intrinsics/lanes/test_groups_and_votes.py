"""Exchanges within groups of lanes, lanes that hold 8-bit floats, and votes of whole workgroups,
against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import atomic
from amdjit.intrinsics import memory, sync, wave


def exchanges(width: int) -> Callable[..., None]:
    def kernel(x, lanes, delta, out):
        t = amdjit.threadIdx.x
        out[0, t] = wave.shuffle(x[t], lanes[t], width)
        out[1, t] = wave.shuffle_up(x[t], delta, width)
        out[2, t] = wave.shuffle_down(x[t], delta, width=width)

    return kernel


@pytest.mark.sample(4)
@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize("width", [1, 8, 32, 64])
def test_groups_of_lanes_exchange_among_themselves(size: int, width: int) -> None:
    kernel = amdjit.kernel(wave_size=size)(exchanges(width))
    x, lanes = np.arange(size, dtype=np.int32) + 100, np.arange(size)
    sources = np.random.default_rng(1).integers(-99, 99, size).astype(np.int32)
    width = min(width, size)
    own = lanes % width
    for delta in (0, 3, 9):
        out = np.zeros((3, size), np.int32)
        kernel[1, size](x, sources, np.int32(delta), out)
        np.testing.assert_array_equal(out[0], x[lanes - own + sources % width])
        np.testing.assert_array_equal(out[0], wave.shuffle(x, sources, width))
        np.testing.assert_array_equal(out[1], x[np.where(own >= delta, lanes - delta, lanes)])
        np.testing.assert_array_equal(
            out[2], x[np.where(own + delta < width, lanes + delta, lanes)]
        )


def test_a_width_that_is_no_power_of_two_is_refused() -> None:
    with pytest.raises(
        amdjit.TypeCheckError, match="one of the constants 1, 2, 4, 8, 16, 32, 64"
    ) as caught:
        amdjit.kernel(exchanges(12)).compile(
            amdjit.f32[:], amdjit.i32[:], amdjit.i32, amdjit.f32[:, :]
        )
    assert caught.value.diagnostics[0].help == "choose one of these instead of 12"


@amdjit.kernel
def small_floats(x, out, same):
    t = amdjit.threadIdx.x
    out[0, t] = wave.shuffle_xor(x[t], 5)
    out[1, t] = wave.row_shr(x[t], 1)
    out[2, t] = memory.load(x, t, "non_temporal")
    out[3, t] = memory.buffer_load(memory.buffer(x), t + 1, x.dtype)
    same[t] = wave.match_any(x[t])


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_lanes_hand_over_floats_of_8_bits(dtype: Any) -> None:
    x = (np.arange(32) // 3 - 4).astype(dtype)
    out, same = np.zeros((4, 32), dtype), np.zeros(32, np.uint64)
    small_floats[1, 32](x, out, same)
    lanes = np.arange(32)
    shifted = np.where(lanes % 16 > 0, x[lanes - 1], dtype(0))
    wanted = [x[lanes ^ 5], shifted, x, np.append(x[1:], dtype(0))]
    np.testing.assert_array_equal(out.view(np.uint8), np.array(wanted, dtype).view(np.uint8))
    assert same.tolist() == [
        sum(1 << int(other) for other in np.flatnonzero(x == value)) for value in x
    ]


@amdjit.kernel
def numbers_as_predicates(x, out):
    t = amdjit.threadIdx.x
    out[0, t] = 1 if wave.any(x[t]) else 0
    out[1, t] = 1 if wave.all(x[t]) else 0


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.uint8])
def test_votes_take_numbers_as_python_does(dtype: Any) -> None:
    for x in (np.zeros(32, dtype), np.ones(32, dtype), np.arange(32).astype(dtype)):
        out = np.zeros((2, 32), np.int32)
        numbers_as_predicates[1, 32](x, out)
        assert out.tolist() == [[int(x.any())] * 32, [int(x.all())] * 32]


def votes(x, out):
    t = amdjit.threadIdx.x + amdjit.blockDim.x * amdjit.threadIdx.y
    b = amdjit.blockIdx.x
    out[b, 0, t] = sync.syncthreads_count(x[b, t] > 0)
    out[b, 1, t] = 1 if sync.syncthreads_and(x[b, t]) else 0
    out[b, 2, t] = 1 if sync.syncthreads_or(x[b, t] > 0) else 0
    out[b, 3, t] = sync.syncthreads_count(x[b, t] == 0)


@pytest.mark.sample(1)
@pytest.mark.covering(1)
@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize("block", [(1, 1), (45, 1), (16, 5), (32, 32)])
def test_votes_of_a_workgroup_count_all_its_waves(size: int, block: tuple[int, int]) -> None:
    count = block[0] * block[1]
    x = (np.random.default_rng(count).random((3, count)) < 0.3).astype(np.int32)
    x[0], x[1] = 0, 1
    out = np.zeros((3, 4, count), np.int32)
    with amdjit.sanitize("race", "init", "sync"):
        amdjit.kernel(wave_size=size)(votes)[3, block](x, out)
    true = x.sum(axis=1)[:, None]
    wanted = [true, true == count, true > 0, count - true]
    np.testing.assert_array_equal(out, np.broadcast_to(np.stack(wanted, axis=1), out.shape))


@amdjit.kernel
def exchange_if(x, old, in_lds):
    t = amdjit.threadIdx.x
    tile = amdjit.shared.array(32, x.dtype)
    tile[t] = x[t]
    in_lds[t] = atomic.cas(tile, t, 3, 9)
    old[t] = atomic.cas(x, t, 1, 2)
    x[t] += tile[t] * 100


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_exchanged_if_their_bits_are_the_expected_ones(dtype: Any) -> None:
    start = np.where(np.arange(32) % 2, np.arange(32) % 4, -0.0).astype(dtype)
    x, old, in_lds = start.copy(), np.zeros(32, dtype), np.zeros(32, dtype)
    exchange_if[1, 32](x, old, in_lds)
    np.testing.assert_array_equal(old, start)
    np.testing.assert_array_equal(in_lds, start)
    np.testing.assert_array_equal(
        x, np.where(start == 1, 2, start) + 100 * np.where(start == 3, 9, start)
    )
