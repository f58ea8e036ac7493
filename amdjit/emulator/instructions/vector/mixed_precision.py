"""Multiply-add of f32 and f16 operands: V_FMA_MIX*."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions.nans import converted_nan, fused_nan, settled
from amdjit.emulator.host.builder import Value
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.instructions.vector.packed import half_of
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import modify_input
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number


def _source(frame: Frame, instruction: Instruction, number: int) -> Value:
    """Return an f32 operand, or an f16 half of one (op_sel_hi says which), as f32."""
    b = frame.builder
    modifiers = instruction.modifiers
    if not modifiers.op_sel_hi >> number & 1:
        return frame.source(instruction, number + 1)
    # As a pair of halves the register is read without the modifiers, which apply to the f32.
    whole = frame.source(instruction, number + 1, "v2f16")
    half = b.bitcast(half_of(b, whole, modifiers.op_sel >> number & 1), "half")
    value = b.convert("fpext", frame.flushed_source(half), "float")
    return modify_input(
        b, value, bool(modifiers.neg >> number & 1), bool(modifiers.abs >> number & 1)
    )


def _fma(half: int | None) -> Emitter:
    """V_FMA_MIX*: multiply-add in f32. `half`: the half of the result register that an f16 result
    goes to."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sources = [_source(frame, instruction, number) for number in range(3)]
        result = settled(b, fx.fma(b, *sources), sources, fused_nan)
        if half is None:
            frame.write(instruction, 0, result)
            return
        frame.round_as(2)
        narrow = settled(b, b.convert("fptrunc", result, "half"), [result], converted_nan("half"))
        narrow = frame.without_overflow(narrow, sources, instruction)
        if instruction.modifiers.clamp:
            narrow = frame.clamped_unit(narrow, instruction)
        narrow = frame.flushed_result(narrow, instruction)
        target = vector_register(instruction, "vdst")
        frame.registers.write_half(vector_number(target), half, narrow, frame.mask())

    return emit


VECTOR_MIXED: Mapping[str, Emitter] = {
    "v_fma_mix_f32": _fma(None),
    "v_fma_mixlo_f16": _fma(0),
    "v_fma_mixhi_f16": _fma(1),
}
