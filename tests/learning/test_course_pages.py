"""The pages of the course: numbered without gaps, whole, and teaching what they use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amdjit.learning import pages
from amdjit.learning.pages import chapters, puzzle, puzzles, read_page
from amdjit.learning.pictures import PICTURES
from amdjit.testing.conditions import parse_conditions

COURSE = Path(pages.__file__).with_name("course")
PAGE = """# A title

A text.

## Your kernel

```python
@amdjit.kernel
def copy(x, out):
    i = 1
    ...
    return
```

## Check

```python
def check(kernel):
    return {}
```

## Picture

lanes

## Hints

1. One
   hint.
2. Another, with `x[i]`.

## Solution

```python
if i:
    out[i] = x[i]
```
"""
# Names of the language that a newcomer to amdjit cannot know.
TAUGHT = re.compile(
    r"amdjit\.(?!intrinsics\b|kernel\b|f32\b|i32\b|local\b)([a-z]\w+)|\b(?:wave|matrix|atomic|math)\.(\w+)"
    r"|\.(load|store|bit_count|num_elements|shape)\b|\b(static_range)\b"
)


def used(program: str) -> set[str]:
    return {next(filter(None, match.groups())) for match in TAUGHT.finditer(program)}


def test_a_page_is_read_into_a_puzzle(tmp_path: Path) -> None:
    page = tmp_path / "07_copy.md"
    page.write_text(PAGE)
    one = read_page(page, "A chapter")
    assert (one.number, one.title, one.text) == (7, "A title", "A text.")
    assert (one.kernel_name, one.file_name, one.picture) == ("copy", "puzzle_07.py", "lanes")
    assert one.hints == ("One hint.", "Another, with `x[i]`.")
    filled = "    i = 1\n    if i:\n        out[i] = x[i]\n    return\n"
    assert one.solution == f"@amdjit.kernel\ndef copy(x, out):\n{filled}"
    assert (one.limits, one.refused) == ("", "")
    assert "def check(kernel):" in one.statement
    assert "out[i] = x[i]" not in one.statement


def test_a_page_without_a_section_is_no_puzzle(tmp_path: Path) -> None:
    page = tmp_path / "07_copy.md"
    page.write_text(PAGE.replace("## Hints", "## Help"))
    with pytest.raises(KeyError, match="Hints"):
        read_page(page, "A chapter")


def test_thirty_puzzles_are_numbered_through_seven_chapters() -> None:
    assert list(puzzles()) == list(range(1, 31))
    assert len(chapters()) == 7
    files = sorted(COURSE.glob("*/[0-9]*.md"))
    assert [int(file.name[:2]) for file in files] == list(puzzles())


@pytest.mark.parametrize("number", puzzles())
def test_a_page_is_whole(number: int) -> None:
    one = puzzle(number)
    assert one.start.count("    ...\n") == 1
    assert len(one.hints) >= 2
    assert one.picture in PICTURES
    assert bool(one.limits) == bool(one.refused)
    parse_conditions(one.limits or "spills==0")
    assert "**" in one.text  # what is asked


def test_a_statement_explains_the_limits() -> None:
    text = puzzle(10).statement
    assert "\n- `lds <= 4,096`: LDS of a workgroup; " in text
    assert "\n- `quantise: loops <= 2`: loops in the machine code\n" in f"{puzzle(24).statement}\n"


def test_solutions_use_what_pages_up_to_theirs_say() -> None:
    known: set[str] = set()
    missing = {}
    for number, one in puzzles().items():
        words = f"{one.text}\n{one.start}"
        known |= {name for name in re.findall(r"\w+", words)}
        unknown = used(one.solution) - known
        if unknown:
            missing[number] = unknown
    assert not missing


def test_lines_fit_a_terminal() -> None:
    long = [
        f"{page.name}:{number}"
        for page in COURSE.glob("*/*.md")
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 100
    ]
    assert not long
