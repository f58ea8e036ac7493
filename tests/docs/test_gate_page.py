"""What docs/gate.md shows is what its commands print, and its hooks and workflows run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from amdjit.command_line import main

PAGE = (Path(__file__).parents[2] / "docs/gate.md").read_text()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's file, and below it a version without conflicts."""
    (source, _) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "transpose.py").write_text(source)
    (tmp_path / "old").mkdir()
    (tmp_path / "old/transpose.py").write_text(source.replace("(32, 32), f32", "(32, 33), f32"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


SHOWN = re.findall(r"```\namdjit (gate .*?)\n```\n\nPrints:\n\n```\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(2))
def test_a_gate_prints_what_the_page_shows(
    number: int, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, text = SHOWN[number]
    assert main(shlex.split(command)) == ("FAILS" in text)
    assert capsys.readouterr().out == text


def test_a_diff_prints_what_the_page_shows(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = re.findall(r"```\namdjit (diff .*?)\n```", PAGE)
    (text,) = re.findall(r"```\n(old/transpose.py:transpose -> .*?)```", PAGE, re.DOTALL)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == text


def test_hook_and_workflow_gate_the_kernel(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = re.findall(r"(?:run|entry): amdjit (gate .*transpose.*)", PAGE)
    assert len(commands) == 2
    for command in commands:
        assert main(shlex.split(command)) == 1
        output = capsys.readouterr().out
        assert "FAILS  lds_conflicts 992 == 0" in output
        assert ("::error file=transpose.py,line=12," in output) is ("--github" in command)
