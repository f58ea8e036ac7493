"""The notebooks of the course: their cells run in order, with solutions put into the holes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from amdjit.diagnostics import LaunchError
from amdjit.learning.notebooks import notebook, write
from amdjit.learning.pages import Chapter, Puzzle, chapters

NAMES = [chapter.name for chapter in chapters()]
# A chapter that compiles in a second.
QUICK = "3_waves"


def chapter_named(name: str) -> Chapter:
    return next(chapter for chapter in chapters() if chapter.name == name)


def programs(made: Mapping[str, Any]) -> Iterator[str]:
    for cell in made["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def solved(program: str, chapter: Chapter) -> str:
    """Return a cell with the solution in its hole."""
    one: Puzzle
    for one in chapter.puzzles:
        program = program.replace(one.start, one.solution)
    return program


@pytest.mark.parametrize(
    "name",
    [name if name == QUICK else pytest.param(name, marks=pytest.mark.exhaustive) for name in NAMES],
)
def test_a_notebook_with_solutions_solves_its_puzzles(name: str, tmp_path: Path) -> None:
    chapter = chapter_named(name)
    install, *cells = programs(notebook(chapter))
    assert install == "%pip install --quiet git+https://github.com/amdjit/amdjit"
    names: dict[str, Any] = {}
    verdicts = []
    for number, cell in enumerate(cells):
        code, _, check = solved(cell, chapter).rpartition("\n")
        # Kernels are read from files, as IPython's cells are.
        file = tmp_path / f"cell_{number}.py"
        file.write_text(code)
        exec(compile(code, str(file), "exec"), names)
        if "learning.check(" in check:
            verdicts.append(eval(check, names))
        else:
            exec(check, names)
    assert [verdict.number for verdict in verdicts] == [one.number for one in chapter.puzzles]
    assert all(verdict.passed for verdict in verdicts), verdicts


def test_notebooks_are_written_once(tmp_path: Path) -> None:
    files = list(write(tmp_path / "course"))
    assert [file.stem for file in files] == NAMES
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    assert {(one["nbformat"], one["nbformat_minor"]) for one in found} == {(4, 5)}
    assert all(len({cell["id"] for cell in one["cells"]}) == len(one["cells"]) for one in found)
    files[-1].write_text("mine")
    files[0].unlink()
    with pytest.raises(LaunchError, match=r"\.ipynb is there already"):
        list(write(tmp_path / "course"))
    assert files[-1].read_text() == "mine"
    assert not files[0].exists()


def test_hints_and_solutions_are_folded() -> None:
    chapter = chapters()[0]
    texts = ["".join(cell["source"]) for cell in notebook(chapter)["cells"]]
    helps = [text for text in texts if "<details>" in text]
    assert len(helps) == len(chapter.puzzles)
    for one, text in zip(chapter.puzzles, helps, strict=True):
        assert re.findall("<summary>(.*?)</summary>", text)[-1] == "A solution"
        assert text.count("<details>") == text.count("</details>") == len(one.hints) + 1
        shown = [part for part in texts if one.solution in part]
        assert shown == [text]
