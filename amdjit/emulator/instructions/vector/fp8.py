"""Conversions from and to 8-bit floats."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import constant
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.floats.elements import Convert
from amdjit.isa.floats.fp8 import (
    BF8_TO_SINGLE,
    FP8_TO_SINGLE,
    fnuz_to_single,
    pair_to_fp8,
    single_to_fp8,
)
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import vector_number


def _to_single(widen: Convert) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        byte = instruction.immediates.get("byte_sel", 0)
        whole = frame.source(instruction, 1)
        frame.write(
            instruction, 0, widen(frame.builder, frame.builder.shift("lshr", whole, 8 * byte))
        )

    return emit


def _pair_to_singles(widen: Convert) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        half = b.resize(frame.source(instruction, 1), 32)
        target = vector_register(instruction, "vdst")
        for part in (0, 1):
            value = widen(b, b.shift("lshr", half, 8 * part))
            frame.registers.write_vector(vector_number(target) + part, value, frame.mask())

    return emit


def _from_pair(kind: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sources = [frame.source(instruction, index) for index in (1, 2)]
        packed = pair_to_fp8(b, *sources, kind=kind, clamps=frame.clamps_overflow)
        frame.write(instruction, 0, packed)

    return emit


def _from_single_stochastic(kind: str) -> Emitter:
    """Round by adding random bits (operand 1), and write one byte of the result register."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        number, random = frame.source(instruction, 1), frame.source(instruction, 2)
        value = single_to_fp8(b, number, random, kind=kind, clamps=frame.clamps_overflow)
        shift = 8 * instruction.immediates.get("byte_sel", 0)
        target = vector_register(instruction, "vdst")
        index = vector_number(target)
        kept = b.and_(frame.registers.vector(index), constant(V32, ~(0xFF << shift)))
        new = b.or_(kept, b.shift("shl", value, shift))
        frame.registers.write_vector(index, new, frame.mask())

    return emit


VECTOR_FP8: Mapping[str, Emitter] = {
    "v_cvt_f32_fp8": _to_single(FP8_TO_SINGLE),
    "v_cvt_f32_bf8": _to_single(BF8_TO_SINGLE),
    "v_cvt_pk_f32_fp8": _pair_to_singles(FP8_TO_SINGLE),
    "v_cvt_pk_f32_bf8": _pair_to_singles(BF8_TO_SINGLE),
    "v_cvt_pk_fp8_f32": _from_pair("fp8"),
    "v_cvt_pk_bf8_f32": _from_pair("bf8"),
    "v_cvt_sr_fp8_f32": _from_single_stochastic("fp8"),
    "v_cvt_sr_bf8_f32": _from_single_stochastic("bf8"),
}


# Conversions from and to 8-bit floats on gfx942 and gfx950, which choose bytes by op_sel or SDWA.
#
# gfx942 has the FNUZ formats, gfx950 the OCP ones (CDNA 3 and CDNA 4 ISA documents, V_CVT_F32_FP8).


def _gfx9_fp8_to_single(widen: Convert) -> Emitter:
    """The byte is the lowest of the operand, which SDWA has moved there."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        frame.write(instruction, 0, widen(frame.builder, frame.source(instruction, 1)))

    return emit


def _gfx9_fp8_pair_to_singles(widen: Convert) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        both = frame.source(instruction, 1)
        target = vector_register(instruction, "vdst")
        for part in (0, 1):
            value = widen(b, b.shift("lshr", both, 8 * part))
            value = frame.modified_result(value, instruction)
            frame.registers.write_vector(target.index + part, value, frame.mask())

    return emit


def _gfx9_fp8_from_pair(kind: str) -> Emitter:
    """Two results go to one half of the register, which bit 3 of op_sel chooses."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sources = [frame.source(instruction, index) for index in (1, 2)]
        packed = pair_to_fp8(b, *sources, kind=kind, clamps=frame.clamps_overflow)
        target = vector_register(instruction, "vdst")
        half = instruction.modifiers.op_sel >> 3 & 1
        frame.registers.write_half(target.index, half, packed, frame.mask())

    return emit


def _gfx9_fp8_from_single_stochastic(kind: str) -> Emitter:
    """Round by adding random bits (operand 1); bits 3:2 of op_sel choose the byte."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        number, random = frame.source(instruction, 1), frame.source(instruction, 2)
        value = single_to_fp8(b, number, random, kind=kind, clamps=frame.clamps_overflow)
        shift = 8 * (instruction.modifiers.op_sel >> 2 & 3)
        target = vector_register(instruction, "vdst")
        kept = b.and_(frame.registers.vector(target.index), constant(V32, ~(0xFF << shift)))
        changed = b.or_(kept, b.shift("shl", value, shift))
        frame.registers.write_vector(target.index, changed, frame.mask())

    return emit


def _conversions(name: str, kind: str, widen: Convert) -> dict[str, Emitter]:
    return {
        f"v_cvt_f32_{name}": _gfx9_fp8_to_single(widen),
        f"v_cvt_pk_f32_{name}": _gfx9_fp8_pair_to_singles(widen),
        f"v_cvt_pk_{name}_f32": _gfx9_fp8_from_pair(kind),
        f"v_cvt_sr_{name}_f32": _gfx9_fp8_from_single_stochastic(kind),
    }


GFX942_FP8: Mapping[str, Emitter] = {
    **_conversions("fp8", "fp8_fnuz", fnuz_to_single("fp8_fnuz")),
    **_conversions("bf8", "bf8_fnuz", fnuz_to_single("bf8_fnuz")),
}
GFX950_FP8: Mapping[str, Emitter] = {
    **_conversions("fp8", "fp8", FP8_TO_SINGLE),
    **_conversions("bf8", "bf8", BF8_TO_SINGLE),
}
