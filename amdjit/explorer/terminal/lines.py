"""Source lines with what each became: instructions by unit, and registers at the peak."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from amdjit.explorer.terminal.screen import Cell, Screen, columns
from amdjit.explorer.terminal.source_text import source_line
from amdjit.inspection.facts import LineFacts
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.units import UNITS

__all__ = ["lines_view"]

_SHORT = {"transcendental": "trans", "scalar memory": "smem", "vector memory": "vmem"}


def lines_view(inspection: Inspection, screen: Screen) -> list[str]:
    """Return a table for each file: a row for each source line that has instructions."""
    facts = sorted(inspection.lines.values(), key=lambda line: (line.file, line.line))
    used = [unit for unit in UNITS if any(unit in line.units for line in facts)]
    head = ("line", *(_SHORT.get(unit, unit) for unit in used), "VGPRs", "SGPRs", "source")
    text: list[str] = []
    for file, lines in groupby(facts, lambda line: line.file):
        rows = [_row(inspection, line, used) for line in lines]
        text += [screen.heading(file), *columns(screen, head, rows), ""]
    return [*text, *map(screen.cut, _without_line(inspection))]


def _row(inspection: Inspection, line: LineFacts, used: list[str]) -> list[str | Cell]:
    counts = [Cell(str(line.units.get(unit, 0) or ""), unit) for unit in used]
    is_peak = line.peak_vgprs == inspection.peak.vgprs
    peak = Cell(str(line.peak_vgprs), "warning" if is_peak else "")
    source = source_line(inspection, line.file, line.line)
    return [str(line.line), *counts, peak, str(line.peak_sgprs), source]


def _without_line(inspection: Inspection) -> list[str]:
    units = Counter(item.unit for item in inspection.instructions if item.place is None)
    if not units:
        return []
    listed = ", ".join(f"{count} {unit}" for unit, count in units.items())
    return [f"without a line: {listed}"]
