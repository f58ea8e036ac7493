"""Run a foreign code object in every way that the emulator has, and compare with NumPy."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from foreign_compilers import ForeignObject
from foreign_table import Row
from numpy.typing import NDArray

import amdjit
from amdjit.emulator import EmulatorDevice, run
from amdjit.options import read_environment
from amdjit.target import find_target

CHECKS = ("memory", "race", "init", "sync")


@dataclass(frozen=True)
class Expected:
    """What a launch must leave in an array: `reference`, and how far each element may be from it (0: every bit)."""

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
    """The largest error in units of its bound, None for equal bits; and the sanitizer's findings."""

    error: float | None
    findings: tuple[str, ...]


@functools.cache
def _device(tier: str) -> EmulatorDevice:
    target = find_target("gfx1201")
    assert target is not None
    settings = dataclasses.replace(read_environment(os.environ), emulator_tier=tier)
    return EmulatorDevice(target, 2, time_limit=60.0, environment=settings)


def check_launch(code: ForeignObject, launch: Launch, findings: Sequence[str] = ()) -> Outcome:
    """Run on both tiers and under all checks; the three results are the same bits, and NumPy's within the bounds.

    findings: what the sanitizer must report, as check/kind, and nothing else.
    """
    quick = _results(code, launch, "quick")
    full = _results(code, launch, "full")
    with amdjit.sanitize(*CHECKS, raises=False) as found:
        checked = _results(code, launch, "full")
    for first, *others in zip(quick, full, checked, strict=True):
        for other in others:
            assert first.tobytes() == other.tobytes(), "the tiers, or runs with and without checks, differ"
    kinds = tuple(f"{report.check}/{report.kind}" for report in found.reports)
    assert set(kinds) == set(findings), "\n".join(str(report) for report in found.reports)
    errors = [_error(result, expected) for result, expected in zip(quick, launch.expected, strict=True)]
    exact = all(error is None for error in errors)
    return Outcome(None if exact else max(error or 0.0 for error in errors), tuple(dict.fromkeys(kinds)))


def record_launch(
    record: Callable[[Row], None],
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


def _results(code: ForeignObject, launch: Launch, tier: str) -> list[NDArray[Any]]:
    """Launch on copies of the arrays, so that every run begins alike; return those that are compared."""
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in launch.args]
    block = launch.block or code.work_items
    run(code.code, code.symbol, launch.grid, block, copies, code.dynamic_lds, device=_device(tier))
    places = [_place(launch.args, expected.array) for expected in launch.expected]
    return [copies[place] for place in places]


def _place(args: Sequence[Any], array: NDArray[Any]) -> int:
    return next(place for place, arg in enumerate(args) if arg is array)


def _error(result: NDArray[Any], expected: Expected) -> float | None:
    """Return the largest difference over its bound. None: none of the elements differs."""
    bound = np.broadcast_to(np.asarray(expected.bound, np.float64), result.shape)
    got, wanted = result.astype(np.float64), expected.reference.astype(np.float64)
    assert got.shape == wanted.shape
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if same.all():
        return None
    error = np.where(same, 0, np.abs(got - wanted) / np.where(bound > 0, bound, np.finfo(np.float64).tiny))
    worst = np.unravel_index(np.nanargmax(error), error.shape)
    assert np.isfinite(got[~same]).all(), f"{got[~same][:4]} instead of {wanted[~same][:4]}"
    assert error.max() <= 1, f"{got[worst]} instead of {wanted[worst]} at {worst}, {(error > 1).sum()} elements differ"
    return float(error.max())
