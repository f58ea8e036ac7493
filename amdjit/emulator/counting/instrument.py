"""What counting adds to translated code: additions at the start of each block, where EXEC changes,
at conditional branches and at accesses."""

from __future__ import annotations

from typing import ClassVar

from amdjit.emulator.analysis.control_flow import Block, Graph
from amdjit.emulator.counting.plan import CountedBlock, CountingPlan, make_plan
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.record import Record
from amdjit.emulator.instructions.emission import branch_condition
from amdjit.emulator.layout import EXEC_LO, FIELD_BYTES, Context
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.emulator.wave.instrument import Instrument

__all__ = ["CountingInstrument"]

_COUNTERS = Value("ptr", "%count.area")
_ONE = constant("i64", 1)


class CountingInstrument(Instrument):
    """Counts executions, active lanes, branches and accesses."""

    name: ClassVar[str] = "counting"
    every_instruction: ClassVar[bool] = False

    def __init__(self) -> None:
        self._plan: CountingPlan
        # The counters of active lanes that begin before an instruction, by its address.
        self._segments: dict[int, int] = {}
        self._branches: dict[int, int] = {}

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Number the counters."""
        self._plan = make_plan(graph, full_waves, wave_size)
        for counted in self._plan.blocks:
            self._note(counted)

    def _note(self, counted: CountedBlock) -> None:
        instructions = counted.block.instructions
        if counted.taken is not None:
            self._branches[instructions[-1].pc] = counted.taken
        for segment in counted.segments:
            if segment.first and segment.counter is not None:
                self._segments[instructions[segment.first - 1].pc] = segment.counter

    def entry(self, frame: Frame) -> None:
        """Find the counters of this thread."""
        context = Record(frame.builder, CONTEXT)
        frame.builder.bind(_COUNTERS, context.get(Context.COUNTERS))

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Count the block, and the lanes with which it begins."""
        counted = self._plan.blocks[self._plan.block_numbers[block.pc]]
        _add(frame, counted.executions, _ONE)
        first = counted.segments[0].counter
        if first is not None:
            _add(frame, first, self._active_lanes(frame))

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Count a branch that is taken."""
        counter = self._branches.get(instruction.pc)
        if counter is not None:
            taken = branch_condition(frame, instruction)
            _add(frame, counter, frame.builder.resize(taken, 64))

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Count the lanes that are active after EXEC has changed."""
        counter = self._segments.get(instruction.pc)
        if counter is not None:
            _add(frame, counter, self._active_lanes(frame))

    def _active_lanes(self, frame: Frame) -> Value:
        b, registers = frame.builder, frame.registers
        halves = [registers.scalar(EXEC_LO + half) for half in range(registers.halves)]
        whole = halves[0] if len(halves) == 1 else b.concat_bits(*halves)
        return b.resize(b.intrinsic("ctpop", whole), 64)


def _add(frame: Frame, counter: int, amount: Value) -> None:
    b = frame.builder
    place = b.offset(_COUNTERS, counter * FIELD_BYTES)
    b.store(b.add(b.load("i64", place, FIELD_BYTES), amount), place, FIELD_BYTES)
