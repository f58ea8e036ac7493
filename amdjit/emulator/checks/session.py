"""One checked launch: what its code is built with, the memory that its checks share, and the
reports that come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from amdjit.checking.settings import Request
from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.findings import LaunchFacts, Row, one_an_instruction
from amdjit.emulator.checks.init.check import UndefinedValues
from amdjit.emulator.checks.init.launch_shadows import LaunchShadows, launch_shadows
from amdjit.emulator.checks.init.reports import InitReports
from amdjit.emulator.checks.memory.check import AlignmentInstrument, memory_report
from amdjit.emulator.checks.race.check import RaceInstrument
from amdjit.emulator.checks.race.memory import RaceLaunch, begin_race_launch
from amdjit.emulator.checks.race.reports import race_report
from amdjit.emulator.checks.sync.check import Synchronisation
from amdjit.emulator.checks.sync.reports import sync_report
from amdjit.emulator.launch.dispatch import Dispatcher
from amdjit.emulator.launch.kernarg import Geometry
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.layout import (
    INIT_KINDS,
    MEMORY_KINDS,
    RACE_KINDS,
    REPORT_ROWS,
    SYNC_KINDS,
    Report,
    Sanitizer,
)
from amdjit.emulator.memory import DeviceMemory, Table
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.emulator.wave.instrument import Instrument, Instruments

# Each check's part of the translated code, if it has one.
INSTRUMENTS: Mapping[str, type[Instrument]] = {
    "memory": AlignmentInstrument,
    "race": RaceInstrument,
    "init": UndefinedValues,
    "sync": Synchronisation,
}
# What makes the reports of each check's kinds; the kinds below 32 are those of faults, which are
# the memory check's.
DESCRIPTIONS: Mapping[int, Callable[[Row, LaunchFacts], SanitizerReport | None]] = {
    0: memory_report,
    RACE_KINDS: race_report,
    MEMORY_KINDS: memory_report,
    SYNC_KINDS: sync_report,
}
_KINDS_OF_A_CHECK = 32
_MOST_THREADS = 64
# Reports of the synchronisation check that tell more than the fault which follows from the same
# mistake, by its kind.
_TOLD: Mapping[str, frozenset[str]] = {
    "barrier": frozenset({"signalled-twice"}),
    "partial-wave": frozenset({"matrix-partial-exec", "transpose-partial-exec"}),
}
assert all(
    first % _KINDS_OF_A_CHECK == 0 for first in (RACE_KINDS, INIT_KINDS, SYNC_KINDS, MEMORY_KINDS)
)


class Session:
    """The checks of one launch; `dispatch.Checks`."""

    def __init__(self, memory: DeviceMemory, request: Request) -> None:
        self._memory = memory
        self._request = request
        self._rows: NDArray[np.int64] = np.zeros((REPORT_ROWS, Report.FIELDS), np.int64)
        self._fields: NDArray[np.int64] = np.zeros(Sanitizer.FIELDS, np.int64)
        self._fields[Sanitizer.ROWS] = self._rows.ctypes.data
        self._fields[Sanitizer.ROW_MASK] = REPORT_ROWS - 1
        self._facts: LaunchFacts | None = None
        self._shadows: LaunchShadows | None = None
        self._race: RaceLaunch | None = None

    @property
    def instruments(self) -> Instruments:
        """What to build into the code."""
        chosen = tuple(kind for check, kind in INSTRUMENTS.items() if check in self._request.checks)
        if self._request.promises_alignment:
            return chosen
        return tuple(kind for kind in chosen if kind is not AlignmentInstrument)

    @property
    def most_threads(self) -> int:
        """How many host threads may run the launch."""
        return 1 if "race" in self._request.checks else _MOST_THREADS

    def prepare(
        self,
        function: EmulatedFunction,
        compiled: HostKernel,
        geometry: Geometry,
        threads: int,
        residents: int,
    ) -> int:
        """Make the memory that the checks work with; return its address.

        threads, residents: host threads, and the workgroups that each may have under way.
        """
        arguments, memory = self._request.arguments, self._memory
        self._facts = LaunchFacts(
            function, compiled, geometry, arguments, memory, memory.quarantine
        )
        self._fields[Sanitizer.SYNC] = "sync" in self._request.checks
        if "init" in self._request.checks:
            self._shadows = launch_shadows(memory, function, compiled, geometry, threads, residents)
            self._fields[Sanitizer.INIT] = self._shadows.fields.ctypes.data
        else:
            memory.written.launched()
        if "race" in self._request.checks:
            self._race = begin_race_launch(memory, function, compiled, geometry, residents)
            self._fields[Sanitizer.RACE] = self._race.address
        return int(self._fields.ctypes.data)

    def end(self) -> None:
        """The launch is over, however it went."""
        if self._race is not None:
            self._race.end()

    def table(self, table: Table) -> Table:
        """Return the allocations, of which those that the kernel only reads cannot be written."""
        inputs = _inputs(table, self._request) if "memory" in self._request.checks else []
        if not inputs:
            return table
        rows = table.rows.copy()
        rows[inputs, 2] = 0
        return Table(rows, table.storages)

    def reports(self) -> tuple[SanitizerReport, ...]:
        """Return what was found, in the order in which it was."""
        if self._facts is None or not self._fields[Sanitizer.SEQUENCE]:
            return ()
        found = [Row(row) for row in self._rows if row[Report.KEY]]
        found.sort(key=lambda row: row[Report.SEQUENCE])
        found = one_an_instruction(found, self._facts.compiled.site_pcs)
        reports = []
        descriptions = {**DESCRIPTIONS, INIT_KINDS: InitReports(found).report}
        for row in found:
            describe = descriptions[row[Report.KIND] // _KINDS_OF_A_CHECK * _KINDS_OF_A_CHECK]
            report = describe(row, self._facts)
            if report is not None:
                reports.append(report)
        return _one_a_line(reports)[: self._request.limit]


def run_checked(
    dispatcher: Dispatcher,
    function: EmulatedFunction,
    geometry: Geometry,
    kernarg: bytes,
    time_limit: float | None,
    request: Request,
) -> tuple[tuple[SanitizerReport, ...], KernelFault | None]:
    """Launch with checks. Returns the reports, and what stopped the launch if something did."""
    session = Session(dispatcher.memory, request)
    try:
        dispatcher.launch_checked(function, geometry, kernarg, time_limit, session)
    except KernelFault as fault:
        reports = session.reports()
        told = any(report.kind in _TOLD.get(fault.kind, ()) for report in reports)
        return reports, None if told else fault
    finally:
        session.end()
    return session.reports(), None


def _inputs(table: Table, request: Request) -> list[int]:
    """Return the rows of allocations that hold arrays of the launch, none of which the kernel
    writes."""
    written: dict[int, bool] = {}
    starts = table.rows[:, 0]
    for argument in request.arguments:
        row = int(np.searchsorted(starts, np.uint64(argument.address), "right")) - 1
        if row >= 0 and argument.address < table.rows[row, 1]:
            written[row] = written.get(row, False) or argument.written
    return [row for row, is_written in written.items() if not is_written]


def _one_a_line(reports: list[SanitizerReport]) -> tuple[SanitizerReport, ...]:
    """Keep one report for each check, kind and pair of lines: one line may have become several
    instructions."""
    first: dict[tuple[object, ...], SanitizerReport] = {}
    for report in reports:
        other = (report.other.file, report.other.line) if report.other else None
        first.setdefault(
            (report.check, report.kind, report.file, report.line, report.array, other), report
        )
    return tuple(first.values())
