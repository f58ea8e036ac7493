"""The programs of docs/numba_cuda.md run."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import amdjit

PAGE = Path(__file__).parents[2] / "docs" / "numba_cuda.md"


@pytest.fixture
def numbas_own_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Later tests of this process find `numba` as this one did."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    yield
    for name in set(sys.modules) - before:
        if name.split(".")[0] == "numba":
            del sys.modules[name]


@pytest.mark.usefixtures("numbas_own_place")
@pytest.mark.filterwarnings("ignore:f64 arithmetic")
def test_the_programs_of_the_page_run(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "numba_cuda_page"}
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(programs) == 6
    with amdjit.use("emulator:gfx1201"):
        for number, program in enumerate(programs):
            file = tmp_path / f"program_{number}.py"  # kernels are read from files
            file.write_text(program)
            exec(compile(program, file, "exec"), names)
