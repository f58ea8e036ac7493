"""Random programs whose lanes meet in operations across lanes: each combines the lanes that come to
it in the same iteration, and reads 0 from all others, at every level on every family."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import amdjit
from tests.fuzz.running import define
from tests.fuzz.wave_programs import (
    KERNEL_NAMES,
    NUMBERS,
    UNIFORM,
    WaveProgram,
    expected,
    random_wave_program,
)

# Programs use what all of a group have.
GROUPS = (
    (("gfx1201", 32), ("gfx1100", 32), ("gfx1150", 32)),
    (("gfx1100", 64), ("gfx1201", 64)),
    (("gfx942", 64), ("gfx90a", 64), ("gfx908", 64)),
)


def check(program: WaveProgram, cpu: str, wave_size: int, level: int) -> None:
    text = program.text()
    kernel = amdjit.kernel(opt_level=level, wave_size=wave_size, warnings=False)(
        define(text, KERNEL_NAMES)["kernel"]
    )
    out = np.zeros(wave_size, np.int32)
    with amdjit.use(f"emulator:{cpu}"):
        kernel[1, wave_size](np.array(NUMBERS, np.int32), np.array(UNIFORM, np.int32), out)
    where = f"{cpu}, wave{wave_size}, O{level}\n{text}"
    np.testing.assert_array_equal(out, expected(program, wave_size), where)


def check_many(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        group = GROUPS[seed % len(GROUPS)]
        cpu, wave_size = group[0]
        program = random_wave_program(random, cpu, wave_size)
        for cpu, wave_size in random.sample(group, 2):
            for level in random.sample(range(4), 2):
                check(program, cpu, wave_size, level)


def test_operations_across_lanes_in_random_programs() -> None:
    check_many(range(4))


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", [9, *range(1000, 3000, 100)])
def test_operations_across_lanes_in_many_random_programs(start: int) -> None:
    check_many(range(start, start + 100))
