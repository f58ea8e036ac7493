"""The table of one kernel's reports to the host, while it is being built."""

from __future__ import annotations

from dataclasses import field

from amdjit.abi.reports import CallSite, FaultSite, ReportTable, Text
from amdjit.late_methods import dataclass


@dataclass
class ReportSites:
    """Numbers faults, printed lines and calls. A loop that is typed again leaves some numbers
    unused. meets: whether there is a barrier of the whole grid."""

    faults: list[FaultSite] = field(default_factory=list)
    prints: list[Text] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    meets: bool = False

    def add_fault(self, site: FaultSite) -> int:
        """Return the number of a new fault, from 0."""
        self.faults.append(site)
        return len(self.faults) - 1

    def add_print(self, text: Text) -> int:
        """Return the number of a new line, from 0."""
        self.prints.append(text)
        return len(self.prints) - 1

    def add_call(self, site: CallSite) -> int:
        """Return the number of a new call, from 1."""
        self.calls.append(site)
        return len(self.calls)

    def table(self, depth: int) -> ReportTable | None:
        """Return the finished table, or None for a kernel that reports nothing (depth 0)."""
        if not depth:
            return None
        lists = tuple(self.faults), tuple(self.prints), tuple(self.calls)
        return ReportTable(*lists, depth, self.meets)
