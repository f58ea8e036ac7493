"""Instructions of gfx9 on pairs of dwords: V_PK_*_F32, V_PK_MOV_B32, and moves and sums of 64
bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.nans import fused_nan, with_nans
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import (
    Emitter,
    source_places,
    vector_ops,
    vector_register,
)
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import modify_input
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import is_vector, scalar_slot, vector_number


def _dword(frame: Frame, instruction: Instruction, place: int, upper: int) -> Value:
    """Return one dword of a pair, which op_sel or op_sel_hi has chosen."""
    operand = instruction.operands[place]
    if is_vector(operand):
        return frame.registers.vector(vector_number(operand) + upper)
    slot = scalar_slot(operand) if isinstance(operand, Register) and operand.dwords == 2 else None
    if slot is not None:
        return frame.registers.scalar_splat(slot + upper)
    if upper:
        # Compilers choose the lower dword (LLVM: packed-fp32.ll, "1.0 op_sel_hi:[1,0]").
        raise Untranslatable(instruction, "no document has the upper dword of a constant")
    return frame.source(instruction, place, "v2f32")


@dataclass(frozen=True, slots=True)
class PairOp:
    """The same single-precision expression on both dwords of register pairs."""

    expression: ix.Expression

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        # Read everything first: the result may overlap the operands.
        results = [self._compute(frame, instruction, upper) for upper in (0, 1)]
        number = vector_number(vector_register(instruction, "vdst"))
        for upper, result in enumerate(results):
            frame.registers.write_vector(number + upper, result, frame.mask())

    def _compute(self, frame: Frame, instruction: Instruction, upper: int) -> Value:
        b, modifiers = frame.builder, instruction.modifiers
        selects = modifiers.op_sel_hi if upper else modifiers.op_sel
        negates = modifiers.neg_hi if upper else modifiers.neg
        operands = []
        for number, place in enumerate(source_places(instruction.opcode)):
            dword = _dword(frame, instruction, place, selects >> number & 1)
            single = modify_input(b, b.bitcast(dword, "float"), bool(negates >> number & 1), False)
            operands.append(frame.flushed_source(single))
        result = self.expression(b, *operands)
        if modifiers.clamp:
            result = frame.clamped_unit(result, instruction)
        return frame.flushed_result(result, instruction)


def _move_pair(frame: Frame, instruction: Instruction) -> None:
    """V_PK_MOV_B32: op_sel chooses the dword of each operand."""
    chosen = [
        _dword(frame, instruction, place, instruction.modifiers.op_sel >> number & 1)
        for number, place in enumerate((1, 2))
    ]
    number = vector_number(vector_register(instruction, "vdst"))
    for part, value in enumerate(chosen):
        frame.registers.write_vector(number + part, value, frame.mask())


def _shift_and_add(b: Builder, x: Value, amount: Value, z: Value) -> Value:
    """V_LSHL_ADD_U64 shifts by three bits of the amount."""
    return b.add(b.shift("shl", x, b.resize(b.mask(amount, 3), 64)), z)


VECTOR_PAIRS: Mapping[str, Emitter] = {
    "v_pk_fma_f32": PairOp(with_nans(fx.fma, fused_nan)),
    "v_pk_mul_f32": PairOp(with_nans(ix.binary("fmul"))),
    "v_pk_add_f32": PairOp(with_nans(ix.binary("fadd"))),
    "v_pk_mov_b32": _move_pair,
    **vector_ops({"v_mov_b64": ix.mov, "v_lshl_add_u64": _shift_and_add}),
}
