"""A program as the host code reads it: what follows from the classes of its instructions and from
the model's parameters, in one row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.cdna import describe_cdna
from amdjit.cycles.engine.layout import CAUSE_BITS, Access, Parameter, Row
from amdjit.cycles.parameters import PARAMETERS, PASSES, passes_name
from amdjit.cycles.program import (
    CDNA,
    FIRST_SGPR,
    QUANTUM,
    SCC,
    TIMINGS,
    VCC,
    Kind,
    ProgramTable,
    Step,
)
from amdjit.isa.traits import Timing

__all__ = ["Program", "program_of"]

Int64s = NDArray[np.int64]

_MATRIX = (Timing.MATRIX_WIDE, Timing.MATRIX_NARROW, Timing.MATRIX_FOUR_BITS)
_SLOW = (Timing.TRANSCENDENTAL, Timing.DOUBLE)
_FRONT = (Kind.IMMEDIATE, Kind.WAIT)
_COPIED = {
    Row.KIND: Step.KIND,
    Row.READS: Step.READS,
    Row.READS_END: Step.READS_END,
    Row.WRITES: Step.WRITES,
    Row.WRITES_END: Step.WRITES_END,
    Row.READS_SGPR: Step.READS_SGPR,
    Row.USES_SGPR: Step.USES_SGPR,
    Row.WRITES_SGPR: Step.WRITES_SGPR,
    Row.TRANSFER: Step.TRANSFER,
    Row.RESULT: Step.RESULT,
    Row.COUNTED: Step.COUNTED,
    Row.DELAY: Step.DELAY,
    Row.SKIP: Step.SKIP,
    Row.NEXT_DELAY: Step.NEXT_DELAY,
    Row.DEPENDENCIES: Step.DEPENDENCIES,
    Row.CONDITION: Step.CONDITION,
    Row.NEEDS_SOURCES: Step.NEEDS_SOURCES,
    Row.WRITES_CARRY: Step.WRITES_CARRY,
}


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A program for the host code. rows: `engine.layout.Row` records. parameters: an
    `engine.layout.Parameter` record. values: the parameters by name. quantum: cycles of what the
    host code counts."""

    table: ProgramTable
    rows: Int64s
    parameters: Int64s
    values: Mapping[str, float]
    quantum: int


def program_of(table: ProgramTable, values: Mapping[str, float], wave_size: int = 32) -> Program:
    """Return a program for the host code. values: of `parameters.PARAMETERS`, by name, and of
    passes, which are those of `parameters.PASSES` where they are missing; for CDNA those of
    `parameters.CDNA_PASSES`.

    A wave64 of RDNA passes each unit twice, but for matrix products, which have as many elements.
    """
    is_cdna = table.family == CDNA
    quantum = QUANTUM if is_cdna else 1
    halves = 1 if is_cdna else wave_size // 32
    rows = np.zeros((len(table) + 1, Row.FIELDS), np.int64)
    steps = table.steps.astype(np.int64)
    for column, step in _COPIED.items():
        rows[:-1, column] = steps[:, step]
    rows[:-1, Row.WAITS : Row.WAITS + table.waits.shape[1]] = table.waits
    for index in range(len(table)):
        _describe(rows[index], table, index)
        if is_cdna:
            timing = TIMINGS[table.steps[index, Step.TIMING]]
            describe_cdna(rows[index], table.steps[index], timing, values)
        else:
            _describe_units(rows[index], table, index, values, halves)
    # The last row is the instruction before the first one: the wave's front end is free.
    rows[-1, [Row.IS_FRONT, Row.PAYS_HIDDEN]] = 1
    return Program(table, rows, _parameters(values, quantum), values, quantum)


def _parameters(values: Mapping[str, float], quantum: int) -> Int64s:
    record = np.zeros(Parameter.FIELDS, np.int64)
    fields = {field.name: field for field in Parameter}
    for name, value in values.items():
        field = fields.pop(name.upper().replace(" ", "_"), None)
        if field is not None:
            is_time = PARAMETERS[name].unit == "cycles"
            record[field] = int(value) // quantum if is_time else int(value)
    assert set(fields) == {"FIELDS"}, f"parameters without a value: {sorted(fields)}"
    return record


def _describe(row: Int64s, table: ProgramTable, index: int) -> None:
    step, writes = table.steps[index], table.writes(index).tolist()
    kind = Kind(int(step[Step.KIND]))
    row[Row.WRITES_VCC] = VCC in writes or VCC + 1 in writes
    row[Row.WRITES_SCC] = SCC in writes
    row[Row.IS_FRONT] = kind in _FRONT
    row[Row.PAYS_HIDDEN] = kind in (*_FRONT, Kind.BRANCH)
    if kind is Kind.IMMEDIATE:
        row[Row.IDLE] = (max(1, int(step[Step.IDLE])) - 1) << CAUSE_BITS
    row[Row.ACCESS] = _access(kind, step)


def _describe_units(
    row: Int64s, table: ProgramTable, index: int, values: Mapping[str, float], halves: int
) -> None:
    step = table.steps[index]
    timing = TIMINGS[step[Step.TIMING]]
    row[Row.SALU_CYCLES] = 2 if timing is Timing.SALU_MULTIPLY else 1
    result, stored = int(step[Step.RESULT]), int(step[Step.TRANSFER]) - 1
    row[Row.TRANSFER] *= halves
    row[Row.LDS_LATENCY] = int(values["lds load" if result else "lds store"])
    row[Row.LDS_CYCLES] = _lds_cycles(result * halves, stored * halves, values)
    _describe_vector(row, table.reads(index), timing, values, halves)
    conflict = int(step[Step.SHARES_BANK]) * int(values["matrix bank conflict"])
    row[[Row.PASSES, Row.LAST_PASS]] += conflict
    if values["salu by register"]:
        row[Row.READS_SCALARS], row[Row.USES_SGPR] = row[Row.READS_SGPR], 0


def _access(kind: Kind, step: NDArray[np.int32]) -> Access:
    if kind is Kind.SCALAR_MEMORY:
        return Access.SCALAR
    if step[Step.IS_STORE]:
        return Access.STORE
    # What returns a value and sends data is an atomic.
    return Access.LOAD


def _lds_cycles(result: int, stored: int, values: Mapping[str, float]) -> int:
    name = "lds halves a dword" if result else "lds halves a stored dword"
    dwords = result or stored
    return 1 if dwords <= 1 else dwords * int(values[name]) // 2


def _describe_vector(
    row: Int64s,
    reads: NDArray[np.int32],
    timing: Timing,
    values: Mapping[str, float],
    halves: int,
) -> None:
    is_scalar_result = bool(row[Row.WRITES_SGPR]) and timing is not Timing.PSEUDO_SCALAR
    row[Row.IS_SCALAR_RESULT] = is_scalar_result
    passes = _passes(timing, values)
    if timing not in (*_MATRIX, Timing.PSEUDO_SCALAR):
        passes *= halves
    row[Row.PASSES] = passes
    row[Row.IS_ORDINARY] = timing is Timing.VALU
    row[Row.IS_MATRIX] = timing in _MATRIX
    row[Row.IS_TRANSCENDENTAL] = timing is Timing.TRANSCENDENTAL
    row[Row.LATENCY] = int(values[_latency(reads, bool(row[Row.READS_SGPR]))])
    # An f64 instruction counts as executed before its last pass.
    early = _passes(Timing.DOUBLE, values) - int(values["double shown"])
    last = {Timing.TRANSCENDENTAL: 0, Timing.DOUBLE: passes - early}
    row[Row.LAST_PASS] = last.get(timing, passes - 1)
    at_once = (*_MATRIX, Timing.TRANSCENDENTAL, Timing.PSEUDO_SCALAR)
    row[Row.PACE] = 1 if timing in at_once else passes
    row[Row.FREE_AFTER] = early if timing is Timing.DOUBLE else 1
    row[Row.MATRIX_AFTER] = _matrix_after(timing, values)
    row[Row.LEAD] = 1 if timing in _MATRIX else int(values["valu lead"])


def _passes(timing: Timing, values: Mapping[str, float]) -> int:
    return int(values.get(passes_name(timing), PASSES.get(timing, 1)))


def _latency(reads: NDArray[np.int32], reads_sgpr: bool) -> str:
    if (reads < FIRST_SGPR).any():
        return "valu latency"
    return "valu latency, scalar sources" if reads_sgpr else "valu latency, constants"


def _matrix_after(timing: Timing, values: Mapping[str, float]) -> int:
    if timing in _MATRIX:
        return 1
    if timing in _SLOW:
        return int(values["matrix after transcendental"])
    if timing is Timing.PSEUDO_SCALAR:
        return int(values["matrix after pseudo-scalar"])
    return int(values["matrix after valu"])
