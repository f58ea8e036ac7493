"""The check for undefined values finds each seeded bug at its line, and where the value came
from."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import LlvmCall, shared, syncthreads, u64
from amdjit.options import SANITIZER_CHECKS
from tests.emulator.checks.seeded_kernels.init_bugs import CASES
from tests.emulator.checks.seeded_kernels.seeded import Case, found_lines, reports_of, text_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seeded_bugs_are_found_at_their_lines(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "init")
    assert found_lines(reports) == case.marks(), text_of(reports)
    for line in case.others():
        assert {report.other.line for report in reports if report.other} == {line}, text_of(reports)


@amdjit.intrinsic(LlvmCall("llvm.readcyclecounter"))
def clock() -> u64:
    """Return the clock of the compute unit."""


@amdjit.intrinsic(LlvmCall("llvm.readsteadycounter"))
def wall_clock() -> u64:
    """Return the clock of the device."""


@amdjit.kernel
def timed(out):
    # What is loaded first is undefined, and may be in the registers that take the clock.
    box = shared.array(64, u64)
    i = amdjit.threadIdx.x
    lost = box[i]
    begin = clock()
    syncthreads()
    box[i] = begin
    syncthreads()
    if wall_clock() > 0 and clock() >= box[63 - i]:
        out[i] = clock() - begin
    if out[i] == 77:
        out[i] = lost


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "family", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1201"]
)
def test_clocks_are_defined_on_every_family(family: str) -> None:
    def launch() -> None:
        timed[1, 64](np.zeros(64, np.uint64))

    found = reports_of(launch, *SANITIZER_CHECKS, device=f"emulator:{family}")
    assert not found, text_of(found)
