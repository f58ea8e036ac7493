"""Random programs as plain Python mean what the language's documents say, bit for bit."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import amdjit
from tests.fuzz.programs import program
from tests.fuzz.running import Build, define, difference
from tests.fuzz.wave_programs import KERNEL_NAMES, NUMBERS, UNIFORM, expected, random_wave_program

# Only the lanes that run programs: all others would have threads.
BUILD = Build(guarded=False)
PROCESSORS = (("gfx1201", 32), ("gfx1100", 64), ("gfx942", 64))


def check_programs(seed: str, count: int) -> None:
    random = Random(f"simulated {seed}")
    sources = [program(random.randbytes(48)) for _ in range(count)]
    with amdjit.simulate():
        found = difference(sources, BUILD)
    assert found is None, f"{found}\n{sources[found[0]]}"


def check_waves(seed: int) -> None:
    cpu, wave_size = PROCESSORS[seed % len(PROCESSORS)]
    written = random_wave_program(Random(seed), cpu, wave_size)
    kernel = amdjit.kernel(wave_size=wave_size)(define(written.text(), KERNEL_NAMES)["kernel"])
    out = np.zeros(wave_size, np.int32)
    with amdjit.simulate(), amdjit.use(f"emulator:{cpu}"):
        kernel[1, wave_size](np.array(NUMBERS, np.int32), np.array(UNIFORM, np.int32), out)
    np.testing.assert_array_equal(out, expected(written, wave_size), written.text())


def test_random_programs_mean_what_the_documents_say() -> None:
    check_programs("few", 16)


def test_waves_of_random_programs_meet_as_on_the_processor() -> None:
    for seed in range(3):
        check_waves(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
def test_many_random_programs_mean_what_the_documents_say(seed: int) -> None:
    check_programs(str(seed), 24)
    for each in range(10 * seed, 10 * seed + 10):
        check_waves(each)
