"""What a view may use of the terminal in which it is shown: width, colour, characters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

__all__ = ["PLAIN", "Cell", "Screen", "columns"]

# ECMA-48, "Select graphic rendition".
_STYLES = {
    "heading": "1",
    "dim": "2",
    "warning": "33",
    "VALU": "36",
    "transcendental": "96",
    "WMMA": "35",
    "MFMA": "35",
    "SALU": "32",
    "scalar memory": "34",
    "vector memory": "94",
    "LDS": "33",
    "branch": "31",
    "wait": "91",
    "barrier": "91",
    "other": "2",
}
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Screen:
    """What a terminal can show."""

    width: int | None = None
    """The characters of a line; None if lines are not cut."""
    colour: bool = False
    """Whether escape sequences are written."""
    unicode: bool = True
    """Whether the encoding has block and line characters."""

    def paint(self, text: str, style: str) -> str:
        """Return text in a style, such as the name of a unit; "" is plain."""
        code = _STYLES.get(style, "")
        return f"\033[{code}m{text}\033[0m" if self.colour and code and text.strip() else text

    def heading(self, text: str) -> str:
        """Return a title."""
        return self.paint(self.cut(text), "heading")

    def cut(self, text: str, used: int = 0) -> str:
        """Return text, cut to the rest of a line of which some characters are used."""
        if self.width is None or used + len(text) <= self.width:
            return text
        room = max(self.width - used, 0)
        mark = "…" if self.unicode else "..."
        return text[: room - len(mark)] + mark if room > len(mark) else text[:room]

    def wrap(self, text: str) -> list[str]:
        """Return text in as many lines as it needs."""
        return [text] if self.width is None else textwrap.wrap(text, max(self.width, 8))

    def bar(self, length: float, marks: Iterable[int] = (), ticks: int = 0) -> str:
        """Return a bar of `length` characters, with a line in the columns `marks` behind it, in a
        field of `ticks` characters."""
        field = self._bar(length)
        line = "│" if self.unicode else "|"
        marked = set(marks)
        rest = range(len(field), ticks)
        return field + "".join(line if column in marked else " " for column in rest)

    def _bar(self, length: float) -> str:
        if not self.unicode:
            return "#" * round(length)
        eighths = round(length * 8)
        part = _EIGHTHS[eighths % 8] if eighths % 8 else ""
        return _EIGHTHS[8] * (eighths // 8) + part


# The screen for files and pipes.
PLAIN = Screen()

_NUMBER = re.compile(r"-?[\d.]+|-|")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: its text and style."""

    text: str
    style: str = ""


def columns(screen: Screen, head: Sequence[str], rows: Sequence[Sequence[str | Cell]]) -> list[str]:
    """Return the lines of a table: numbers are aligned to the right, the last column is cut to the
    width."""
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    lines = [[Cell(name, "heading") for name in head], *cells]
    # Shorter rows, such as notes, do not widen their last column.
    widths = [
        max(len(cell.text) for cell in column) for column in zip_longest(*lines, fillvalue=Cell(""))
    ]
    numeric = [
        all(_NUMBER.fullmatch(row[n].text) for row in cells if n < len(row))
        for n in range(len(head))
    ]
    return [_line(screen, line, widths, numeric) for line in lines]


def _line(screen: Screen, line: list[Cell], widths: list[int], numeric: list[bool]) -> str:
    parts, used = [], 0
    for number, (cell, width) in enumerate(zip(line, widths, strict=False)):
        is_last = number == len(line) - 1
        text = cell.text.rjust(width) if numeric[number] else cell.text.ljust(width)
        text = screen.cut(text.rstrip() if is_last else text, used)
        parts.append(screen.paint(text, cell.style))
        used += len(text) + 2
        if screen.width is not None and used >= screen.width:
            break
    return "  ".join(parts).rstrip()
