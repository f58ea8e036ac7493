"""`amdjit hazards`: the exit status says whether something is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amdjit.command_line import main
from tests.emulator.building import assemble
from tests.emulator.required_tools import needs_tools

FILE = str(Path(__file__).with_name("shown_kernels.py"))
SCALE = ["hazards", f"{FILE}:scale", "--signature", "f32[:],f32"]
_EARLY = "v_readfirstlane_b32 s4, v0\n v_readlane_b32 s6, v9, s4"


def test_a_kernel_that_lacks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "--target", "gfx942"]) == 0
    shown = capsys.readouterr().out
    assert shown == "scale for gfx942: nothing is missing on any path, 0 spare\n"
    assert main([*SCALE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"] == ["scale"]


@needs_tools
def test_what_is_missing_is_named_and_the_status_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "early.co"
    file.write_bytes(assemble(_EARLY, cpu="gfx90a"))
    assert main(["hazards", str(file)]) == 1
    shown = capsys.readouterr().out
    assert "s4 is read while v_readfirstlane_b32 s4, v0 may still be writing it" in shown
    assert "s_nop 3 is missing" in shown
    assert main(["hazards", str(file), "--kernel", "kernel"]) == 1
    assert main(["gate", str(file), "missing_waits==0, spare_waits==0"]) == 1
    shown = capsys.readouterr().out
    assert "FAILS  missing_waits 1 == 0" in shown
    assert "holds  spare_waits 0 == 0" in shown


@needs_tools
def test_unknown_paths_are_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "unknown.co"
    file.write_bytes(assemble("s_cbranch_scc0 1f\n .long 0xffffffff\n 1: s_nop 0", cpu="gfx90a"))
    assert main(["hazards", str(file)]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hazards", "absent.co"], "absent.co cannot be read"),
        (["hazards", f"{FILE}:scale"], "scale takes 2 arguments"),
        ([*SCALE, "--kernel", "scale"], "--kernel is for code objects"),
        ([*SCALE, "--target", "gfx1030"], "gfx1030 is not decoded"),
    ],
)
def test_mistakes_end_with_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
