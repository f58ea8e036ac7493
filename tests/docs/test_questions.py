"""The programs and commands of docs/questions print what its pages say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.docs import run_snippets

ROOT = Path(__file__).parents[2]
PAGES = sorted(run_snippets.QUESTIONS.glob("*.md"))
SLOW = {"spills"}
"""Pages whose kernels take long to compile; `.ci/run` runs all pages."""


def marked(page: Path) -> object:
    marks = [pytest.mark.exhaustive] if page.stem in SLOW else []
    return pytest.param(page, id=page.stem, marks=marks)


@pytest.mark.parametrize("page", [marked(page) for page in PAGES])
def test_a_page_shows_what_its_programs_and_commands_print(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("AMDJIT_DEVICE", "emulator:gfx1201")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    run_snippets.run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_output_on_a_page_is_checked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    steps = [match.groupdict() for match in run_snippets.STEP.finditer(text)]
    shown = [step["text"] or step["output"] for step in steps if step["text"] or step["output"]]
    assert text.count("Prints:\n") == len(shown) > 1


def test_a_page_with_another_output_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_snippets, "QUESTIONS", tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    program = "```python\n# two.py\nprint(2)\n```\n\nPrints:\n\n```\n{}\n```\n"
    command = "\n```\npython two.py\n```\n\nPrints:\n\n```\n{}\n```\n"
    for first, second, wrong in (("2", "2", ""), ("3", "2", "program 1"), ("2", "3", "command 2")):
        page.write_text(program.format(first) + command.format(second))
        if not wrong:
            run_snippets.run_page(page)
            continue
        with pytest.raises(SystemExit, match=rf"{wrong} prints\n2"):
            run_snippets.run_page(page)


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"questions/(\w+)", index)) == {page.stem for page in PAGES}
