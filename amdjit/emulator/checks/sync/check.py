"""The synchronisation check of a launch: `sanitize("sync")`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from amdjit.checking.settings import Request
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.check import Check
from amdjit.emulator.checks.findings import LaunchFacts, Row
from amdjit.emulator.checks.sync.instrument import SyncInstrument
from amdjit.emulator.checks.sync.reports import sync_report
from amdjit.emulator.layout import SYNC_KINDS, Sanitizer
from amdjit.emulator.wave.frame import Instruments


class SyncCheck(Check):
    """Reports barriers that not all waves or lanes reach, and missing waits."""

    name: ClassVar[str] = "sync"
    kinds: ClassVar[tuple[int, ...]] = (SYNC_KINDS,)
    field: ClassVar[Sanitizer | None] = Sanitizer.SYNC
    replaces: ClassVar[Mapping[str, frozenset[str]]] = {
        "barrier": frozenset({"signalled-twice"}),
        "partial-wave": frozenset({"matrix-partial-exec", "transpose-partial-exec"}),
    }

    def instruments(self, request: Request) -> Instruments:
        """Look at EXEC before the instructions that need all lanes."""
        return (SyncInstrument,)

    def begin(self, facts: LaunchFacts, threads: int, residents: int) -> int:
        """Let the driver report what it finds about barriers."""
        return 1

    def report(self, row: Row, rows: Sequence[Row], facts: LaunchFacts) -> SanitizerReport:
        """Return the report of a row."""
        return sync_report(row, facts)
