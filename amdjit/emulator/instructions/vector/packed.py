"""VOP3P: packed 16-bit arithmetic, mixed-precision multiply-add and dot products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.decoder.instruction import InlineConstant, Instruction, Literal
from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.float_extremes import EXTREMES
from amdjit.emulator.expressions.nans import converted_nan, fused_nan, settled, with_nans
from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.instructions.long_expressions import call_long
from amdjit.emulator.instructions.matrix.dots import Dot
from amdjit.emulator.instructions.operation import Emitter, source_places, vector_register
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import clamp_unit, constant_bits, modify_input
from amdjit.emulator.wave.registers import V32


def _half(b: Builder, whole: Value, upper: int) -> Value:
    return b.resize(b.shift("lshr", whole, 16) if upper else whole, 16)


@dataclass(frozen=True, slots=True)
class PackedOp:
    """The same 16-bit expression on both halves; op_sel and op_sel_hi pick each operand's half."""

    expression: ix.Expression
    clamped: ix.Expression | None = None
    # The instruction that does the same with one half, where its expression is long.
    single: str = ""

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        if self.single and _is_plain(frame, instruction):
            sources = [
                frame.source(instruction, place) for place in source_places(instruction.opcode)
            ]
            result = call_long(frame, instruction.mnemonic, sources)
            if result is not None:
                frame.write(instruction, 0, result)
                return
        halves = [self._compute(frame, instruction, upper) for upper in (0, 1)]
        frame.write(instruction, 0, pack_halves(frame.builder, *halves))

    def both_halves(self, b: Builder, element: str, *sources: Value) -> Value:
        """Return the dwords of the result, each half of the sources' halves, unmodified."""
        halves = [
            [b.bitcast(_half(b, whole, upper), element) for whole in sources] for upper in (0, 1)
        ]
        return pack_halves(b, *(self.expression(b, *operands) for operands in halves))

    def _compute(self, frame: Frame, instruction: Instruction, upper: int) -> Value:
        b = frame.builder
        modifiers = instruction.modifiers
        selects = modifiers.op_sel_hi if upper else modifiers.op_sel
        negates = modifiers.neg_hi if upper else modifiers.neg
        if instruction.opcode.encoding == "VOP2":
            selects = 7 if upper else 0
        element = _element(instruction)
        operands = []
        for number, place in enumerate(source_places(instruction.opcode)):
            whole = frame.source(instruction, place)
            half = b.bitcast(_half(b, whole, selects >> number & 1), element)
            operands.append(
                frame.flushed_source(modify_input(b, half, bool(negates >> number & 1), False))
            )
        clamp = modifiers.clamp
        expression = self.clamped if clamp and self.clamped else self.expression
        value = call_long(frame, self.single, operands) or expression(b, *operands)
        result = frame.without_overflow(value, operands, instruction)
        result = clamp_unit(b, result) if clamp and element == "half" else result
        return frame.flushed_result(result, instruction)


def _element(instruction: Instruction) -> str:
    return "half" if instruction.opcode.operands[0].type == "v2f16" else "i16"


def _is_plain(frame: Frame, instruction: Instruction) -> bool:
    """Whether each half of the result is made of the same halves of the operands, and neither
    modifiers nor the mode change anything."""
    modifiers = instruction.modifiers
    every = (1 << len(instruction.opcode.operands) - 1) - 1
    own = instruction.opcode.encoding == "VOP2" or (
        modifiers.op_sel,
        modifiers.op_sel_hi & every,
    ) == (0, every)
    changed = modifiers.neg or modifiers.neg_hi or modifiers.clamp
    return own and not changed and frame.keeps_denormals and frame.clamps_overflow is False


def pack_halves(b: Builder, low: Value, high: Value) -> Value:
    """Join two vectors of 16-bit elements to dwords."""
    wide = [b.resize(b.bitcast(value, "i16"), 32) for value in (low, high)]
    return b.or_(wide[0], b.shift("shl", wide[1], 16))


def _integers(code: str, sign: str) -> dict[str, Emitter]:
    return {
        f"v_pk_mad_{code}": PackedOp(ix.mad, ix.saturating_mad(sign == "s")),
        f"v_pk_add_{code}": PackedOp(ix.binary("add"), ix.saturating(f"{sign}add")),
        f"v_pk_sub_{code}": PackedOp(ix.binary("sub"), ix.saturating(f"{sign}sub")),
        f"v_pk_max_{code}": PackedOp(ix.intrinsic(f"{sign}max")),
        f"v_pk_min_{code}": PackedOp(ix.intrinsic(f"{sign}min")),
    }


_FUSED = PackedOp(with_nans(fx.fma_half, fused_nan), single="v_fma_f16")
_PACKED: dict[str, Emitter] = {
    "v_pk_mul_lo_u16": PackedOp(ix.binary("mul")),
    "v_pk_lshlrev_b16": PackedOp(ix.reverse(ix.shift("shl"))),
    "v_pk_lshrrev_b16": PackedOp(ix.reverse(ix.shift("lshr"))),
    "v_pk_ashrrev_i16": PackedOp(ix.reverse(ix.shift("ashr"))),
    **_integers("i16", "s"),
    **_integers("u16", "u"),
    "v_pk_fma_f16": _FUSED,
    "v_pk_fmac_f16": _FUSED,
    "v_pk_add_f16": PackedOp(with_nans(fx.through_float(ix.binary("fadd")))),
    "v_pk_mul_f16": PackedOp(with_nans(fx.through_float(ix.binary("fmul")))),
    **{
        f"v_pk_{name}_f16": PackedOp(expression, single=f"v_{name}_f16")
        for name, expression in EXTREMES.items()
    },
}


def _mixed_source(frame: Frame, instruction: Instruction, number: int) -> Value:
    """An f32 operand, or an f16 half of one (op_sel_hi says which), as f32; modifiers as for
    f32."""
    b = frame.builder
    modifiers = instruction.modifiers
    is_half = modifiers.op_sel_hi >> number & 1
    operand = instruction.operands[number + 1]
    code = "v2f16" if is_half else "v2f32"
    if isinstance(operand, (InlineConstant, Literal)) and not is_half:
        value = b.bitcast(constant(V32, constant_bits(operand, "f32")), "float")
    else:
        whole = frame.source(instruction, number + 1, code)
        if is_half:
            half = b.bitcast(_half(b, whole, modifiers.op_sel >> number & 1), "half")
            value = b.convert("fpext", frame.flushed_source(half), "float")
        else:
            value = b.bitcast(whole, "float")
    value = modify_input(
        b, value, bool(modifiers.neg >> number & 1), bool(modifiers.abs >> number & 1)
    )
    return value if is_half else frame.flushed_source(value)


def _mixed(half: int | None) -> Emitter:
    """V_FMA_MIX*: multiply-add in f32; `half` is the half of the result register for f16
    results."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sources = [_mixed_source(frame, instruction, number) for number in range(3)]
        result = settled(b, fx.fma(b, *sources), sources, fused_nan)
        if half is None:
            frame.write(instruction, 0, result)
            return
        frame.round_as(2)
        narrow = settled(b, b.convert("fptrunc", result, "half"), [result], converted_nan("half"))
        narrow = frame.without_overflow(narrow, sources, instruction)
        if instruction.modifiers.clamp:
            narrow = clamp_unit(b, narrow)
        narrow = frame.flushed_result(narrow, instruction)
        target = vector_register(instruction, "vdst")
        frame.registers.write_half(target.index, half, narrow, frame.mask())

    return emit


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


def _dot4_eighth(left: str, right: str) -> Emitter:
    dot = Dot(left, right, "f32")

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        factors = [frame.source(instruction, number) for number in (1, 2)]
        addend = b.bitcast(frame.source(instruction, 3), "i32")
        frame.write(
            instruction, 0, b.bitcast(frame.native(dot.symbol, V32, [*factors, addend]), "float")
        )

    return emit


_DOTS: dict[str, Emitter] = {
    "v_dot2_f32_f16": _dot2_single("f16"),
    "v_dot2_f32_bf16": _dot2_single("bf16"),
    "v_dot2_f16_f16": _dot2_narrow("f16"),
    "v_dot2_bf16_bf16": _dot2_narrow("bf16"),
    "v_dot4_i32_iu8": _integer_dot(8, True),
    "v_dot4_u32_u8": _integer_dot(8, False),
    "v_dot8_i32_iu4": _integer_dot(4, True),
    "v_dot8_u32_u4": _integer_dot(4, False),
    **{f"v_dot4_f32_{a}_{b}": _dot4_eighth(a, b) for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
}

VECTOR_PACKED: Mapping[str, Emitter] = {
    **_PACKED,
    **_DOTS,
    "v_fma_mix_f32": _mixed(None),
    "v_fma_mixlo_f16": _mixed(0),
    "v_fma_mixhi_f16": _mixed(1),
}
