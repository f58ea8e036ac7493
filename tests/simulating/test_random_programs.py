"""Random programs as plain Python mean what the language's documents say, bit for bit."""

from __future__ import annotations

import re
from itertools import islice
from random import Random

import numpy as np
import pytest

import amdjit
from tests.fuzz.programs import program
from tests.fuzz.running import Build, define, difference
from tests.fuzz.wave_programs import KERNEL_NAMES, NUMBERS, UNIFORM, expected, random_wave_program
from tests.simulating.width_programs import INPUTS, OUTPUTS, width_program

# Only the lanes that run programs: all others would have threads.
BUILD = Build(guarded=False)
COMPLEX = re.compile(r"complex|\dj\b")
PROCESSORS = (("gfx1201", 32), ("gfx1100", 64), ("gfx942", 64))


def check_programs(seed: str, count: int) -> None:
    random = Random(f"simulated {seed}")
    written = (program(random.randbytes(48)) for _ in iter(int, 1))
    # Complex numbers are refused.
    simulated = (each for each in written if not COMPLEX.search(each))
    sources = list(islice(simulated, count))
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


def check_widths(seed: int) -> bool:
    """Compare a random kernel with its compiled code; return whether it compiles."""
    written = width_program(Random(f"widths {seed}"))
    kernel = amdjit.kernel(warnings=False)(define(written, {})["kernel"])
    random = np.random.default_rng(seed)
    inputs = [
        random.integers(0, 2**62, 8).astype(name) if np.dtype(name).kind in "iu"
        else (random.random(8) * 100).astype(name)
        for name in INPUTS
    ]  # fmt: skip
    compiled = [np.zeros(8, name) for name in OUTPUTS]
    simulated = [np.zeros(8, name) for name in OUTPUTS]
    try:
        kernel[1, 1](*inputs, *compiled)
    except amdjit.CompileError:  # a u64 meets a signed number where they have no type in common
        return False
    with amdjit.simulate():
        kernel[1, 1](*inputs, *simulated)
    for found, other in zip(simulated, compiled, strict=True):
        np.testing.assert_array_equal(found, other, written, strict=True)
    return True


def test_variables_that_began_as_literals_are_as_wide_as_in_compiled_code() -> None:
    assert sum(map(check_widths, range(16))) >= 8


def test_random_programs_mean_what_the_documents_say() -> None:
    check_programs("few", 16)


def test_waves_of_random_programs_meet_as_on_the_processor() -> None:
    for seed in range(3):
        check_waves(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
def test_many_random_programs_mean_what_the_documents_say(seed: int) -> None:
    check_programs(str(seed), 24)
    for each in range(20 * seed, 20 * seed + 20):
        check_widths(each)
    for each in range(10 * seed, 10 * seed + 10):
        check_waves(each)
