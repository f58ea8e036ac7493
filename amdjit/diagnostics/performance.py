"""Warnings about kernels that compile: slow by accident, or likely to be a mistake."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from amdjit.diagnostics.diagnostic import excerpt
from amdjit.diagnostics.span import Span


class PerformanceWarning(UserWarning):
    """A kernel works, but something makes it or its launches slow. See docs/language.md,
    "Warnings"."""


class CompileWarning(UserWarning):
    """A kernel compiles, but a line of it is unlikely to do what was meant.

    See docs/language.md, "Warnings"."""


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
        """Return the finding as text for people."""
        lines = [
            f"{self.title} [{self.name}]",
            *excerpt(self.span, self.label),
            f"  = help: {self.help}",
        ]
        return "\n".join(lines)

    def warn(self) -> None:
        """Issue a Python warning at the line of the finding."""
        warnings.warn_explicit(self.render(), self.category, self.span.file, self.span.line)
