"""The synchronisation check finds each seeded mistake at its line, also in code objects of
others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f32, shared, syncthreads, threadIdx
from amdjit.emulator import run
from tests.emulator.building import compile_source, device
from tests.emulator.checks.checked_device import CheckedDevice
from tests.emulator.checks.code_listing import listing, without
from tests.emulator.checks.seeded_kernels.seeded import (
    DEVICE,
    Case,
    found_lines,
    reports_of,
    text_of,
)
from tests.emulator.checks.seeded_kernels.sync_bugs import CASES
from tests.emulator.required_tools import needs_tools


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seeded_bugs_are_found_at_their_lines(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "sync")
    assert found_lines(reports) == case.marks(), text_of(reports)
    for line in case.others():
        assert {report.other.line for report in reports if report.other} == {line}, text_of(reports)


SOURCE = """
#include "common.h"
KERNEL twice(const GLOBAL int *in, GLOBAL int *out) {
    int value = in[LANE];
    out[LANE] = 2 * value;
}
"""


@needs_tools
def test_a_missing_wait_is_reported_when_it_runs_and_results_stay() -> None:
    code = compile_source(SOURCE, "-O1")
    addresses = {step.text: pc for pc, step in listing(code).items()}
    numbers, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    for mutant, kinds in (
        (code, []),
        (without(code, addresses["s_wait_loadcnt 0x0"]), ["missing-wait"]),
    ):
        checked: Any = CheckedDevice(device(), "sync")
        run(mutant, "twice", 1, 32, [numbers, out], device=checked)
        assert [report.kind for report in checked.reports] == kinds
        assert (out == 2 * numbers).all()
    (report,) = checked.reports
    assert (report.line, report.other.line) == (5, 4)
    assert "s_wait_loadcnt 0x0 is missing" in report.message


def test_different_barriers_are_a_warning_with_both_lines() -> None:
    case = next(case for case in CASES if case.name == "different_barriers")
    (report,) = reports_of(lambda: case.launch(case.kernel), "sync")
    ((_, line),) = case.marks()
    (other,) = case.others()
    assert report.other is not None
    assert (report.severity, report.line, report.other.line) == ("warning", line, other)


def test_waves_that_end_early_are_named() -> None:
    case = next(case for case in CASES if case.name == "early_return_of_a_wave")
    (report,) = reports_of(lambda: case.launch(case.kernel), "sync")
    assert report.other is not None
    assert (report.other.what, report.other.thread) == ("wave 1 ended before", (32, 0, 0))


@amdjit.kernel(block=64)
def take_turns(x, order):
    """Two waves in step, one phase apart: while one reads what it loaded, the other one loads."""
    tile = shared.array((2, 32), f32)
    wave, lane = threadIdx.x // 32, threadIdx.x % 32
    if wave == 1:
        syncthreads()
    for k in range(8):
        tile[wave, lane] = x[k, threadIdx.x]
        if lane == 0:
            order[k, wave] = atomic.add(order, (8, 0), 1)
        syncthreads()
        x[k, threadIdx.x] = 2 * tile[wave, lane]
        syncthreads()
    if wave == 0:
        syncthreads()


def test_waves_may_take_turns_at_different_places_of_the_barrier() -> None:
    x, order = np.arange(8 * 64, dtype=np.float32).reshape(8, 64), np.zeros((9, 2), np.int32)
    doubled = 2 * x
    with amdjit.use(DEVICE):
        take_turns[1, 64](x, order)
    assert np.array_equal(x, doubled)
    assert np.array_equal(order[:8].reshape(-1), np.arange(16))
    reports = reports_of(lambda: take_turns[1, 64](x, order), "sync", "race")
    assert {(report.kind, report.severity) for report in reports} == {
        ("different-barriers", "warning")
    }
