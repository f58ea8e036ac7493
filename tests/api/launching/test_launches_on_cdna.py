"""Kernels in Python run on the emulators of CDNA: LDS, barriers, atomics, exchanges, prints,
assertions, counts, and the sanitizer's checks."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import atomic, shared
from amdjit.intrinsics import wave
from amdjit.types import f32

PROCESSORS = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")


@pytest.fixture(params=PROCESSORS)
def device(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    with amdjit.use(f"emulator:{request.param}") as found:
        yield found


@amdjit.kernel
def block_sum(x, out):
    t = amdjit.threadIdx.x
    box = shared.array(256, f32)
    box[t] = x[amdjit.grid(1)]
    amdjit.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            box[t] += box[t + step]
        amdjit.syncthreads()
        step //= 2
    if t == 0:
        atomic.add(out, 0, box[0])


@amdjit.kernel
def counted(x, out):
    i = amdjit.grid(1)
    atomic.max(out, 0, x[i])
    atomic.min(out, 1, x[i])
    atomic.add(out, 2, x[i])
    if x[i] > 900:
        print("item", i, "has", x[i])
    assert x[i] >= -1000, "too small"


@amdjit.kernel
def exchanged(x, out):
    i = amdjit.grid(1)
    other = wave.shuffle_xor(x[i], 37) + wave.shuffle_down(x[i], 3) * 2
    out[i] = other + wave.broadcast(x[i], 7) * 1.0 / x[i] + wave.reduce_add(x[i])


@amdjit.kernel
def without_barrier(x, out):
    t = amdjit.threadIdx.x
    box = shared.array(128, f32)
    if t < 120:
        box[t] = x[t]
    out[t] = box[127 - t]


def test_lds_and_barriers(device: amdjit.Device) -> None:
    x, out = np.arange(512, dtype=np.float32), np.zeros(1, np.float32)
    with amdjit.profile() as counts:
        block_sum[2, 256](x, out)
    assert out[0] == x.sum()
    launch = counts.launches[0]
    assert launch.waves == 8


def test_atomics_prints_and_assertions(
    device: amdjit.Device, capsys: pytest.CaptureFixture[str]
) -> None:
    x, out = (np.arange(512, dtype=np.int32) * 37 + 500) % 905 - 1, np.zeros(3, np.int32)
    counted[2, 256](x, out)
    assert out.tolist() == [x.max(), min(x.min(), 0), x.sum()]
    places = np.flatnonzero(x > 900).tolist()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == sorted(f"item {place} has {x[place]}" for place in places)
    with pytest.raises(AssertionError, match="too small"):
        counted[1, 64](x - 5000, out)


def test_lanes_exchange_values(device: amdjit.Device) -> None:
    x, out = np.arange(1, 129, dtype=np.float64), np.zeros(128)
    exchanged[1, 128](x, out)
    waves, lane = x.reshape(2, 64), np.arange(64)
    down = waves[:, np.where(lane + 3 < 64, lane + 3, lane)]
    expected = waves[:, lane ^ 37] + down * 2 + waves[:, 7:8] / waves
    expected += waves.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(out.reshape(2, 64), expected, rtol=1e-15)


def test_the_sanitizer_finds_what_is_wrong(device: amdjit.Device) -> None:
    x, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    with amdjit.sanitize(raises=False) as found:
        without_barrier[1, 128](x, out)
        without_barrier[1, 128](x[:100], out)
    kinds = {f"{report.check}/{report.kind}" for report in found.reports}
    assert {"race/lds", "init/undefined-store", "memory/out-of-bounds"} <= kinds
    with amdjit.sanitize():
        total = np.zeros(1, np.float32)
        block_sum[2, 256](np.ones(512, np.float32), total)
        assert total[0] == 512
