"""An operation across lanes combines the lanes of one iteration, however these leave the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32
from amdjit.intrinsics import wave
from amdjit.intrinsics.numbers.integers import popcount

TURN = (np.arange(32) % 8).astype(np.int32)


@amdjit.kernel
def by_break(x, out):
    i = amdjit.lane_id()
    r = 0
    for n in range(8):
        if n == x[i]:
            r = wave.reduce(1)
            break
    out[i] = r


@amdjit.kernel
def by_break_that_always_comes(x, out):
    i = amdjit.lane_id()
    r = 0
    for n in range(8):
        if n == x[i] & 7:
            r = wave.reduce(1)
            break
    out[i] = r


@amdjit.kernel
def by_return(x, out):
    i = amdjit.lane_id()
    for n in range(8):
        if n == x[i]:
            out[i] = wave.reduce(1)
            return


@amdjit.device_function
def found(x, i):
    for m in range(2):
        for n in range(4):
            if m * 4 + n == x[i]:
                return wave.reduce(1)
    return 0


@amdjit.kernel
def by_return_from_two_loops(x, out):
    i = amdjit.lane_id()
    out[i] = found(x, i)


@amdjit.kernel
def by_the_end_of_a_range_of_its_own(x, out):
    i = amdjit.lane_id()
    r = 0
    for n in range(x[i] + 1):
        if n == x[i]:
            r = wave.reduce(1)
    out[i] = r


@amdjit.kernel
def by_a_flag(x, out):
    i = amdjit.lane_id()
    r, n, going = 0, 0, True
    while going:
        if n == x[i]:
            r = i32(popcount(wave.ballot64(True)))
            going = False
        n += 1
    out[i] = r


USUAL = {("gfx1201", 0), ("gfx1201", 3), ("gfx1100", 1), ("gfx1100", 3), ("gfx942", 2)}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("cpu", "level"),
    [
        pytest.param(cpu, level, marks=() if (cpu, level) in USUAL else pytest.mark.exhaustive)
        for cpu in ("gfx1201", "gfx1100", "gfx942")
        for level in range(4)
    ],
)
def test_lanes_of_an_iteration_are_counted(cpu: str, level: int) -> None:
    wide = cpu.startswith("gfx9")
    kernels: list[Any] = [
        by_break, by_break_that_always_comes, by_return, by_return_from_two_loops,
        by_the_end_of_a_range_of_its_own, by_a_flag,
    ]  # fmt: skip
    for kernel in kernels:
        out = np.zeros(32, np.int32)
        own = amdjit.kernel(opt_level=level, wave_size=64 if wide else 32, warnings=False)
        with amdjit.use(f"emulator:{cpu}"):
            own(kernel.function)[1, 32](TURN, out)
        np.testing.assert_array_equal(out, 4, f"{kernel.function.__name__} {cpu} O{level}")
