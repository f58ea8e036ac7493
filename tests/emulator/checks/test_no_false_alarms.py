"""All checks together are silent about correct kernels: those of this folder, all examples, and C
kernels."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit.examples
from amdjit.emulator import run
from tests.emulator.building import compile_kernel, device
from tests.emulator.c_kernels import CASES as C_CASES
from tests.emulator.c_kernels import GRID
from tests.emulator.c_kernels import Case as CCase
from tests.emulator.c_programs import BLOCK as PROGRAM_BLOCK
from tests.emulator.c_programs import GRID as PROGRAM_GRID
from tests.emulator.c_programs import PROGRAMS, words
from tests.emulator.checks.checked_device import CheckedDevice
from tests.emulator.checks.seeded_kernels import correct_kernels
from tests.emulator.checks.seeded_kernels.correct import CASES
from tests.emulator.checks.seeded_kernels.seeded import Case, reports_of, text_of
from tests.emulator.required_tools import needs_tools

CHECKS = ("memory", "race", "init", "sync")
# `report` prints what other examples measure, `waves` knows how many lanes their waves have.
EXAMPLES = sorted(
    {path.stem for path in Path(amdjit.examples.__file__).parent.glob("*.py")}
    - {"__init__", "report", "waves"}
)


def test_there_are_as_many_as_promised() -> None:
    assert len(CASES) + len(correct_kernels.LAUNCHES) + len(EXAMPLES) >= 60


@pytest.mark.sample(17)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_correct_kernels_raise_no_alarm(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), *CHECKS)
    assert not reports, text_of(reports)


@pytest.mark.sample(8)
@pytest.mark.parametrize("launch", correct_kernels.LAUNCHES, ids=lambda launch: launch[0].__name__)
def test_kernels_that_only_look_wrong(launch: correct_kernels.Launch) -> None:
    kernel, block, arguments = launch
    reports = reports_of(lambda: kernel[1, block](*arguments()), *CHECKS)
    assert not reports, text_of(reports)


# These take longest; `simple_hgemm`, `w4a16_gemm`, `tuned_gemm` and `reduction` do what they do.
_LONGEST = ("flash_attention", "i8_gemm", "perf_hgemm")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.exhaustive if name in _LONGEST else ())
        for name in EXAMPLES
    ],
)
def test_the_examples_raise_no_alarm(name: str) -> None:
    example = importlib.import_module(f"amdjit.examples.{name}")
    reports = reports_of(example.main, *CHECKS)
    assert not reports, text_of(reports)


@pytest.mark.sample(4)
@needs_tools
@pytest.mark.parametrize(
    ("case", "level"),
    [
        pytest.param(
            case,
            level,
            id=f"{case}-{level}",
            # Each kernel always, at one of the levels; the other has the same accesses.
            marks=() if number % 2 == (level == "-O0") else pytest.mark.exhaustive,
        )
        for number, case in enumerate(C_CASES)
        for level in ("-O0", "-O3")
    ],
)
def test_c_kernels_and_their_results_stay(case: CCase, level: str) -> None:
    code = compile_kernel(case.file, level, "-ffp-contract=off")
    expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
    checked: Any = CheckedDevice(device(), *CHECKS)
    run(code, case.kernel, GRID, case.block, expected, device=device())
    run(code, case.kernel, GRID, case.block, given, device=checked)
    assert not checked.reports, text_of(checked.reports)
    for mine, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, right)


@pytest.mark.exhaustive
@needs_tools
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize(("file", "name"), PROGRAMS, ids=lambda value: value)
def test_c_programs_and_their_results_stay(
    file: str, name: str, level: str, wave_size: int
) -> None:
    code = compile_kernel(
        file, level, "-ffp-contract=off", *(["-mwavefrontsize64"] if wave_size == 64 else [])
    )
    expected, given = ([words(1), words(2), np.uint32(3)] for _ in range(2))
    checked: Any = CheckedDevice(device(), *CHECKS)
    run(code, name, PROGRAM_GRID, PROGRAM_BLOCK, expected, device=device())
    run(code, name, PROGRAM_GRID, PROGRAM_BLOCK, given, device=checked)
    assert not checked.reports, text_of(checked.reports)
    for mine, right in zip(given[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(mine, right)


@needs_tools
@pytest.mark.parametrize("name", ["unaligned", "copied_blocks"])
def test_wide_accesses_of_lds_at_any_byte(name: str) -> None:
    """The hardware takes them: only amdjit's own `load` and `store` promise more."""
    (file,) = (file for file, program in PROGRAMS if program == name)
    test_c_programs_and_their_results_stay(file, name, "-O1", 32)
