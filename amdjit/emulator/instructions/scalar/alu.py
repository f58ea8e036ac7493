"""SALU instructions that compute a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.float_extremes import EXTREMES, older
from amdjit.emulator.expressions.nans import converted_nan, fused_nan, settled, with_nans
from amdjit.emulator.host.builder import Builder, Value, bits_of, constant
from amdjit.emulator.instructions.operation import Emitter, scalar_ops
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction

_ADD, _SUB, _MUL = ix.binary("add"), ix.binary("sub"), ix.binary("mul")
_AND, _OR, _XOR = ix.binary("and"), ix.binary("or"), ix.binary("xor")
LOGIC = {
    "and": _AND,
    "or": _OR,
    "xor": _XOR,
    "nand": ix.negated(_AND),
    "nor": ix.negated(_OR),
    "xnor": ix.negated(_XOR),
    "and_not1": ix.and_not,
    "or_not1": ix.or_not,
    "and_not0": ix.reverse(ix.and_not),
    "or_not0": ix.reverse(ix.or_not),
}


def _field(signed: bool) -> ix.Expression:
    """Return the bit field of x with the offset in bits 4:0 of y (5:0 for 64 bits) and the width in
    bits 22:16."""

    def expression(b: Builder, x: Value, y: Value) -> Value:
        width = bits_of(x.type)
        offset = b.resize(b.mask(y, 5 if width == 32 else 6), width)
        length = b.resize(b.mask(b.shift("lshr", y, 16), 7), width)
        shifted = b.binary("ashr" if signed else "lshr", x, offset)
        capped = b.intrinsic("umin", length, b.const(x, width))
        return _keep_low(b, shifted, capped, signed)

    return expression


def _keep_low(b: Builder, value: Value, length: Value, signed: bool) -> Value:
    width = bits_of(value.type)
    empty = b.compare("eq", length, b.const(value, 0))
    spare = b.mask(b.sub(b.const(value, width), length), 5 if width == 32 else 6)
    high = b.binary("shl", value, spare)
    kept = b.binary("ashr" if signed else "lshr", high, spare)
    return b.select(empty, b.const(value, 0), kept)


def _set_bit(value: int) -> ix.Expression:
    def expression(b: Builder, position: Value, old: Value) -> Value:
        bit = b.shift("shl", b.const(old, 1), b.resize(position, bits_of(old.type)))
        return b.or_(old, bit) if value else b.and_(old, b.not_(bit))

    return expression


def _zero_count(b: Builder, x: Value) -> Value:
    return ix.bit_count(b, b.not_(x))


def _first_zero(b: Builder, x: Value) -> Value:
    return ix.count_trailing(b, b.not_(x))


def _replicate(b: Builder, x: Value) -> Value:
    """Return each bit of a dword twice."""
    wide = b.resize(x, 64)
    for amount, kept in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        wide = b.and_(b.or_(wide, b.shift("shl", wide, amount)), b.const(wide, kept))
    return b.or_(wide, b.shift("shl", wide, 1))


def _quads(whole: bool) -> ix.Expression:
    """For each four bits that are not all 0, set one bit (quadmask) or all four (wqm)."""

    def expression(b: Builder, x: Value) -> Value:
        width = bits_of(x.type)
        pairs = b.or_(x, b.shift("lshr", x, 1))
        quads = b.or_(pairs, b.shift("lshr", pairs, 2))
        ones = b.and_(quads, b.const(x, int("1" * (width // 4), 16)))
        if whole:
            return b.mul(ones, b.const(x, 15))
        result = b.const(x, 0)
        for index in range(width // 4):
            bit = b.and_(b.shift("lshr", ones, 3 * index), b.const(x, 1 << index))
            result = b.or_(result, bit)
        return result

    return expression


def _wide_mask(b: Builder, x: Value, y: Value) -> Value:
    return ix.bfm(b, b.resize(b.mask(x, 6), 64), b.resize(y, 64))


def _high_half(b: Builder, x: Value) -> Value:
    high = b.bitcast(b.resize(b.shift("lshr", x, 16), 16), "half")
    return settled(b, b.convert("fpext", high, "float"), [high], converted_nan("float"))


# SCC becomes whether the result is not 0.
_TESTED = scalar_ops(
    {
        **{
            f"s_{name}_b{width}": expression
            for name, expression in LOGIC.items()
            for width in (32, 64)
            if not name.endswith("not0")
        },
        "s_not_b32": Builder.not_,
        "s_not_b64": Builder.not_,
        "s_lshl_b32": ix.shift("shl"),
        "s_lshl_b64": ix.shift("shl"),
        "s_lshr_b32": ix.shift("lshr"),
        "s_lshr_b64": ix.shift("lshr"),
        "s_ashr_i32": ix.shift("ashr"),
        "s_ashr_i64": ix.shift("ashr"),
        "s_bfe_u32": _field(signed=False),
        "s_bfe_i32": _field(signed=True),
        "s_bfe_u64": _field(signed=False),
        "s_bfe_i64": _field(signed=True),
        "s_bcnt0_i32_b32": _zero_count,
        "s_bcnt0_i32_b64": _zero_count,
        "s_bcnt1_i32_b32": ix.bit_count,
        "s_bcnt1_i32_b64": ix.bit_count,
        "s_quadmask_b32": _quads(whole=False),
        "s_quadmask_b64": _quads(whole=False),
        "s_wqm_b32": _quads(whole=True),
        "s_wqm_b64": _quads(whole=True),
        "s_abs_i32": ix.absolute,
        "s_absdiff_i32": ix.absolute_difference,
    },
    tests_result=True,
)

# SCC stays as it is.
_INTEGERS = scalar_ops(
    {
        "s_bfm_b32": ix.bfm,
        "s_bfm_b64": _wide_mask,
        "s_mov_b32": ix.mov,
        "s_mov_b64": ix.mov,
        "s_brev_b32": ix.intrinsic("bitreverse"),
        "s_brev_b64": ix.intrinsic("bitreverse"),
        "s_ctz_i32_b32": ix.count_trailing,
        "s_ctz_i32_b64": ix.count_trailing,
        "s_ff0_i32_b32": _first_zero,
        "s_ff0_i32_b64": _first_zero,
        "s_clz_i32_u32": ix.count_leading,
        "s_clz_i32_u64": ix.count_leading,
        "s_cls_i32": ix.count_sign,
        "s_cls_i32_i64": ix.count_sign,
        "s_sext_i32_i8": ix.extend(8, signed=True),
        "s_sext_i32_i16": ix.widen(signed=True),
        "s_bitset0_b32": _set_bit(0),
        "s_bitset0_b64": _set_bit(0),
        "s_bitset1_b32": _set_bit(1),
        "s_bitset1_b64": _set_bit(1),
        "s_bitreplicate_b64_b32": _replicate,
        "s_pack_ll_b32_b16": ix.pack(high_x=False, high_y=False),
        "s_pack_lh_b32_b16": ix.pack(high_x=False, high_y=True),
        "s_pack_hl_b32_b16": ix.pack(high_x=True, high_y=False),
        "s_pack_hh_b32_b16": ix.pack(high_x=True, high_y=True),
        "s_mul_i32": _MUL,
        "s_mul_hi_u32": ix.mul_high(signed=False),
        "s_mul_hi_i32": ix.mul_high(signed=True),
        "s_mul_u64": _MUL,
        "s_add_nc_u64": _ADD,
        "s_sub_nc_u64": _SUB,
    }
)

Carry = Callable[[Builder, Value, Value, Value], Value]


def _with_condition(operation: ix.Expression, condition: Carry) -> Emitter:
    """Return the emitter of an instruction that sets SCC to `condition(builder, x, y, result)`."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        x, y = (frame.scalar_source(instruction, index) for index in (1, 2))
        result = operation(frame.builder, x, y)
        frame.write_scalar(instruction.operands[0], result)
        frame.registers.write_condition_code(condition(frame.builder, x, y, result))

    return emit


def _compare_result(predicate: str, which: int) -> Carry:
    def condition(b: Builder, x: Value, y: Value, result: Value) -> Value:
        return b.compare(predicate, result, (x, y)[which])

    return condition


def _signed_overflow(subtract: bool) -> Carry:
    def condition(b: Builder, x: Value, y: Value, result: Value) -> Value:
        other = b.not_(y) if subtract else y
        both = b.and_(b.xor(result, x), b.xor(result, other))
        return b.compare("slt", both, b.const(x, 0))

    return condition


def _carry_in(subtract: bool) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        x, y = (b.resize(frame.scalar_source(instruction, index), 64) for index in (1, 2))
        carry = b.resize(frame.registers.condition_code, 64)
        operation = "sub" if subtract else "add"
        total = b.binary(operation, b.binary(operation, x, y), carry)
        frame.write_scalar(instruction.operands[0], b.resize(total, 32))
        over = b.compare("ugt", total, constant("i64", 0xFFFFFFFF))
        frame.registers.write_condition_code(over)

    return emit


def _shift_add(count: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        x, y = (b.resize(frame.scalar_source(instruction, index), 64) for index in (1, 2))
        total = b.add(b.shift("shl", x, count), y)
        frame.write_scalar(instruction.operands[0], b.resize(total, 32))
        over = b.compare("ugt", total, constant("i64", 0xFFFFFFFF))
        frame.registers.write_condition_code(over)

    return emit


def _select_first(predicate: str) -> Emitter:
    """Minimum or maximum; SCC becomes whether the first operand was chosen."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        x, y = (frame.scalar_source(instruction, index) for index in (1, 2))
        first = frame.builder.compare(predicate, x, y)
        frame.write_scalar(instruction.operands[0], frame.builder.select(first, x, y))
        frame.registers.write_condition_code(first)

    return emit


_CONDITIONS: dict[str, Emitter] = {
    "s_add_co_u32": _with_condition(_ADD, _compare_result("ult", 0)),
    "s_sub_co_u32": _with_condition(_SUB, _compare_result("ugt", 0)),
    "s_add_co_i32": _with_condition(_ADD, _signed_overflow(subtract=False)),
    "s_sub_co_i32": _with_condition(_SUB, _signed_overflow(subtract=True)),
    "s_add_co_ci_u32": _carry_in(subtract=False),
    "s_sub_co_ci_u32": _carry_in(subtract=True),
    **{f"s_lshl{count}_add_u32": _shift_add(count) for count in (1, 2, 3, 4)},
    "s_min_i32": _select_first("slt"),
    "s_max_i32": _select_first("sge"),
    "s_min_u32": _select_first("ult"),
    "s_max_u32": _select_first("uge"),
}


def _floats(code: str) -> Mapping[str, ix.Expression]:
    def form(expression: ix.Expression) -> ix.Expression:
        return with_nans(fx.through_float(expression) if code == "f16" else expression)

    return {
        f"s_add_{code}": form(ix.binary("fadd")),
        f"s_sub_{code}": form(ix.binary("fsub")),
        f"s_mul_{code}": form(ix.binary("fmul")),
        f"s_fmac_{code}": with_nans(fx.fma_half if code == "f16" else fx.fma, fused_nan),
        **{f"s_{name}_{code}": expression for name, expression in EXTREMES.items()},
        **{f"s_{name}_{code}": form(expression) for name, expression in fx.TO_WHOLE.items()},
    }


_OTHER_FLOATS: Mapping[str, ix.Expression] = {
    "s_fmaak_f32": with_nans(fx.fma, fused_nan),
    "s_fmamk_f32": with_nans(fx.fma, fused_nan),
    "s_cvt_f32_i32": fx.from_integer(signed=True, element="float"),
    "s_cvt_f32_u32": fx.from_integer(signed=False, element="float"),
    "s_cvt_i32_f32": fx.to_integer(signed=True),
    "s_cvt_u32_f32": fx.to_integer(signed=False),
    "s_cvt_f16_f32": with_nans(fx.cast("fptrunc", "half"), converted_nan("half")),
    "s_cvt_f32_f16": with_nans(fx.cast("fpext", "float"), converted_nan("float")),
    "s_cvt_hi_f32_f16": _high_half,
    "s_cvt_pk_rtz_f16_f32": fx.pack_towards_zero,
}


def _by_mode(greater: bool) -> Emitter:
    """The minimum or maximum of gfx11.5, by MODE's IEEE bit (RDNA 3.5 ISA, S_MIN_F32)."""
    quieting, other = (older(greater, ieee) for ieee in (True, False))

    def emit(frame: Frame, instruction: Instruction) -> None:
        operands = [frame.scalar_source(instruction, place) for place in (1, 2)]
        result = frame.by_ieee(quieting, other, operands)
        if "half" in result.type:
            frame.refuse_overflow(instruction)
        frame.write_scalar(instruction.operands[0], frame.flushed_result(result, instruction))

    return emit


SCALAR_ALU: Mapping[str, Emitter] = {
    **{
        f"s_{name}_{code}": _by_mode(greater)
        for name, greater in (("min", False), ("max", True))
        for code in ("f16", "f32")
    },
    **_TESTED,
    **_INTEGERS,
    **_CONDITIONS,
    **scalar_ops({**_floats("f16"), **_floats("f32"), **_OTHER_FLOATS}),
}
