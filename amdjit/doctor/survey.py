"""What HIP reports, asked in a child process, because opening a driver may hang or crash.

The lines, in this order: `places` (where the library was looked for), `opened` (which one was
opened, and its version), a `device` for each device, `default` (the one that kernels run on), and
`failed` for everything that did not work.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amdjit.devices import current_device
from amdjit.diagnostics.errors import AmdjitError
from amdjit.doctor.child import Report, reporting
from amdjit.doctor.finding import REINSTALL, REPORT_IT
from amdjit.options import read_environment, rocm_settings
from amdjit.runtime.hip import discovery, library
from amdjit.runtime.hip.calls import hip_library, version_text
from amdjit.runtime.hip_errors import HipError, HipUnavailableError

__all__ = ["failure", "main"]


def main(*arguments: str) -> None:
    """Report all lines."""
    report = reporting()
    try:
        _report_places(report)
        _report_hip(report)
    except Exception as error:  # the doctor reports every error
        report(stage="failed", **failure(error))
    _report_default(report)


def failure(error: BaseException) -> dict[str, Any]:
    """Return an error in the form of a report: its class, its text, its remedy, which is empty if
    it has none, and HIP's code."""
    if isinstance(error, (HipError, HipUnavailableError)):
        code = error.code if isinstance(error, HipError) else None
        return dict(error=type(error).__name__, what=error.what, remedy=error.remedy, code=code)
    if isinstance(error, AmdjitError):
        return dict(error=type(error).__name__, what=str(error), remedy="", code=None)
    what = f"{type(error).__name__}: {error}"
    remedy = REINSTALL if isinstance(error, ImportError) else REPORT_IT
    return dict(error=type(error).__name__, what=what, remedy=remedy, code=None)


def _report_places(report: Report) -> None:
    rocm_path = read_environment(os.environ).rocm_path
    looked_at = []
    for place in library.places(rocm_path):
        looked_at.append(place)
        if place.found:
            break
    folders = rocm_settings(os.environ).get("LD_LIBRARY_PATH", "").split(os.pathsep)
    report(
        stage="places",
        places=[dataclasses.asdict(place) for place in looked_at],
        files=library.unopened(rocm_path, _existing(folders)),
    )


def _existing(folders: Sequence[str]) -> list[Path]:
    return [Path(folder) for folder in folders if folder and Path(folder).is_dir()]


def _report_hip(report: Report) -> None:
    hip_library()
    version = discovery.runtime_version()
    report(stage="opened", version=version, text=version_text(version), loaded=library.all_loaded())
    for found in discovery.found_devices():
        facts = dataclasses.asdict(dataclasses.replace(found, target=None))
        report(stage="device", **{**facts, "target": found.target and str(found.target)})


def _report_default(report: Report) -> None:
    try:
        report(stage="default", name=current_device().name)
    except Exception as error:
        report(stage="default", name=None, **failure(error))
