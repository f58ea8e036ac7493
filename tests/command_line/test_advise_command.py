"""`amdjit advise`: changes to a program's launch that were tried, or what the code alone shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amdjit.command_line import main

PROGRAM = """
import sys
import numpy as np
import amdjit
from amdjit import f32

@amdjit.kernel(block=64)
def wrapped(x, out, width):
    i = amdjit.grid(1)
    out[i] = x[i // width * width] + x[i % width]

@amdjit.kernel(block=(64, 1, 1))
def scattered(x, out):
    i = amdjit.grid(1)
    out[i] = x[i * 64]

x = np.arange(2**16, dtype=np.float32)
wrapped[1, 64](x, np.zeros(64, np.float32), int(sys.argv[1]))
wrapped[1024, 64](x, np.zeros_like(x), int(sys.argv[1]))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AMDJIT_DEVICE", "emulator:gfx1201")
    (tmp_path / "program.py").write_text(PROGRAM)
    return "program.py"


def test_the_longest_launch_of_a_program(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", f"{program}:wrapped", "--run", "--all", "--", "48"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("wrapped on gfx1201: ")
    assert "+def wrapped(x, out, width: amdjit.Const):\n" in text
    assert "did not help: launch workgroups of" in text  # which the short launch cannot have
    assert main(["advise", f"{program}:wrapped", "--run", "--json", "--", "48"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["proposals"][0]["kind"] == "constants"


def test_what_the_code_shows(
    program: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["program.py", "48"])
    given = [f"{program}:scattered", "--signature", "f32[:],f32[:]"]
    assert main(["advise", *given]) == 0
    text = capsys.readouterr().out
    assert "neighbouring lanes access memory 256 bytes apart" in text
    assert text.endswith("add --run to try changes to a launch of the program\n")
    assert main(["inspect", *given, "--emit", "object"]) == 0
    capsys.readouterr()
    assert main(["advise", "scattered.hsaco"]) == 0
    assert "256 bytes apart" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["kernel.hsaco", "--run"], "--run is for FILE.py:KERNEL"),
        (["program.py:wrapped", "--run", "--signature", "f32[:]"], "--run is for FILE.py:KERNEL"),
        (["program.py:wrapped", "--json"], "add --run"),
    ],
)
def test_mistakes(
    program: str, capsys: pytest.CaptureFixture[str], given: list[str], reason: str
) -> None:
    assert main(["advise", *given]) == 1
    assert reason in capsys.readouterr().err
