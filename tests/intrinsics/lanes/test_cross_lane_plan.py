"""rocWMMA's tests of cross-lane operations: every pattern with every mask, u32 and u64, some lanes
inactive.

The slice that always runs has each family and each mask; the whole grid is exhaustive.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import amdjit
from amdjit import u32
from amdjit.intrinsics import arithmetic, wave
from tests.intrinsics.lanes.lane_patterns import DPP, EVERY_CONTROL, MASKS, SWIZZLES, dpp, swizzle

OLD = 5  # what rocWMMA's tests leave in masked lanes


@amdjit.kernel
def moved(values, active, out, cases: amdjit.Const):
    lane = amdjit.lane_id()
    if active[lane] != 0:
        value = values[lane]
        old = value * 0 + OLD
        for n in amdjit.static_range(len(cases)):
            control, rows, banks, zero = cases[n]
            out[n, lane] = wave.dpp(old, value, control, rows, banks, zero)


def check_dpp(cases: list[tuple[int, int, int, bool]], dtype: str, wave_size: int) -> None:
    random = np.random.default_rng(len(cases))
    values = random.integers(1 << 8, 1 << 8 * np.dtype(dtype).itemsize - 1, wave_size).astype(dtype)
    old = np.full_like(values, OLD)
    for active in (np.ones(wave_size, np.int32), (random.random(wave_size) < 0.7).astype(np.int32)):
        out = np.full((len(cases), wave_size), OLD, dtype)
        amdjit.kernel(wave_size=wave_size)(moved.function)[1, wave_size](
            values, active, out, tuple(cases)
        )
        for found, case in zip(out, cases, strict=True):
            np.testing.assert_array_equal(found, dpp(old, values, active, case), err_msg=str(case))
            if active.all():
                np.testing.assert_array_equal(
                    wave.dpp(old, values, *case), found, err_msg=f"model of {case}"
                )


@pytest.mark.sample(1)
@pytest.mark.parametrize(("dtype", "wave_size"), [("u4", 32), ("u8", 64)])
def test_dpp_by_family_and_masks(dtype: str, wave_size: int) -> None:
    """Some controls of each family, the masks in turn, and all masks with some families."""
    masks = itertools.cycle(MASKS)
    check_dpp(
        [(control, *next(masks)) for controls in DPP.values() for control in controls[::3]],
        dtype,
        wave_size,
    )
    few = [controls[len(controls) // 2] for controls in DPP.values()]
    check_dpp([(control, *mask) for control in few[::3] for mask in MASKS], dtype, wave_size)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "mask", MASKS, ids=lambda mask: f"rows{mask[0]:x}-banks{mask[1]:x}-{mask[2]}"
)
@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("wave_size", [32, 64])
def test_every_control_with_every_mask(
    mask: tuple[int, int, bool], dtype: str, wave_size: int
) -> None:
    for first in range(0, len(EVERY_CONTROL), 64):
        check_dpp(
            [(control, *mask) for control in EVERY_CONTROL[first : first + 64]], dtype, wave_size
        )


@amdjit.kernel
def swizzled(values, active, out, cases: amdjit.Const):
    lane = amdjit.lane_id()
    if active[lane] != 0:
        for n in amdjit.static_range(len(cases)):
            keep, put, flip = cases[n]
            out[n, lane] = wave.swizzle(values[lane], keep, put, flip)


@pytest.mark.parametrize(("dtype", "wave_size"), [("u4", 32), ("u8", 64)])
def test_swizzles_read_the_lanes_of_the_plan(dtype: str, wave_size: int) -> None:
    random = np.random.default_rng(2)
    values = random.integers(1, 1 << 30, wave_size).astype(dtype)
    cases = tuple(SWIZZLES.values())
    for active in (np.ones(wave_size, np.int32), (random.random(wave_size) < 0.7).astype(np.int32)):
        out = np.zeros((len(cases), wave_size), dtype)
        amdjit.kernel(wave_size=wave_size)(swizzled.function)[1, wave_size](
            values, active, out, cases
        )
        for name, found in zip(SWIZZLES, out, strict=True):
            wanted = np.where(active, swizzle(values, active, SWIZZLES[name]), 0)
            np.testing.assert_array_equal(found, wanted, err_msg=name)


@amdjit.kernel
def permuted(values, lanes, out):
    lane = amdjit.lane_id()
    for n in range(lanes.shape[0]):
        out[0, n, lane] = wave.shuffle(values[lane], lanes[n, lane])
        out[1, n, lane] = wave.permute(values[lane], lanes[n, lane])


@pytest.mark.parametrize(("dtype", "wave_size"), [("u4", 32), ("u8", 64)])
def test_permutations_by_lane_numbers(dtype: str, wave_size: int) -> None:
    """Gather and scatter by block broadcasts, rotations, interleavings, and at random with lanes
    that meet."""
    lane, random = np.arange(wave_size), np.random.default_rng(3)
    patterns = [
        *(lane % size + 2 * size for size in (4, 8)),
        *(
            lane // size * size + (lane + turn) % size
            for size in (8, 16, 32)
            for turn in (1, size - 1)
        ),
        *(lane % size * (wave_size // size) + lane // size for size in (2, 4, 8, 16)),
        *(random.integers(0, 2 * wave_size, wave_size) for _ in range(4)),
    ]
    values = random.integers(1, 1 << 30, wave_size).astype(dtype)
    lanes = np.array(patterns, np.int32)
    out = np.zeros((2, len(lanes), wave_size), dtype)
    amdjit.kernel(wave_size=wave_size)(permuted.function)[1, wave_size](values, lanes, out)
    for n, pattern in enumerate(lanes):
        np.testing.assert_array_equal(out[0, n], values[pattern % wave_size])
        scattered = np.zeros_like(values)
        for source in range(wave_size):
            scattered[pattern[source] % wave_size] = values[source]
        np.testing.assert_array_equal(out[1, n], scattered)
        np.testing.assert_array_equal(wave.permute(values, pattern), scattered)


BLENDS = {
    "zip of bytes": 0x05010400,
    "bytes of the halves": 0x07060100,
    "zip of words": 0x05040100,
    "other words": 0x03020706,
    "even bytes": 0x06040200,
    "odd bytes": 0x07050301,
    "each second byte": 0x07020500,
    "reversed": 0x00010203,
}


@amdjit.kernel
def blended(high, low, out, selectors: amdjit.Const):
    lane = amdjit.lane_id()
    for n in amdjit.static_range(len(selectors)):
        out[n, lane] = arithmetic.perm(high[lane], low[lane], u32(selectors[n]))


def test_blends_of_bytes_and_words() -> None:
    random = np.random.default_rng(4)
    high, low = random.integers(0, 1 << 32, (2, 32)).astype(np.uint32)
    out = np.zeros((len(BLENDS), 32), np.uint32)
    blended[1, 32](high, low, out, tuple(BLENDS.values()))
    joined = np.stack([low, high], axis=1).view(np.uint8)
    for (name, selector), found in zip(BLENDS.items(), out, strict=True):
        chosen = [selector >> 8 * place & 7 for place in range(4)]
        np.testing.assert_array_equal(
            found.view(np.uint8).reshape(32, 4), joined[:, chosen], err_msg=name
        )
