"""Run the host code: waves in, the cycles of their instructions out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.engine.layout import (
    CAUSE_BITS,
    LATER,
    NEVER,
    NUMBER_BITS,
    SLOT_BITS,
    SLOTS_AT_ONCE,
    Group,
    Row,
    Shared,
    Simulation,
    Unit,
    Wave,
)
from amdjit.cycles.engine.library import engine
from amdjit.cycles.engine.order import CAUSES, ready_at
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.estimate import STALLS
from amdjit.cycles.memory import NativeMemory
from amdjit.cycles.results import SimulatedWave
from amdjit.cycles.rows import Program

__all__ = ["GroupRun", "Requests", "WaveRun", "simulate"]

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

# Causes as places in `STALLS`; waves that wait for their own last instruction are not stalled.
_ISSUE = CAUSES.index("issue")
_STALL = np.array([STALLS.index(name) if name in STALLS else 0 for name in CAUSES])
_SIMDS, _PAIRS = 4, 2


@dataclass(frozen=True, slots=True, eq=False)
class WaveRun:
    """What a wave does."""

    path: Int32s
    """Its instructions, by number in the program."""
    request: Int32s | None = None
    """For each instruction its row in `Requests.rows`, or -1; None if none has one."""
    start: int = 0
    """The first cycle at which it may issue, counted from the start of its workgroup. Cycles of a
    run are quanta where the simulation counts in those (`Program.quantum`)."""
    salt: int = 0
    """Makes lines of a repeated workgroup its own (`engine.memory`)."""
    age: int | None = None
    """Of two waves that can issue, the one with the lower age does; None: its place among all
    waves."""
    fetched: Int64s | None = None
    """For each instruction, the cycle before which it is not fetched; None: fetching takes no
    time."""
    accepted: Int64s | None = None
    """For each instruction, the cycle before which vector memory does not take its operands."""
    done: Int64s | None = None
    """For each instruction, the cycles that memory takes; None: the model of memory says so."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupRun:
    """A workgroup. simds: of its waves; None: it takes the place of the one that ends first.
    number: in the grid."""

    waves: tuple[WaveRun, ...]
    simds: tuple[int, ...] | None
    number: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Requests of memory. rows: as in `Recording.requests`; keys: of the lines; memory: what serves
    them."""

    rows: Int64s
    keys: Int64s
    memory: NativeMemory


def simulate(
    program: Program,
    groups: Sequence[GroupRun],
    requests: Requests | None = None,
    executions: bool = False,
) -> list[SimulatedWave]:
    """Simulate workgroups on one workgroup processor; those with places of their own come first.
    Return all waves in the order of their workgroups.

    executions: whether to say when units execute the instructions.
    """
    memory = _Memory(program, groups, requests, executions)
    engine().run(memory.address)
    return memory.waves()


@dataclass
class _Memory:
    """What the host code works on."""

    program: Program
    groups: Sequence[GroupRun]
    requests: Requests | None
    executions: bool
    kept: list[NDArray[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        runs = [run for group in self.groups for run in group.waves]
        if len(runs) >= 1 << NUMBER_BITS:
            raise NoEstimate(f"a simulation of {len(runs)} waves is too large")
        self.runs = runs
        # Before each wave's cycles there are its slot and its start.
        ends = np.cumsum([len(run.path) + 2 for run in runs], dtype=np.int64)
        self.firsts = ends - [len(run.path) for run in runs]
        self.issued = np.full(int(ends[-1]) if runs else 0, -1, np.int64)
        self.causes = np.zeros(len(self.issued), np.uint8)
        self.executed = np.full(len(self.issued) if self.executions else 0, -1, np.int64)
        self.slots = [simd for group in self.groups for simd in group.simds or ()]
        if len(self.slots) >= 1 << SLOT_BITS:
            raise NoEstimate(f"{len(self.slots)} waves at a time are too many")
        self.record = np.zeros(Simulation.FIELDS, np.int64)
        self._fill()

    @property
    def address(self) -> int:
        """Where the record is."""
        return int(self.record.ctypes.data)

    def _fill(self) -> None:
        program, record = self.program, self.record
        slots = -(-max(1, len(self.slots)) // SLOTS_AT_ONCE) * SLOTS_AT_ONCE
        resident = np.zeros((slots, Wave.FIELDS), np.int64)
        resident[:, Wave.SLOT] = np.arange(slots)
        resident[: len(self.slots), Wave.SIMD] = self.slots
        parts: dict[Simulation, NDArray[Any]] = {
            Simulation.ROWS: program.rows,
            Simulation.REGISTERS: program.table.registers,
            Simulation.PARAMETERS: program.parameters,
            Simulation.WAVES: self._waves(),
            Simulation.GROUPS: self._groups(),
            Simulation.PLACES: np.arange(slots, dtype=np.int64),
            Simulation.UNITS: _units(),
            Simulation.SHARED: np.full((_PAIRS, Shared.FIELDS), NEVER, np.int64),
            Simulation.NEXT: _aligned(slots),
            Simulation.RESIDENT: resident,
            Simulation.TEMPLATE: self._template(),
        }
        if self.requests is not None:
            parts[Simulation.REQUESTS] = np.ascontiguousarray(self.requests.rows, np.int64)
            parts[Simulation.KEYS] = np.ascontiguousarray(self.requests.keys, np.int64)
            record[Simulation.MEMORY] = self.requests.memory.address
        for place, part in parts.items():
            record[place] = self._keep(part)
        record[Simulation.SLOTS] = slots
        record[Simulation.GROUP_COUNT] = len(self.groups)

    def _keep(self, array: NDArray[Any]) -> int:
        """Keep an array alive; return its address."""
        self.kept.append(array)
        return int(array.ctypes.data)

    def _template(self) -> Int64s:
        template: Int64s = np.full(Wave.FIELDS, NEVER, np.int64)
        template[Wave.KEPT : Wave.COUNTS + _COUNTS] = 0
        template[Wave.ISSUED] = NEVER
        template[Wave.FIRST_VALU : Wave.SALU_WROTE + 1] = NEVER
        template[[Wave.SCC, Wave.SOURCES_READ, Wave.WROTE_CARRY]] = NEVER
        template[[Wave.PLACE, Wave.NEXT_PLACE]] = -1
        template[Wave.HIDDEN_UNTIL] = ready_at(NEVER, "issue")
        template[Wave.RESULTS : Wave.SCALARS] = 2 * NEVER
        rows = self.program.rows
        template[Wave.PREVIOUS] = rows.ctypes.data + (len(rows) - 1) * rows.strides[0]
        begun: Int64s = template[Wave.KEPT :].copy()
        return begun

    def _waves(self) -> Int64s:
        rows = np.zeros((len(self.runs), Wave.SLOT), np.int64)
        # Recorded workgroups are simulated several times.
        addresses: dict[int, int] = {}

        def place(array: NDArray[Any] | None) -> int:
            if array is None:
                return 0
            if id(array) not in addresses:
                addresses[id(array)] = self._keep(np.ascontiguousarray(array))
                self.kept.append(array)
            return addresses[id(array)]

        longest = max((len(run.path) for run in self.runs), default=0)
        nothing = np.full(longest, -1, np.int32)
        rows[:, Wave.ISSUED_AT] = self.issued.ctypes.data + 8 * self.firsts
        if self.executions:
            rows[:, Wave.ENDS] = self.executed.ctypes.data + 8 * self.firsts
        rows[:, Wave.CAUSES] = self.causes.ctypes.data + self.firsts
        for number, (row, run) in enumerate(zip(rows, self.runs, strict=True)):
            row[Wave.NUMBER] = number if run.age is None else run.age
            row[Wave.PATH] = place(run.path)
            row[Wave.REQUEST] = place(nothing if run.request is None else run.request)
            row[Wave.STEPS] = len(run.path)
            row[Wave.SALT], row[Wave.START] = run.salt, run.start
            row[Wave.FETCHED], row[Wave.ACCEPTED] = place(run.fetched), place(run.accepted)
            row[Wave.DONE] = place(run.done)
        return rows

    def _groups(self) -> Int64s:
        rows = np.zeros((len(self.groups), Group.FIELDS), np.int64)
        first = place = 0
        for row, group in zip(rows, self.groups, strict=True):
            row[Group.FIRST], row[Group.WAVES] = first, len(group.waves)
            row[Group.LEFT], row[Group.LAST] = len(group.waves), NEVER
            row[Group.PLACE] = place if group.simds is not None else -1
            first += len(group.waves)
            place += len(group.simds or ())
        return rows

    def waves(self) -> list[SimulatedWave]:
        """Return what came out."""
        of_simd = Counter[int]()
        places = []
        for simd in self.slots:
            places.append((simd, of_simd[simd]))
            of_simd[simd] += 1
        waves = [
            (i, wave) for i, group in enumerate(self.groups) for wave in range(len(group.waves))
        ]
        return [
            self._wave(number, group, wave, places) for number, (group, wave) in enumerate(waves)
        ]

    def _wave(
        self, number: int, group: int, wave: int, places: Sequence[tuple[int, int]]
    ) -> SimulatedWave:
        run, first = self.runs[number], int(self.firsts[number])
        simd, slot = places[int(self.issued[first - 2])]
        issued = self.issued[first : first + len(run.path)]
        start = int(self.issued[first - 1])
        steps = np.flatnonzero(issued >= 0)
        issued, path = issued[steps], run.path[steps].astype(np.int64)
        causes = self.causes[first : first + len(run.path)][steps]
        executed = self.executed[first : first + len(run.path)][steps] if self.executions else None
        before = np.concatenate(([start - 1], issued[:-1]))
        idle = self.program.rows[path, Row.IDLE] >> CAUSE_BITS
        stalled = np.maximum(0, issued - before - 1 - idle)
        stalled[causes == _ISSUE] = 0
        quantum = self.program.quantum
        end = int(issued[-1]) + 1 if len(issued) else start
        return SimulatedWave(
            simd=simd,
            slot=slot,
            workgroup=group,
            wave=wave,
            start=start * quantum,
            end=end * quantum,
            path=path,
            issued=issued * quantum,
            stalled=stalled * quantum,
            cause=_STALL[causes],
            reason=causes,
            executed=None if executed is None else _in_cycles(executed, quantum),
        )


def _in_cycles(counted: Int64s, quantum: int) -> Int64s:
    return np.where(counted < 0, counted, counted * quantum)


_COUNTS = 5


def _units() -> Int64s:
    units = np.full((_SIMDS, Unit.FIELDS), NEVER, np.int64)
    units[:, Unit.PACE] = 1
    units[:, [Unit.COUNT, Unit.LDS_COUNT, Unit.MEMORY_COUNT, Unit.SALU_COUNT]] = 0
    return units


def _aligned(count: int) -> Int64s:
    """Return numbers that are larger than any key, at an address that vectors can be loaded
    from."""
    array = np.full(count + 8, LATER, np.int64)
    start = -array.ctypes.data % 64 // 8
    return array[start : start + count]
