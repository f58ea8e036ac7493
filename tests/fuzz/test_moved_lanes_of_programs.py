"""Random programs that move values between lanes mean what the models of the moves say."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import amdjit
from tests.fuzz.moved_lane_programs import LANES, NAMES, TYPES, UNIFORM, random_program
from tests.fuzz.running import define

# A processor of each family, with its wave sizes.
FAMILIES = [
    ("gfx1201", 32),
    ("gfx1201", 64),
    ("gfx1150", 32),
    ("gfx1100", 32),
    ("gfx1100", 64),
    ("gfx942", 64),
]
OTHERS = [("gfx1200", 32), ("gfx1150", 64), ("gfx908", 64), ("gfx90a", 64), ("gfx950", 64)]


def check(seed: str, processor: str, wave_size: int, level: int, length: int = 30) -> None:
    program = random_program(Random(seed), not processor.startswith("gfx9"), wave_size, length)
    kernel = amdjit.kernel(wave_size=wave_size, opt_level=level, warnings=False)(
        define(program.text(), NAMES)["kernel"]
    )
    expected = program.results()
    outputs = {type: np.zeros_like(expected[type]) for type in TYPES}
    with amdjit.use(f"emulator:{processor}"):
        kernel[1, LANES](*program.inputs.values(), *outputs.values(), np.int32(UNIFORM))
    for number, value in enumerate(program.outputs):
        np.testing.assert_array_equal(
            outputs[value.type][number],
            value.lanes,
            err_msg=f"{value.name} of {seed} at level {level}\n{program.text()}",
        )


@pytest.mark.sample(1)
@pytest.mark.parametrize(("processor", "wave_size"), FAMILIES)
def test_moved_values_reach_the_operands_that_they_are_written_in(
    processor: str, wave_size: int
) -> None:
    for number, level in enumerate((3, 2, 1)):
        check(f"moved {processor} {wave_size} {number}", processor, wave_size, level)


def test_functions_are_called_behind_masks_in_wave64() -> None:
    # LLVM 22 ends at the second call, whose address would follow a mask (`masked_addresses`).
    check("many moved 89", "gfx1100", 64, 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize(("processor", "wave_size"), [*FAMILIES, *OTHERS])
def test_many_moved_values_reach_the_operands_that_they_are_written_in(
    processor: str, wave_size: int, level: int
) -> None:
    for number in range(100):
        check(f"many moved {number}", processor, wave_size, level)
