"""The memory check of a launch: `sanitize("memory")`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.settings import Request
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.check import Check
from amdjit.emulator.checks.findings import LaunchFacts, Row
from amdjit.emulator.checks.memory.instrument import AlignmentInstrument
from amdjit.emulator.checks.memory.reports import memory_report
from amdjit.emulator.layout import FAULT_KINDS, MEMORY_KINDS
from amdjit.emulator.memory import Table
from amdjit.emulator.wave.frame import Instruments


class MemoryCheck(Check):
    """Reports wrong addresses, which native code compares in every launch, and misaligned LDS."""

    name: ClassVar[str] = "memory"
    kinds: ClassVar[tuple[int, ...]] = (FAULT_KINDS, MEMORY_KINDS)

    def instruments(self, request: Request) -> Instruments:
        """Check the alignment of LDS where the source promises it."""
        return (AlignmentInstrument,) if request.promises_alignment else ()

    def table(self, table: Table, arguments: Sequence[ArrayArgument]) -> Table:
        """Protect the allocations whose arrays the kernel only reads."""
        inputs = _inputs(table, arguments)
        if not inputs:
            return table
        rows = table.rows.copy()
        rows[inputs, 2] = 0
        return Table(rows, table.storages)

    def report(self, row: Row, rows: Sequence[Row], facts: LaunchFacts) -> SanitizerReport:
        """Return the report of a wrong access."""
        return memory_report(row, facts)


def _inputs(table: Table, arguments: Iterable[ArrayArgument]) -> list[int]:
    """Return the rows of allocations that hold arrays of the launch, none of which it writes."""
    written: dict[int, bool] = {}
    starts = table.rows[:, 0]
    for argument in arguments:
        row = int(np.searchsorted(starts, np.uint64(argument.address), "right")) - 1
        if row >= 0 and argument.address < table.rows[row, 1]:
            written[row] = written.get(row, False) or argument.written
    return [row for row, is_written in written.items() if not is_written]
