"""Conversions from and to 8-bit floats."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.floats.conversions import (
    BYTE_PAIRS,
    CONVERSIONS,
    FNUZ_BYTE_PAIRS,
    FNUZ_CONVERSIONS,
)
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_rows import Pair, Row
from amdjit.isa.register_numbers import vector_number


def _computed(frame: Frame, instruction: Instruction, row: Row) -> Value:
    count = len(instruction.opcode.operands)
    operands = [frame.source(instruction, index) for index in range(1, count)]
    return frame.computed(row, operands, instruction)


def _to_single(row: Row) -> Emitter:
    """gfx12 has a field for the byte; on gfx9 it is the lowest, where SDWA has moved it."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        byte = instruction.immediates.get("byte_sel", 0)
        whole = frame.builder.shift("lshr", frame.source(instruction, 1), 8 * byte)
        frame.write(instruction, 0, frame.computed(row, [whole], instruction))

    return emit


def _pair_to_singles(expression: Pair) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        first = vector_number(vector_register(instruction, "vdst"))
        for part, value in enumerate(expression(frame.builder, frame.source(instruction, 1))):
            finished = frame.finished(value, instruction)
            frame.registers.write_vector(first + part, finished, frame.mask())

    return emit


def _from_pair(row: Row) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        frame.write(instruction, 0, _computed(frame, instruction, row))

    return emit


def _from_single_stochastic(row: Row) -> Emitter:
    """Round by adding random bits (operand 1), and write one byte of the result register: that of a
    field, or on gfx9 of bits 3:2 of op_sel."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        value = _computed(frame, instruction, row)
        chosen = instruction.modifiers.op_sel >> 2 & 3
        shift = 8 * instruction.immediates.get("byte_sel", chosen)
        index = vector_number(vector_register(instruction, "vdst"))
        kept = b.and_(frame.registers.vector(index), constant(V32, ~(0xFF << shift)))
        new = b.or_(kept, b.shift("shl", value, shift))
        frame.registers.write_vector(index, new, frame.mask())

    return emit


def _gfx9_from_pair(row: Row) -> Emitter:
    """Two results go to one half of the register, which bit 3 of op_sel chooses."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        packed = _computed(frame, instruction, row)
        target = vector_register(instruction, "vdst")
        half = instruction.modifiers.op_sel >> 3 & 1
        frame.registers.write_half(target.index, half, packed, frame.mask())

    return emit


def _conversions(rows: Mapping[str, Row], pairs: Mapping[str, Pair]) -> dict[str, Emitter]:
    found: dict[str, Emitter] = {}
    for name in ("fp8", "bf8"):
        found |= {
            f"v_cvt_f32_{name}": _to_single(rows[f"v_cvt_f32_{name}"]),
            f"v_cvt_pk_f32_{name}": _pair_to_singles(pairs[f"v_cvt_pk_f32_{name}"]),
            f"v_cvt_pk_{name}_f32": _from_pair(rows[f"v_cvt_pk_{name}_f32"]),
            f"v_cvt_sr_{name}_f32": _from_single_stochastic(rows[f"v_cvt_sr_{name}_f32"]),
        }
    return found


def _gfx9_conversions(rows: Mapping[str, Row], pairs: Mapping[str, Pair]) -> dict[str, Emitter]:
    packing = [f"v_cvt_pk_{name}_f32" for name in ("fp8", "bf8")]
    return _conversions(rows, pairs) | {name: _gfx9_from_pair(rows[name]) for name in packing}


VECTOR_FP8: Mapping[str, Emitter] = _conversions(CONVERSIONS, BYTE_PAIRS)
GFX942_FP8: Mapping[str, Emitter] = _gfx9_conversions(FNUZ_CONVERSIONS, FNUZ_BYTE_PAIRS)
GFX950_FP8: Mapping[str, Emitter] = _gfx9_conversions(CONVERSIONS, BYTE_PAIRS)
