"""`write_inspection_page` and `write_profile_page`: the explorer's page, one file of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from amdjit.explorer.bundle import document
from amdjit.explorer.page_data import Interned, Launch, inspection_data, launch_data
from amdjit.inspection.comparison import Alignment
from amdjit.inspection.facts import KernelFacts

__all__ = [
    "ProfiledLaunches",
    "inspection_page",
    "profile_page",
    "with_sources",
    "write_inspection_page",
    "write_profile_page",
]


class ProfiledLaunches(Protocol):
    """The parts of a profile that the page reads."""

    @property
    def launches(self) -> Sequence[Launch]:
        """The launches in their order."""


def write_inspection_page(
    inspection: KernelFacts, path: str | PathLike[str], other: KernelFacts | None = None
) -> None:
    """Write the page of a kernel. If there is another inspection, the page compares the two.
    OSError if the file cannot be written."""
    Path(path).write_text(inspection_page(inspection, other), encoding="utf-8")


def write_profile_page(
    profile: ProfiledLaunches,
    path: str | PathLike[str],
    known: Iterable[KernelFacts] = (),
) -> None:
    """Write the page of the kernels that a profile saw, with the counts and cycles of each launch.

    known: inspections of launched kernels that have more facts, such as LLVM IR. ValueError for a
    profile without launches, OSError if the file cannot be written.
    """
    Path(path).write_text(profile_page(profile, known), encoding="utf-8")


def inspection_page(inspection: KernelFacts, other: KernelFacts | None = None) -> str:
    """Return the page of a kernel as text."""
    inspections = [inspection] if other is None else [inspection, other]
    versions = [{"name": "AB"[number], "kernel": number} for number in range(len(inspections))]
    moved = None if other is None else _moved(inspection, other)
    return _page(inspections, versions, moved)


def profile_page(profile: ProfiledLaunches, known: Iterable[KernelFacts] = ()) -> str:
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


def _key(code: Launch | KernelFacts) -> tuple[bytes, str]:
    return code.code_object, code.kernel


def _moved(before: KernelFacts, after: KernelFacts) -> list[list[Any]]:
    """Return where the lines of the second kernel were in the first, for lines that moved or are
    new: the file and line, and the file and line before, if there was one."""
    aligned = Alignment(before, after)
    places = [(place, aligned.before(place)) for place in after.lines]
    return [[*now, *(then or ())] for now, then in places if now != then]


def _page(
    inspections: list[KernelFacts], versions: list[dict[str, Any]], moved: list[list[Any]] | None
) -> str:
    title = " and ".join(dict.fromkeys(each.kernel for each in inspections))
    kernels = [inspection_data(with_sources(each)) for each in inspections]
    return document(title, {"kernels": kernels, "versions": versions, "moved": moved})


# The texts of the source files that debug information names.

# A code object may name any file, and pages are passed around, so only files that are named like
# source code are read.
_SOURCES = frozenset(
    {".py", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hip", ".cu", ".cuh", ".cl", ".mlir"}
)
_MOST_BYTES = 1 << 22


def with_sources(inspection: KernelFacts) -> KernelFacts:
    """Return the inspection with the texts of the files that its lines name, if they are on this
    machine and the inspection does not have them yet."""
    texts = dict(inspection.companion.sources)
    for name in dict.fromkeys(_named_files(inspection)):
        if name not in texts and (text := _read(name)) is not None:
            texts[name] = text
    return replace(inspection, companion=replace(inspection.companion, sources=texts))


def _named_files(inspection: KernelFacts) -> list[str]:
    files = [each.file for each in inspection.instructions if each.file is not None]
    calls = [call.file for each in inspection.instructions for call in each.inlined_from]
    return files + calls


def _read(name: str) -> str | None:
    path = Path(name)
    try:
        if path.suffix in _SOURCES and path.is_file() and path.stat().st_size <= _MOST_BYTES:
            return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    return None
