"""The course as notebooks, one for each chapter (nbformat 4.5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amdjit.diagnostics import LaunchError
from amdjit.learning.pages import Chapter, Puzzle, chapters

__all__ = ["notebook", "write"]

_INSTALL = "%pip install --quiet git+https://github.com/amdjit/amdjit"
_IMPORT = "from amdjit import learning"
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def write(folder: Path) -> Iterator[Path]:
    """Write the notebooks to a folder, and yield their files. LaunchError, before anything is
    written, if one is there already, or if a file cannot be written."""
    files = {folder / f"{chapter.name}.ipynb": chapter for chapter in chapters()}
    for file in files:
        if file.exists():
            raise LaunchError(f"{file} is there already, perhaps with your work: move it away")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, chapter in files.items():
            text = json.dumps(notebook(chapter), indent=1, ensure_ascii=False)
            file.write_text(text + "\n", encoding="utf-8")
            yield file
    except OSError as error:
        raise LaunchError(f"{folder} cannot be written: {error.strerror}") from None


def notebook(chapter: Chapter) -> dict[str, Any]:
    """Return a chapter in the form of a notebook's JSON."""
    cells = [_markdown(f"# {chapter.title}\n\n{chapter.text}"), _code(_INSTALL), _code(_IMPORT)]
    for one in chapter.puzzles:
        check = f"learning.check({one.number}, {one.kernel_name})"
        cells += [_markdown(_page(one)), _code(f"{one.start}\n\n{check}"), _markdown(_help(one))]
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    return {"cells": numbered, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}


def _page(one: Puzzle) -> str:
    return f"## {one.number}. {one.title}\n\n{one.statement}"


def _help(one: Puzzle) -> str:
    hints = [_folded(f"Hint {number}", hint) for number, hint in enumerate(one.hints, 1)]
    return "\n".join([*hints, _folded("A solution", f"```python\n{one.solution}```")])


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>\n"


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": text.splitlines(keepends=True),
    }
