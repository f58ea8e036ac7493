"""The live registers along the code, as bars, with the numbers at which fewer waves fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.source_text import place_text, source_line
from amdjit.inspection.facts import InstructionFacts, LiveOrigin
from amdjit.inspection.inspection import Inspection

__all__ = ["pressure_view"]

_MOST_ROWS = 64
_LONGEST_BAR, _SHORTEST_BAR = 40, 10
# What stands before a bar: address and number.
_MARGIN = 16


def pressure_view(inspection: Inspection, screen: Screen) -> list[str]:
    """Return a bar for each instruction, or for the most of several where there are many."""
    if not inspection.instructions:
        return []
    most = max(inspection.peak.vgprs, 1)
    steps = {
        step.vgprs: step.waves
        for step in inspection.occupancy.steps
        if step.vgprs is not None and step.vgprs < most
    }
    length = _bar_length(screen)
    marks = [round(vgprs * length / most) for vgprs in steps]
    rows, place = [], None
    for group in _groups(inspection.instructions):
        highest = max(group, key=lambda item: len(item.live_vgprs))
        notes = _notes(inspection, group, highest, screen, highest.place != place)
        place = highest.place
        bar = screen.bar(len(highest.live_vgprs) * length / most, marks, length + 1)
        rows.append(_row(inspection, group, highest, bar, notes, screen))
    return [*_peak(inspection, screen), *_legend(steps, screen), "", *rows]


def _bar_length(screen: Screen) -> int:
    """Return the length of the longest bar: about a third of a line, that text has room beside."""
    third = _LONGEST_BAR if screen.width is None else (screen.width - _MARGIN) // 3
    return min(max(third, _SHORTEST_BAR), _LONGEST_BAR)


def _groups(instructions: Sequence[InstructionFacts]) -> Iterator[Sequence[InstructionFacts]]:
    size = -(-len(instructions) // _MOST_ROWS)
    for first in range(0, len(instructions), size):
        yield instructions[first : first + size]


def _notes(
    inspection: Inspection,
    group: Sequence[InstructionFacts],
    highest: InstructionFacts,
    screen: Screen,
    is_new: bool,
) -> str:
    """Return what stands behind a bar: loops, the instruction, and the source where it changes."""
    loop = ("┃" if screen.unicode else ":") * highest.loop_depth
    what = highest.text if len(group) == 1 else f"{len(group)} instructions"
    source = (place_text(highest.place), source_line(inspection, highest.file, highest.line))
    return "  ".join((f"{loop:3}{what:36}", *(source if is_new else ()))).rstrip()


def _row(
    inspection: Inspection,
    group: Sequence[InstructionFacts],
    highest: InstructionFacts,
    bar: str,
    notes: str,
    screen: Screen,
) -> str:
    begins = f"{group[0].address:#8x}  {len(highest.live_vgprs):4} "
    is_peak = any(item.address == inspection.peak.address for item in group)
    painted = screen.paint(bar, "warning" if is_peak else "VALU")
    return f"{begins}{painted} {screen.cut(notes, len(begins) + len(bar) + 1)}".rstrip()


def _peak(inspection: Inspection, screen: Screen) -> list[str]:
    peak = inspection.peak
    where = next((i for i in inspection.instructions if i.address == peak.address), None)
    place = place_text(where.place) if where else ""
    at = f"{peak.address:#x}" + (f" ({place})" if place else "")
    lines = [f"peak: {peak.vgprs} VGPRs, {peak.sgprs} SGPRs live at {at}"]
    lines += [f"  {value.name}: {value.type} in {value.registers}" for value in peak.values]
    lines += [f"  {_origin(inspection, origin)}" for origin in peak.origins]
    return [screen.cut(line) for line in lines]


def _origin(inspection: Inspection, origin: LiveOrigin) -> str:
    place = origin.place
    written = f"written by {place_text(place)}" if place else "written by lines that are not known"
    source = source_line(inspection, origin.file, origin.line)
    return f"{len(origin.vgprs):4} {written:32} {source}".rstrip()


def _legend(steps: dict[int, int], screen: Screen) -> list[str]:
    line = "│" if screen.unicode else "|"
    texts = [f"{line} {vgprs} VGPRs: {waves} waves would fit" for vgprs, waves in steps.items()]
    return [screen.cut(text) for text in texts]
