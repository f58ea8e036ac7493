"""Live registers: a register that is called dead may hold anything."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from tests.emulator.building import assemble, compile_kernel, emulate, run_on_host, using
from tests.emulator.c_kernels import CASES, GRID, Case
from tests.emulator.random_program_check import check
from tests.emulator.required_tools import needs_tools
from tests.inspection import liveness_cases
from tests.inspection.garbage import garbage_in_dead_registers
from tests.inspection.liveness_notes import notes

pytestmark = needs_tools


WAVE64 = "-mwavefrontsize64"
EVERY_WAY = [(level, *wave) for level in ("-O0", "-O1", "-O3") for wave in ((), (WAVE64,))]


@pytest.mark.sample(3)
@pytest.mark.covering(1)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(
            flags,
            marks=() if flags in (("-O3",), ("-O0", WAVE64)) else pytest.mark.exhaustive,
            id="".join(flags),
        )
        for flags in EVERY_WAY
    ],
)
def test_garbage_in_dead_registers_leaves_c_kernels_right(
    case: Case, flags: tuple[str, ...]
) -> None:
    code = compile_kernel(case.file, *flags, "-ffp-contract=off")
    expected = case.arguments(np.random.default_rng(7))
    given = case.arguments(np.random.default_rng(7))
    run_on_host(case.file, case.kernel, GRID, case.block, expected)
    with garbage_in_dead_registers() as launches:
        emulate(code, case.kernel, GRID, case.block, given)
    assert launches.kernels[case.kernel] > 0
    for mine, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, right)


SEEDS = [
    *range(2),
    *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(2, 60)),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", SEEDS)
def test_garbage_in_dead_registers_leaves_random_programs_right(seed: int) -> None:
    with garbage_in_dead_registers(seed):
        check(seed, ("-O1", "-O3"))
        check(seed, ("-O2",), WAVE64)


def inputs() -> NDArray[np.uint32]:
    return np.random.default_rng(3).integers(0, 1 << 32, 1024, np.uint32)


@pytest.mark.sample(13)
@pytest.mark.parametrize("name", liveness_cases.CASES)
def test_what_programs_note_is_live_or_dead(name: str) -> None:
    wave_size, body = liveness_cases.CASES[name]
    found = amdjit.inspect_object(assemble(liveness_cases.START + body, wave_size=wave_size))
    noted = notes(liveness_cases.START, body)
    assert noted
    for note in noted:
        item = found.instructions[note.instruction]
        live = {f"v{n}" for n in item.live_vgprs} | {f"s{n}" for n in item.live_sgprs}
        assert note.live <= live, item.text
        assert not note.dead & live, item.text


@pytest.mark.sample(13)
@pytest.mark.parametrize("name", liveness_cases.CASES)
def test_garbage_in_dead_registers_leaves_these_programs_right(name: str) -> None:
    wave_size, body = liveness_cases.CASES[name]
    code = assemble(liveness_cases.START + body, wave_size=wave_size)
    expected, found = np.zeros(1024, np.uint32), np.zeros(1024, np.uint32)
    with using(tier="quick"):
        emulate(code, "kernel", 1, wave_size, [inputs(), expected])
    with garbage_in_dead_registers():
        emulate(code, "kernel", 1, wave_size, [inputs(), found])
    assert expected.any()
    np.testing.assert_array_equal(found, expected)
