"""The programs of docs/algorithms.md print what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "algorithms.md"
PROGRAM = re.compile(
    r"```python\n(?P<code>.*?)```(?:\n+Prints:\n+```\n(?P<text>.*?)```)?", re.DOTALL
)


def test_the_programs_print_what_the_page_says(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "algorithms_page"}
    found = list(PROGRAM.finditer(PAGE.read_text()))
    assert len(found) == PAGE.read_text().count("```python") == 6
    for number, match in enumerate(found):
        file = tmp_path / f"program_{number}.py"  # kernels are read from files
        file.write_text(match["code"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match["code"], file, "exec"), names)
        assert printed.getvalue() == (match["text"] or "")
