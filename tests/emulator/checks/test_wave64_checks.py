"""All checks in waves of 64 lanes: the seeded bugs and the correct kernels once more, and some of
their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.emulator import run
from tests.emulator.building import compile_kernel, device
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

CHECKS = ("memory", "race", "init", "sync")
# What two waves of 32 lanes do to each other is no race within one of 64, and their barriers are
# one wave's.
OF_TWO_WAVES = {
    "no_barrier_before_reading_lds",
    "no_barrier_before_the_next_tile",
    "reduction_without_barrier",
    "resets_a_counter_too_soon",
    "one_wave_writes_for_all",
    "bytes_of_two_waves",
    "early_return_of_a_wave",
    "different_barriers",
    "one_more_barrier_for_the_first_wave",
    # Lanes that wait for other ones of their own wave wait for ever.
    "waves_hand_over_in_lds",
}
C_OF_WAVE32 = {"cross_lane", "matrix"}


def is_for_wave32(case: Case) -> bool:
    return case.name in OF_TWO_WAVES or any(
        "_w32_" in name for name in case.kernel.function.__code__.co_names
    )


def wide(kernel: amdjit.Kernel) -> amdjit.Kernel:
    return amdjit.kernel(wave_size=64)(kernel.function)


SEEDED = [
    ("init", init_bugs.CASES),
    ("memory", memory_bugs.CASES),
    ("race", race_bugs.CASES),
    ("sync", sync_bugs.CASES),
]
SEEDED_BUGS = [
    (check, case) for check, cases in SEEDED for case in cases if not is_for_wave32(case)
]


def some(items: Sequence[Any]) -> list[Any]:
    """Every third of them in each run, all of them in the exhaustive one. An item is what
    parametrize takes."""
    marks = [() if number % 3 == 0 else pytest.mark.exhaustive for number in range(len(items))]
    many = [item if isinstance(item, tuple) else (item,) for item in items]
    return [pytest.param(*item, marks=mark) for item, mark in zip(many, marks, strict=True)]


CORRECT_KERNELS = [case for case in correct.CASES if not is_for_wave32(case)]
LAUNCHES = [
    launch for launch in correct_kernels.LAUNCHES if not is_for_wave32(Case(launch[0], print))
]


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("check", "case"), some(SEEDED_BUGS), ids=lambda value: getattr(value, "name", value)
)
def test_the_bugs_of_wave32_are_found(check: str, case: Case) -> None:
    kernel = wide(case.kernel)
    reports = reports_of(lambda: case.launch(kernel), check)
    assert found_lines(reports) == case.marks(), text_of(reports)
    if case.others():
        assert {report.other.line for report in reports if report.other} == case.others(), text_of(
            reports
        )


@pytest.mark.sample(8)
@pytest.mark.parametrize(("check", "case"), BUGS, ids=lambda value: getattr(value, "name", value))
def test_bugs_of_wide_waves_are_found(check: str, case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), check)
    assert found_lines(reports) == case.marks(), text_of(reports)
    if case.others():
        assert {report.other.line for report in reports if report.other} == case.others(), text_of(
            reports
        )


def test_an_upper_lane_is_named() -> None:
    case = next(case for _, case in BUGS if case.name == "upper_half_of_a_copy")
    (report,) = reports_of(lambda: case.launch(case.kernel), "init")
    assert (report.lane, report.thread, report.array, report.index) == (32, (32, 0, 0), "x", (32,))


def test_lanes_of_both_halves_are_named_and_counted() -> None:
    """Each half of the wave is an access of its own, and the two are compared with each other."""
    found = {}
    for name in ("halves_that_contradict", "two_lanes_of_two_halves", "upper_half_past_the_end"):
        check, case = next((check, case) for check, case in BUGS if case.name == name)
        found[name] = reports_of(lambda case=case: case.launch(case.kernel), check)  # type: ignore[misc]
    (first,), (second,), (third,) = found.values()
    assert first.other is not None
    assert second.other is not None
    assert (first.thread, first.other.thread, first.count) == ((32, 0, 0), (0, 0, 0), 32)
    assert (second.thread, second.other.thread, second.index) == ((60, 0, 0), (5, 0, 0), (0, 1))
    assert third.count == 24


@pytest.mark.sample(6)
@pytest.mark.parametrize("case", [*CORRECT, *some(CORRECT_KERNELS)], ids=lambda case: case.name)
def test_correct_kernels_are_not_reported(case: Case) -> None:
    kernel = wide(case.kernel)
    reports = reports_of(lambda: case.launch(kernel), *CHECKS)
    assert not reports, text_of(reports)


@pytest.mark.sample(7)
@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: launch[0].__name__)
def test_kernels_that_only_look_wrong_are_not_reported(launch: correct_kernels.Launch) -> None:
    kernel, block, arguments = launch
    reports = reports_of(lambda: wide(kernel)[1, block](*arguments()), *CHECKS)
    assert not reports, text_of(reports)


@pytest.mark.sample(1)
@needs_tools
@pytest.mark.parametrize("level", [pytest.param("-O0", marks=pytest.mark.exhaustive), "-O3"])
@pytest.mark.parametrize(
    "case", some([case for case in C_CASES if case.file not in C_OF_WAVE32]), ids=str
)
def test_c_kernels_are_not_reported_and_their_results_stay(case: CCase, level: str) -> None:
    code = compile_kernel(case.file, level, "-ffp-contract=off", "-mwavefrontsize64")
    expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
    checked: Any = CheckedDevice(device(), *CHECKS)
    run(code, case.kernel, GRID, case.block, expected, device=device())
    run(code, case.kernel, GRID, case.block, given, device=checked)
    assert not checked.reports, text_of(checked.reports)
    for mine, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, right)
