"""The views by name, and what they all begin and end with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.explorer.terminal.accesses import accesses_view
from amdjit.explorer.terminal.lines import lines_view
from amdjit.explorer.terminal.listing import listing_view
from amdjit.explorer.terminal.occupancy import occupancy_view
from amdjit.explorer.terminal.pressure import pressure_view
from amdjit.explorer.terminal.screen import PLAIN, Screen
from amdjit.explorer.terminal.sentences import sentences_view
from amdjit.explorer.terminal.waits import waits_view
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.missing import NO_NAMES

__all__ = ["VIEWS", "view"]

VIEWS: Mapping[str, Callable[[Inspection, Screen], list[str]]] = {
    "lines": lines_view,
    "pressure": pressure_view,
    "memory": accesses_view,
    "waits": waits_view,
    "occupancy": occupancy_view,
    "meanings": sentences_view,
    "asm": listing_view,
}

# The views that would say the names of values.
_NAMES_VALUES = ("pressure",)


def view(inspection: Inspection, name: str, screen: Screen = PLAIN) -> str:
    """Return a view of an inspection as text; KeyError if there is none of that name."""
    body = VIEWS[name](inspection, screen)
    missing = [
        screen.paint(line, "warning")
        for text in inspection.missing
        if text != NO_NAMES or name in _NAMES_VALUES
        for line in screen.wrap(f"not known: {text}")
    ]
    gap = [""] if body and body[-1] and missing else []
    return "\n".join([*summary(inspection, screen), "", *body, *gap, *missing])


def summary(inspection: Inspection, screen: Screen) -> list[str]:
    """Return what the kernel is and what it takes."""
    i = inspection
    sizes = [
        f"{i.vgprs} VGPRs",
        f"{i.sgprs} SGPRs",
        f"{i.lds_bytes} bytes of LDS" if i.lds_bytes else "no LDS",
        f"{i.scratch_bytes} bytes of scratch" if i.scratch_bytes else "no scratch",
    ]
    if i.vgpr_spills or i.sgpr_spills:
        sizes.append(f"{i.vgpr_spills} VGPRs and {i.sgpr_spills} SGPRs spilled")
    title = f"{i.kernel}: {i.target}, wave{i.wave_size}"
    count = len(i.instructions)
    size = f"{i.code_bytes} bytes"
    code = f"{count} instruction{'s' * (count != 1)}, {size}" if count else f"{size} of code"
    return [screen.heading(title), screen.cut(f"{code}; {', '.join(sizes)}")]
