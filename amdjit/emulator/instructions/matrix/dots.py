"""Dot products: V_DOT2, V_DOT4 and V_DOT8."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.decoder.instruction import InlineConstant, Instruction
from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.instructions.matrix.dots_native import Dot
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32


def _parts(b: Builder, whole: Value, bits: int, signed: bool) -> list[Value]:
    return [
        b.resize(b.resize(b.shift("lshr", whole, start), bits), 32, signed)
        for start in range(0, 32, bits)
    ]


def _integer_dot(bits: int, signed: bool) -> Emitter:
    """V_DOT4/DOT8: neg_lo of operands 0 and 1 says which are signed (the iu forms)."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        signs = instruction.modifiers.neg
        factors = [
            _parts(
                b,
                frame.source(instruction, number + 1),
                bits,
                signed and bool(signs >> number & 1),
            )
            for number in (0, 1)
        ]
        total = constant(V32, 0)
        for left, right in zip(*factors, strict=True):
            total = b.add(total, b.mul(left, right))
        # Read like the packed factors, without modifiers: neg_lo's third bit negates no integer.
        addend = frame.source(instruction, 3, "v2u16")
        if instruction.modifiers.clamp:
            result = b.intrinsic("sadd.sat" if signed else "uadd.sat", total, addend)
        else:
            result = b.add(total, addend)
        frame.registers.write_vector(
            vector_register(instruction, "vdst").index, result, frame.mask()
        )

    return emit


def _dot_factor(frame: Frame, instruction: Instruction, number: int, element: str) -> Value:
    """Return dwords of a packed factor: each half of which it says, with its sign."""
    b = frame.builder
    modifiers = instruction.modifiers
    packed = instruction.opcode.encoding == "VOP3P"
    whole = frame.source(instruction, number + 1)
    if element == "bf16" and isinstance(instruction.operands[number + 1], InlineConstant):
        # Captured on gfx1201: an inline constant stands in both halves of bf16 factors, of f16 ones
        # in the low half.
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


def float_dot(frame: Frame, instruction: Instruction, element: str, addend: Value) -> Value:
    """Return c + a.lo * b.lo + a.hi * b.hi of f32 c; the native function rounds as its device
    does."""
    factors = [_dot_factor(frame, instruction, number, element) for number in (0, 1)]
    dot = Dot(element, element, "f32")
    return frame.builder.bitcast(
        frame.native(dot.symbol, V32, [*factors, frame.builder.bitcast(addend, "i32")]), "float"
    )


def _dot2_single(element: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        frame.write(
            instruction,
            0,
            float_dot(frame, instruction, element, frame.source(instruction, 3)),
        )

    return emit


def _dot2_narrow(element: str) -> Emitter:
    dot = Dot(element, element, element)

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        addend = b.resize(b.bitcast(frame.source(instruction, 3), "i16"), 32)
        factors = [_dot_factor(frame, instruction, number, element) for number in (0, 1)]
        flags = [frame.overflow_flag()] if dot.overflows else []
        bits = frame.native(dot.symbol, V32, [*factors, addend, *flags])
        frame.write(instruction, 0, b.resize(bits, 16))

    return emit


def _dot4_float(left: str, right: str) -> Emitter:
    dot = Dot(left, right, "f32")

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        factors = [frame.source(instruction, number) for number in (1, 2)]
        addend = b.bitcast(frame.source(instruction, 3), "i32")
        frame.write(
            instruction, 0, b.bitcast(frame.native(dot.symbol, V32, [*factors, addend]), "float")
        )

    return emit


DOTS: Mapping[str, Emitter] = {
    "v_dot2_f32_f16": _dot2_single("f16"),
    "v_dot2_f32_bf16": _dot2_single("bf16"),
    "v_dot2_f16_f16": _dot2_narrow("f16"),
    "v_dot2_bf16_bf16": _dot2_narrow("bf16"),
    "v_dot4_i32_iu8": _integer_dot(8, True),
    "v_dot4_u32_u8": _integer_dot(8, False),
    "v_dot8_i32_iu4": _integer_dot(4, True),
    "v_dot8_u32_u4": _integer_dot(4, False),
    **{f"v_dot4_f32_{a}_{b}": _dot4_float(a, b) for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
}
