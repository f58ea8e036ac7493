"""The programs of docs/tuning.md print what the page says, and the page has every setting."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import pytest

import amdjit
from amdjit.tuning.candidates import State
from amdjit.tuning.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"
PROGRAM = re.compile(
    r"```python\n(?P<code>.*?)```(?:\n+Prints:\n+```\n(?P<text>.*?)```)?", re.DOTALL
)


def test_the_programs_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "tuning_page"}
    found = list(PROGRAM.finditer(PAGE.read_text()))
    assert len(found) == PAGE.read_text().count("```python") == 2
    with amdjit.use("emulator:gfx1201"):
        for number, match in enumerate(found):
            file = tmp_path / f"program_{number}.py"  # kernels are read from files
            file.write_text(match["code"])
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(match["code"], file, "exec"), names)
            assert printed.getvalue() == (match["text"] or "")


def test_the_page_has_every_setting_and_every_state() -> None:
    text = PAGE.read_text()
    names = [each.name for each in dataclasses.fields(Settings)]
    assert [name for name in names if f"`{name}" not in text and f"{name}=" not in text] == []
    shown = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert shown == {state.value for state in State} - {"fine", "built"}
