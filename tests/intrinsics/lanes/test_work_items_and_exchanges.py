"""Work-items know where they are, and exchange and vote, as NumPy computes it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import (
    blockDim,
    blockIdx,
    gridDim,
    i32,
    threadIdx,
    wavefront_size,
)
from amdjit.intrinsics import wave

RANDOM = np.random.default_rng(11)

LANES = np.arange(32)


@amdjit.kernel
def where_am_i(out):
    x, y, z = amdjit.grid(3)
    width, height, _ = amdjit.gridsize(3)
    row = x + width * (y + height * z)
    out[row, 0] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z
    out[row, 1] = blockIdx.x + 100 * blockIdx.y + 10000 * blockIdx.z
    out[row, 2] = blockDim.x + 100 * blockDim.y + 10000 * blockDim.z
    out[row, 3] = gridDim.x + 100 * gridDim.y + 10000 * gridDim.z
    out[row, 4] = amdjit.lane_id()
    out[row, 5] = amdjit.wave_id()
    out[row, 6] = wavefront_size
    out[row, 7] = 1


@pytest.mark.parametrize("options", [{}, {"block": (6, 4, 3)}])
def test_work_items_know_where_they_are(options: dict[str, Any]) -> None:
    grid, block = (3, 2, 2), (6, 4, 3)
    out = np.zeros((math.prod(grid) * math.prod(block), 8), np.int32)
    amdjit.kernel(**options)(where_am_i.function)[grid, block](out)
    number = np.arange(len(out))
    extents = [g * b for g, b in zip(grid, block, strict=True)]
    x, y, z = (
        number % extents[0],
        number // extents[0] % extents[1],
        number // (extents[0] * extents[1]),
    )
    thread = [position % size for position, size in zip((x, y, z), block, strict=True)]
    group = [position // size for position, size in zip((x, y, z), block, strict=True)]
    flat = thread[0] + block[0] * (thread[1] + block[1] * thread[2])
    weights = (1, 100, 10000)
    expected = [
        sum(w * t for w, t in zip(weights, thread, strict=True)),
        sum(w * g for w, g in zip(weights, group, strict=True)),
        sum(w * b for w, b in zip(weights, block, strict=True)),
        sum(w * g for w, g in zip(weights, grid, strict=True)),
        flat % 32,
        flat // 32,
        np.full(len(out), 32),
        np.ones(len(out)),
    ]
    for column, values in enumerate(expected):
        np.testing.assert_array_equal(out[:, column], values, err_msg=f"column {column}")


@amdjit.kernel
def exchange(values, lanes, by_lane, by_xor, up, down):
    lane = amdjit.lane_id()
    by_lane[lane] = wave.shuffle(values[lane], lanes[lane])
    by_xor[lane] = wave.shuffle_xor(values[lane], 5)
    up[lane] = wave.shuffle_up(values[lane], 3)
    down[lane] = wave.shuffle_down(values[lane], 3)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f2", "f4", "f8"])
def test_lanes_exchange_values_of_every_width(dtype: str) -> None:
    values = RANDOM.integers(-100, 100, 32).astype(dtype)
    lanes = RANDOM.integers(0, 64, 32).astype(np.int32)
    results = [np.zeros_like(values) for _ in range(4)]
    exchange[1, 32](values, lanes, *results)
    for result, source in zip(
        results,
        (
            lanes % 32,
            LANES ^ 5,
            np.where(LANES >= 3, LANES - 3, LANES),
            np.where(LANES < 29, LANES + 3, LANES),
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(result, wave.shuffle(values, source))


@amdjit.kernel
def vote(values, out):
    lane = amdjit.lane_id()
    big = values[lane] > 0
    out[lane, 0] = i32(wave.ballot(big))
    out[lane, 1] = 1 if wave.any(big) else 0
    out[lane, 2] = 1 if wave.all(big) else 0
    out[lane, 3] = wave.readlane(values[lane], 7)
    out[lane, 4] = wave.readfirstlane(values[lane])
    out[lane, 5] = wave.permute(values[lane], lane ^ 9)


@pytest.mark.parametrize("values", [RANDOM.integers(-3, 4, 32), np.ones(32), np.zeros(32)])
def test_votes_and_broadcasts_are_numpys(values: np.ndarray[Any, Any]) -> None:
    values = values.astype(np.int32)
    out = np.zeros((32, 6), np.int32)
    vote[1, 32](values, out)
    bits = sum(1 << lane for lane in range(32) if values[lane] > 0)
    assert (out[:, 0].view(np.uint32) == bits).all()
    assert (out[:, 1] == (values > 0).any()).all()
    assert (out[:, 2] == (values > 0).all()).all()
    assert (out[:, 3] == values[7]).all()
    assert (out[:, 4] == values[0]).all()
    np.testing.assert_array_equal(out[:, 5], values[LANES ^ 9])
