"""Kernels compiled for waves of 64 lanes, run on the emulator: lane numbers, exchanges, votes,
sums, whole examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f32, i32, shared, syncthreads, threadIdx, wavefront_size
from amdjit.examples import reduction, saxpy, vector_add
from amdjit.intrinsics import wave

RANDOM = np.random.default_rng(12)
LANES = np.arange(64)


@amdjit.kernel(wave_size=64)
def where_am_i(out):
    x, y, z = amdjit.grid(3)
    width, height, _ = amdjit.gridsize(3)
    row = x + width * (y + height * z)
    out[row, 0] = amdjit.lane_id()
    out[row, 1] = amdjit.wave_id()
    out[row, 2] = wavefront_size


def test_work_items_know_their_lane_and_wave() -> None:
    grid, block = (3, 2, 2), (6, 5, 7)
    out = np.zeros((12 * 210, 3), np.int32)
    where_am_i[grid, block](out)
    number = np.arange(len(out))
    x, y, z = number % 18, number // 18 % 10, number // 180
    item = x % 6 + 6 * (y % 5 + 5 * (z % 7))
    np.testing.assert_array_equal(
        out, np.stack([item % 64, item // 64, np.full(len(out), 64)], axis=1)
    )


@amdjit.kernel(wave_size=64)
def exchange(values, lanes, results):
    lane = amdjit.lane_id()
    value = values[lane]
    results[0, lane] = wave.shuffle(value, lanes[lane])
    results[1, lane] = wave.shuffle_xor(value, 37)
    results[2, lane] = wave.shuffle_up(value, 35)
    results[3, lane] = wave.shuffle_down(value, 3)
    results[4, lane] = wave.shuffle(value, lane ^ 41, 64)
    results[5, lane] = wave.readlane(value, 40)
    results[6, lane] = wave.readfirstlane(value)
    results[7, lane] = wave.swap_in_rows(value, 9)
    results[8, lane] = wave.swap_rows(value)
    if lane > 33:
        results[9, lane] = wave.readfirstlane(value)
        results[10, lane] = wave.shuffle(value, lanes[lane])


WIDTHS = ["i1", "u2", "i4", "i8", "f2", "f4", "f8"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("processor", "dtype"),
    [*(("gfx1201", dtype) for dtype in WIDTHS), ("gfx1100", "i1"), ("gfx1100", "f8")],
)
def test_lanes_exchange_values_of_every_width(processor: str, dtype: str) -> None:
    """Also where the instruction itself stays in a half of the wave, as on gfx1100."""
    values = RANDOM.integers(-100, 100, 64).astype(dtype)
    lanes = RANDOM.integers(0, 128, 64).astype(np.int32)
    results = np.zeros((11, 64), dtype)
    with amdjit.use(f"emulator:{processor}"):
        exchange[1, 64](values, lanes, results)
    upper, source = LANES > 33, lanes % 64
    sources = [source, LANES ^ 37, np.where(LANES >= 35, LANES - 35, LANES),
        np.where(LANES < 61, LANES + 3, LANES),
               LANES ^ 41, LANES * 0 + 40, LANES * 0, LANES ^ 9, LANES ^ 16]  # fmt: skip
    np.testing.assert_array_equal(results[:9], values[np.stack(sources)])
    np.testing.assert_array_equal(results[9], np.where(upper, values[34], 0))
    np.testing.assert_array_equal(results[10], np.where(upper & (source > 33), values[source], 0))


@amdjit.kernel(wave_size=64)
def shuffled_by_some(values, lanes, active, results):
    lane = amdjit.lane_id()
    value = values[lane]
    if active[lane] != 0:
        results[0, lane] = wave.shuffle(value, lanes[lane])
        results[1, lane] = wave.shuffle(value, lanes[lane], 32)


@pytest.mark.parametrize("processor", ["gfx1100", "gfx1201"])
def test_any_lanes_exchange_with_any_others(processor: str) -> None:
    """Of those that are not there, 0 comes."""
    for active in (LANES >= 0, LANES % 64 == 5, LANES > 40, RANDOM.random(64) < 0.5):
        lanes = RANDOM.integers(0, 64, 64).astype(np.int32)
        values, results = LANES.astype(np.int32) + 100, np.zeros((2, 64), np.int32)
        with amdjit.use(f"emulator:{processor}"):
            shuffled_by_some[1, 64](values, lanes, active.astype(np.int32), results)
        for row, sources in enumerate((lanes, LANES // 32 * 32 + lanes % 32)):
            expected = np.where(active & active[sources], values[sources], 0)
            np.testing.assert_array_equal(results[row], expected)


@amdjit.kernel(wave_size=64)
def permuted(values, results):
    lane = amdjit.lane_id()
    results[lane] = wave.permute(values[lane], lane ^ 41)


def test_permute_reaches_all_lanes_or_is_refused() -> None:
    values, results = LANES.astype(np.int32), np.zeros(64, np.int32)
    permuted[1, 64](values, results)
    np.testing.assert_array_equal(results, LANES ^ 41)
    for target in ("gfx1030", "gfx1100"):
        with pytest.raises(amdjit.CompileError, match=r"wave_size=32.*use wave\.shuffle"):
            permuted.compile(i32[:], i32[:], target=target)
    assert "v_readlane" in shuffled_by_some.compile(*[i32[:]] * 3, i32[:, :], target="gfx1030").asm


@amdjit.kernel(wave_size=64)
def vote(values, votes, out):
    i = amdjit.grid(1)
    big = values[i] > 0
    votes[i] = wave.ballot64(big)
    out[i, 0] = 1 if wave.any(big) else 0
    out[i, 1] = 1 if wave.all(big) else 0


@pytest.mark.parametrize("block", [64, 100, 33])
def test_votes_are_of_the_lanes_that_there_are(block: int) -> None:
    values = np.where(RANDOM.random(block) < 0.9, 1, -1).astype(np.int32)
    values[64:] = 1
    votes, out = np.zeros(block, np.uint64), np.zeros((block, 2), np.int32)
    vote[1, block](values, votes, out)
    for start in range(0, block, 64):
        part = values[start : start + 64] > 0
        assert set(votes[start : start + 64].tolist()) == {
            sum(1 << lane for lane in np.flatnonzero(part).tolist())
        }
        assert (out[start : start + 64] == [part.any(), part.all()]).all()


@amdjit.kernel(wave_size=64)
def reductions(values, out):
    i = amdjit.grid(1)
    out[0, i] = wave.reduce_add(values[i])
    out[1, i] = wave.reduce_max(values[i])
    out[2, i] = wave.reduce_min(values[i])


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64])
def test_sums_and_extremes_of_a_wave(dtype: Any) -> None:
    values = RANDOM.integers(-1000, 1000, 256).astype(dtype)
    out = np.zeros((3, 256), dtype)
    reductions[2, 128](values, out)
    waves = values.reshape(4, 64)
    expected = [waves.sum(axis=1), waves.max(axis=1), waves.min(axis=1)]
    np.testing.assert_array_equal(
        out.reshape(3, 4, 64), np.repeat(np.stack(expected)[:, :, None], 64, axis=2)
    )


@amdjit.kernel(wave_size=64)
def divergent(values, steps, out, counts):
    """Loops of other lengths in every lane, branches, atomics on LDS, barriers, a private array."""
    i, t = amdjit.grid(1), threadIdx.x
    bins = shared.array(8, i32)
    if t < 8:
        bins[t] = 0
    syncthreads()
    value, count = values[i], 0
    while value != 1 and count < 200:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        count += 1
    steps[i] = count
    atomic.add(bins, count % 8, 1)
    syncthreads()
    own = amdjit.local.array(4, f32)
    for k in range(4):
        own[k] = f32(bins[(t + k) % 8])
    out[i] = own[count % 4]
    if t < 8:
        atomic.add(counts, t, bins[t])


def test_control_flow_lds_and_private_memory() -> None:
    groups, block = 3, 150
    values = RANDOM.integers(1, 1000, groups * block).astype(np.int32)
    steps, out, counts = (
        np.zeros_like(values),
        np.zeros(len(values), np.float32),
        np.zeros(8, np.int32),
    )
    divergent[groups, block](values, steps, out, counts)
    expected = np.zeros_like(values)
    for i, value in enumerate(values.tolist()):
        while value != 1 and expected[i] < 200:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            expected[i] += 1
    np.testing.assert_array_equal(steps, expected)
    bins = np.stack(
        [np.bincount(part % 8, minlength=8) for part in expected.reshape(groups, block)]
    )
    item = np.arange(len(values))
    np.testing.assert_array_equal(out, bins[item // block, (item % block + expected % 4) % 8])
    np.testing.assert_array_equal(counts, bins.sum(axis=0))


def test_examples_compute_the_same_in_waves_of_64_lanes() -> None:
    n = 5000
    x, y = RANDOM.random(n, np.float32), RANDOM.random(n, np.float32)
    found = [np.zeros((2, n), np.float32) for _ in range(2)]
    for size, out in zip((32, 64), found, strict=True):
        amdjit.kernel(wave_size=size)(vector_add.vector_add.function)[20, 256](x, y, out[0])
        amdjit.kernel(wave_size=size)(saxpy.saxpy.function)[20, 256](np.float32(3), x, y, out[1])
    np.testing.assert_array_equal(found[0][0], x + y)
    np.testing.assert_array_equal(found[1], found[0])
    sums = np.zeros(8, np.float32)
    amdjit.kernel(block=256, wave_size=64)(reduction.sum_per_block.function)[8, 256](x, sums)
    np.testing.assert_allclose(sums.sum(dtype=np.float64), x.sum(dtype=np.float64), rtol=1e-6)


def test_a_fault_names_the_work_item_of_the_upper_half() -> None:
    @amdjit.kernel(wave_size=64)
    def too_far(x):
        x[amdjit.grid(1)] = 1

    with pytest.raises(amdjit.KernelFault) as caught:
        too_far[1, 128](np.zeros(100, np.float32))
    assert (caught.value.thread, caught.value.lane) == ((100, 0, 0), 36)
