"""The whole examination, its text, its JSON and its exit code."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amdjit import command_line
from amdjit.doctor.child import Child
from amdjit.doctor.examination import Examination, exit_code
from amdjit.doctor.finding import Finding, State
from amdjit.doctor.report import finding_text, report_json, verdict
from tests.doctor.examined_machine import ROOT, machine, standin, variables, with_gpu, without_hip

OK = Finding("Python", State.OK, "3.12")
RAN = Finding("kernels", State.OK, "hip:0: all right", facts={"device": "hip:0"})
NOTE = Finding("driver", State.NOTE, "there is no AMD GPU in this machine")
PROBLEM = Finding("hip:0", State.PROBLEM, "it " + "hangs " * 30, "Restart the machine. " * 8)


def doctor(*arguments: str, given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "amdjit", "doctor", *arguments]
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=280)


@pytest.mark.skipif(bool(standin.why_not()), reason=standin.why_not() or "-")
def test_the_command_finds_a_gpu_that_works() -> None:
    done = doctor("--json", given=variables(behind=True))
    assert done.returncode == 0, done.stdout + done.stderr
    form: dict[str, Any] = json.loads(done.stdout)
    assert set(form) == {"schema", "version", "exit_code", "devices", "findings"}
    assert form["schema"] == "amdjit.doctor/1"
    assert form["devices"] == ["hip:0", "emulator:gfx1201"]
    fields = {field.name for field in dataclasses.fields(Finding)}
    assert all(set(finding) == fields for finding in form["findings"])
    facts = {finding["topic"]: set(finding["facts"]) for finding in form["findings"]}
    assert {"Python", "packages", "LLVM", "cache", "HIP library", "hip:0", "kernels"} <= set(facts)
    documented = documented_facts()
    assert {topic for topic in facts if facts[topic]} <= set(documented)
    for topic in set(facts) - {"packages", "settings"}:
        assert facts[topic] == documented[topic], topic


def documented_facts() -> dict[str, set[str]]:
    """Return the fields of facts that the page names, by topic."""
    table = (ROOT / "docs/first_contact.md").read_text().split("fields of `facts`")[1]
    rows = re.findall(r"^\| `([\w: ]+)`(?:, \.\.\.)? \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) > 8
    return {topic: set(re.findall(r"`(\w+)`", _NO_FIELD.sub("", text))) for topic, text in rows}


_NO_FIELD = re.compile("`amdgpu`")  # a kernel module


def test_the_command_is_content_with_the_emulator() -> None:
    done = doctor(given=without_hip(COLUMNS="80", AMDJIT_TARGET="gfx1200"))
    if "HIP library   /" in done.stdout:
        pytest.skip("this machine has HIP, and perhaps a GPU")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok      kernels       emulator:gfx1200: saxpy, LDS, atomics, " in done.stdout
    assert done.stdout.endswith("Nothing needs to be done.\n")
    lines = done.stdout.splitlines()
    assert len(lines) < 40
    assert not [line for line in lines if len(line) > 80 and len(line.split()) > 1]


def test_settings_that_cannot_be_read_end_no_examination() -> None:
    done = doctor(given=without_hip(AMDJIT_TARGET="gfx9999"))
    assert done.returncode == 1
    assert done.stderr == ""
    assert "PROBLEM settings      AMDJIT_TARGET: unknown target 'gfx9999'" in done.stdout
    assert "note    kernels       not run" in done.stdout


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "soon"])
def test_a_time_that_is_none_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.main(["doctor", "--seconds", seconds])
    assert "no number of seconds above 0" in capsys.readouterr().err


def test_the_exit_code_counts_problems_alone() -> None:
    assert exit_code([OK, NOTE, RAN]) == 0
    assert exit_code([OK, PROBLEM]) == 1
    assert json.loads(report_json([OK, PROBLEM]))["exit_code"] == 1


def test_a_problem_without_a_remedy_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="no remedy"):
        Finding("driver", State.PROBLEM, "it is broken")


@pytest.mark.parametrize("width", [80, 60, 132])
def test_text_fits_the_terminal(width: int) -> None:
    lines = finding_text(PROBLEM, width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("PROBLEM hip:0         it hangs")
    assert sum("->" in line for line in lines) == 1
    words = re.sub(r"->", "", "\n".join(lines)).split()
    assert words == ["PROBLEM", "hip:0", *PROBLEM.found.split(), *PROBLEM.remedy.split()]


def test_paths_are_not_cut() -> None:
    path = "/a/path/that/is/long" * 6
    assert path in finding_text(Finding("cache", State.OK, f"{path}, empty"), 80)


def test_the_verdict_says_what_runs() -> None:
    assert verdict([OK, RAN]) == "Kernels run on hip:0. Nothing needs to be done."
    assert verdict([OK, NOTE]).startswith("Kernels run on the emulator")
    assert verdict([RAN, PROBLEM]).startswith("1 problem:")
    assert verdict([PROBLEM, PROBLEM]).startswith("2 problems:")


def test_the_emulators_that_run_are_the_default_one_or_all(tmp_path: Path) -> None:
    assert Examination(machine(tmp_path)).emulators() == ["emulator:gfx1201"]
    chosen = machine(tmp_path, {"AMDJIT_DEVICE": "emulator:gfx942"})
    assert Examination(chosen).emulators() == ["emulator:gfx942"]
    everything = Examination(chosen, all_emulators=True).emulators()
    assert everything[0] == "emulator:gfx942"
    assert len(everything) == len(set(everything)) > 10


def test_other_systems_are_not_asked_for_hip(tmp_path: Path) -> None:
    seen = dataclasses.replace(machine(with_gpu(tmp_path)), system="win32")
    assert Examination(seen).survey.lines == ()


@pytest.mark.parametrize(
    ("platform", "system"),
    [("win32", "Windows"), pytest.param("darwin", "macOS", marks=pytest.mark.exhaustive)],
)
def test_other_systems_are_examined_without_what_only_linux_has(platform: str, system: str) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests/packaging')!r})\n"
        f"import other_platform; other_platform.become({platform!r})\n"
        "sys.modules['ziglang'] = None\n"  # not installed
        "from amdjit.command_line import main; sys.exit(main(['doctor']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=without_hip(AMDJIT_DEVICE="emulator:gfx1201"),
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{system} " in done.stdout
    assert "it drives AMD GPUs on Linux, x86-64, alone" in " ".join(done.stdout.split())
    assert "HIP library" not in done.stdout
    assert "emulator:gfx1201: saxpy, LDS, atomics" in done.stdout


def test_what_a_child_prints_is_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shouting.py").write_text(
        "import os, sys\n"
        "from amdjit.doctor.child import reporting\n"
        "def main(word):\n"
        "    report = reporting()\n"
        "    report(stage=word)\n"
        '    print(\'{"stage": "printed"}\')\n'
        "    os.write(1, b'written by the driver')\n"
        "    sys.stdout.flush()\n"
        "    os._exit(3)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    ended = Child("shouting", "hello", variables=without_hip()).finish(60)
    assert ended.lines == ({"stage": "hello"},)
    assert ended.how == "ended with exit code 3"
    assert "written by the driver" in ended.said


def test_a_python_that_is_not_there_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    ended = Child("amdjit.doctor.survey", variables=without_hip()).finish(1)
    assert ended.how.startswith("could not be started (")


def test_nobody_who_stops_leaves_a_process_behind(tmp_path: Path) -> None:
    asked = Examination(machine(tmp_path, without_hip()))
    findings = asked.findings()
    next(findings)
    children = [child._process for child in asked._children.values()]
    assert len(children) == 2
    findings.close()
    assert all(child is not None and child.wait(30) != 0 for child in children)
