"""The compilation of one kernel, as the functions see it that are typed in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from amdjit.abi.reports import CallSite, FaultSite, ReportTable, Text
from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError
from amdjit.diagnostics.performance import Finding
from amdjit.frontend.values.dependencies import Dependency, OutsideArray
from amdjit.frontend.values.kinds import Value
from amdjit.frontend.values.weak_numbers import WeakNumbers
from amdjit.language.compile_time import Compilation
from amdjit.late_methods import dataclass

FunctionBuilder = Any
"""The builder of the function that calls, whose module knows this one."""


class Session(Protocol):
    """The compilation of one kernel: it types the functions that the kernel calls."""

    compilation: Compilation
    builtins: Mapping[Any, Intrinsic | DeviceFunction]
    reports: ReportSites
    weak: WeakNumbers
    deadline: float  # of `time.monotonic`
    leaves_out_calls: bool  # whether refused statements that give no name a value count as absent
    findings: dict[tuple[str, str, int], Finding]  # warnings, at most one of each name per line

    def note_library(self, file: Path) -> None:
        """Remember that the code calls a function of this bitcode."""
        ...

    def call(
        self,
        builder: FunctionBuilder,
        function: DeviceFunction,
        positional: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.expr,
    ) -> Value:
        """Type the function for these arguments and return the call's value."""
        ...

    def call_local(
        self,
        builder: FunctionBuilder,
        function: Value,
        positional: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.expr,
    ) -> Value:
        """Type a function made in the kernel for these arguments and return the call's value."""
        ...

    def explore(
        self,
        builder: FunctionBuilder,
        function: DeviceFunction,
        arguments: Mapping[str, Value | None],
        node: ast.expr,
    ) -> CompileError:
        """Return the errors of a function that do not depend on unknown arguments (None)."""
        ...

    def note_read(
        self, scope: Any, name: str, value: object, kind: type[Dependency] = Dependency
    ) -> None:
        """Remember that the code depends on this global or closure variable."""
        ...

    def outside_array(self, scope: Any, name: str, array: object) -> OutsideArray | None:
        """Remember that the code uses the array of this variable; None for what is no array of a
        device."""
        ...


# The table of one kernel's reports to the host, while it is being built.


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
