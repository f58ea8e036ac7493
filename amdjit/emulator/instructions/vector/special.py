"""Transcendental instructions, 8-bit float conversions, odd conversions and relative moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions.eighth_floats import single_to_eighth
from amdjit.emulator.expressions.elements import bf8_to_single, fp8_to_single
from amdjit.emulator.expressions.nans import settled
from amdjit.emulator.host.builder import Builder, Value, bits_of, constant, vector
from amdjit.emulator.instructions.lanes.cross_lane import first_lane, is_vector_register
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.layout import HALF_VGPRS, M0, SCALAR_BYTES, VGPR_BYTES
from amdjit.emulator.wave.frame import STATE, Frame
from amdjit.emulator.wave.operands import ELEMENTS, modify_input
from amdjit.emulator.wave.registers import V32

_SINGLES = vector("float")
_NATIVE = {"exp": "aj_exp2", "log": "aj_log2", "sin": "aj_sin", "cos": "aj_cos"}
_PLAIN = {"rcp": fx.reciprocal, "rsq": fx.reciprocal_root, "sqrt": fx.square_root}


def _compute(frame: Frame, name: str, operand: Value) -> Value:
    if name in _NATIVE:
        return frame.native(_NATIVE[name], _SINGLES, [operand])
    return _PLAIN[name](frame.builder, operand)


def _vector(name: str, code: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        operand = frame.source(instruction, 1, code)
        result = _compute(
            frame, name, b.convert("fpext", operand, "float") if code == "f16" else operand
        )
        result = settled(
            b, b.convert("fptrunc", result, "half") if code == "f16" else result, [operand]
        )
        frame.write(instruction, 0, frame.without_overflow(result, [operand], instruction))

    return emit


def _scalar(name: str, code: str) -> Emitter:
    """The pseudo-scalar forms: one number, to an SGPR."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        modifiers = instruction.modifiers
        operand = _pseudo_scalar_source(frame, instruction, code)
        operand = modify_input(b, operand, bool(modifiers.neg & 1), bool(modifiers.abs & 1))
        wide = b.splat(b.convert("fpext", operand, "float") if code == "f16" else operand)
        result = b.extract(_compute(frame, name, wide), 0)
        result = settled(
            b, b.convert("fptrunc", result, "half") if code == "f16" else result, [operand]
        )
        result = frame.without_overflow(result, [operand], instruction)
        result = frame.flushed_result(frame.modified_result(result, instruction), instruction)
        frame.write_scalar(instruction.operands[0], result)

    return emit


def _pseudo_scalar_source(frame: Frame, instruction: Instruction, code: str) -> Value:
    """Read an SGPR or a constant; of a VGPR the first active lane.

    The ISA document knows no VGPR there (7.10), but the assembler takes one. That the lane is
    V_READFIRSTLANE_B32's is an assumption.
    """
    source = instruction.operands[1]
    if not is_vector_register(source):
        return frame.scalar_source(instruction, 1, code)
    b, element = frame.builder, ELEMENTS[code]
    bits = b.resize(first_lane(frame, source), bits_of(element))
    return frame.flushed_source(b.bitcast(bits, element))


def _transcendental() -> dict[str, Emitter]:
    table: dict[str, Emitter] = {}
    for code in ("f16", "f32"):
        for name in _NATIVE:
            table[f"v_{name}_{code}"] = _vector(name, code)
        for name in ("exp", "log", "rcp", "rsq", "sqrt"):
            table[f"v_s_{name}_{code}"] = _scalar(name, code)
    return table


Widen = Callable[[Builder, Value], Value]


def _eighth_to_single(widen: Widen) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        byte = instruction.immediates.get("byte_sel", 0)
        whole = frame.source(instruction, 1, "b32")
        frame.write(
            instruction, 0, widen(frame.builder, frame.builder.shift("lshr", whole, 8 * byte))
        )

    return emit


def _eighths_to_singles(widen: Widen) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        half = b.resize(frame.source(instruction, 1, "b16"), 32)
        target = vector_register(instruction, "vdst")
        for part in (0, 1):
            value = widen(b, b.shift("lshr", half, 8 * part))
            frame.registers.write_vector(target.index + part, value, frame.mask())

    return emit


def _singles_to_eighths(kind: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        clamps = frame.clamps_overflow
        sources = [frame.source(instruction, index, "f32") for index in (1, 2)]
        low, high = (single_to_eighth(b, source, kind, None, clamps) for source in sources)
        packed = b.or_(low, b.shift("shl", high, 8))
        frame.write(instruction, 0, b.resize(packed, 16))

    return emit


def _single_to_eighth_stochastic(kind: str) -> Emitter:
    """Round by adding random bits (operand 1); writes one byte of the result register."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        number, random = frame.source(instruction, 1, "f32"), frame.source(instruction, 2, "b32")
        value = single_to_eighth(b, number, kind, random, frame.clamps_overflow)
        shift = 8 * instruction.immediates.get("byte_sel", 0)
        target = vector_register(instruction, "vdst")
        kept = b.and_(frame.registers.vector(target.index), constant(V32, ~(0xFF << shift)))
        frame.registers.write_vector(
            target.index, b.or_(kept, b.shift("shl", value, shift)), frame.mask()
        )

    return emit


def _saturated_bytes(frame: Frame, instruction: Instruction) -> None:
    """Two i16 to two u8 with saturation, in the low half of the result."""
    b = frame.builder
    whole = frame.source(instruction, 1, "b32")
    parts = []
    for start in (0, 16):
        number = b.resize(b.resize(b.shift("lshr", whole, start), 16), 32, True)
        low = b.intrinsic("smax", number, constant(V32, 0))
        parts.append(b.intrinsic("smin", low, constant(V32, 255)))
    frame.write(instruction, 0, b.resize(b.or_(parts[0], b.shift("shl", parts[1], 8)), 16))


def _pack_byte(frame: Frame, instruction: Instruction) -> None:
    """Convert f32 to u8, rounding to nearest even, and put it at byte S1[1:0] of S2."""
    b = frame.builder
    rounded = b.intrinsic("roundeven", frame.source(instruction, 1, "f32"))
    byte = b.intrinsic("umin", fx.to_integer(False)(b, rounded), constant(V32, 255))
    place = b.shift("shl", b.mask(frame.source(instruction, 2, "u32"), 2), 3)
    kept = b.and_(
        frame.source(instruction, 3, "b32"), b.not_(b.shift("shl", constant(V32, 255), place))
    )
    result = b.or_(kept, b.shift("shl", byte, place))
    frame.registers.write_vector(vector_register(instruction, "vdst").index, result, frame.mask())


def _relative(source: bool, target: bool, split: bool) -> Emitter:
    """V_MOVREL*: register numbers plus M0; past v255 the move does nothing. All registers are in
    memory then."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        m0 = frame.registers.scalar(M0)
        offsets = [b.mask(m0, 10), b.mask(b.shift("lshr", m0, 16), 10)] if split else [m0, m0]
        frame.registers.flush_vectors(0, 256)
        mask = frame.mask()
        place = _place(
            frame, vector_register(instruction, "vdst").index, offsets[1] if target else None
        )
        if source:
            origin = _place(frame, vector_register(instruction, "src0").index, offsets[0])
            value = b.load(V32, origin, 4)
        else:
            value = frame.source(instruction, 1, "b32")
        old = b.load(V32, place, 4)
        b.store(b.select(mask, value, old), place, 4)
        frame.registers.forget_vectors(0, 256)

    return emit


def _swap_relative(frame: Frame, instruction: Instruction) -> None:
    """V_SWAPREL_B32: the destination's number plus M0[25:16], the source's plus M0[9:0]."""
    b = frame.builder
    m0 = frame.registers.scalar(M0)
    frame.registers.flush_vectors(0, 256)
    mask = frame.mask()
    first = _place(
        frame, vector_register(instruction, "vdst").index, b.mask(b.shift("lshr", m0, 16), 10)
    )
    second = _place(frame, vector_register(instruction, "src0").index, b.mask(m0, 10))
    left, right = b.load(V32, first, 4), b.load(V32, second, 4)
    b.store(b.select(mask, right, left), first, 4)
    b.store(b.select(mask, left, right), second, 4)
    frame.registers.forget_vectors(0, 256)


def _place(frame: Frame, index: int, offset: Value | None) -> Value:
    b = frame.builder
    first = SCALAR_BYTES + frame.registers.wave_half * HALF_VGPRS * VGPR_BYTES
    if offset is None:
        return b.offset(STATE, first + index * VGPR_BYTES)
    number = b.intrinsic("umin", b.add(offset, constant("i32", index)), constant("i32", 255))
    distance = b.shift("shl", b.resize(number, 64), 7)
    return b.offset(b.offset(STATE, first), distance)


VECTOR_SPECIAL: Mapping[str, Emitter] = {
    **_transcendental(),
    "v_cvt_f32_fp8": _eighth_to_single(fp8_to_single),
    "v_cvt_f32_bf8": _eighth_to_single(bf8_to_single),
    "v_cvt_pk_f32_fp8": _eighths_to_singles(fp8_to_single),
    "v_cvt_pk_f32_bf8": _eighths_to_singles(bf8_to_single),
    "v_cvt_pk_fp8_f32": _singles_to_eighths("fp8"),
    "v_cvt_pk_bf8_f32": _singles_to_eighths("bf8"),
    "v_cvt_sr_fp8_f32": _single_to_eighth_stochastic("fp8"),
    "v_cvt_sr_bf8_f32": _single_to_eighth_stochastic("bf8"),
    "v_sat_pk_u8_i16": _saturated_bytes,
    "v_cvt_pk_u8_f32": _pack_byte,
    "v_movrels_b32": _relative(True, False, False),
    "v_movreld_b32": _relative(False, True, False),
    "v_movrelsd_b32": _relative(True, True, False),
    "v_movrelsd_2_b32": _relative(True, True, True),
    "v_swaprel_b32": _swap_relative,
}
