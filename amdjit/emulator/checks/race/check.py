"""The race check of a launch: `sanitize("race")`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from amdjit.checking.settings import Request
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.check import Check
from amdjit.emulator.checks.findings import LaunchFacts, Row
from amdjit.emulator.checks.race.instrument import LaneRaceInstrument, RaceInstrument
from amdjit.emulator.checks.race.memory import RaceLaunch, begin_race_launch
from amdjit.emulator.checks.race.native_sources import NATIVES
from amdjit.emulator.checks.race.reports import is_forgiven, race_report
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.layout import RACE_KINDS, Sanitizer
from amdjit.emulator.wave.frame import Instruments
from amdjit.isa.analysis.control_flow import Graph
from amdjit.options import LANES_CHECK


class RaceCheck(Check):
    """Reports accesses that nothing orders, and lanes of a store that contradict each other."""

    name: ClassVar[str] = "race"
    kinds: ClassVar[tuple[int, ...]] = (RACE_KINDS,)
    natives: ClassVar[tuple[NativeSources, ...]] = (NATIVES,)
    field: ClassVar[Sanitizer | None] = Sanitizer.RACE
    # Shadows have no locks; races are found in any order in which the waves run.
    most_threads: ClassVar[int] = 1

    def __init__(self) -> None:
        self._launch: RaceLaunch | None = None
        self._graph: Graph | None = None

    def instruments(self, request: Request) -> Instruments:
        """Note each access, fence and acquire."""
        return (LaneRaceInstrument if LANES_CHECK in request.checks else RaceInstrument,)

    def begin(self, facts: LaunchFacts, threads: int, residents: int) -> int:
        """Wait for other launches that check for races."""
        self._graph = None
        self._launch = begin_race_launch(
            facts.memory, facts.function, facts.compiled, facts.geometry, residents
        )
        return self._launch.address

    def end(self) -> None:
        """Let the next launch begin."""
        if self._launch is not None:
            self._launch.end()

    def report(self, row: Row, rows: Sequence[Row], facts: LaunchFacts) -> SanitizerReport | None:
        """Return the report of a race; None if both stores turned out to be atomic."""
        assert self._launch is not None
        if is_forgiven(row) and self._launch.was_atomic(row.address):
            return None
        return race_report(row, facts, partial(self._code, facts))

    def _code(self, facts: LaunchFacts) -> Graph:
        if self._graph is None:
            self._graph = facts.function.module.kernels.graph(facts.function.kernel)
        return self._graph
