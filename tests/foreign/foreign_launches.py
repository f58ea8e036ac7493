"""Run a foreign code object in every way that the emulator has, and compare with NumPy."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit.emulator import EmulatorDevice, run
from amdjit.options import read_environment
from amdjit.target import find_target
from tests.foreign.foreign_compilers import ForeignObject
from tests.foreign.foreign_table import Record, Row

CHECKS = ("memory", "race", "init", "sync")


@dataclass(frozen=True)
class Expected:
    """What a launch must leave in an array: `reference`, and how far each element may be from it
    (0: every bit)."""

    array: NDArray[Any]
    reference: NDArray[Any]
    bound: NDArray[Any] | float = 0


@dataclass(frozen=True)
class Launch:
    """A launch: workgroups, arguments, and the arrays of them that are compared."""

    grid: int | tuple[int, ...]
    args: Sequence[Any]
    expected: Sequence[Expected]
    block: int | tuple[int, ...] | None = None


@dataclass(frozen=True)
class Outcome:
    """The largest error in units of its bound, None for equal bits; and the sanitizer's
    findings."""

    error: float | None
    findings: tuple[str, ...]


@functools.cache
def _device(tier: str) -> EmulatorDevice:
    target = find_target("gfx1201")
    assert target is not None
    settings = dataclasses.replace(read_environment(os.environ), emulator_tier=tier)
    return EmulatorDevice(target, 2, time_limit=60.0, environment=settings)


def run_everywhere(
    code: ForeignObject,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    args: Sequence[Any],
) -> tuple[list[NDArray[Any]], tuple[str, ...]]:
    """Run on both tiers and under all checks, each time on copies; the three results are the same
    bits.

    Returns the arrays among the arguments as the launch left them, and what the sanitizer found:
    check/kind and text.
    """
    quick = _results(code, grid, block, args, "quick")
    full = _results(code, grid, block, args, "full")
    with amdjit.sanitize(*CHECKS, raises=False) as found:
        checked = _results(code, grid, block, args, "full")
    for first, *others in zip(quick, full, checked, strict=True):
        for other in others:
            assert first.tobytes() == other.tobytes(), (
                "the tiers, or runs with and without checks, differ"
            )
    return quick, tuple(f"{report.check}/{report.kind}\n{report}" for report in found.reports)


def check_launch(code: ForeignObject, launch: Launch, findings: Sequence[str] = ()) -> Outcome:
    """Run everywhere, and compare with NumPy's results.

    findings: what the sanitizer must report, as check/kind, and nothing else.
    """
    arrays, reports = run_everywhere(
        code, launch.grid, launch.block or code.work_items, launch.args
    )
    kinds = checked_findings(reports, findings)
    given = [arg for arg in launch.args if isinstance(arg, np.ndarray)]
    results = {id(array): result for array, result in zip(given, arrays, strict=True)}
    return Outcome(
        largest_error([(results[id(each.array)], each) for each in launch.expected]), kinds
    )


def checked_findings(reports: Sequence[str], findings: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of reports, which must be those that are expected."""
    kinds = tuple(dict.fromkeys(report.partition("\n")[0] for report in reports))
    assert set(kinds) == set(findings), "\n".join(reports) or f"not found: {findings}"
    return kinds


def largest_error(results: Sequence[tuple[NDArray[Any], Expected]]) -> float | None:
    """Return the largest error of several arrays in units of its bound; None: they are equal."""
    errors = [_error(result, expected) for result, expected in results]
    return None if all(error is None for error in errors) else max(error or 0.0 for error in errors)


def record_launch(
    record: Record,
    code: ForeignObject,
    launch: Launch,
    kernel: str,
    variant: str,
    findings: Sequence[str] = (),
    note: str = "",
) -> None:
    """Check a launch, and put it into the table."""
    outcome = check_launch(code, launch, findings)
    record(Row(code.compiler, code.version, kernel, variant, outcome.error, outcome.findings, note))


def _results(
    code: ForeignObject,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    args: Sequence[Any],
    tier: str,
) -> list[NDArray[Any]]:
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    run(code.code, code.symbol, grid, block, copies, code.dynamic_lds, device=_device(tier))
    return [copy for copy in copies if isinstance(copy, np.ndarray)]


def _error(result: NDArray[Any], expected: Expected) -> float | None:
    """Return the largest difference over its bound. None: none of the elements differs."""
    bound = np.broadcast_to(np.asarray(expected.bound, np.float64), result.shape)
    got, wanted = result.astype(np.float64), expected.reference.astype(np.float64)
    assert got.shape == wanted.shape
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if same.all():
        return None
    error = np.where(
        same, 0, np.abs(got - wanted) / np.where(bound > 0, bound, np.finfo(np.float64).tiny)
    )
    worst = np.unravel_index(np.nanargmax(error), error.shape)
    assert np.isfinite(got[~same]).all(), f"{got[~same][:4]} instead of {wanted[~same][:4]}"
    assert error.max() <= 1, (
        f"{got[worst]} instead of {wanted[worst]} at {worst}, {(error > 1).sum()} elements differ"
    )
    return float(error.max())
