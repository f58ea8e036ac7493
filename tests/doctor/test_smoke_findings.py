"""The smoke run, on the stand-in for HIP with each fault that a GPU may have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amdjit.doctor import smoke
from amdjit.doctor.child import Ended
from amdjit.doctor.finding import REPORT_IT, Finding, State
from amdjit.doctor.hip_findings import NO_SUCH_DEVICE, smoke_findings
from amdjit.doctor.smoke import TRIALS, Trial
from amdjit.target import Feature, Target, find_target
from tests.doctor.examined_machine import machine, standin, tried, variables, without_hip

needs_standin = pytest.mark.skipif(bool(standin.why_not()), reason=standin.why_not() or "-")
ALL = [trial.name for trial in TRIALS]


def found(tmp_path: Path, run: Ended, name: str = "hip:0") -> Finding:
    """Return the one finding of a run."""
    (finding,) = smoke_findings(machine(tmp_path), name, run)
    return finding


@needs_standin
def test_a_gpu_that_works_is_compared_with_numpy_and_its_emulator(tmp_path: Path) -> None:
    run = tried(variables(behind=True, arch="gfx942:sramecc+:xnack-"))
    finding = found(tmp_path, run)
    assert finding.state is State.OK
    assert finding.facts == {
        "device": "hip:0",
        "kernels": ALL,
        "compared_with": "NumPy and emulator:gfx942",
    }


def test_an_emulator_is_compared_with_numpy(tmp_path: Path) -> None:
    run = tried(without_hip(), "emulator:gfx1100")
    finding = found(tmp_path, run, "emulator:gfx1100")
    assert finding.state is State.OK
    assert finding.found.endswith("are right, compared with NumPy")
    assert finding.facts["kernels"] == ALL


@needs_standin
def test_a_wrong_result_is_found_in_its_kernel(tmp_path: Path) -> None:
    finding = found(tmp_path, tried(variables(behind=True, wrong="reverse_blocks")))
    assert finding.state is State.PROBLEM
    assert finding.found.startswith("hip:0: LDS is wrong: 1 of 16384 elements differ from NumPy's")
    assert "amdjit probe" in finding.remedy


@needs_standin
def test_no_memory_is_one_finding_for_all_kernels(tmp_path: Path) -> None:
    run = tried(variables(behind=True, fail="hipMalloc=2", pools="0"))
    finding = found(tmp_path, run)
    assert finding.state is State.PROBLEM
    assert finding.found.startswith(f"hip:0: {', '.join(ALL)} fail: HIP could not allocate")
    assert "hipErrorOutOfMemory (2)" in finding.found
    assert "Other processes" in finding.remedy


@needs_standin
def test_launches_that_fail_are_one_finding(tmp_path: Path) -> None:
    finding = found(tmp_path, tried(variables(behind=True, fail="hipModuleLaunchKernel=719")))
    assert finding.state is State.PROBLEM
    assert "fail: HIP could not launch saxpy" in finding.found
    assert "Update ROCm" in finding.remedy


@needs_standin
def test_an_old_hip_is_told_to_be_updated(tmp_path: Path) -> None:
    run = tried(variables(behind=True, fail="hipModuleLoadData=200", version="60224831"))
    finding = found(tmp_path, run)
    assert "This is HIP 6.2.24831" in finding.found
    assert finding.remedy.startswith("Update ROCm")


@needs_standin
def test_a_crash_is_a_finding_with_the_kernel_that_ran(tmp_path: Path) -> None:
    run = tried(variables(behind=True, crash="hipModuleLoadData"))
    finding = found(tmp_path, run)
    assert finding.state is State.PROBLEM
    assert finding.found == "hip:0: during saxpy the process crashed (SIGSEGV)"
    assert finding.remedy.startswith("Update ROCm and the driver")


@needs_standin
def test_a_hang_is_a_finding_with_the_kernel_that_ran(tmp_path: Path) -> None:
    run = tried(variables(behind=True, hang="hipModuleLaunchKernel"), seconds=12)
    finding = found(tmp_path, run)
    assert finding.state is State.PROBLEM
    assert finding.found == "hip:0: during saxpy the process did not end within 12 s"
    assert "--seconds" in finding.remedy


def test_a_device_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    finding = found(tmp_path, tried(without_hip(), "emulator:gfx1"), "emulator:gfx1")
    assert finding.state is State.PROBLEM
    assert "there is no device" in finding.found
    assert finding.remedy == NO_SUCH_DEVICE


def test_a_process_that_cannot_start_is_a_finding(tmp_path: Path) -> None:
    run = Ended((), "could not be started (no room)", "", is_started=False)
    finding = found(tmp_path, run)
    assert finding.found == "hip:0: the process could not be started (no room)"
    assert "TMPDIR" in finding.remedy


def test_an_error_that_amdjit_does_not_know_is_one_to_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(target: Target) -> Any:
        raise ZeroDivisionError("division by zero")

    lines: list[dict[str, Any]] = []
    monkeypatch.setattr(smoke, "TRIALS", (Trial("broken", fails, TRIALS[0].expected),))
    monkeypatch.setattr(smoke, "reporting", lambda: lambda **facts: lines.append(facts))
    smoke.main("emulator:gfx1201")
    finding = found(tmp_path, Ended(tuple(lines), "", ""), "emulator:gfx1201")
    assert "broken fails: ZeroDivisionError: division by zero" in finding.found
    assert finding.remedy == REPORT_IT


def test_products_are_tried_where_there_are_matrix_instructions() -> None:
    old, new = find_target("gfx1030"), find_target("gfx1201")
    assert old is not None
    assert new is not None
    assert not {Feature.WMMA_GFX11, Feature.WMMA_GFX12, Feature.MFMA} & old.features
    assert [trial.name for trial in TRIALS if not trial.is_for(old)] == ["matrix product"]
    assert all(trial.is_for(new) for trial in TRIALS)
