"""The whole probe on a GPU that is not there: the emulator behind the stand-in libamdhip64.so."""

from __future__ import annotations

import getpass
import lzma
import platform
import re
import sys
from pathlib import Path

import pytest

from amdjit.command_line import main
from amdjit.probe.outcome import BatchStatus, CaseStatus
from tests.probe.probe_on_standin import needs_standin, probe

pytestmark = needs_standin
ROOT = Path(__file__).parents[2]


def test_a_device_like_the_emulator_agrees_and_the_file_is_read_anywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = probe(tmp_path, "--only", "examples/basics")
    assert run.code == 0
    assert run.record.is_complete
    assert run.record.facts.device == "hip:0"
    assert "Stand-in GPU (gfx1201, 16.0 GiB, HIP 7" in run.record.facts.description
    cases = run.record.cases()
    assert [case.subject for case in cases] == ["saxpy", "LDS", "atomic add"]
    assert all(case.status is CaseStatus.AGREES and case.chip == case.emulator for case in cases)
    assert "3 of 3 that both computed agree bit for bit, 0 differ" in run.report
    assert "https://github.com/amdjit/amdjit/issues" in run.report
    assert sorted(tmp_path.iterdir()) == [run.path]
    assert main(["probe", "--compare", str(run.path)]) == 0
    assert "The emulator would have to change nothing." in capsys.readouterr().out


def test_the_file_has_nothing_private(tmp_path: Path) -> None:
    home = tmp_path / "home-of-somebody"
    home.mkdir()
    run = probe(
        tmp_path,
        "--only",
        "examples/basics",
        alter="LDS kernel fails",
        HOME=str(home),
        LOGNAME="somebodys-name",
        USER="somebodys-name",
    )
    failed = next(case for case in run.record.cases() if case.subject == "LDS")
    assert failed.status is CaseStatus.CHIP_FAILED
    assert "LDS" in run.report
    content = run.path.read_bytes() + lzma.decompress(run.path.read_bytes()[32:])
    private = ["home-of-somebody", "somebodys-name", platform.node(), str(tmp_path), str(ROOT)]
    private += [sys.prefix, "site-packages", str(Path.home()), str(Path.cwd())]
    for text in private:
        if len(text) > 1:
            assert text.encode() not in content, text
    assert not re.search(rb"(/[a-z_.-]+){3}", content)
    if getpass.getuser() != "root":
        assert getpass.getuser().encode() not in content


@pytest.mark.exhaustive
def test_a_crash_costs_its_case(tmp_path: Path) -> None:
    run = probe(tmp_path, "--only", "examples/basics", alter="LDS kernel crashes")
    statuses = {case.subject: case.status for case in run.record.cases()}
    assert statuses == {
        "saxpy": CaseStatus.AGREES,
        "LDS": CaseStatus.CRASHED,
        "atomic add": CaseStatus.AGREES,
    }
    assert run.record.batches[0].status is BatchStatus.CRASHED
    assert "LDS: ended the process on the chip: ended by SIGABRT" in run.report


@pytest.mark.exhaustive
def test_a_hung_gpu_ends_the_run_with_a_remedy(tmp_path: Path) -> None:
    marker = tmp_path / "hung"
    run = probe(
        tmp_path,
        "--only",
        "examples",
        "--patience",
        "0.3",
        alter="LDS kernel hangs",
        PROBE_TESTS_HUNG=str(marker),
    )
    assert run.code == 1
    assert "hip:0 seems hung" in run.report
    assert "sudo rocm-smi --gpureset -d 0" in run.report
    assert "The same command goes on" in run.report
    assert not run.record.is_complete


def test_without_a_gpu_the_remedy_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    assert main(["probe", "--device", "hip:7"]) == 1
    error = capsys.readouterr().err
    assert "there is no device 'hip:7'" in error
    assert "amdjit probe --device emulator:gfx1201 --quick" in error
