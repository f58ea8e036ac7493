"""The memory instructions as a table."""

from __future__ import annotations

from amdjit.explorer.terminal.screen import Cell, Screen, columns
from amdjit.explorer.terminal.source_text import place_text, source_line
from amdjit.inspection.facts import AccessFacts
from amdjit.inspection.inspection import Inspection

__all__ = ["accesses_view"]

_HEAD = ("address", "space", "kind", "bytes", "lanes", "conflicts", "policy", "line", "source")

_UNITS = frozenset({"scalar memory", "vector memory", "LDS"})
_NONE = "the kernel does not access memory"


def accesses_view(inspection: Inspection, screen: Screen) -> list[str]:
    """Return a row for each access: what a lane moves, and how the addresses of lanes lie."""
    if not inspection.accesses:
        return (
            screen.wrap(_NONE) if inspection.instructions and not _uses_memory(inspection) else []
        )
    rows = [_row(inspection, access) for access in inspection.accesses]
    notes = [
        "",
        "lanes: how the addresses of a wave's lanes lie; ? if the code does not show it",
        "conflicts: cycles of LDS beyond those of an access without bank conflicts",
    ]
    return [
        *columns(screen, _HEAD, rows),
        *(screen.paint(screen.cut(note), "dim") for note in notes),
    ]


def _uses_memory(inspection: Inspection) -> bool:
    return any(item.unit in _UNITS for item in inspection.instructions)


def _row(inspection: Inspection, access: AccessFacts) -> list[str | Cell]:
    place = (access.file, access.line) if access.file and access.line else None
    conflicts = "" if access.bank_conflicts is None else str(access.bank_conflicts)
    return [
        f"{access.address:#x}",
        access.space,
        access.kind,
        str(access.width),
        _lanes(access),
        Cell(conflicts, "warning" if access.bank_conflicts else ""),
        access.policy,
        place_text(place),
        source_line(inspection, access.file, access.line),
    ]


def _lanes(access: AccessFacts) -> str:
    if access.uniform:
        return "one address"
    if access.lane_stride is None:
        return "?"
    if access.lane_stride == access.width:
        return "contiguous"
    return f"{access.lane_stride} bytes apart"
