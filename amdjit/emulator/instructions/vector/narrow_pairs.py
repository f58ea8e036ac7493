"""V_CVT_PK and V_CVT_SR of single precision to half precision and bfloat16.

The CDNA 4 ISA document does not say how V_CVT_SR_F16_F32 and V_CVT_SR_BF16_F32 align random bits
and what they make of a NaN: the bits are taken as those of conversions with a scale are
(`scaled_floats.py`), and a NaN is quiet, with the leading bits of its mantissa, as where such
conversions round to the nearest.
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions.elements import single_to_brain
from amdjit.emulator.expressions.nans import converted_nan, with_nans
from amdjit.emulator.expressions.scaled_floats import BRAIN, HALF, narrow
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.vector.packed import pack_halves
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction

_TO_HALF = with_nans(fx.cast("fptrunc", "half"), converted_nan("half"))


def _half_pair(frame: Frame, instruction: Instruction) -> None:
    parts = []
    for place in (1, 2):
        source = frame.source(instruction, place)
        value = frame.without_overflow(_TO_HALF(frame.builder, source), [source], instruction)
        value = frame.modified_result(value, instruction)
        parts.append(frame.flushed_result(value, instruction))
    frame.write(instruction, 0, pack_halves(frame.builder, *parts))


def _brain_pair(frame: Frame, instruction: Instruction) -> None:
    _refuse_result_modifiers(instruction)
    b = frame.builder
    low, high = (single_to_brain(b, frame.source(instruction, place)) for place in (1, 2))
    frame.write(instruction, 0, b.or_(low, b.shift("shl", high, 16)))


def _refuse_result_modifiers(instruction: Instruction) -> None:
    if instruction.modifiers.clamp or instruction.modifiers.omod:
        raise Untranslatable(instruction, "no document says what clamp and omod make of bfloat16")


def _random_half(frame: Frame, instruction: Instruction) -> None:
    frame.refuse_overflow(instruction)
    _refuse_source_halves(instruction)
    b = frame.builder
    source, random = frame.source(instruction, 1), frame.source(instruction, 2, "b32")
    bits = b.resize(narrow(b, source, HALF, random=random), 16)
    nan = converted_nan("half")(b, [source])
    value = b.select(b.compare("uno", source, source), nan, bits)
    frame.write(instruction, 0, b.bitcast(value, "half"))


def _random_brain(frame: Frame, instruction: Instruction) -> None:
    _refuse_source_halves(instruction)
    b = frame.builder
    source, random = frame.source(instruction, 1), frame.source(instruction, 2, "b32")
    bits = narrow(b, source, BRAIN, random=random)
    nan = single_to_brain(b, source)
    value = b.select(b.compare("uno", source, source), nan, bits)
    frame.write(instruction, 0, b.resize(value, 16))


def _refuse_source_halves(instruction: Instruction) -> None:
    if instruction.modifiers.op_sel & 7:
        raise Untranslatable(instruction, "no document says what this op_sel does")


VECTOR_NARROW_PAIRS: Mapping[str, Emitter] = {
    "v_cvt_pk_f16_f32": _half_pair,
    "v_cvt_pk_bf16_f32": _brain_pair,
    "v_cvt_sr_f16_f32": _random_half,
    "v_cvt_sr_bf16_f32": _random_brain,
}
