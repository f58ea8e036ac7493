"""The examples on the page of errors: the cases of tests/golden, whose texts the tests compare with
the compiler's."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

GOLDEN = Path(__file__).parents[2] / "tests/golden"
_MOST_LINES = 40


@dataclass(frozen=True)
class Example:
    """A program that is refused, and the message about it."""

    name: str
    source: str
    message: str

    @property
    def title(self) -> str:
        """The message's first line, without its code."""
        return self.message.partition("\n")[0].partition("]: ")[2]

    def markdown(self) -> str:
        """Return the program and the message as blocks of code."""
        return f"```python\n{self.source}\n```\n\n```text\n{self.message}\n```"


def examples(folder: str, prefix: str = "") -> list[Example]:
    """Return the cases of a folder of tests/golden whose names begin with `prefix`."""
    return [_read(file) for file in sorted((GOLDEN / folder).glob(f"{prefix}*.py"))]


def _read(file: Path) -> Example:
    text = file.read_text()
    dropped, source = _program(text)
    _, _, message = file.with_suffix(".err").read_text().rstrip("\n").partition("\n")
    return Example(file.stem, source, _renumbered(message, file.stem, dropped))


def _program(text: str) -> tuple[int, str]:
    """Return a case without the parts that belong to the test, and how many lines were dropped at
    its start."""
    module = ast.parse(text)
    run = module.body[-1]
    assert isinstance(run, ast.FunctionDef)
    assert run.name == "run"
    call = ast.unparse(run.body[0])
    ends_with_kernel = len(run.body) == 1 and re.fullmatch(r"\w+\.compile\(\)", call)
    docstring = module.body[0]
    lines = text.splitlines()
    last = run.lineno - 1 if ends_with_kernel else len(lines)
    first = docstring.end_lineno or 1
    while not lines[first]:
        first += 1
    kept = "\n".join(lines[first:last]).rstrip().splitlines()
    if len(kept) > _MOST_LINES:
        middle = f"        # ... {len(kept) - 20} lines like these"
        kept = [*kept[:10], middle, *kept[-10:]]
    return first, "\n".join(kept)


def _renumbered(message: str, name: str, dropped: int) -> str:
    """Count lines from the example's first one, and make the column of line numbers as wide as
    these numbers."""
    lines = []
    before, after = 0, 0
    for line in message.splitlines():
        line = re.sub(
            rf"{name}\.py:(\d+)", lambda match: f"kernels.py:{int(match[1]) - dropped}", line
        )
        arrow = re.match(r"( *)--> \S+?:(\d+):", line)
        if arrow:
            before, after = len(arrow[1]), len(arrow[2])
            line = " " * after + line[before:]
        elif re.match(r" +\|", line):
            line = " " * after + line[before:]
        elif number := re.match(r"(\d+) \|", line):
            line = f"{int(number[1]) - dropped}{line[len(number[1]) :]}"
        lines.append(line)
    return "\n".join(lines)
