"""Dot products: V_DOT2, V_DOT4 and V_DOT8."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.instructions.matrix.dots_native import Dot
from amdjit.emulator.instructions.matrix.families import is_of_gfx11
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import InlineConstant, Instruction


def _parts(b: Builder, whole: Value, bits: int, signed: bool) -> list[Value]:
    return [
        b.resize(b.resize(b.shift("lshr", whole, start), bits), 32, signed)
        for start in range(0, 32, bits)
    ]


def _integer_dot(frame: Frame, instruction: Instruction) -> None:
    """V_DOT4 and V_DOT8 of integers; in the `iu` forms neg_lo says which factors are signed."""
    b = frame.builder
    kind, bits = _element(instruction, 1)[:-1], int(_element(instruction, 1)[-1])
    signed = [kind == "iu" and bool(instruction.modifiers.neg >> number & 1) for number in (0, 1)]
    factors = [
        _parts(b, frame.source(instruction, number + 1), bits, signed[number]) for number in (0, 1)
    ]
    total = constant(V32, 0)
    for left, right in zip(*factors, strict=True):
        total = b.add(total, b.mul(left, right))
    # Read like the packed factors, without modifiers: neg_lo's third bit negates no integer.
    addend = frame.source(instruction, 3, "v2u16")
    if instruction.modifiers.clamp:
        result = b.intrinsic("sadd.sat" if kind == "iu" else "uadd.sat", total, addend)
    else:
        result = b.add(total, addend)
    frame.registers.write_vector(vector_register(instruction, "vdst").index, result, frame.mask())


def _element(instruction: Instruction, index: int) -> str:
    """Return the type of a packed operand's elements: fp8 of v4fp8."""
    return instruction.opcode.operands[index].type[2:]


def dot_factor(frame: Frame, instruction: Instruction, number: int) -> Value:
    """Return dwords of a packed factor, with the halves and signs that the modifiers choose."""
    b = frame.builder
    modifiers = instruction.modifiers
    packed = instruction.opcode.encoding == "VOP3P"
    whole = frame.source(instruction, number + 1)
    is_inline = isinstance(instruction.operands[number + 1], InlineConstant)
    if is_inline and _element(instruction, number + 1) == "bf16":
        # Captured on gfx1201: an inline constant stands in both halves of a bf16 factor, but only
        # in the low half of an f16 one.
        whole = b.or_(b.mask(whole, 16), b.shift("shl", whole, 16))
    halves = []
    for upper in (0, 1):
        selects = modifiers.op_sel_hi if upper else modifiers.op_sel
        place = selects >> number & 1 if packed else upper
        halves.append(b.shift("lshr", whole, 16) if place else b.mask(whole, 16))
    both = b.or_(halves[0], b.shift("shl", halves[1], 16))
    if not packed and modifiers.abs >> number & 1:
        both = b.and_(both, constant(V32, 0x7FFF7FFF))
    negates = modifiers.neg, modifiers.neg_hi if packed else modifiers.neg
    signs = sum(0x8000 << 16 * upper for upper in (0, 1) if negates[upper] >> number & 1)
    return b.xor(both, constant(V32, signs)) if signs else both


def float_dot(frame: Frame, instruction: Instruction, addend: Value) -> Value:
    """Return c + a.lo * b.lo + a.hi * b.hi of an f32 c, rounded as the device rounds."""
    element = _element(instruction, 1)
    factors = [dot_factor(frame, instruction, number) for number in (0, 1)]
    dot = Dot(element, element, "f32", is_of_gfx11(instruction))
    return frame.builder.bitcast(
        frame.native(dot.symbol, V32, [*factors, frame.builder.bitcast(addend, "i32")]), "float"
    )


def _dot2_single(frame: Frame, instruction: Instruction) -> None:
    result = float_dot(frame, instruction, frame.source(instruction, 3))
    frame.write(instruction, 0, result)


def _dot2_accumulated(frame: Frame, instruction: Instruction) -> None:
    frame.write(instruction, 0, float_dot(frame, instruction, frame.source(instruction, 0)))


def _dot2_narrow(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    element = _element(instruction, 1)
    dot = Dot(element, element, element, is_of_gfx11(instruction))
    addend = b.resize(b.bitcast(frame.source(instruction, 3), "i16"), 32)
    factors = [dot_factor(frame, instruction, number) for number in (0, 1)]
    flags = [frame.overflow_flag()] if dot.overflows else []
    bits = frame.native(dot.symbol, V32, [*factors, addend, *flags])
    frame.write(instruction, 0, b.resize(bits, 16))


def _dot4_single(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    dot = Dot(_element(instruction, 1), _element(instruction, 2), "f32")
    factors = [frame.source(instruction, number) for number in (1, 2)]
    addend = b.bitcast(frame.source(instruction, 3), "i32")
    frame.write(
        instruction, 0, b.bitcast(frame.native(dot.symbol, V32, [*factors, addend]), "float")
    )


DOTS: Mapping[str, Emitter] = {
    "v_dot2_f32_f16": _dot2_single,
    "v_dot2_f32_bf16": _dot2_single,
    "v_dot2acc_f32_f16": _dot2_accumulated,
    "v_dot2_f16_f16": _dot2_narrow,
    "v_dot2_bf16_bf16": _dot2_narrow,
    "v_dot4_i32_iu8": _integer_dot,
    "v_dot4_u32_u8": _integer_dot,
    "v_dot8_i32_iu4": _integer_dot,
    "v_dot8_u32_u4": _integer_dot,
    **{f"v_dot4_f32_{a}_{b}": _dot4_single for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
}
