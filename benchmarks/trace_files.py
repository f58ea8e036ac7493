"""Recorded cycle traces of gfx1200 and gfx1201 as input of the cycle model.

A trace says which instructions the waves of one SIMD issued, and when. What the model does not
predict is given to it: the latency of global and scalar memory, how long memory refuses operands,
and when code is there that no wave of the trace has executed before. `Trace.given_cycles` says how
much that is; everything else is predicted.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from trace_programs import decoded_program

from amdjit.cycles.parameters import PARAMETERS
from amdjit.cycles.program import COUNTERS, NO_WAIT, Kind, ProgramTable, Step, program_table
from amdjit.emulator.decoder.instruction import Instruction

__all__ = ["Given", "Place", "Trace", "TracedWave", "read_trace"]

# A wave and a step of its path.
Place = tuple[int, int]

HIDDEN = (Kind.DELAY, Kind.WAIT_ALU, Kind.BARRIER_WAIT)
FRONT = (Kind.IMMEDIATE, Kind.WAIT)
MEMORY = (Kind.VECTOR_MEMORY, Kind.LDS)
# Code comes in lines of so many bytes; cold code, in several lines at once.
FETCHED_BYTES = 64
# A gap counts as given only if it is longer than what the model itself would say.
WAITED, REFUSED, FETCHED, FETCHED_AGAIN = 2, 4, 40, 1000
_EXECUTIONS = {Kind.LDS: "mL", Kind.VECTOR_MEMORY: "mV"}
NEVER = -(10**9)


@dataclass(frozen=True)
class TracedWave:
    """A wave of the traced SIMD. path: its instructions, by number in the program, those without an
    issue of their own included. measured: the cycle of each issue, None where there is none.
    workgroup: whose barriers it shares. simd: 0 for the traced one."""

    slot: int
    start: int
    workgroup: int
    path: tuple[int, ...]
    measured: tuple[int | None, ...]
    simd: int = 0


@dataclass
class Given:
    """What the model is told. latency: cycles from the end of a transfer (of a scalar load: from its
    issue) to its end. not_before: cycles before which an instruction cannot be issued; accepted:
    before which memory does not take its operands. cycles: how many cycles of the waves that is, by
    cause."""

    latency: dict[Place, int] = field(default_factory=dict)
    not_before: dict[Place, int] = field(default_factory=dict)
    transfer_not_before: dict[Place, int] = field(default_factory=dict)
    cycles: Counter[str] = field(default_factory=Counter)

    def fetched(self, wave: int, step: int, cycle: int) -> int:
        """Return when an instruction is there that a wave could issue at `cycle`."""
        return max(cycle, self.not_before.get((wave, step), cycle))

    def accepted(self, wave: int, step: int, cycle: int) -> int:
        """Return when memory takes operands that could be transferred at `cycle`."""
        return max(cycle, self.transfer_not_before.get((wave, step), cycle))

    def complete(self, wave: int, step: int, transferred: int) -> int:
        """Return when a memory instruction is done whose operands had been sent."""
        return transferred + self.latency.get((wave, step), 0)

    def lds_cycles(self, wave: int, step: int) -> int:
        """Bank conflicts: a trace does not show addresses."""
        return 1


@dataclass(frozen=True)
class Trace:
    """A recorded run of a kernel. neighbours: waves that stand for what the neighbouring SIMD sends
    to LDS and memory on the path that both share; they issue when the trace says so. missing:
    sentences that say what could not be used."""

    name: str
    kernel: str
    target: str
    texts: tuple[str, ...]
    table: ProgramTable
    waves: tuple[TracedWave, ...]
    neighbours: tuple[TracedWave, ...]
    executions: Mapping[Kind, tuple[int, ...]] = field(repr=False)
    neighbour_executions: Mapping[Kind, tuple[int, ...]] = field(repr=False)
    base: int
    missing: tuple[str, ...]

    def kind(self, index: int) -> Kind:
        """Return how an instruction leaves its wave."""
        return Kind(int(self.table.steps[index][Step.KIND]))

    @cached_property
    def given(self) -> Given:
        """What the model is told of this trace."""
        return _Giver(self).give()

    def issues(self) -> Iterator[tuple[Place, int, int]]:
        """Yield the place, the instruction and the cycle of each issue of each wave."""
        for number, wave in enumerate(self.waves):
            for step, (index, cycle) in enumerate(zip(wave.path, wave.measured, strict=True)):
                if cycle is not None:
                    yield (number, step), index, cycle

    @property
    def first(self) -> int:
        """The first cycle of any wave."""
        return min((wave.start for wave in self.waves), default=0)

    @property
    def last(self) -> int:
        """The last cycle of any wave."""
        return max((cycle for _, _, cycle in self.issues()), default=0)


def read_trace(path: Path) -> Trace:
    """Return the trace of a file; ValueError if it is none."""
    content = json.loads(path.read_text())
    if not isinstance(content, dict) or not {"program", "waves", "pc_zero"} <= content.keys():
        raise ValueError(f"{path} is no cycle trace: program, waves or pc_zero is missing")
    return _Reader(path.stem, content).trace()


@dataclass
class _Reader:
    name: str
    content: dict[str, Any]
    missing: list[str] = field(default_factory=list)

    def trace(self) -> Trace:
        """Return the trace."""
        content = self.content
        texts = tuple(text for _, text in content["program"])
        packets = {
            pc: packet
            for wave in content["waves"]
            for pc, _, packet in wave["issues"]
            if pc is not None
        }
        instructions, unknown = decoded_program(content["program"], packets)
        if unknown:
            self.missing.append(
                f"{len(unknown)} instructions could not be assembled; they count as instructions "
                f"of their packet class without operands: {'; '.join(sorted(unknown)[:5])}"
            )
        plain = program_table(instructions)
        events = content.get("events", [])
        table, neighbours = _with_neighbours(_with_skipped(plain), events)
        waves = self._waves(instructions, table)
        if not events:
            self.missing.append("the trace has no events of execution units")
        return Trace(
            self.name,
            content.get("kernel", self.name),
            content.get("target", "?"),
            texts,
            table,
            waves,
            neighbours,
            {kind: _cycles(events, code) for kind, code in _EXECUTIONS.items()},
            {kind: _cycles(events, code + "2") for kind, code in _EXECUTIONS.items()},
            int(content["pc_zero"], 16),
            tuple(self.missing),
        )

    def _waves(
        self, instructions: Sequence[Instruction], table: ProgramTable
    ) -> tuple[TracedWave, ...]:
        if self.content.get("trimmed_after_cycle") is not None:
            self.missing.append(f"trimmed after cycle {self.content['trimmed_after_cycle']}")
        usable = sorted(self.content["waves"], key=lambda wave: (wave["start"], wave["slot"]))
        # A workgroup's waves are on the two SIMDs of a compute unit.
        group = max(1, (self.content.get("launch", {}).get("waves_per_group", 1) + 1) // 2)
        paths = _Paths(instructions, table)
        waves = []
        for number, wave in enumerate(usable):
            found = paths.of(wave["issues"], wave["first_issue"])
            if found is not None:
                start = wave["first_issue"] - paths.shown_late(found[0])
                waves.append(TracedWave(wave["slot"], start, number // group, *found))
        left_out = len(usable) - len(waves)
        if left_out:
            self.missing.append(f"{left_out} waves are left out: packets fit no instructions")
        if paths.unmapped:
            self.missing.append(f"{paths.unmapped} packets match no instruction")
        return tuple(waves)


def _cycles(events: Sequence[Any], code: str) -> tuple[int, ...]:
    return tuple(cycle for cycle, event in events if event == code)


def _with_skipped(table: ProgramTable) -> ProgramTable:
    """Return the table with a last row that stands for instructions that no lane executes: a trace
    shows them as immediates."""
    row = {Step.KIND: Kind.IMMEDIATE, Step.IDLE: 1}
    return _with_rows(table, [row])


def _with_neighbours(
    table: ProgramTable, events: Sequence[Any]
) -> tuple[ProgramTable, tuple[TracedWave, ...]]:
    """Return the table with rows for the neighbour's transfers, and waves that issue them.

    A trace shows the dwords that go to LDS, but not those that come back: they are taken to be as
    many as those of the widest load of this SIMD.
    """
    loads = table.steps[table.steps[:, Step.KIND] == Kind.LDS]
    widest = max((int(row[Step.RESULT]) for row in loads), default=1)
    rows: list[dict[Step, int]] = []
    numbers: dict[tuple[str, int], int] = {}
    waves = []
    for unit, kind in (("LDS", Kind.LDS), ("VMEM", Kind.VECTOR_MEMORY)):
        issued = [
            (cycle, int(code.rsplit("_", 1)[1]))
            for cycle, code in events
            if code.startswith(f"OTHER_{unit}_")
        ]
        for dwords in sorted({dwords for _, dwords in issued}):
            numbers[unit, dwords] = len(table) + len(rows)
            result = widest if dwords == 1 else 0
            rows.append({Step.KIND: kind, Step.TRANSFER: dwords, Step.RESULT: result})
        path = tuple(numbers[unit, dwords] for _, dwords in issued)
        measured = tuple(cycle for cycle, _ in issued)
        if path:
            waves.append(TracedWave(0, measured[0], -1, path, measured, simd=1))
    return _with_rows(table, rows), tuple(waves)


def _with_rows(table: ProgramTable, rows: Sequence[Mapping[Step, int]]) -> ProgramTable:
    """Return the table with more rows, which read and write no registers."""
    steps = np.zeros((len(rows), Step.COLUMNS), np.int32)
    steps[:, Step.CONDITION] = -1
    for step, row in zip(steps, rows, strict=True):
        for column, value in row.items():
            step[column] = value
    waits = np.full((len(rows), len(COUNTERS)), NO_WAIT, np.int32)
    return ProgramTable(
        np.vstack([table.steps, steps]),
        table.registers,
        np.vstack([table.waits, waits]),
        np.append(table.addresses, np.zeros(len(rows), np.int64)),
    )


class _Paths:
    """The paths of waves, with the instructions that have no packets."""

    def __init__(self, instructions: Sequence[Instruction], table: ProgramTable) -> None:
        self.kinds = [Kind(int(row[Step.KIND])) for row in table.steps]
        self.idle = [int(row[Step.IDLE]) for row in table.steps]
        self.index = {instruction.pc: number for number, instruction in enumerate(instructions)}
        self.targets = {
            number: self.index.get(_target(instruction))
            for number, instruction in enumerate(instructions)
        }
        self.skipped = len(instructions)
        self.unmapped = 0

    def of(
        self, issues: Sequence[Any], first: int
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]] | None:
        """Return the path of a wave and the cycle of each issue, None if the packets do not fit; the
        end of the wave is no issue.

        Packets follow the program; where the trace's own addresses differ, and do not fit, ours are
        taken.
        """
        given = [(self.index.get(pc) if pc is not None else None) for pc, _, _ in issues]
        if not self._fits(issues, given):
            given = self._followed(issues)
            if not self._fits(issues, given):
                return None
        path: list[int] = []
        measured: list[int | None] = []
        previous: int | None = None
        taken = False
        for index, (_, cycle, packet) in zip(given, issues, strict=True):
            if index is None:
                self.unmapped += 1
                previous = None
                continue
            if previous is not None:
                hidden = self._hidden(previous, index, taken)
                path += hidden
                measured += [None] * len(hidden)
            previous, taken = index, packet == "JUMP"
            if self.kinds[index] is Kind.END:
                break
            is_skipped = packet == "IMMEDIATE" and self.kinds[index] in (Kind.VALU, *MEMORY)
            path.append(self.skipped if is_skipped else index)
            measured.append(cycle + first)
        return tuple(path), tuple(measured)

    def shown_late(self, path: Sequence[int]) -> int:
        """Return how many cycles after its begin a wave's first instruction is shown."""
        is_late = bool(path) and self.kinds[path[0]] is Kind.IMMEDIATE
        return max(0, self.idle[path[0]] - 1) if is_late else 0

    def _fits(self, issues: Sequence[Any], indices: Sequence[int | None]) -> bool:
        """Whether packets are of the kinds of their instructions, all but a few."""
        known = [
            (packet, self.kinds[index])
            for (_, _, packet), index in zip(issues, indices, strict=True)
            if index is not None
        ]
        wrong = sum(not _fits(packet, kind) for packet, kind in known)
        return bool(known) and wrong * 50 <= len(known)

    def _followed(self, issues: Sequence[Any]) -> list[int | None]:
        """Return the instructions of packets in program order."""
        found: list[int | None] = []
        place: int | None = 0
        for _, _, packet in issues:
            while place is not None and place < self.skipped and self.kinds[place] in HIDDEN:
                place += 1
            if place is None or place >= self.skipped:
                found.append(None)
                continue
            found.append(place)
            place = self.targets.get(place) if packet == "JUMP" else place + 1
        return found

    def _hidden(self, previous: int, index: int, taken: bool) -> list[int]:
        """Return the instructions without packets that a wave passed on its way."""
        begin = previous + 1
        if taken:
            target = self.targets.get(previous)
            begin = target if target is not None and target <= index else index
        return [number for number in range(begin, index) if self.kinds[number] in HIDDEN]


# The beginnings of packet classes of each kind.
_PACKETS = {
    Kind.VALU: ("VALU", "WMMA", "VINTERP"),
    Kind.SALU: ("SALU",),
    Kind.SCALAR_MEMORY: ("SMEM",),
    Kind.VECTOR_MEMORY: ("VMEM", "FLAT", "BUF"),
    Kind.LDS: ("LDS",),
    Kind.BRANCH: ("JUMP", "CALL"),
    Kind.BARRIER_SIGNAL: ("BARRIER_SIGNAL",),
    Kind.MESSAGE: ("MESSAGE",),
    Kind.END: ("WAVEEND",),
}


def _fits(packet: str, kind: Kind) -> bool:
    """Skipped instructions have immediates' packets; some packets have no name."""
    return packet.startswith((*_PACKETS.get(kind, ()), "IMMEDIATE", "UNNAMED"))


def _target(instruction: Instruction) -> int:
    if instruction.traits.condition is None:
        return -1
    return instruction.pc + instruction.size + 4 * instruction.immediates.get("simm16", 0)


class _Giver:
    """Takes from a trace what the model does not predict."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.given = Given()
        self.transfers = self._transfers()

    def give(self) -> Given:
        """Return what the model is told."""
        for number in range(len(self.trace.waves)):
            self._latencies(number)
        self._code()
        self._refusals()
        for number, wave in enumerate(self.trace.neighbours, len(self.trace.waves)):
            for step, cycle in enumerate(wave.measured):
                self.given.not_before[number, step] = cycle or 0
        return self.given

    def _transfers(self) -> dict[Place, int]:
        """Return when each LDS and memory instruction's operands were transferred: the events of a
        unit come in the order of issue."""
        found = {}
        for kind, events in self.trace.executions.items():
            issued = sorted(
                (cycle, place)
                for place, index, cycle in self.trace.issues()
                if self.trace.kind(index) is kind
            )
            if len(issued) == len(events):
                found |= {place: at for (_, place), at in zip(issued, events, strict=True)}
        return found

    def _latencies(self, number: int) -> None:
        """A wait that takes visibly longer than an instruction says when that came back for which
        it waited."""
        trace, wave = self.trace, self.trace.waves[number]
        flying: tuple[list[int], ...] = tuple([] for _ in COUNTERS)
        previous, after = NEVER, 0
        for step, (index, cycle) in enumerate(zip(wave.path, wave.measured, strict=True)):
            if cycle is None:
                continue
            for counter, limit in enumerate(trace.table.waits[index]):
                if limit != NO_WAIT and len(flying[counter]) > limit:
                    awaited = flying[counter][len(flying[counter]) - 1 - int(limit)]
                    if cycle > previous + after + WAITED - 1:
                        self._give_latency((number, awaited), cycle, cycle - previous - after)
            row = trace.table.steps[index]
            for counter, counted in enumerate(flying):
                if int(row[Step.COUNTED]) >> counter & 1:
                    counted.append(step)
            previous, after = cycle, 1 if trace.kind(index) in FRONT else 3

    def _give_latency(self, place: Place, passed: int, waited: int) -> None:
        number, step = place
        wave = self.trace.waves[number]
        index, issued = wave.path[step], wave.measured[step]
        kind = self.trace.kind(index)
        if kind is Kind.LDS or place in self.given.latency or issued is None:
            return
        sent = issued
        if kind is Kind.VECTOR_MEMORY:
            start = self.transfers.get(place, issued + PARAMETERS["transfer start"].cycles)
            sent = start + int(self.trace.table.steps[index][Step.TRANSFER])
        self.given.latency[place] = max(0, passed - sent)
        self.given.cycles["memory"] += waited

    def _code(self) -> None:
        """The first wave that comes to a line of code waits for it; others that come before it is
        there wait, too. A very long gap is code's also where another wave has been."""
        arrived: dict[int, int] = {}
        touched: set[int] = set()
        seen: set[tuple[int, int]] = set()
        previous: dict[int, int] = {}
        for place, index, cycle in sorted(self.trace.issues(), key=lambda found: found[2]):
            number, line = place[0], self._line(index)
            gap = cycle - previous.get(number, cycle)
            previous[number] = cycle
            is_first = (number, line) not in seen
            seen.add((number, line))
            if not is_first and gap <= FETCHED_AGAIN:
                continue
            if self.trace.kind(index) is Kind.WAIT:
                touched.add(line)
                continue
            if gap > (FETCHED_AGAIN if line in touched else FETCHED):
                arrived[line] = cycle
                self.given.cycles["code"] += gap
            touched.add(line)
            if line in arrived:
                self.given.not_before[place] = arrived[line]

    def _line(self, index: int) -> int:
        table = self.trace.table
        last = int(table.addresses[index]) + int(table.steps[index][Step.SIZE]) - 1
        return (self.trace.base + last) // FETCHED_BYTES

    def _refusals(self) -> None:
        """Transfers to vector memory that begin later than the path is free."""
        kind = Kind.VECTOR_MEMORY
        own = sorted(
            (at, place, cycle, int(self.trace.table.steps[index][Step.TRANSFER]))
            for place, index, cycle in self.trace.issues()
            if self.trace.kind(index) is kind and (at := self.transfers.get(place)) is not None
        )
        sizes = [
            int(self.trace.table.steps[index][Step.TRANSFER])
            for wave in self.trace.neighbours
            for index in wave.path
            if self.trace.kind(index) is kind
        ]
        usual = max(sizes, default=1)
        events = sorted(
            [(at, dwords) for at, _, _, dwords in own]
            + [(at, usual) for at in self.trace.neighbour_executions[kind]]
        )
        starts = [at for at, _ in events]
        for at, place, issued, _ in own:
            before = bisect_left(starts, at) - 1
            free = events[before][0] + events[before][1] if before >= 0 else NEVER
            expected = max(issued + PARAMETERS["transfer start"].cycles, free)
            if at > expected + REFUSED:
                self.given.transfer_not_before[place] = at
                self.given.cycles["memory refuses"] += at - expected
