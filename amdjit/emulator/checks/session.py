"""One checked launch: what its code is built with, the memory that its checks share, and the
reports that come out.

`CHECKS` is the only list of the checks: a new one is a folder with a `Check`, and an entry there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.settings import Request
from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.check import KINDS_OF_A_CHECK, Check
from amdjit.emulator.checks.findings import LaunchFacts, Row, one_an_instruction
from amdjit.emulator.checks.init.check import InitCheck
from amdjit.emulator.checks.memory.check import MemoryCheck
from amdjit.emulator.checks.race.check import RaceCheck
from amdjit.emulator.checks.sync.check import SyncCheck
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.launch.dispatch import Dispatcher
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import Plan
from amdjit.emulator.layout import REPORT_ROWS, Report, Sanitizer
from amdjit.emulator.memory import DeviceMemory, Table
from amdjit.emulator.wave.frame import Instruments

# In the order in which their code stands at an instruction.
CHECKS: tuple[type[Check], ...] = (MemoryCheck, RaceCheck, InitCheck, SyncCheck)


class Session:
    """The checks of one launch: a `dispatch.Checks`.

    Rows may be of checks that were not asked for: the driver reports wrong addresses in every
    checked launch.
    """

    def __init__(self, memory: DeviceMemory, request: Request) -> None:
        self._memory = memory
        self._request = request
        self._every = [check() for check in CHECKS]
        self._chosen = [check for check in self._every if check.name in request.checks]
        self._rows: NDArray[np.int64] = np.zeros((REPORT_ROWS, Report.FIELDS), np.int64)
        self._fields: NDArray[np.int64] = np.zeros(Sanitizer.FIELDS, np.int64)
        self._fields[Sanitizer.ROWS] = self._rows.ctypes.data
        self._fields[Sanitizer.ROW_MASK] = REPORT_ROWS - 1
        self._facts: LaunchFacts | None = None

    @property
    def instruments(self) -> Instruments:
        """What to build into the code."""
        parts = (check.instruments(self._request) for check in self._chosen)
        return tuple(instrument for several in parts for instrument in several)

    @property
    def natives(self) -> Sequence[NativeSources]:
        """The native functions that this code calls."""
        return [room for check in self._chosen for room in check.natives]

    @property
    def most_threads(self) -> int:
        """How many host threads may run the launch."""
        return min([Check.most_threads, *(check.most_threads for check in self._chosen)])

    def prepare(self, function: EmulatedFunction, plan: Plan, residents: int) -> int:
        """Make the memory that the checks work with; return its address.

        residents: how many workgroups a host thread may have under way.
        """
        arguments = self._request.arguments
        facts = LaunchFacts(function, plan.compiled, plan.geometry, arguments, self._memory)
        self._facts = facts
        if not any(check.observes_writes for check in self._chosen):
            self._memory.launched()
        for check in self._chosen:
            value = check.begin(facts, plan.threads, residents)
            if check.field is not None:
                self._fields[check.field] = value
        return int(self._fields.ctypes.data)

    def end(self) -> None:
        """The launch is over, however it went."""
        for check in self._chosen:
            check.end()

    def table(self, table: Table) -> Table:
        """Return the allocations that the kernel may access, and how."""
        for check in self._chosen:
            table = check.table(table, self._request.arguments)
        return table

    def reports(self) -> tuple[SanitizerReport, ...]:
        """Return what was found, in the order in which it was."""
        if self._facts is None or not self._fields[Sanitizer.SEQUENCE]:
            return ()
        found = [Row(row) for row in self._rows if row[Report.KEY]]
        found.sort(key=lambda row: row[Report.SEQUENCE])
        found = one_an_instruction(found, self._facts.compiled.site_pcs)
        by_kind = {first: check for check in self._every for first in check.kinds}
        reports = []
        for row in found:
            check = by_kind[row[Report.KIND] // KINDS_OF_A_CHECK * KINDS_OF_A_CHECK]
            report = check.report(row, found, self._facts)
            if report is not None:
                reports.append(report)
        return _one_a_line(reports)[: self._request.limit]

    def explains(self, fault: KernelFault, reports: Sequence[SanitizerReport]) -> bool:
        """Return whether a report says more about the same mistake than the fault does."""
        kinds = [check.replaces.get(fault.kind, frozenset()) for check in self._chosen]
        return any(report.kind in several for report in reports for several in kinds)


def run_checked(
    dispatcher: Dispatcher,
    function: EmulatedFunction,
    geometry: LaunchShape,
    kernarg: bytes,
    time_limit: float | None,
    request: Request,
) -> tuple[tuple[SanitizerReport, ...], KernelFault | None]:
    """Launch with checks. Return the reports, and what stopped the launch if something did."""
    session = Session(dispatcher.memory, request)
    try:
        dispatcher.launch_checked(function, geometry, kernarg, time_limit, session)
    except KernelFault as fault:
        reports = session.reports()
        return reports, None if session.explains(fault, reports) else fault
    finally:
        session.end()
    return session.reports(), None


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
