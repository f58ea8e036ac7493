"""What counting adds to translated code: additions at the start of each block, where EXEC changes,
at conditional branches and at accesses."""

from __future__ import annotations

from typing import ClassVar

from amdjit.emulator.counting.accesses import (
    Counters,
    HalfAccess,
    count_accesses,
    reserve_places,
)
from amdjit.emulator.counting.layout import BLOCKS, Cursor, Stream
from amdjit.emulator.counting.plan import CountedBlock, CountingPlan, make_plan
from amdjit.emulator.counting.record_native import ENTER, MORE
from amdjit.emulator.host.builder import RARELY, Value, constant
from amdjit.emulator.host.record import Record
from amdjit.emulator.instructions.emission import branch_condition
from amdjit.emulator.layout import DWORD_BYTES, FIELD_BYTES, Context
from amdjit.emulator.wave.frame import CONTEXT, Frame, Instrument, MemoryAccess
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import EXEC_LO

__all__ = ["CountingInstrument"]

_AREA, _CURSOR = Value("ptr", "%count.area"), Value("ptr", "%count.cursor")
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
        # Where a wave begins, and the blocks that a block jumps back to.
        self._heads: frozenset[int] = frozenset()
        self._accesses: list[HalfAccess] = []
        self._most_places = 0

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Number the counters."""
        self._plan = make_plan(graph, full_waves, wave_size)
        for counted in self._plan.blocks:
            self._note(counted)
        backward = (
            successor
            for block in graph.blocks.values()
            for successor in block.successors
            if successor <= block.instructions[-1].pc
        )
        self._heads = frozenset((graph.entry, *backward))

    def _note(self, counted: CountedBlock) -> None:
        instructions = counted.block.instructions
        if counted.taken is not None:
            self._branches[instructions[-1].pc] = counted.taken
        for segment in counted.segments:
            if segment.first and segment.counter is not None:
                self._segments[instructions[segment.first - 1].pc] = segment.counter

    def entry(self, frame: Frame) -> None:
        """Find the counters of this thread, and where the wave is recorded."""
        b = frame.builder
        b.bind(_AREA, Record(b, CONTEXT).get(Context.COUNTERS))
        b.bind(_CURSOR, frame.native(ENTER.name, ENTER.result, [CONTEXT]))
        reserve_places(frame, self._most_places)

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Record and count the block, and the lanes with which it begins."""
        number = self._plan.block_numbers[block.pc]
        counted = self._plan.blocks[number]
        self._record(frame, block, number)
        _add(frame, counted.executions, _ONE)
        first = counted.segments[0].counter
        if first is not None:
            _add(frame, first, self._active_lanes(frame))

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Count a branch that is taken."""
        self._accesses = []
        counter = self._branches.get(instruction.pc)
        if counter is not None:
            taken = branch_condition(frame, instruction)
            _add(frame, counter, frame.builder.resize(taken, 64))

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Count what was accessed, and the lanes that are active after EXEC has changed."""
        first = self._plan.accesses.get(instruction.pc)
        if first is not None:
            row = frame.builder.offset(_AREA, first * FIELD_BYTES)
            counters = Counters(_AREA, row, _CURSOR)
            places = count_accesses(frame, counters, self._accesses)
            self._most_places = max(self._most_places, places)
        counter = self._segments.get(instruction.pc)
        if counter is not None:
            _add(frame, counter, self._active_lanes(frame))

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Keep an access until the instruction's end: it may make several."""
        name = instruction.opcode.instruction_set.name
        self._accesses.append(HalfAccess(access, frame.registers.wave_half, name))

    def _record(self, frame: Frame, block: Block, number: int) -> None:
        """Append the block's number to the path of the wave; if the wave is not recorded, it is
        written where nobody reads it."""
        b = frame.builder
        cursor = Record(b, _CURSOR)
        stream = Record(b, cursor.at(Cursor.STREAMS))
        if block.pc in self._heads:
            is_full = b.compare("uge", stream.get(Stream.NEXT), stream.get(Stream.END))
            with b.if_(is_full, RARELY):
                frame.native(MORE.name, MORE.result, [_CURSOR, constant("i64", BLOCKS)])
        place = stream.get(Stream.NEXT)
        b.store(constant("i32", number), place, DWORD_BYTES)
        stream.set(Stream.NEXT, b.offset(place, cursor.get(Cursor.STEP)))

    def _active_lanes(self, frame: Frame) -> Value:
        b, registers = frame.builder, frame.registers
        halves = [registers.scalar(EXEC_LO + half) for half in range(registers.halves)]
        whole = halves[0] if len(halves) == 1 else b.concat_bits(*halves)
        return b.resize(b.intrinsic("ctpop", whole), 64)


def _add(frame: Frame, counter: int, amount: Value) -> None:
    b = frame.builder
    place = b.offset(_AREA, counter * FIELD_BYTES)
    b.store(b.add(b.load("i64", place, FIELD_BYTES), amount), place, FIELD_BYTES)
