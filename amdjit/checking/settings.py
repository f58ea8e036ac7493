"""What one launch is checked for, and where its reports go. Loaded only if checks are made."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.sanitizing import ACTIVE, sanitize
from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.sanitizer import SanitizerError, SanitizerReport, SanitizerWarning
from amdjit.options import Environment

_LIMIT = 20


class Request(NamedTuple):
    """The request to a device. limit: the most reports. arguments: the arrays of the launch.

    promises_alignment: whether the source promises that the address of a wide access to LDS is a
    multiple of its size.
    """

    checks: frozenset[str]
    limit: int
    arguments: tuple[ArrayArgument, ...] = ()
    promises_alignment: bool = True


class Settings(NamedTuple):
    """The settings of a launch, from all enclosing blocks. json: a file for the reports, or
    None."""

    checks: frozenset[str]
    limit: int
    raises: bool
    json: Path | None
    blocks: tuple[sanitize, ...]


def settings_for(option: Sequence[str], environment: Environment) -> Settings:
    """Return the settings of a launch, here, of a kernel with the option `sanitize=option`."""
    blocks = ACTIVE.get()
    checks = frozenset(option).union(environment.sanitize, *(block.own_checks for block in blocks))
    limits = [block.limit for block in blocks if block.limit is not None]
    raises = [block.raises for block in blocks if block.raises is not None]
    files = [block.json for block in blocks if block.json is not None]
    return Settings(
        checks,
        limits[-1] if limits else _LIMIT,
        raises[-1] if raises else True,
        files[-1] if files else environment.sanitize_json,
        blocks,
    )


def publish(reports: Sequence[SanitizerReport], settings: Settings) -> None:
    """Add reports to the enclosing `sanitize` blocks and the file; warn about those that are
    warnings."""
    for block in settings.blocks:
        block.reports.extend(reports)
    if settings.json is not None and reports:
        _append(reports, settings.json)
    if settings.raises:
        for report in reports:
            if not report.is_error:
                place = (report.file or "<kernel>", report.line or 1)
                warnings.warn_explicit(report.render(), SanitizerWarning, *place)


def _append(reports: Sequence[SanitizerReport], path: Path) -> None:
    """Append reports to a file; if it cannot be written, warn and go on."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(report.as_json() + "\n" for report in reports)
    except OSError as error:
        warnings.warn(
            f"the sanitizer's reports do not go to {path}: {error.strerror}",
            SanitizerWarning,
            stacklevel=2,
        )


def launch_checked(
    launch: Callable[[Request], tuple[tuple[SanitizerReport, ...], KernelFault | None]],
    option: Sequence[str],
    environment: Environment,
    arrays: Sequence[ArrayArgument],
) -> None:
    """Launch with the checks that are on, and publish their reports.

    SanitizerError if they find errors, KernelFault if the launch was stopped.
    """
    settings = settings_for(option, environment)
    reports, fault = launch(Request(settings.checks, settings.limit, tuple(arrays)))
    publish(reports, settings)
    if settings.raises and any(report.is_error for report in reports):
        raise SanitizerError(reports) from fault
    if fault is not None:
        raise fault
