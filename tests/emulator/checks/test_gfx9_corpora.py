"""The seeded bugs and the correct kernels of gfx12's tests on CDNA: the same is found, but for what
waves of 64 lanes or its machine code do not show, and the correct ones are silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amdjit.diagnostics.errors import TargetError
from amdjit.emulator import run
from tests.emulator.building import compile_kernel, device, using
from tests.emulator.c_kernels import CASES as C_CASES
from tests.emulator.c_kernels import GRID
from tests.emulator.c_kernels import Case as CCase
from tests.emulator.checks.checked_device import CheckedDevice
from tests.emulator.checks.seeded_kernels import (
    correct,
    correct_kernels,
    init_bugs,
    memory_bugs,
    race_bugs,
    sync_bugs,
)
from tests.emulator.checks.seeded_kernels.seeded import Case, found_lines, reports_of, text_of
from tests.emulator.checks.seeded_kernels.wave64_cases import BUGS, CORRECT
from tests.emulator.required_tools import needs_tools

PROVEN = ("gfx90a", "gfx942")
CHECKS = ("memory", "race", "init", "sync")
# What CDNA has no instruction for: barriers in two parts, transposing loads of global memory, WMMA.
LACKING = {
    "transposed_rows_of_nothing",
    "second_signal_before_the_wait",
    "product_of_half_a_wave",
    "product_of_a_block_that_is_no_wave",
    "product_in_a_loop_of_lanes",
    "transposing_load_of_half_a_wave",
    "rows_of_the_upper_half",
    "product_of_the_lower_half",
}
# What one wave of 64 lanes does in order where two waves of 32 race.
ORDERED = {
    "no_barrier_before_reading_lds",
    "no_barrier_before_the_next_tile",
    "reduction_without_barrier",
    "resets_a_counter_too_soon",
    "one_wave_writes_for_all",
}
# What is right on CDNA: the waves of a workgroup share a cache, which keeps their accesses of
# global memory in order (LLVM AMDGPU guide, "Memory Model gfx942").
HARMLESS = {"lds_barrier_for_global_memory"}
# What the machine code does not show, but the compiler's marks do: which stores are atomic, the
# scope of an atomic operation, and what a wait for what an atomic returns releases.
MARKED = {
    "last_group_without_release",
    "atomic_and_plain_store",
    "workgroup_scope_between_groups",
}
# What is found in one wave otherwise than between two.
OTHERWISE = {
    "bytes_of_two_waves": {("race/lanes", 99)},
    "early_return_of_a_wave": {("sync/divergent-barrier", 47)},
    "different_barriers": {("sync/divergent-barrier", 57), ("sync/divergent-barrier", 61)},
    "one_more_barrier_for_the_first_wave": {("sync/divergent-barrier", 83)},
}
# The loop's other branch, which is reached if a number that was never written is not 0.
PERHAPS = {"loop_until_nothing": {("init/undefined-branch", 56)}}
SEEDED = [
    *(("init", case) for case in init_bugs.CASES),
    *(("memory", case) for case in memory_bugs.CASES),
    *(("race", case) for case in race_bugs.CASES),
    *(("sync", case) for case in sync_bugs.CASES),
    *BUGS,
]
PRESENT = [(check, case) for check, case in SEEDED if case.name not in LACKING]
# Correct kernels that write gfx12's products and transposing loads by name.
_OF_GFX12 = ("product", "transposed", "transposing", "rows_of_the_upper_half")
# Two waves of 32 lanes that wait for each other: one of 64 would wait for itself, for ever.
_OF_TWO_WAVES = ("waves_hand_over_in_lds",)
_LEFT_OUT = (*_OF_GFX12, *_OF_TWO_WAVES)
SILENT = [
    case for case in (*correct.CASES, *CORRECT) if not any(word in case.name for word in _LEFT_OUT)
]
_EVERY = 12
# What gfx90a acquires by is an instruction of its own, which the race check has to know.
_ALWAYS = {("gfx90a", name) for name in ("spin_lock", *MARKED)}


def slices(cases: list[Any]) -> list[Any]:
    """One of twelve on gfx942 in every run; all of them in the exhaustive one."""
    found = []
    for cpu in PROVEN:
        for number, case in enumerate(cases):
            parts = case if isinstance(case, tuple) else (case,)
            quick = (cpu == "gfx942" and number % _EVERY == 0) or (cpu, parts[-1].name) in _ALWAYS
            marks = () if quick else pytest.mark.exhaustive
            name = f"{cpu}-{parts[-1].name}"
            found.append(pytest.param(cpu, *parts, marks=marks, id=name))
    return found


@pytest.mark.sample(6)
@pytest.mark.parametrize(("cpu", "check", "case"), slices(PRESENT))
def test_seeded_bugs_are_found_on_cdna(cpu: str, check: str, case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), check, device=f"emulator:{cpu}")
    nothing = case.name in ORDERED | HARMLESS
    expected = set() if nothing else OTHERWISE.get(case.name, case.marks())
    found = found_lines(reports) - PERHAPS.get(case.name, set())
    assert found == expected, text_of(reports)


def test_what_cdna_lacks_is_refused() -> None:
    lacking = [case for _, case in SEEDED if case.name in LACKING]
    assert len(lacking) == len(LACKING)
    for case in lacking:
        with pytest.raises(TargetError):
            reports_of(lambda case=case: case.launch(case.kernel), "sync", device="emulator:gfx942")


@pytest.mark.parametrize(("cpu", "case"), slices(SILENT))
def test_correct_kernels_raise_no_alarm_on_cdna(cpu: str, case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), *CHECKS, device=f"emulator:{cpu}")
    assert not reports, text_of(reports)


@pytest.mark.exhaustive
@pytest.mark.parametrize("cpu", PROVEN)
@pytest.mark.parametrize(
    "launch",
    [each for each in correct_kernels.LAUNCHES if "product" not in each[0].__name__],
    ids=lambda launch: launch[0].__name__,
)
def test_what_only_looks_wrong_raises_no_alarm_on_cdna(
    cpu: str, launch: correct_kernels.Launch
) -> None:
    kernel, block, arguments = launch
    device = f"emulator:{cpu}"
    reports = reports_of(lambda: kernel[1, block](*arguments()), *CHECKS, device=device)
    assert not reports, text_of(reports)


@pytest.mark.exhaustive
@needs_tools
@pytest.mark.parametrize("cpu", PROVEN)
@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize(
    "case", [case for case in C_CASES if not case.file.startswith("matrix")], ids=str
)
def test_c_kernels_and_their_results_stay_on_cdna(cpu: str, case: CCase, level: str) -> None:
    with using(cpu=cpu):
        code = compile_kernel(case.file, level, "-ffp-contract=off")
        expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
        checked: Any = CheckedDevice(device(), *CHECKS)
        run(code, case.kernel, GRID, case.block, expected, device=device())
        run(code, case.kernel, GRID, case.block, given, device=checked)
    assert not checked.reports, text_of(checked.reports)
    for mine, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, right)
