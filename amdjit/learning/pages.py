"""The pages of the course, read into values.

A page is named `NUMBER_NAME.md` and has a title, a text, and these sections:

- `## Your kernel`: the code that learners start from. A line with nothing but `...` is the hole.
- `## Check`: a function `check(kernel)` that launches the kernel. For each result it returns what
  the kernel wrote and what NumPy says, by name, and for results that need not be exact the largest
  difference allowed, as a part of the largest expected value: `{"out": (out, x + 1, 1e-6)}`.
- `## Limits`: conditions as for `amdjit gate`. May be left out.
- `## Picture`: what to draw of a solution, a name in `pictures.PICTURES`.
- `## Hints`: a numbered list.
- `## Solution`: the lines for the hole.
- `## Right, but refused`: other lines for the hole, whose results are right but which exceed the
  limits. It proves that the limits can fail, and learners do not see it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.diagnostics import LaunchError
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.testing import conditions
else:
    conditions = late("amdjit.testing.conditions")

__all__ = ["HOLE", "Chapter", "Puzzle", "chapters", "puzzle", "puzzles"]

HOLE = "..."
# Of lines that are not in the pages.
_WIDTH = 98

_COURSE = Path(__file__).with_name("course")
_SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
_CODE = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)
_HINT = re.compile(r"^\d+\. ", re.MULTILINE)
_KERNEL = re.compile(r"^@amdjit\.kernel.*\ndef (\w+)\(", re.MULTILINE)
_HOLE_LINE = re.compile(rf"^( *){re.escape(HOLE)}\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One puzzle."""

    number: int
    """From 1; the order of the course."""
    title: str
    """A few words."""
    chapter: str
    """The title of its chapter."""
    text: str
    """Markdown: what is new, and what is asked."""
    start: str
    """The program that learners complete: imports and a kernel with a hole."""
    case: str
    """The program that defines `check(kernel)`."""
    limits: str
    """Conditions as for `amdjit gate`; "" for none."""
    picture: str
    """What is drawn of a solution."""
    hints: tuple[str, ...]
    """Each says more than the one before."""
    solution: str = field(repr=False)
    """The start with lines in place of the hole."""
    refused: str = field(repr=False)
    """The same with lines whose results are right, and which the limits refuse; "" for none."""

    @property
    def kernel_name(self) -> str:
        """The name of the function that is the kernel: the last one in the start."""
        return [match[1] for match in _KERNEL.finditer(self.start)][-1]

    @property
    def file_name(self) -> str:
        """The name of the learner's file."""
        return f"puzzle_{self.number:02}.py"

    @property
    def statement(self) -> str:
        """Markdown: the text, how the kernel is launched and compared, and the limits with what
        they mean."""
        parts = [self.text, f"It is checked like this:\n\n```python\n{self.case}```"]
        if self.limits:
            found = conditions.parse_conditions(self.limits)
            parts.append("\n".join(["Limits:", "", *map(_limit, found)]))
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Chapter:
    """Puzzles that belong together."""

    name: str
    """Of its folder, which begins with its number."""
    title: str
    """A few words."""
    text: str
    """Markdown: what it is about."""
    puzzles: tuple[Puzzle, ...]
    """In order."""


@cache
def chapters() -> tuple[Chapter, ...]:
    """Return the course."""
    folders = sorted(page.parent for page in _COURSE.glob("*/README.md"))
    return tuple(map(_chapter, folders))


@cache
def puzzles() -> Mapping[int, Puzzle]:
    """Return all puzzles by number, in order."""
    return {one.number: one for chapter in chapters() for one in chapter.puzzles}


def puzzle(number: int) -> Puzzle:
    """Return a puzzle; LaunchError if there is none of that number."""
    found = puzzles().get(number)
    if found is None:
        raise LaunchError(f"there is no puzzle {number}: they are numbered 1 to {len(puzzles())}")
    return found


def _limit(condition: conditions.Condition) -> str:
    of_kernel = f"{condition.kernel}: " if condition.kernel is not None else ""
    figure = condition.figure
    unit = f" ({figure.unit})" if figure.unit else ""
    text = f"- `{of_kernel}{condition}`: {figure.plain_meaning}{unit}"
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _chapter(folder: Path) -> Chapter:
    title, text = _heading((folder / "README.md").read_text(encoding="utf-8"))
    pages = sorted(folder.glob("[0-9]*.md"))
    return Chapter(folder.name, title, text, tuple(read_page(page, title) for page in pages))


def _heading(text: str) -> tuple[str, str]:
    title, _, rest = text.removeprefix("# ").partition("\n")
    return title, rest.strip()


def read_page(page: Path, chapter: str) -> Puzzle:
    """Return the puzzle of a page; KeyError if it lacks a section."""
    head, *pieces = _SECTION.split(page.read_text(encoding="utf-8"))
    sections = dict(zip(pieces[::2], pieces[1::2], strict=True))
    title, text = _heading(head)
    start = _code(sections["Your kernel"])
    refused = sections.get("Right, but refused", "")
    return Puzzle(
        number=int(page.name.partition("_")[0]),
        title=title,
        chapter=chapter,
        text=text,
        start=start,
        case=_code(sections["Check"]),
        limits=" ".join(_code(sections["Limits"]).split()) if "Limits" in sections else "",
        picture=sections["Picture"].strip(),
        hints=tuple(" ".join(one.split()) for one in _HINT.split(sections["Hints"])[1:]),
        solution=_filled(start, _code(sections["Solution"])),
        refused=_filled(start, _code(refused)) if refused else "",
    )


def _code(section: str) -> str:
    found = _CODE.search(section)
    return found[1] if found is not None else ""


def _filled(start: str, lines: str) -> str:
    """Return a program with lines, which begin at the margin, in place of its hole."""
    hole = _HOLE_LINE.search(start)
    if hole is None:
        return lines
    return start[: hole.start()] + textwrap.indent(lines, hole[1]) + start[hole.end() :]
