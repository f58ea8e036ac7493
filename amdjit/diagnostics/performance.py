"""Warnings: about kernels that compile but are slow by accident, or likely to be a mistake; about
the device that they run on."""

from __future__ import annotations

import warnings

from amdjit.diagnostics.errors import excerpt
from amdjit.diagnostics.span import Span
from amdjit.late_methods import dataclass


class PerformanceWarning(UserWarning):
    """A kernel works, but something makes it or its launches slow. See docs/language.md,
    "Warnings"."""


class CompileWarning(UserWarning):
    """A kernel compiles, but a line of it is unlikely to do what was meant.

    See docs/language.md, "Warnings"."""


class LaunchWarning(UserWarning):
    """A line configures a launch, `kernel[grid, block]`, and launches nothing: the call with the
    arguments is missing."""


class DeviceWarning(UserWarning):
    """Kernels run on the emulator, although this machine has ROCm or an AMD GPU: see docs/rocm.md,
    "What goes wrong"."""


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
