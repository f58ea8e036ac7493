"""Recorded cycle traces as input of the cycle model.

A trace says which instructions the waves of one SIMD issued, of gfx950 those of a compute unit, and
when. What the model does not
predict is given to it: the latency of global and scalar memory, how long memory refuses operands,
and when code is there that no wave of the trace has executed before. `Given.cycles` says how much
that is; everything else is predicted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from trace_given import given_of
from trace_paths import Paths
from trace_programs import decoded_program
from traced_runs import Place, Trace, TracedWave

from amdjit.cycles.program import (
    CDNA,
    COUNTERS,
    NO_WAIT,
    Kind,
    ProgramTable,
    Step,
    program_table,
)
from amdjit.isa.instruction import Instruction
from amdjit.target import read_target

__all__ = ["Place", "Trace", "TracedWave", "read_trace"]

_EXECUTIONS = {Kind.LDS: "mL", Kind.VECTOR_MEMORY: "mV"}


def read_trace(path: Path) -> Trace:
    """Return the trace of a file; ValueError if it is none."""
    content = json.loads(path.read_text())
    if not isinstance(content, dict) or not {"program", "waves", "pc_zero"} <= content.keys():
        raise ValueError(f"{path} is no cycle trace: program, waves or pc_zero is missing")
    trace = _Reader(path.stem, content).trace()
    return replace(trace, given=given_of(trace))


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
        target = read_target(content["target"])
        instructions, unknown = decoded_program(content["program"], packets, target)
        if unknown:
            self.missing.append(
                f"{len(unknown)} instructions could not be assembled; they count as instructions "
                f"of their packet class without operands: {'; '.join(sorted(unknown)[:5])}"
            )
        plain = program_table(instructions)
        events = content.get("events", [])
        table, neighbours = _with_neighbours(_with_skipped(plain), events)
        waves = self._waves(instructions, table)
        if not events and table.family != CDNA:
            self.missing.append("the trace has no events of execution units")
        return Trace(
            self.name,
            content.get("kernel", self.name),
            target,
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
        # A workgroup's waves are on the two SIMDs of a compute unit; of CDNA all are traced.
        count = self.content.get("launch", {}).get("waves_per_group", 1)
        group = max(1, count if table.family == CDNA else (count + 1) // 2)
        paths = Paths(instructions, table)
        waves = []
        for number, wave in enumerate(usable):
            found = paths.of(wave["issues"], wave["first_issue"])
            if found is not None:
                start = wave["first_issue"] - paths.shown_late(found[0])
                simd = wave["simd"] if table.family == CDNA else 0
                # No instruction of gfx950 is without a packet: numbers of issues are steps.
                refused = frozenset(step for step, _ in wave.get("stalls", ()))
                waves.append(
                    TracedWave(wave["slot"], start, number // group, *found, simd, refused)
                )
        left_out = len(usable) - len(waves)
        if left_out:
            self.missing.append(f"{left_out} waves are left out: packets fit no instructions")
        if paths.unmapped:
            self.missing.append(f"{paths.unmapped} packets match no instruction")
        return tuple(waves)


def _cycles(events: Sequence[Any], code: str) -> tuple[int, ...]:
    return tuple(cycle for cycle, event in events if event == code)


def _with_skipped(table: ProgramTable) -> ProgramTable:
    """Return the table with a second row for each instruction, for those that no lane executes: a
    trace shows them as immediates."""
    rows = [
        {Step.KIND: Kind.IMMEDIATE, Step.IDLE: 1, Step.SIZE: int(row[Step.SIZE])}
        for row in table.steps
    ]
    skipped = _with_rows(table, rows)
    skipped.addresses[len(table) :] = table.addresses
    return skipped


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
    return replace(
        table,
        steps=np.vstack([table.steps, steps]),
        waits=np.vstack([table.waits, waits]),
        addresses=np.append(table.addresses, np.zeros(len(rows), np.int64)),
    )
