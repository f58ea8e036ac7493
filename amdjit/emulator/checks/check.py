"""What a check is to a launch: the interface through which the session uses each one.

A check plugs in at three places, and each of them knows no check by name:

- `Check`, here: the launch. It prepares memory for native code, and puts rows of the reports into
  words.
- `wave.instrument.Instrument`: the translation. It adds code to each instruction or access.
- `memory.MemoryObserver`: the device's memory, for checks that must know what happened to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.settings import Request
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.findings import LaunchFacts, Row
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.layout import Sanitizer
from amdjit.emulator.memory import Table
from amdjit.emulator.wave.frame import Instruments

# Each check numbers the kinds of its reports from a multiple of this number on.
KINDS_OF_A_CHECK = 32


class Check:
    """One check of one launch. By default the methods do nothing."""

    # As `sanitize` calls it.
    name: ClassVar[str]
    # Where the kinds of its reports begin (`layout`).
    kinds: ClassVar[tuple[int, ...]]
    # The native functions that its code calls.
    natives: ClassVar[tuple[NativeSources, ...]] = ()
    # Where native code finds what `begin` returns.
    field: ClassVar[Sanitizer | None] = None
    # How many host threads it can work with.
    most_threads: ClassVar[int] = 64
    # Whether it follows what the kernel writes.
    observes_writes: ClassVar[bool] = False
    # By the kind of a fault, the kinds of its reports that say more about the same mistake.
    replaces: ClassVar[Mapping[str, frozenset[str]]] = {}

    def instruments(self, request: Request) -> Instruments:
        """Return its parts of the translated code."""
        return ()

    def begin(self, facts: LaunchFacts, threads: int, residents: int) -> int:
        """Prepare the launch; return the address of what native code works with, or a flag.

        threads, residents: host threads, and the workgroups that each may have under way.
        """
        return 0

    def table(self, table: Table, arguments: Sequence[ArrayArgument]) -> Table:
        """Return the allocations that the kernel may access, and how."""
        return table

    def end(self) -> None:
        """Release what `begin` has acquired, however the launch ended."""

    def report(self, row: Row, rows: Sequence[Row], facts: LaunchFacts) -> SanitizerReport | None:
        """Return the report of a row of one of its kinds, None if the row only explains others.

        rows: all rows of the launch.
        """
        return None
