"""The synchronisation check finds each seeded mistake at its line, also in code objects of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from building import compile_source, device, missing_tools
from checked_device import CheckedDevice
from seeded import DEVICE, Case, found_lines, reports_of, text_of
from sync_bugs import CASES
from test_check_waits import listing, without

import amdjit
from amdjit.emulator import run


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


@pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")
def test_a_missing_wait_is_reported_when_it_runs_and_results_stay() -> None:
    code = compile_source(SOURCE, "-O1")
    addresses = {step.text: pc for pc, step in listing(code).items()}
    numbers, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    for mutant, kinds in ((code, []), (without(code, addresses["s_wait_loadcnt 0x0"]), ["missing-wait"])):
        checked: Any = CheckedDevice(device(), "sync")
        run(mutant, "twice", 1, 32, [numbers, out], device=checked)
        assert [report.kind for report in checked.reports] == kinds
        assert (out == 2 * numbers).all()
    (report,) = checked.reports
    assert (report.line, report.other.line) == (5, 4)
    assert "s_wait_loadcnt 0x0 is missing" in report.message


def test_a_fault_of_different_barriers_names_both_lines() -> None:
    case = next(case for case in CASES if case.name == "different_barriers")
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault) as caught:
        case.launch(case.kernel)
    ((_, line),) = case.marks()
    (other,) = case.others()
    assert caught.value.source_line == line
    assert f"sync_bugs.py:{other}" in str(caught.value)


def test_waves_that_end_early_are_named() -> None:
    case = next(case for case in CASES if case.name == "early_return_of_a_wave")
    (report,) = reports_of(lambda: case.launch(case.kernel), "sync")
    assert report.other is not None
    assert (report.other.what, report.other.thread) == ("wave 1 ended before", (32, 0, 0))
