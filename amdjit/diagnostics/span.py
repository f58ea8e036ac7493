"""Places in Python source."""

from __future__ import annotations

from dataclasses import field

from amdjit.diagnostics.notebooks import shown_file
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """The lines of a file as Python read them. `lines[0]` is line 1."""

    file: str
    lines: tuple[str, ...] = field(repr=False)

    def line(self, number: int) -> str:
        """Return line `number`, counted from 1, without its end; empty if the file has no such
        line."""
        return self.lines[number - 1].rstrip("\r\n") if 0 < number <= len(self.lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters from (line, column) up to (end_line, end_column); lines from 1, columns in
    characters from 0."""

    source: SourceText = field(repr=False)
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def file(self) -> str:
        """The file's name."""
        return self.source.file

    def __str__(self) -> str:
        return f"{shown_file(self.file)}:{self.line}:{self.column + 1}"
