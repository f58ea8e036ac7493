"""The check for undefined values, built into translated code: `sanitize("init")`.

Every register has a shadow that says in which lanes it is undefined. `rules.memory` passes shadows
between registers and memory, the other rules from sources to results. An undefined value is
reported where it matters: in an address, a branch, EXEC, a store to global memory, the old value of
an atomic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from amdjit.emulator.checks.init.entry import SHADOWS, emit_entry
from amdjit.emulator.checks.init.kinds import InitKind
from amdjit.emulator.checks.init.layout import Shadows
from amdjit.emulator.checks.init.may_be_undefined import (
    Facts,
    facts_after,
    facts_at_entries,
    keeping_scalars,
)
from amdjit.emulator.checks.init.operands import Shadow, results, sources
from amdjit.emulator.checks.init.registers import (
    DEFINED,
    ONES,
    MaskBuilder,
    ShadowRegisters,
)
from amdjit.emulator.checks.init.rules.lanes import (
    exchange_between_lanes,
    move_between_lanes,
    read_lane,
    swap,
    write_lane,
)
from amdjit.emulator.checks.init.rules.matrix import apply_matrix
from amdjit.emulator.checks.init.rules.memory import MemoryRules
from amdjit.emulator.checks.init.rules.scalar import apply_scalar, branch_condition
from amdjit.emulator.checks.init.rules.vector import (
    vector_results,
    write_half_results,
)
from amdjit.emulator.checks.init.sinks import report_undefined
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.wave.frame import Frame, Instrument, MemoryAccess
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.analysis.dataflow import (
    Ones,
    exec_slots,
    given_vectors,
    ones_after,
    ones_at_entries,
    vector_liveness,
)
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.register_numbers import HALF_LANES, vector_number
from amdjit.isa.traits import SingleLane, Unit

_ADDRESS_ROLES = frozenset({"vaddr", "saddr", "sbase", "soffset", "rsrc", "addr"})
_SWAPS: Mapping[str, Callable[[Shadow, Instruction], None]] = {
    "v_swap_b32": swap,
    "v_swap_b16": swap,
}
# The scalar registers that the launch may set before a wave starts; compilers read no others.
_SET_AT_START = frozenset(range(32))


class UndefinedValues(Instrument):
    """See the module."""

    name: ClassVar[str] = "init"

    def __init__(self) -> None:
        self._facts: Mapping[int, Facts] = {}
        self._graph = Graph(0, {}, ())
        self._at_start: frozenset[int] = frozenset()
        self._shadow: Shadow | None = None
        self._successors: tuple[int, ...] = ()
        self._known = Facts(0, 0)
        self._entry_tainted = 0
        self._last = 0
        self._full: Ones = frozenset()
        self._ones: Mapping[int, Ones] = {}
        self._memory = MemoryRules()
        self._executes = exec_slots(HALF_LANES)

    def begin_function(self, graph: Graph, full_waves: bool, wave_size: int) -> None:
        """Find out which registers can be undefined where."""
        self._graph = graph
        self._executes = exec_slots(wave_size)
        self._ones = ones_at_entries(graph, full_waves, wave_size)
        live = vector_liveness(graph, self._ones, wave_size).at_start.get(graph.entry, frozenset())
        self._at_start = live - given_vectors(graph) - keeping_scalars(graph)
        self._facts = facts_at_entries(
            graph, self._ones, self._at_start, _SET_AT_START, self._executes
        )

    def entry(self, frame: Frame) -> None:
        """Find this thread's shadows. A wave that starts has none."""
        emit_entry(frame, self._at_start)

    def begin_block(self, frame: Frame, block: Block) -> None:
        """Start a block with what is known there."""
        if self._shadow is None:
            masks = MaskBuilder(frame.builder)
            self._shadow = Shadow(frame, masks, ShadowRegisters(masks, frame.registers))
        self._known, self._full = self._facts[block.pc], self._ones[block.pc]
        self._entry_tainted = self._known.tainted
        self._shadow.registers.begin_block(self._known.tainted)
        self._last = block.instructions[-1].pc
        self._successors = block.successors

    def before(self, frame: Frame, instruction: Instruction) -> None:
        """Report undefined values that matter here, and pass the others on."""
        shadow = self._shadow
        assert shadow is not None
        shadow.begin_instruction(instruction)
        with shadow.registers.deferring():
            halves = (0,) if instruction.traits.once_per_wave else range(frame.registers.halves)
            for half in halves:
                frame.registers.select_half(half)
                self._apply(shadow, instruction)
        frame.registers.select_half(0)
        self._memory.begin_instruction()
        if instruction.pc == self._last and instruction.traits.unit is Unit.SALU:
            self._end_block()

    def after(self, frame: Frame, instruction: Instruction) -> None:
        """Update what is known."""
        self._known = facts_after(instruction, self._known, self._executes <= self._full)
        self._full = ones_after(instruction, self._full)
        if instruction.pc == self._last:
            self._end_block()

    def _end_block(self) -> None:
        shadow = self._shadow
        assert shadow is not None
        kept = 0
        for successor in self._successors:
            kept |= self._facts[successor].tainted if successor in self._facts else 0
        shadow.registers.flush(kept, self._entry_tainted)

    # Instructions

    def _apply(self, shadow: Shadow, instruction: Instruction) -> None:
        traits, lane_rule = instruction.traits, _lane_rule(instruction)
        if traits.condition is not None:
            report_undefined(
                shadow, instruction, InitKind.BRANCH, branch_condition(shadow, instruction)
            )
        elif traits.unit is Unit.SALU:
            self._scalar(shadow, instruction)
        elif lane_rule is not None:
            lane_rule(shadow, instruction)
        elif traits.unit.is_memory:
            self._addresses(shadow, instruction)
        elif traits.matrix is not None or traits.block_product is not None:
            apply_matrix(shadow, instruction, self._seen(shadow))
        elif not (write_half_results(shadow, instruction) or write_parts(shadow, instruction)):
            self._vector(shadow, instruction)

    def _seen(self, shadow: Shadow) -> Value | None:
        """Return as an i1 whether anything undefined has been met; None if registers are undefined
        from the start."""
        if self._at_start:
            return None
        b = shadow.frame.builder
        seen = b.load("i64", b.offset(SHADOWS, Shadows.SEEN * FIELD_BYTES), 8)
        return b.compare("ne", seen, constant("i64", 0))

    def _scalar(self, shadow: Shadow, instruction: Instruction) -> None:
        if instruction.traits.flow.is_indirect:
            report_undefined(
                shadow, instruction, InitKind.BRANCH, shadow.scalar(instruction.operand("src0"))
            )
        undefined = apply_scalar(shadow, instruction)
        report_undefined(shadow, instruction, InitKind.BRANCH, undefined)

    def _vector(self, shadow: Shadow, instruction: Instruction) -> None:
        halves = (instruction, instruction.pair) if instruction.pair else (instruction,)
        pending = [entry for half in halves for entry in vector_results(shadow, half)]
        lanes = shadow.written_lanes(instruction) if pending else ONES
        for half, index, new in pending:
            target = half.operands[index]
            if isinstance(target, Register) and target.file is RegisterFile.EXEC:
                undefined = shadow.masks.both(shadow.masks.either(*new[0]), shadow.lanes())
                report_undefined(shadow, instruction, InitKind.BRANCH, undefined)
            else:
                shadow.write_dwords(half, index, new, lanes)

    def _addresses(self, shadow: Shadow, instruction: Instruction) -> None:
        """Report an undefined address. Values are for `accessed`; a clock has neither."""
        masks = shadow.masks
        if instruction.traits.memory is None:
            for index in results(instruction):
                shadow.write(instruction, index, DEFINED, ONES)
        found = []
        for index, spec in enumerate(instruction.opcode.operands):
            if spec.role in _ADDRESS_ROLES:
                found.append(shadow.any_of(instruction, index))
        undefined = masks.either(*found)
        if instruction.traits.unit is not Unit.SCALAR_MEMORY:
            undefined = masks.both(undefined, shadow.lanes())
        report_undefined(shadow, instruction, InitKind.ADDRESS, undefined)

    def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
        """Pass definedness between memory and registers."""
        assert self._shadow is not None
        self._memory.accessed(self._shadow, instruction, access, self._known)


def _lane_rule(instruction: Instruction) -> Callable[[Shadow, Instruction], None] | None:
    """Return the rule of an instruction that moves values between lanes or registers."""
    traits = instruction.traits
    if traits.moved_role is not None:
        exchanges = instruction.opcode.operands[1].written
        return exchange_between_lanes if exchanges else move_between_lanes
    if traits.single_lane is SingleLane.WRITE:
        return write_lane
    if traits.single_lane is SingleLane.READ or traits.is_pseudo_scalar:
        return read_lane
    return _SWAPS.get(instruction.traits.operation)


# How undefined values pass through instructions of gfx9 that write half of a register, or a byte
# of it, and keep the rest: what they overwrite does not count.
#
# Halves are the smallest parts that are followed. The lower byte of a half defines it: compilers
# write that one first, into a register in which nothing is defined.


def write_parts(shadow: Shadow, instruction: Instruction) -> bool:
    """Write the result of such an instruction; return whether it is one."""
    bits = instruction.traits.part_bits
    if bits is None or not instruction.opcode.selects_halves:
        return False
    target = instruction.operands[0]
    assert isinstance(target, Register)
    read = [index for index in sources(instruction) if index]
    mask = shadow.masks.either(*(shadow.any_of(instruction, index) for index in read))
    old = shadow.registers.vector(vector_number(target))
    select = instruction.modifiers.op_sel
    half = select >> 3 & 1
    if bits == 8 and select >> 2 & 1:
        mask = shadow.masks.either(old[half], mask)
    new = (old[0], mask) if half else (mask, old[1])
    shadow.registers.write_vector(vector_number(target), new, shadow.lanes())
    return True
