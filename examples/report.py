"""What an example reports: on which device it ran, what it compared with what, and how far apart the two were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import amdjit


class CheckError(AssertionError):
    """A kernel's result is further from NumPy's than the example allows."""


@dataclass(frozen=True)
class Report:
    """The outcome of one check. largest_error: of all elements, absolute; tolerance: the most that is right."""

    example: str
    device: str
    checked: str
    largest_error: float
    tolerance: float

    def __str__(self) -> str:
        limit = "exact" if self.tolerance == 0 else f"at most {self.tolerance:.1e}"
        return f"{self.example} on {self.device}: {self.checked}; largest error {self.largest_error:.3g} ({limit})"


def compare(example: str, checked: str, result: Any, expected: Any, tolerance: float = 0.0) -> Report:
    """Return a report on `result` against `expected`; CheckError if they differ by more than the tolerance."""
    wide = np.int64 if np.asarray(expected).dtype.kind in "iu" else np.float64
    difference = np.abs(np.asarray(result).astype(wide) - np.asarray(expected).astype(wide))
    largest = float(np.max(difference))
    report = Report(example, amdjit.current_device().name, checked, largest, tolerance)
    if not largest <= tolerance:  # so that NaN fails too
        raise CheckError(str(report))
    return report
