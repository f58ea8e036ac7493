"""`write_inspection_page` and `write_profile_page`: the explorer's page, one file of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from amdjit.explorer.bundle import document
from amdjit.explorer.inspection_data import inspection_data
from amdjit.explorer.launch_data import Launch, launch_data
from amdjit.inspection.inspection import Inspection

__all__ = ["ProfiledLaunches", "inspection_page", "profile_page", "write_inspection_page",
           "write_profile_page"]


class ProfiledLaunches(Protocol):
    """What the page reads of a profile."""

    @property
    def launches(self) -> Sequence[Launch]:
        """The launches in their order."""


def write_inspection_page(
    inspection: Inspection, path: str | PathLike[str], other: Inspection | None = None
) -> None:
    """Write the page of a kernel; with another inspection, the two are compared on it. Raises
    OSError if the file cannot be written."""
    Path(path).write_text(inspection_page(inspection, other), encoding="utf-8")


def write_profile_page(profile: ProfiledLaunches, path: str | PathLike[str]) -> None:
    """Write the page of the kernels that a profile saw, with the counts and cycles of each launch.
    Raises ValueError for a profile without launches, OSError if the file cannot be written."""
    Path(path).write_text(profile_page(profile), encoding="utf-8")


def inspection_page(inspection: Inspection, other: Inspection | None = None) -> str:
    """Return the page of a kernel as text."""
    inspections = [inspection] if other is None else [inspection, other]
    versions = [{"name": name, "kernel": n} for n, name in zip(range(len(inspections)), "AB")]
    return _page(inspections, versions, compared=other is not None)


def profile_page(profile: ProfiledLaunches) -> str:
    """Return the page of a profile as text."""
    if not profile.launches:
        raise ValueError("the profile has no launches: nothing ran on the emulator inside of it")
    kernels = {id(launch.inspection): launch.inspection for launch in profile.launches}
    numbers = {key: number for number, key in enumerate(kernels)}
    versions = [
        {
            "name": f"launch {number}: {launch.kernel}",
            "kernel": numbers[id(launch.inspection)],
            "launch": launch_data(launch),
        }
        for number, launch in enumerate(profile.launches, 1)
    ]
    return _page(list(kernels.values()), versions, compared=False)


def _page(inspections: list[Inspection], versions: list[dict[str, Any]], compared: bool) -> str:
    title = " and ".join(dict.fromkeys(each.kernel for each in inspections))
    kernels = [inspection_data(each) for each in inspections]
    return document(title, {"kernels": kernels, "versions": versions, "compared": compared})
