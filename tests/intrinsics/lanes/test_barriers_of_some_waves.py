"""Barriers of some waves of a workgroup: who waits for whom, in waves of both sizes, and what the
checks say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, shared, threadIdx
from amdjit.intrinsics import sync
from amdjit.intrinsics.workitem import lane_id, wave_id, wavefront_size

DEVICE = "emulator:gfx1201"
CHECKS = ("memory", "race", "init", "sync")


def pipeline(x, out):
    """The first half of the waves loads tiles, the other half works on them, two tiles later."""
    tile = shared.array((2, 128), f32)
    full = shared.array(1, i32)
    free = shared.array(1, i32)
    sync.named_barrier_init(full)
    sync.named_barrier_init(free)
    t = threadIdx.x
    waves = 128 // wavefront_size
    for k in range(x.shape[0]):
        if t < 128:
            if k >= 2:
                sync.named_barrier_wait(free, waves * (k - 1))
            tile[k % 2, t] = x[k, t]
            sync.named_barrier_arrive(full, waves)
        else:
            sync.named_barrier_wait(full, waves * (k + 1))
            out[k, t - 128] = tile[k % 2, 255 - t]
            sync.named_barrier_arrive(free, waves)


def halves(x, out):
    """Each half of the waves has a barrier of its own, and a number of rounds of its own."""
    tile = shared.array(256, f32)
    barriers = shared.array(2, i32)
    sync.named_barrier_init(barriers)
    other = shared.array(1, i32)
    sync.named_barrier_init(other)
    t = threadIdx.x
    waves = 128 // wavefront_size
    if t < 128:
        for k in range(3):
            tile[t] = x[t] + k
            sync.named_barrier(barriers, waves)
            out[k, t] = tile[127 - t]
            sync.named_barrier(barriers, waves)
    else:
        for k in range(5):
            tile[t] = x[t] * k
            sync.named_barrier(other, waves)
            out[k, t] = tile[383 - t]
            sync.named_barrier(other, waves)


def first_to_come(x):
    if sync.barrier_signal_isfirst() and lane_id() == 0:
        x[wave_id()] = 1
    sync.barrier_wait()


def compiled(function: Any, wave_size: int) -> Any:
    return amdjit.kernel(wave_size=wave_size)(function)


@pytest.mark.parametrize("wave_size", [32, 64])
def test_producers_hand_tiles_to_consumers(wave_size: int) -> None:
    x = np.random.default_rng(1).random((10, 128)).astype(np.float32)
    out = np.zeros_like(x)
    with amdjit.use(DEVICE), amdjit.sanitize(*CHECKS):
        compiled(pipeline, wave_size)[1, 256](x, out)
    np.testing.assert_array_equal(out, x[:, ::-1])


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_halves_of_a_workgroup_go_at_their_own_pace(wave_size: int) -> None:
    x, out = np.arange(256, dtype=np.float32), np.zeros((5, 256), np.float32)
    with amdjit.use(DEVICE), amdjit.sanitize(*CHECKS):
        compiled(halves, wave_size)[1, 256](x, out)
    k = np.arange(5)[:, None]
    np.testing.assert_array_equal(out[:3, :128], (x[:128] + k[:3])[:, ::-1])
    np.testing.assert_array_equal(out[:, 128:], (x[128:] * k)[:, ::-1])


@amdjit.kernel
def a_stranger_reads(x, out):
    tile = shared.array(64, f32)
    barrier = shared.array(1, i32)
    sync.named_barrier_init(barrier)
    t = threadIdx.x
    if t < 64:
        tile[t] = x[t]
        sync.named_barrier(barrier, 2)
        out[t] = tile[63 - t]
    else:
        out[t] = tile[t - 64] * 2


def test_who_does_not_wait_races() -> None:
    with amdjit.use(DEVICE), amdjit.sanitize("race", raises=False) as found:
        a_stranger_reads[1, 96](np.ones(64, np.float32), np.zeros(96, np.float32))
    (report,) = found.reports
    first = a_stranger_reads.function.__code__.co_firstlineno
    assert (report.kind, report.line, report.other.line) == ("lds", first + 11, first + 7)


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("waves", [2, 5])
def test_one_wave_is_told_that_it_is_the_first(waves: int, wave_size: int) -> None:
    x = np.zeros(waves, np.int32)
    with amdjit.use(DEVICE):
        compiled(first_to_come, wave_size)[1, waves * wave_size](x)
    assert x.sum() == 1


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100", "gfx1250"])
def test_all_processors_have_them(target: str) -> None:
    """They are a counter in LDS: nothing that a processor may lack."""
    assembly = amdjit.kernel(pipeline).compile(f32[:, :], f32[:, :], target=target).asm_full
    assert "ds_add_u32" in assembly
    assert "s_sleep" in assembly


def test_the_first_signal_is_refused_where_barriers_are_not_split() -> None:
    with pytest.raises(amdjit.TargetError, match=r"sync\.syncthreads"):
        amdjit.kernel(first_to_come).compile(i32[:], target="gfx1100")
