"""`write_inspection_page` and `write_profile_page`: the explorer's page, one file of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from amdjit.explorer.bundle import document
from amdjit.explorer.inspection_data import inspection_data
from amdjit.explorer.interning import Interned
from amdjit.explorer.launch_data import Launch, launch_data
from amdjit.explorer.sources import with_sources
from amdjit.inspection.comparison import Alignment
from amdjit.inspection.inspection import Inspection

__all__ = [
    "ProfiledLaunches",
    "inspection_page",
    "profile_page",
    "write_inspection_page",
    "write_profile_page",
]


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


def write_profile_page(
    profile: ProfiledLaunches,
    path: str | PathLike[str],
    known: Iterable[Inspection] = (),
) -> None:
    """Write the page of the kernels that a profile saw, with the counts and cycles of each launch.

    known: inspections of launched kernels, with what else is known of these, such as LLVM IR.
    Raises ValueError for a profile without launches, OSError if the file cannot be written.
    """
    Path(path).write_text(profile_page(profile, known), encoding="utf-8")


def inspection_page(inspection: Inspection, other: Inspection | None = None) -> str:
    """Return the page of a kernel as text."""
    inspections = [inspection] if other is None else [inspection, other]
    versions = [{"name": "AB"[number], "kernel": number} for number in range(len(inspections))]
    moved = None if other is None else _moved(inspection, other)
    return _page(inspections, versions, moved)


def profile_page(profile: ProfiledLaunches, known: Iterable[Inspection] = ()) -> str:
    """Return the page of a profile as text."""
    if not profile.launches:
        raise ValueError("the profile has no launches: nothing ran on the emulator inside of it")
    kernels: Interned[tuple[bytes, str]] = Interned()
    versions = [
        {
            "name": f"launch {number}: {launch.kernel}",
            "kernel": kernels.number(_key(launch)),
            "launch": launch_data(launch),
        }
        for number, launch in enumerate(profile.launches, 1)
    ]
    of_known = {_key(each): each for each in known}
    first = {_key(launch): launch for launch in reversed(profile.launches)}
    inspections = [of_known.get(key) or first[key].inspection for key in kernels.values()]
    return _page(inspections, versions, None)


def _key(code: Launch | Inspection) -> tuple[bytes, str]:
    return code.code_object, code.kernel


def _moved(before: Inspection, after: Inspection) -> list[list[Any]]:
    """Return where the lines of the second kernel were in the first, for those that were elsewhere,
    or not there: file and line, and file and line before, if any."""
    aligned = Alignment(before, after)
    places = [(place, aligned.before(place)) for place in after.lines]
    return [[*now, *(then or ())] for now, then in places if now != then]


def _page(
    inspections: list[Inspection], versions: list[dict[str, Any]], moved: list[list[Any]] | None
) -> str:
    title = " and ".join(dict.fromkeys(each.kernel for each in inspections))
    kernels = [inspection_data(with_sources(each)) for each in inspections]
    return document(title, {"kernels": kernels, "versions": versions, "moved": moved})
