"""Warnings about what compiles: what works and is slow by accident, and what is likely to be a
mistake."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from amdjit.diagnostics.diagnostic import excerpt
from amdjit.diagnostics.span import Span


class PerformanceWarning(UserWarning):
    """A kernel works, and something in it or in its launches makes it slow. See docs/language.md,
    "Warnings"."""


class CompileWarning(UserWarning):
    """A kernel compiles, and a line of it is unlikely to mean what it says. See docs/language.md,
    "Warnings"."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to warn about: where, what it is, and what to write instead."""

    name: str
    span: Span
    title: str
    label: str
    help: str
    category: type[Warning] = PerformanceWarning

    def render(self) -> str:
        """Return the text that people read."""
        lines = [
            f"{self.title} [{self.name}]",
            *excerpt(self.span, self.label),
            f"  = help: {self.help}",
        ]
        return "\n".join(lines)

    def warn(self) -> None:
        """Give Python's warning, at the line that it is about."""
        warnings.warn_explicit(self.render(), self.category, self.span.file, self.span.line)
