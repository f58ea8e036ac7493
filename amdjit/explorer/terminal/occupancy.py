"""How many waves fit on a SIMD, what limits them, and what more would need."""

from __future__ import annotations

from amdjit.explorer.terminal.screen import Cell, Screen, columns
from amdjit.inspection.inspection import Inspection

__all__ = ["occupancy_view"]


_NAMES = {"vgprs": "VGPRs", "lds": "LDS", "none": "wave slots"}


def occupancy_view(inspection: Inspection, screen: Screen) -> list[str]:
    """Return the limits as a table with bars, and the next steps up in words."""
    occupancy = inspection.occupancy
    waves = occupancy.waves_per_simd
    name = _NAMES.get(occupancy.limited_by, occupancy.limited_by)
    limit = f", limited by {name}" if occupancy.limited_by != "none" else ""
    lines = [screen.heading(f"{waves} wave{'s' * (waves != 1)} a SIMD{limit}"), ""]
    rows: list[list[str | Cell]] = [
        [
            _NAMES.get(name, name),
            str(count),
            Cell(screen.bar(count), "warning" if count == waves else "VALU"),
        ]
        for name, count in occupancy.limits.items()
    ]
    lines += columns(screen, ("limit", "waves", ""), rows)
    if occupancy.steps:
        lines += ["", screen.heading("what more waves would need")]
        lines += [screen.cut(f"  {step.text}") for step in occupancy.steps]
    return lines
