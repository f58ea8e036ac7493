"""One instruction as host IR, for both halves of a wave64, and the conditions of branches."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.lanes.dpp import (
    apply_dpp,
    clear_dpp,
    collect_halves,
    crosses_halves,
)
from amdjit.emulator.instructions.refused import refusal
from amdjit.emulator.instructions.scalar.flat_scratch import check_flat_scratch
from amdjit.emulator.instructions.tables import emitter_of
from amdjit.emulator.instructions.vector.dual_issue import emit_dual
from amdjit.emulator.instructions.vector.indexed_moves import emit_indexed
from amdjit.emulator.wave.errors import NOT_THERE, Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.arithmetic import is_packed
from amdjit.isa.floats.modes import rounding_shift
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import EXEC_LO, VCC_LO
from amdjit.isa.traits import Flag

# SDWA selects all of a register.
_WHOLE = 6


def emit_instruction(frame: Frame, instruction: Instruction) -> None:
    """Emit an instruction that does not end a block; Untranslatable if it has no translation."""
    if frame.registers.halves == 1 or instruction.traits.once_per_wave:
        _emit_once(frame, instruction)
        check_flat_scratch(frame, instruction)
        return
    frame.deferred = []
    if crosses_halves(instruction):
        collect_halves(frame, instruction)
    for half in (0, 1):
        frame.registers.select_half(half)
        _emit_once(frame, instruction)
    frame.registers.select_half(0)
    written, frame.deferred = frame.deferred, None
    for slot, bits in written:
        frame.registers.write_scalar(slot, bits)


def refusal_of(instruction: Instruction) -> str | None:
    """Return why an instruction is never executed, whatever its operands; None if it may be."""
    if instruction.pair is not None or instruction.traits.ends_block:
        return None
    reason = refusal(instruction.traits.operation, instruction.opcode.instruction_set.name)
    return reason or (None if emitter_of(instruction) is not None else NOT_THERE)


def _emit_once(frame: Frame, instruction: Instruction) -> None:
    if instruction.pair is not None:
        emit_dual(frame, instruction)
        return
    mode = frame.index_modes.get(instruction.pc)
    if mode is not None:
        emit_indexed(frame, instruction, mode)
        return
    emitter, reason = emitter_of(instruction), refusal_of(instruction)
    if emitter is None or reason:
        raise Untranslatable(instruction, reason or NOT_THERE)
    _refuse_parts(instruction)
    if not frame.modes.rounds_to_nearest:
        frame.round_as(rounding_shift(instruction.traits.rounding))
    if instruction.modifiers.dpp is None:
        emitter(frame, instruction)
        return
    apply_dpp(frame, instruction)
    emitter(frame, instruction)
    clear_dpp(frame)


def _refuse_parts(instruction: Instruction) -> None:
    """Refuse SDWA where operands are more than one number in one register: no document says what
    parts of those are."""
    sdwa = instruction.modifiers.sdwa
    if sdwa is None:
        return
    specs = instruction.opcode.operands
    is_part = sdwa.destination not in (None, _WHOLE)
    wide = is_part and specs[0].dwords > 1
    if wide or any(is_packed(spec.type) and spec.dwords == 1 for spec in specs):
        raise Untranslatable(instruction, "SDWA of this instruction is not emulated")


def branch_condition(frame: Frame, branch: Instruction) -> Value:
    """Return whether a conditional branch is taken, an i1."""
    condition = branch.traits.condition
    assert condition is not None
    if condition.flag is Flag.SCC:
        code = frame.registers.condition_code
        return code if condition.nonzero else frame.builder.not_(code)
    predicate = "ne" if condition.nonzero else "eq"
    return frame.compare_with_zero(predicate, VCC_LO if condition.flag is Flag.VCC else EXEC_LO)
