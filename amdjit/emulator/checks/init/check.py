"""The check of a launch for undefined values: `sanitize("init")`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from amdjit.checking.settings import Request
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.check import Check
from amdjit.emulator.checks.findings import LaunchFacts, Row
from amdjit.emulator.checks.init.instrument import UndefinedValues
from amdjit.emulator.checks.init.launch_shadows import LaunchShadows, launch_shadows
from amdjit.emulator.checks.init.memory_shadow import shadow_sources
from amdjit.emulator.checks.init.reports import InitReports
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.layout import INIT_KINDS, Sanitizer
from amdjit.emulator.wave.frame import Instruments

# The native functions that code checked for undefined values calls.

NATIVES = NativeSources(shadow_sources())


class InitCheck(Check):
    """Reports values that were never written, where they matter."""

    name: ClassVar[str] = "init"
    kinds: ClassVar[tuple[int, ...]] = (INIT_KINDS,)
    natives: ClassVar[tuple[NativeSources, ...]] = (NATIVES,)
    field: ClassVar[Sanitizer | None] = Sanitizer.INIT
    observes_writes: ClassVar[bool] = True

    def __init__(self) -> None:
        self._shadows: LaunchShadows | None = None
        self._reports: InitReports | None = None

    def instruments(self, request: Request) -> Instruments:
        """Follow undefined values through registers and memory."""
        return (UndefinedValues,)

    def begin(self, facts: LaunchFacts, threads: int, residents: int) -> int:
        """Make the shadows of memory and registers."""
        self._shadows = launch_shadows(
            facts.memory,
            facts.function,
            compiled=facts.compiled,
            geometry=facts.geometry,
            threads=threads,
            residents=residents,
        )
        return int(self._shadows.fields.ctypes.data)

    def report(self, row: Row, rows: Sequence[Row], facts: LaunchFacts) -> SanitizerReport | None:
        """Return the report of a value that matters; loads only explain where one came from."""
        if self._reports is None:
            self._reports = InitReports(rows)
        return self._reports.report(row, facts)
