"""A row of a program's table, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.cycles.program import (
    COUNTERS,
    FIRST_SGPR,
    NO_WAIT,
    SCC,
    TIMINGS,
    VCC,
    Dependency,
    Kind,
    ProgramTable,
    Step,
)
from amdjit.isa.traits import Timing

__all__ = ["MATRIX", "SCALAR_END", "Instruction", "instructions_of"]

MATRIX = (Timing.MATRIX_WIDE, Timing.MATRIX_NARROW, Timing.MATRIX_FOUR_BITS)
SCALAR_END = 381  # EXEC and SCC follow


@dataclass(frozen=True)
class Instruction:
    """What the simulation asks of an instruction; columns as `Step` names them."""

    kind: Kind
    timing: Timing
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    transfer: int
    result: int
    counted: tuple[int, ...]
    limits: tuple[tuple[int, int], ...]
    idle: int
    delay: int
    skip: int
    next_delay: int
    dependencies: Dependency
    condition: int
    uses_sgpr: bool
    needs_sources: bool
    reads_sgpr: bool
    shares_bank: bool
    writes_carry: bool

    @property
    def is_matrix(self) -> bool:
        """Whether it is a WMMA or SWMMAC."""
        return self.timing in MATRIX

    @property
    def reads_vgpr(self) -> bool:
        """Whether a source is a VGPR."""
        return any(register < FIRST_SGPR for register in self.reads)

    @property
    def writes_sgpr(self) -> bool:
        """Whether it writes a scalar register other than EXEC and SCC."""
        return any(FIRST_SGPR <= register < SCALAR_END for register in self.writes)

    @property
    def writes_vcc(self) -> bool:
        """Whether it writes VCC."""
        return any(register in (VCC, VCC + 1) for register in self.writes)

    @property
    def writes_scc(self) -> bool:
        """Whether it writes SCC."""
        return SCC in self.writes


def instructions_of(table: ProgramTable) -> list[Instruction]:
    """Return a program's instructions."""
    return [_instruction(table, index) for index in range(len(table))]


def _instruction(table: ProgramTable, index: int) -> Instruction:
    row = [int(value) for value in table.steps[index]]
    limits = enumerate(int(limit) for limit in table.waits[index])
    return Instruction(
        Kind(row[Step.KIND]),
        TIMINGS[row[Step.TIMING]],
        tuple(int(register) for register in table.reads(index)),
        tuple(int(register) for register in table.writes(index)),
        row[Step.TRANSFER],
        row[Step.RESULT],
        tuple(bit for bit in range(len(COUNTERS)) if row[Step.COUNTED] >> bit & 1),
        tuple((counter, limit) for counter, limit in limits if limit != NO_WAIT),
        row[Step.IDLE],
        row[Step.DELAY],
        row[Step.SKIP],
        row[Step.NEXT_DELAY],
        Dependency(row[Step.DEPENDENCIES]),
        row[Step.CONDITION],
        bool(row[Step.USES_SGPR]),
        bool(row[Step.NEEDS_SOURCES]),
        bool(row[Step.READS_SGPR]),
        bool(row[Step.SHARES_BANK]),
        bool(row[Step.WRITES_CARRY]),
    )
