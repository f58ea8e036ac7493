"""The seeded bugs and the correct kernels of gfx12's tests on gfx11: the same is found, but for
what its machine code does not show, and the correct ones are silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32x8, threadIdx
from amdjit.diagnostics.errors import TargetError
from amdjit.emulator import run
from amdjit.intrinsics import amdgcn
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

CPU, DEVICE = "gfx1100", "emulator:gfx1100"
CHECKS = ("memory", "race", "init", "sync")
# What gfx11 has no instruction for: barriers in two parts, transposing loads, gfx12's WMMA.
OF_GFX12 = {
    "transposed_rows_of_nothing",
    "second_signal_before_the_wait",
    "product_of_half_a_wave",
    "product_of_a_block_that_is_no_wave",
    "product_in_a_loop_of_lanes",
    "transposing_load_of_half_a_wave",
}
# What gfx11's machine code does not show: which stores are atomic, and the scope of an atomic
# operation, which runs in L2, for all of the device, whatever its scope is. The compiler's marks
# do.
MARKED = {"atomic_and_plain_store", "workgroup_scope_between_groups"}


@amdjit.kernel
def product_of_half_a_wave_of_gfx11(a, c):
    t = threadIdx.x
    if t < 16:
        part = a.load(16 * t, 16)
        total = amdgcn.wmma_f32_16x16x16_f16_w32(  # BUG sync/matrix-partial-exec
            part, part, f32x8()
        )
        c[t] = total[0]


OWN = Case(
    product_of_half_a_wave_of_gfx11,
    lambda k: k[1, 32](np.ones(256, np.float16), np.zeros(32, np.float32)),
)
SEEDED = [
    *(("init", case) for case in init_bugs.CASES),
    *(("memory", case) for case in memory_bugs.CASES),
    *(("race", case) for case in race_bugs.CASES),
    *(("sync", case) for case in sync_bugs.CASES),
]
PRESENT = [(check, case) for check, case in SEEDED if case.name not in OF_GFX12]
# One of eight in every run, and those that gfx11 is special for.
SPECIAL = {*MARKED, "maximum_never_set"}
SLICE = [
    (check, case)
    for number, (check, case) in enumerate(PRESENT)
    if number % 8 == 0 or case.name in SPECIAL
]


def name_of(value: Any) -> str:
    return value if isinstance(value, str) else value.name


def assert_found(check: str, case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), check, device=DEVICE)
    assert found_lines(reports) == case.marks(), text_of(reports)


def assert_silent(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), *CHECKS, device=DEVICE)
    assert not reports, text_of(reports)


@pytest.mark.sample(7)
@pytest.mark.parametrize(("check", "case"), [*SLICE, ("sync", OWN)], ids=name_of)
def test_some_seeded_bugs_are_found_on_gfx11(check: str, case: Case) -> None:
    assert_found(check, case)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("check", "case"), PRESENT, ids=name_of)
def test_each_seeded_bug_is_found_on_gfx11(check: str, case: Case) -> None:
    assert_found(check, case)


def test_what_gfx11_lacks_is_refused() -> None:
    lacking = [case for _, case in SEEDED if case.name in OF_GFX12]
    assert len(lacking) == len(OF_GFX12)
    for case in lacking:
        with pytest.raises(TargetError):
            assert_found("sync", case)


@pytest.mark.parametrize("case", correct.CASES[::8], ids=name_of)
def test_some_correct_kernels_raise_no_alarm_on_gfx11(case: Case) -> None:
    assert_silent(case)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", correct.CASES, ids=name_of)
def test_no_correct_kernel_raises_an_alarm_on_gfx11(case: Case) -> None:
    assert_silent(case)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "launch",
    [each for each in correct_kernels.LAUNCHES if "product" not in each[0].__name__],
    ids=lambda launch: launch[0].__name__,
)
def test_what_only_looks_wrong_raises_no_alarm_on_gfx11(launch: correct_kernels.Launch) -> None:
    kernel, block, arguments = launch
    reports = reports_of(lambda: kernel[1, block](*arguments()), *CHECKS, device=DEVICE)
    assert not reports, text_of(reports)


# Of gfx12, too: their products are its own.
WIDE_OF_GFX12 = ("product", "transposed", "transposing", "rows_of_the_upper_half")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("check", "case"), BUGS, ids=name_of)
def test_bugs_of_waves_of_64_are_found_on_gfx11(check: str, case: Case) -> None:
    if any(word in case.name for word in WIDE_OF_GFX12):
        with pytest.raises(TargetError):
            assert_found(check, case)
    else:
        assert_found(check, case)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CORRECT, ids=name_of)
def test_correct_waves_of_64_raise_no_alarm_on_gfx11(case: Case) -> None:
    if any(word in case.name for word in WIDE_OF_GFX12):
        with pytest.raises(TargetError):
            assert_silent(case)
    else:
        assert_silent(case)


@pytest.mark.exhaustive
@needs_tools
@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize(
    "case", [case for case in C_CASES if not case.file.startswith("matrix")], ids=str
)
def test_c_kernels_and_their_results_stay_on_gfx11(case: CCase, level: str) -> None:
    with using(cpu=CPU):
        code = compile_kernel(case.file, level, "-ffp-contract=off")
        expected, given = (case.arguments(np.random.default_rng(7)) for _ in range(2))
        checked: Any = CheckedDevice(device(), *CHECKS)
        run(code, case.kernel, GRID, case.block, expected, device=device())
        run(code, case.kernel, GRID, case.block, given, device=checked)
    assert not checked.reports, text_of(checked.reports)
    for mine, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, right)
