"""What one launch is to be checked for, and where its reports go. Loaded where checks are made."""

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
    """What a device gets. limit: the most reports; arguments: the arrays that the launch was given.

    promises_alignment: whether wide accesses of LDS whose size does not divide the address break
    what the source says.
    """

    checks: frozenset[str]
    limit: int
    arguments: tuple[ArrayArgument, ...] = ()
    promises_alignment: bool = True


class Settings(NamedTuple):
    """What holds for a launch: all enclosing blocks together. json: where reports go besides."""

    checks: frozenset[str]
    limit: int
    raises: bool
    json: Path | None
    blocks: tuple[sanitize, ...]


def settings_for(option: Sequence[str], environment: Environment) -> Settings:
    """Return what holds for a kernel with the option `sanitize=option` launched here."""
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
    """Hand reports to the enclosing `sanitize` blocks and to the file for them; warn of those that
    are warnings."""
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
    """A file that cannot be written must not cost what was found."""
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
    """Launch with the checks that hold here and hand out what they find.

    SanitizerError if they find errors, KernelFault for what stopped the launch.
    """
    settings = settings_for(option, environment)
    reports, fault = launch(Request(settings.checks, settings.limit, tuple(arrays)))
    publish(reports, settings)
    if settings.raises and any(report.is_error for report in reports):
        raise SanitizerError(reports) from fault
    if fault is not None:
        raise fault
