"""The programs of docs/launching.md print what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import amdjit

PAGE = Path(__file__).parents[2] / "docs" / "launching.md"
PROGRAM = re.compile(
    r"```python\n(?P<code>.*?)```(?:\n+Prints:\n+```\n(?P<text>.*?)```)?", re.DOTALL
)


def test_the_launching_page_prints_what_it_says(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "launching_page"}
    text = PAGE.read_text()
    found = list(PROGRAM.finditer(text))
    assert len(found) == text.count("```python") == 9
    with amdjit.use("emulator:gfx1201"):
        for number, match in enumerate(found):
            file = tmp_path / f"program_{number}.py"  # kernels are read from files
            file.write_text(match["code"])
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(match["code"], file, "exec"), names)
            assert printed.getvalue() == (match["text"] or "")
