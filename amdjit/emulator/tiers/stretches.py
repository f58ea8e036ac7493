"""Stretches of VALU instructions whose results are searched for NaNs once, at their end.

A check of each instruction's result (`nans.py`) would take as long as the instruction. So a stretch
is translated twice: first as if there were no NaNs, then, for the rare case that there is one, with
the right NaN everywhere.

    v_mul_f32 v4, v1, v2        %t5 = fmul ...       nan.1:  both again, exactly
    v_add_f32 v5, v4, v3  ->    %t6 = fadd %t5, ...          br end.2
                                br any NaN in %t6 -> end.2:  %t9 = phi [ %t6, ... ], [ ..., %nan.1 ]

A NaN among the sources of an instruction is a NaN in its result, so that only the last results need
a look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from amdjit.emulator.expressions.nans import RARELY, any_nan
from amdjit.emulator.instructions.operation import VectorOp
from amdjit.emulator.instructions.tables import emitter_of
from amdjit.emulator.instructions.vector.dual_issue import DUAL
from amdjit.emulator.instructions.vector.packed import PackedOp
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.traits import Idle, Unit

# Registers that are written in a stretch live on to its end, for the second translation.
_LONGEST = 12

_Step = TypeVar("_Step")


def may_stretch(instruction: Instruction) -> bool:
    """Return whether an instruction only computes vector registers and lane masks, but not EXEC."""
    traits = instruction.traits
    if any(
        isinstance(operand, Register) and operand.file is RegisterFile.EXEC
        for operand in instruction.operands
    ):
        return False
    if instruction.pair is not None:
        halves = (instruction, instruction.pair)
        return all(DUAL.get(half.traits.operation) is not None for half in halves)
    if traits.idle is Idle.DELAY or traits.is_mixed or _is_lanewise(instruction):
        return True
    return isinstance(emitter_of(instruction), (VectorOp, PackedOp))


def _is_lanewise(instruction: Instruction) -> bool:
    """Whether it is a comparison, transcendental, or the first step of a division (v_div_scale)."""
    traits, opcode = instruction.traits, instruction.opcode
    if traits.compares:
        return not traits.writes_exec
    if traits.unit is Unit.TRANSCENDENTAL:
        return traits.lane_by_lane
    return opcode.encoding == "VOP3SD" and opcode.operands[0].type in ("f32", "f64")


def in_stretches(
    steps: Iterable[_Step], instruction_of: Callable[[_Step], Instruction]
) -> Iterator[list[_Step]]:
    """Yield the steps of a block in stretches; each other instruction is one of its own."""
    for together, group in groupby(steps, lambda step: may_stretch(instruction_of(step))):
        run = list(group)
        size = _LONGEST if together else 1
        yield from (run[start : start + size] for start in range(0, len(run), size))


def emit_stretch(frame: Frame, emit: Callable[[], object]) -> None:
    """Emit a stretch, by calls of `emit`."""
    b, registers = frame.builder, frame.registers
    before = registers.snapshot()
    b.unchecked = {}
    emit()
    results, b.unchecked = list(b.unchecked.values()), None
    if not results:
        return
    plain, start = registers.snapshot(), b.current
    # Inactive lanes often hold infinities and NaNs, which made them leave a loop. Each half of a
    # wave64 has its own EXEC.
    active = None if registers.exec_is_full or registers.halves == 2 else registers.exec_mask()
    with b.if_(any_nan(b, results, active), RARELY, "nan"):
        registers.restore(before)
        b.is_exact = True
        emit()
        b.is_exact = False
        end = b.current
    registers.join((plain, start), end)
