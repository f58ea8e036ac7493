"""An example's report: the device it ran on, what it compared, and how large the difference was."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import amdjit


class CheckError(AssertionError):
    """A kernel's result differs from NumPy's by more than the example allows."""


@dataclass(frozen=True)
class Report:
    """The outcome of one check.

    largest_error: over all elements, absolute unless `checked` says otherwise; tolerance: the
    largest allowed; result: what was compared.
    """

    example: str
    device: str
    checked: str
    largest_error: float
    tolerance: float
    result: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        limit = "exact" if self.tolerance == 0 else f"at most {self.tolerance:.1e}"
        return (
            f"{self.example} on {self.device}: {self.checked}; largest error "
            f"{self.largest_error:.3g} ({limit})"
        )


def compare(
    example: str, checked: str, result: Any, expected: Any, tolerance: float = 0.0
) -> Report:
    """Return a report on `result` against `expected`. Raises CheckError if they differ by more than
    the tolerance."""
    wide = np.int64 if np.asarray(expected).dtype.kind in "iu" else np.float64
    difference = np.abs(np.asarray(result).astype(wide) - np.asarray(expected).astype(wide))
    return _checked(example, checked, float(np.max(difference)), tolerance, result)


def compare_relative(
    example: str, checked: str, result: Any, expected: Any, epsilons: float
) -> Report:
    """Return a report by rocWMMA's rule: the largest |a - b| / (|a| + |b| + 1), in epsilons of the
    result's type.

    Raises CheckError if it exceeds the tolerance. Source: rocWMMA, `compareEqual`.
    """
    a, b = np.asarray(result).astype(np.float64), np.asarray(expected).astype(np.float64)
    largest = float(np.max(np.abs(a - b) / (np.abs(a) + np.abs(b) + 1)))
    epsilon = float(np.finfo(np.asarray(result).dtype).eps)
    relative = f"{checked}, relative to |a| + |b| + 1"
    return _checked(example, relative, largest, epsilons * epsilon, result)


def small_integers(*shape: int, dtype: Any = np.float16) -> Any:
    """Return rocWMMA's test data, -4 to 3, which are exact in every float: t % 5, negative if t % 3
    is not 0.

    t numbers all elements. A product with a transposed or shifted operand differs.
    """
    t = np.arange(math.prod(shape))
    return np.where(t % 3 != 0, -(t % 5), t % 5).astype(dtype).reshape(shape)


def _checked(example: str, checked: str, largest: float, tolerance: float, result: Any) -> Report:
    name = amdjit.current_device().name
    report = Report(example, name, checked, largest, tolerance, np.asarray(result))
    if not largest <= tolerance:  # so that NaN fails too
        raise CheckError(str(report))
    return report
