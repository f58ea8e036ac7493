"""The synchronisation check's part of translated code: lanes that are missing, and missing
waits."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from amdjit.emulator.checks.report_call import NO_LANE, first_lane, report
from amdjit.emulator.checks.waits.code_object import early_uses
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.layout import (
    FIELD_BYTES,
    SYNC_DIFFERENT,
    SYNC_KINDS,
    SYNC_OVERRUN,
    SYNC_TWICE,
    SYNC_UNREACHED,
    Context,
    Launch,
)
from amdjit.emulator.wave.frame import LAUNCH, Frame, Instrument
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import EXEC_LO
from amdjit.isa.traits import Barrier

_ALL = constant("i32", -1)
_BARRIERS = (
    Barrier.SIGNAL,
    Barrier.SIGNAL_FIRST,
    Barrier.JOIN,
    Barrier.LEAVE,
    Barrier.SYNC,
)


class SyncInstrument(Instrument):
    """Looks at EXEC before barriers, matrix instructions and transposing loads."""

    name: ClassVar[str] = "sync"

    def __init__(self) -> None:
        self._early: frozenset[int] = frozenset()

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Look for missing waits, which are reported when they run."""
        self._early = frozenset(wait.pc for wait in early_uses(graph))

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Check the instructions that need all lanes, or all with which the wave began."""
        traits = instruction.traits
        if instruction.pc in self._early:
            report(frame, instruction, SyncKind.WAIT, NO_LANE)
        if traits.barrier in _BARRIERS:
            _check_lanes(frame, instruction, SyncKind.DIVERGENT)
        elif traits.matrix is not None:
            _check_lanes(frame, instruction, SyncKind.MATRIX)
        elif traits.memory is not None and traits.memory.is_transposed:
            _check_lanes(frame, instruction, SyncKind.TRANSPOSE)


def _check_lanes(frame: Frame, instruction: Instruction, kind: SyncKind) -> None:
    """Report the first missing lane. A barrier needs only the lanes with which the wave began."""
    registers, b = frame.registers, frame.builder
    for half in range(registers.halves):
        active = registers.scalar(EXEC_LO + half)
        if active == _ALL:
            continue
        needed = _first_exec(frame, half) if kind is SyncKind.DIVERGENT else _ALL
        missing = b.and_(needed, b.not_(active))
        wrong = b.compare("ne", missing, constant("i32", 0))
        if kind is SyncKind.TRANSPOSE:
            # Without any lane it does nothing (RDNA 4 ISA, 11.6.2).
            wrong = b.and_(wrong, frame.compare_with_zero("ne", EXEC_LO))
        with b.if_(wrong):
            lane = first_lane(b, missing)
            report(frame, instruction, kind, b.add(lane, constant("i64", 32 * half)))


def _first_exec(frame: Frame, half: int) -> Value:
    """Read the lanes with which the wave began."""
    b = frame.builder
    execs = b.load("ptr", b.offset(LAUNCH, Launch.EXECS * FIELD_BYTES), 8)
    number = b.mul(frame.context(Context.WAVE), constant("i64", frame.registers.halves))
    number = b.add(number, constant("i64", half))
    return b.load("i32", b.offset(execs, b.shift("shl", number, 2)), 4)


# The kinds of rows that the synchronisation check leaves in the reports.


class SyncKind(IntEnum):
    """What is wrong. UNREACHED and DIFFERENT, which the driver finds, have a resume id in place of
    a site."""

    DIVERGENT = SYNC_KINDS
    UNREACHED = SYNC_UNREACHED
    DIFFERENT = SYNC_DIFFERENT
    MATRIX = SYNC_KINDS + 3
    TRANSPOSE = SYNC_KINDS + 4
    WAIT = SYNC_KINDS + 5
    TWICE = SYNC_TWICE
    OVERRUN = SYNC_OVERRUN
