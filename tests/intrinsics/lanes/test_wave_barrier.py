"""`sync.wave_barrier` orders what the lanes of a wave do to memory, and costs no instruction."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32, shared
from amdjit.emulator import EmulatorDevice
from amdjit.intrinsics.sync import wave_barrier
from amdjit.options import Environment
from amdjit.target import find_target

LEVELS = [0, 1, 2, 3]
TIERS = ["quick", "full"]


@functools.cache
def machine(tier: str) -> EmulatorDevice:
    target = find_target("gfx1201")
    assert target is not None
    return EmulatorDevice(target, 1, 60.0, Environment(emulator_tier=tier))


def through_global(a, out):
    i = amdjit.lane_id()
    if i == 0:
        a[0] = 42
    wave_barrier()
    out[i] = a[0]


def written_by_another_lane(a, out):
    i = amdjit.lane_id()
    n = a.shape[0]
    a[i] = i
    wave_barrier()
    other = a[n - 1 - i]
    wave_barrier()
    a[i] = other * 2
    wave_barrier()
    out[i] = a[(i + 1) % n] + a[i]


def through_lds(a, out):
    i = amdjit.lane_id()
    tile = shared.array(64, i32)
    tile[i] = a[i]
    wave_barrier()
    if i == 3:
        tile[0] = 42
    wave_barrier()
    out[i] = tile[0] * 1000 + tile[(i + 1) % a.shape[0]]


def in_a_loop(a, out):
    i = amdjit.lane_id()
    n = a.shape[0]
    a[i] = i
    for k in range(4):
        wave_barrier()
        other = a[(i + 1) % n]
        wave_barrier()
        a[i] = other + k
    out[i] = a[i]


def expected(kernel: Any, n: int) -> Any:
    lanes = np.arange(n)
    if kernel is through_global:
        return np.full(n, 42)
    if kernel is written_by_another_lane:
        a = (n - 1 - lanes) * 2
        return np.roll(a, -1) + a
    if kernel is through_lds:
        tile = lanes.copy()
        tile[0] = 42
        return 42000 + np.roll(tile, -1)
    a = lanes.copy()
    for k in range(4):
        a = np.roll(a, -1) + k
    return a


KERNELS = [through_global, written_by_another_lane, through_lds, in_a_loop]


@pytest.mark.sample(8)
@pytest.mark.covering(2)
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_all_lanes_see_what_was_written_before(
    kernel: Any, level: int, wave_size: int, tier: str
) -> None:
    a, out = np.arange(wave_size, dtype=np.int32), np.zeros(wave_size, np.int32)
    with amdjit.use(machine(tier)):
        amdjit.kernel(opt_level=level, wave_size=wave_size, warnings=False)(kernel)[1, wave_size](
            a, out
        )
    assert (out == expected(kernel, wave_size)).all()


@pytest.mark.parametrize("target", ["gfx1100", "gfx1200", "gfx1201"])
def test_it_is_no_instruction_and_keeps_loads_after_stores(target: str) -> None:
    @amdjit.kernel
    def ordered(a: i32[:], out: i32[:]):
        i = amdjit.lane_id()
        if i == 0:
            a[0] = 42
        wave_barrier()
        out[i] = a[0]

    text = ordered.compile(target=target).asm_full
    assert text.index("global_store") < text.index("global_load") < text.rindex("global_store")
    assert not any(
        word in text for word in ("s_barrier", "s_load_b32", "buffer_gl", "global_inv", "global_wb")
    )
