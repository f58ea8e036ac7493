"""Kernels with bugs whose lines are marked, and what the checks say of them.

A line with a bug ends in `# BUG check/kind`; the second place of a report (the other access of a
race) in `# OTHER`. A case is a kernel and what launches it; what is found in its launches must be
the marks of its source, no more and no less.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import amdjit
from amdjit import Kernel, SanitizerReport

DEVICE = "emulator:gfx1201"
_MARK = re.compile(r"# BUG (\w+/[\w-]+)")


@dataclass(frozen=True)
class Case:
    """A kernel with bugs; `launch` is given the kernel."""

    kernel: Kernel
    launch: Callable[[Kernel], object]

    @property
    def name(self) -> str:
        """Return the name of the test."""
        return self.kernel.__name__

    def marks(self) -> set[tuple[str, int]]:
        """Return (check/kind, line) of each mark."""
        lines, first = inspect.getsourcelines(self.kernel.function)
        return {(kind, first + n) for n, line in enumerate(lines) for kind in _MARK.findall(line)}

    def others(self) -> set[int]:
        """Return the lines marked as second places."""
        lines, first = inspect.getsourcelines(self.kernel.function)
        return {first + n for n, line in enumerate(lines) if "# OTHER" in line}


def reports_of(
    launch: Callable[[], object], *checks: str, device: str = DEVICE
) -> list[SanitizerReport]:
    """Return what the checks say of some launches on an emulator."""
    with (
        warnings.catch_warnings(),
        amdjit.use(device),
        amdjit.sanitize(*checks, raises=False) as found,
    ):
        warnings.simplefilter("ignore", amdjit.PerformanceWarning)
        launch()
    return found.reports


def found_lines(reports: list[SanitizerReport]) -> set[tuple[str, int]]:
    """Return (check/kind, line) of each report."""
    return {(f"{report.check}/{report.kind}", report.line or 0) for report in reports}


def text_of(reports: list[SanitizerReport]) -> str:
    """Return the reports for the message of an assertion."""
    return "\n".join(report.render() for report in reports)
