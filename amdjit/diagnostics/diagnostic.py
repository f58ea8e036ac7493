"""Errors as values: a kind from the table of codes, a place, and what was found there."""

from __future__ import annotations

import unicodedata
from dataclasses import field
from pathlib import Path

from amdjit.diagnostics.errors import CompileError
from amdjit.diagnostics.span import Span
from amdjit.late_methods import dataclass

_PACKAGE = Path(__file__).parent.parent
_LIBRARIES = tuple(_PACKAGE / name for name in ("intrinsics", "language", "numba_cuda/functions"))


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One row of the table of error codes.

    title, label and help are templates, filled with the fields that are given with each error. The
    title says in one line what is wrong, the label stands beside the caret, and the help says what
    to write instead.
    """

    code: str
    exception: type[CompileError]
    title: str
    label: str
    help: str = "{remedy}"

    def at(self, span: Span | None, **fields: object) -> Diagnostic:
        """Return a diagnostic of this kind for a place."""
        texts = {name: str(value) for name, value in fields.items()}
        return Diagnostic(self, span, tuple(sorted(texts.items())))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error in a kernel. calls: the call sites that lead to it, beginning in the kernel."""

    kind: ErrorKind
    span: Span | None
    fields: tuple[tuple[str, str], ...] = ()
    calls: tuple[tuple[str, Span], ...] = field(default=())

    @property
    def code(self) -> str:
        """The stable code, such as AJ0201."""
        return self.kind.code

    @property
    def title(self) -> str:
        """What is wrong, in one line."""
        return self.kind.title.format_map(dict(self.fields))

    @property
    def label(self) -> str:
        """What stands beside the caret."""
        return self.kind.label.format_map(dict(self.fields))

    @property
    def help(self) -> str:
        """What to write instead."""
        return self.kind.help.format_map(dict(self.fields))

    def render(self) -> str:
        """Return the error as text for people."""
        lines = [f"error[{self.code}]: {self.title}"]
        own = self._calls_of_the_user()
        if own == len(self.calls):
            lines += excerpt(self.span, self.label) if self.span is not None else []
        else:
            lines += excerpt(self.calls[own][1], "in this call")
        for name, span in self.calls[:own]:
            lines.append(f"  = called from {name} at {_line_at(span)}")
        for place in (*(span for _, span in self.calls), self.span)[own + 1 :]:
            lines += [f"  = in {_line_at(place)}"] if place is not None else []
        lines.append(f"  = help: {self.help}")
        return "\n".join(lines)

    def _calls_of_the_user(self) -> int:
        """Count the calls outside amdjit's library: an error inside it is shown where it is
        called."""
        spans = (*(span for _, span in self.calls), self.span)
        own = len(self.calls)
        while (
            own > 0
            and (span := spans[own]) is not None
            and any(map(Path(span.file).is_relative_to, _LIBRARIES))
        ):
            own -= 1
        return own


def _line_at(span: Span) -> str:
    return f"{span}: {span.source.line(span.line).strip()}"


def in_source_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Return errors in the order of the kernel's lines, one for each kind and place.

    Errors in helpers are ordered by the kernel's calls of them.
    """
    unique: dict[tuple[str, Span | None], Diagnostic] = {}
    for diagnostic in sorted(diagnostics, key=_position):
        unique.setdefault((diagnostic.code, diagnostic.span), diagnostic)
    return list(unique.values())


def _position(diagnostic: Diagnostic) -> list[tuple[int, int]]:
    spans = (*(span for _, span in diagnostic.calls), diagnostic.span)
    return [(span.line, span.column) for span in spans if span is not None]


def raise_all(diagnostics: list[Diagnostic]) -> None:
    """Raise the exception of the first diagnostic with all of them; do nothing if there are
    none."""
    if diagnostics:
        raise diagnostics[0].kind.exception(*diagnostics)


def excerpt(span: Span, label: str) -> list[str]:
    """Return a place's line with a caret and a label below it."""
    text = span.source.line(span.line)
    last = span.end_column if span.end_line == span.line else len(text)
    gutter = len(str(span.line))
    before = " " * _columns(text[: span.column])
    carets = "^" * max(1, _columns(text[span.column : last]))
    return [
        f"{' ' * gutter}--> {span}",
        f"{' ' * gutter} |",
        f"{span.line} | {text.expandtabs(1)}",
        f"{' ' * gutter} | {before}{carets} {label}".rstrip(),
    ]


def _columns(text: str) -> int:
    """Count terminal columns: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
