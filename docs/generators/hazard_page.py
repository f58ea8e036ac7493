"""The generated table of docs/hazards.md: the rows of hazards, as they are applied."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from amdjit.emulator.checks.waits.hazard_rows import ROWS, Clock, End, Row

__all__ = ["FILE", "page"]

FILE = Path(__file__).parents[1] / "hazards.md"
_MARKED = re.compile(r"(<!-- generated: hazards -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = ("hazard", "processors", "first", "then, too soon", "has to pass", "source")
_WAITS = {
    End.VA_VDST: "`va_vdst(0)`",
    End.VA_SDST: "`va_sdst(0)`",
    End.VA_VCC: "`va_vcc(0)`",
    End.SA_SDST: "`sa_sdst(0)`",
    End.VM_VSRC: "`vm_vsrc(0)`",
}

_ONE = {
    Clock.STATES: "wait state",
    Clock.VALU: "vector instruction",
    Clock.WORKING_VALU: "vector instruction other than `v_nop`",
}

_Table = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def page(table: _Table) -> str:
    """Return the page with the current rows."""
    shown = table(_HEAD, [_cells(row) for row in ROWS])
    return _MARKED.sub(lambda match: f"{match[1]}{shown}\n{match[2]}", FILE.read_text())


def _cells(row: Row) -> tuple[str, ...]:
    processors = ", ".join(row.processors) + (", wave64" if row.only_wave64 else "")
    return row.name, processors, _first(row), row.then.text, _passes(row), row.source


def _first(row: Row) -> str:
    parts = [row.after.text] if row.after is not None else []
    parts.append(row.first.text)
    if row.between is not None:
        parts.append(row.between.text)
    return ", then ".join(parts)


def _passes(row: Row) -> str:
    waits = [name for end, name in _WAITS.items() if row.ends & end]
    if row.clock is Clock.NONE:
        return f"a wait for {waits[0]}"
    if row.words:
        passed = f"{row.clock.value}: {row.words}"
    else:
        passed = f"{row.states} {row.clock.value if row.states > 1 else _ONE[row.clock]}"
    return f"{passed}, or a wait for {waits[0]}" if waits else passed
