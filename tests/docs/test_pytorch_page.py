"""The programs of docs/pytorch.md print what the page says, with PyTorch's CPU build."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import amdjit

PAGE = Path(__file__).parents[2] / "docs" / "pytorch.md"
PROGRAM = re.compile(
    r"```python\n(?P<code>.*?)```(?:\n+Prints:\n+```\n(?P<text>.*?)```)?", re.DOTALL
)


def test_the_programs_of_the_page_print_what_it_says(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install amdjit[torch]")
    names: dict[str, Any] = {"__name__": "pytorch_page"}
    found = list(PROGRAM.finditer(PAGE.read_text()))
    assert len(found) == PAGE.read_text().count("```python") == 7
    needs_gpu = ["torch.cuda." in match["code"] for match in found]
    assert needs_gpu.count(True) == 1
    for number, match in enumerate(found):
        if needs_gpu[number]:
            continue
        file = tmp_path / f"program_{number}.py"  # kernels are read from files
        file.write_text(match["code"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), amdjit.use("emulator:gfx1201"):
            exec(compile(match["code"], file, "exec"), names)
        assert printed.getvalue() == (match["text"] or "")
