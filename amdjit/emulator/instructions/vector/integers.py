"""VALU instructions on integers and bits that compute one result."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.scaled_floats import next_random
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import (
    Emitter,
    Rows,
    VectorOp,
    in_range,
    vector_ops,
    vector_register,
)
from amdjit.emulator.instructions.vector.packed import half_of
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import clamp_unit
from amdjit.isa.instruction import Instruction

_ADD, _SUB, _MUL = ix.binary("add"), ix.binary("sub"), ix.binary("mul")
_AND, _OR, _XOR = ix.binary("and"), ix.binary("or"), ix.binary("xor")


def _choose(b: Builder, no: Value, yes: Value, condition: Value) -> Value:
    return b.select(condition, yes, no)


def _pack_halves(b: Builder, low: Value, high: Value) -> Value:
    """Pack two halves; they are read as floats so that inline constants such as -1.0 have that
    format."""
    low, high = (b.resize(b.bitcast(half, "i16"), 32) for half in (low, high))
    return b.or_(low, b.shift("shl", high, 16))


def _pack_units(b: Builder, low: Value, high: Value) -> Value:
    return _pack_halves(b, clamp_unit(b, low), clamp_unit(b, high))


def _saturating_product(signed: bool) -> ix.Expression:
    """Return the low 32 bits of a product of 24-bit numbers, saturated under `clamp` as in
    V_MAD_*24."""
    mad = ix.saturating_wide_mad(signed, 24)
    return lambda b, x, y: mad(b, x, y, b.const(x, 0))


_BITS: Rows = {
    "v_mov_b32": ix.mov,
    "v_mov_b16": ix.mov,
    "v_not_b32": Builder.not_,
    "v_not_b16": Builder.not_,
    "v_bfrev_b32": ix.intrinsic("bitreverse"),
    "v_clz_i32_u32": ix.count_leading,
    "v_ctz_i32_b32": ix.count_trailing,
    "v_cls_i32": ix.count_sign,
    "v_cndmask_b32": _choose,
    "v_cndmask_b16": _choose,
    "v_and_b32": _AND,
    "v_or_b32": _OR,
    "v_xor_b32": _XOR,
    "v_xnor_b32": ix.negated(_XOR),
    "v_and_b16": _AND,
    "v_or_b16": _OR,
    "v_xor_b16": _XOR,
    "v_lshlrev_b32": ix.reverse(ix.shift("shl")),
    "v_lshrrev_b32": ix.reverse(ix.shift("lshr")),
    "v_ashrrev_i32": ix.reverse(ix.shift("ashr")),
    "v_lshlrev_b16": ix.reverse(ix.shift("shl")),
    "v_lshrrev_b16": ix.reverse(ix.shift("lshr")),
    "v_ashrrev_i16": ix.reverse(ix.shift("ashr")),
    "v_lshlrev_b64": ix.reverse(ix.shift("shl")),
    "v_lshrrev_b64": ix.reverse(ix.shift("lshr")),
    "v_ashrrev_i64": ix.reverse(ix.shift("ashr")),
    "v_bfe_u32": ix.bfe(signed=False),
    "v_bfe_i32": ix.bfe(signed=True),
    "v_bfi_b32": ix.bfi,
    "v_bfm_b32": ix.bfm,
    "v_alignbit_b32": in_range(ix.align(1)),
    "v_alignbyte_b32": in_range(ix.align(8)),
    "v_perm_b32": ix.permute_bytes,
    "v_xor3_b32": ix.chain(_XOR, _XOR),
    "v_or3_b32": ix.chain(_OR, _OR),
    "v_and_or_b32": ix.and_or,
    "v_lshl_or_b32": ix.lshl_or,
    "v_lshl_add_u32": ix.lshl_add,
    "v_add_lshl_u32": ix.add_lshl,
    "v_xad_u32": ix.xad,
    "v_bcnt_u32_b32": ix.bit_count_add,
    "v_prng_b32": next_random,
    "v_pack_b32_f16": VectorOp(_pack_halves, clamped=_pack_units),
}

_ARITHMETIC: Rows = {
    "v_add_nc_u32": VectorOp(_ADD, clamped=ix.saturating("uadd")),
    "v_sub_nc_u32": VectorOp(_SUB, clamped=ix.saturating("usub")),
    "v_subrev_nc_u32": VectorOp(ix.reverse(_SUB), clamped=ix.reverse(ix.saturating("usub"))),
    "v_add_nc_i32": VectorOp(_ADD, clamped=ix.saturating("sadd")),
    "v_sub_nc_i32": VectorOp(_SUB, clamped=ix.saturating("ssub")),
    "v_add_nc_u16": VectorOp(_ADD, clamped=ix.saturating("uadd")),
    "v_sub_nc_u16": VectorOp(_SUB, clamped=ix.saturating("usub")),
    "v_add_nc_i16": VectorOp(_ADD, clamped=ix.saturating("sadd")),
    "v_sub_nc_i16": VectorOp(_SUB, clamped=ix.saturating("ssub")),
    "v_add3_u32": ix.chain(_ADD, _ADD),
    "v_mul_lo_u32": _MUL,
    "v_mul_lo_u16": _MUL,
    "v_mul_hi_u32": ix.mul_high(signed=False),
    "v_mul_hi_i32": ix.mul_high(signed=True),
    "v_mul_u32_u24": VectorOp(
        ix.mul_24(signed=False, high=False), clamped=_saturating_product(signed=False)
    ),
    "v_mul_i32_i24": VectorOp(
        ix.mul_24(signed=True, high=False), clamped=_saturating_product(signed=True)
    ),
    "v_mul_hi_u32_u24": ix.mul_24(signed=False, high=True),
    "v_mul_hi_i32_i24": ix.mul_24(signed=True, high=True),
    "v_mad_u32_u24": VectorOp(
        ix.mad_24(signed=False), clamped=ix.saturating_wide_mad(signed=False, bits=24)
    ),
    "v_mad_i32_i24": VectorOp(
        ix.mad_24(signed=True), clamped=ix.saturating_wide_mad(signed=True, bits=24)
    ),
    "v_mad_u16": VectorOp(ix.mad, clamped=ix.saturating_mad(signed=False)),
    "v_mad_i16": VectorOp(ix.mad, clamped=ix.saturating_mad(signed=True)),
    "v_mad_u32_u16": VectorOp(
        ix.mad_wide(signed=False), clamped=ix.saturating_wide_mad(signed=False, bits=16)
    ),
    "v_mad_i32_i16": VectorOp(
        ix.mad_wide(signed=True), clamped=ix.saturating_wide_mad(signed=True, bits=16)
    ),
    "v_sad_u8": VectorOp(ix.sum_of_differences(8), clamped=ix.saturating_differences(8)),
    "v_sad_hi_u8": VectorOp(
        ix.sum_of_differences(8, True), clamped=ix.saturating_differences(8, True)
    ),
    "v_sad_u16": VectorOp(ix.sum_of_differences(16), clamped=ix.saturating_differences(16)),
    "v_sad_u32": VectorOp(ix.sum_of_differences(32), clamped=ix.saturating_differences(32)),
    "v_cvt_i32_i16": ix.widen(signed=True),
    "v_cvt_u32_u16": ix.widen(signed=False),
}


def _extremes(code: str, low: ix.Expression, high: ix.Expression) -> Rows:
    return {
        f"v_min_{code}": low,
        f"v_max_{code}": high,
        f"v_min3_{code}": in_range(ix.chain(low, low)),
        f"v_max3_{code}": in_range(ix.chain(high, high)),
        f"v_med3_{code}": in_range(ix.median(low, high)),
    }


_SMIN, _SMAX = ix.intrinsic("smin"), ix.intrinsic("smax")
_UMIN, _UMAX = ix.intrinsic("umin"), ix.intrinsic("umax")

VECTOR_INTEGER: Mapping[str, VectorOp] = vector_ops(
    {
        **_BITS,
        **_ARITHMETIC,
        **_extremes("i16", _SMIN, _SMAX),
        **_extremes("i32", _SMIN, _SMAX),
        **_extremes("u16", _UMIN, _UMAX),
        **_extremes("u32", _UMIN, _UMAX),
        "v_maxmin_i32": ix.chain(_SMAX, _SMIN),
        "v_minmax_i32": ix.chain(_SMIN, _SMAX),
        "v_maxmin_u32": ix.chain(_UMAX, _UMIN),
        "v_minmax_u32": ix.chain(_UMIN, _UMAX),
    }
)


# V_BITOP3: any function of three bits; and V_ASHR_PK: shifts whose results are saturated to
# bytes.


def _truth_table(instruction: Instruction) -> int:
    """Return the 8 bits that stand where others have modifiers (CDNA 4 ISA, V_BITOP3_B32)."""
    modifiers = instruction.modifiers
    return modifiers.omod << 6 | modifiers.abs << 3 | modifiers.neg


def _looked_up(b: Builder, table: int, sources: list[Value]) -> Value:
    """Return for each place the bit of the table whose number the bits of the sources make, that of
    the first source the highest."""
    places = 1 << len(sources)
    if table in (0, (1 << places) - 1):
        return b.const(sources[0], -(table & 1))
    first, *others = sources
    if not others:
        return first if table == 0b10 else b.not_(first)
    low, high = table & (1 << places // 2) - 1, table >> places // 2
    when_clear = _looked_up(b, low, others)
    if low == high:
        return when_clear
    return b.xor(when_clear, b.and_(first, b.xor(when_clear, _looked_up(b, high, others))))


def _bits_of_dwords(frame: Frame, instruction: Instruction) -> None:
    sources = [frame.source(instruction, place, "v2u16") for place in (1, 2, 3)]
    frame.write(instruction, 0, _looked_up(frame.builder, _truth_table(instruction), sources))


def _bits_of_halves(frame: Frame, instruction: Instruction) -> None:
    """op_sel names the half of each source, and that of the result; the other one stays."""
    select = instruction.modifiers.op_sel
    sources = [
        half_of(
            frame.builder,
            frame.source(instruction, number + 1, "v2u16"),
            select >> number & 1,
        )
        for number in range(3)
    ]
    frame.write(instruction, 0, _looked_up(frame.builder, _truth_table(instruction), sources))


def _shift_to_bytes(low: int, high: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        if instruction.modifiers.op_sel & 7:
            raise Untranslatable(instruction, "no document says what this op_sel does")
        b = frame.builder
        first, second, amount = (frame.source(instruction, place) for place in (1, 2, 3))
        parts = []
        for value in (first, second):
            shifted = b.shift("ashr", value, amount)
            least = b.intrinsic("smax", shifted, b.const(shifted, low))
            parts.append(b.mask(b.intrinsic("smin", least, b.const(shifted, high)), 8))
        both = b.or_(parts[0], b.shift("shl", parts[1], 8))
        frame.write(instruction, 0, b.resize(both, 16))

    return emit


VECTOR_BIT_TABLES: Mapping[str, Emitter] = {
    "v_bitop3_b32": _bits_of_dwords,
    "v_bitop3_b16": _bits_of_halves,
    "v_ashr_pk_i8_i32": _shift_to_bytes(-128, 127),
    "v_ashr_pk_u8_i32": _shift_to_bytes(0, 255),
}


# Masked and quadruple sums of absolute differences, and the average of bytes (RDNA 4 ISA,
# 16.12).


def _bytes_of(b: Builder, whole: Value, first: int = 0) -> list[Value]:
    return [b.mask(b.shift("lshr", whole, start), 8) for start in range(first, first + 32, 8)]


def _average(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """Each byte is (x + y + the lowest bit of z's byte) / 2."""
    result = b.const(x, 0)
    for start, left, right in zip(range(0, 32, 8), _bytes_of(b, x), _bytes_of(b, y), strict=True):
        total = b.add(b.add(left, right), b.mask(b.shift("lshr", z, start), 1))
        result = b.or_(result, b.shift("shl", b.shift("lshr", total, 1), start))
    return result


def _differences(b: Builder, values: list[Value], references: list[Value], masked: bool) -> Value:
    """Add |value - reference|; with `masked`, bytes whose reference is 0 are left out."""
    total = b.const(values[0], 0)
    for value, reference in zip(values, references, strict=True):
        difference = b.sub(
            b.intrinsic("umax", value, reference), b.intrinsic("umin", value, reference)
        )
        if masked:
            difference = b.select(
                b.compare("eq", reference, b.const(value, 0)), b.const(value, 0), difference
            )
        total = b.add(total, difference)
    return total


def _masked(b: Builder, x: Value, y: Value, z: Value) -> Value:
    return b.add(_differences(b, _bytes_of(b, x), _bytes_of(b, y), True), z)


def _masked_saturated(b: Builder, x: Value, y: Value, z: Value) -> Value:
    return b.intrinsic("uadd.sat", _differences(b, _bytes_of(b, x), _bytes_of(b, y), True), z)


def _four_differences(frame: Frame, instruction: Instruction, masked: bool) -> list[Value]:
    """Compare the reference with the four bytes that start at byte 0, 1, 2 and 3 of a register
    pair."""
    b = frame.builder
    wide = frame.source(instruction, 1)
    references = _bytes_of(b, frame.source(instruction, 2))
    sums = []
    for first in range(0, 32, 8):
        window = b.resize(b.shift("lshr", wide, first), 32)
        sums.append(_differences(b, _bytes_of(b, window), references, masked))
    return sums


def _packed(masked: bool) -> Emitter:
    """Add each of four sums to 16 bits of the third operand."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        addends = frame.source(instruction, 3)
        result = b.const(addends, 0)
        for number, total in enumerate(_four_differences(frame, instruction, masked)):
            addend = b.mask(b.resize(b.shift("lshr", addends, 16 * number), 32), 16)
            entry = b.add(total, addend)
            if instruction.modifiers.clamp:
                entry = b.intrinsic("umin", entry, b.const(entry, 0xFFFF))
            result = b.or_(result, b.shift("shl", b.resize(b.mask(entry, 16), 64), 16 * number))
        frame.write(instruction, 0, result)

    return emit


def _in_dwords(frame: Frame, instruction: Instruction) -> None:
    """Add each of four masked sums to a dword of the third operand."""
    b = frame.builder
    first = vector_register(instruction, "src2").index
    addends = [frame.registers.vector(first + number) for number in range(4)]
    sums = _four_differences(frame, instruction, True)
    target = vector_register(instruction, "vdst").index
    for number, (total, addend) in enumerate(zip(sums, addends, strict=True)):
        value = (
            b.intrinsic("uadd.sat", total, addend)
            if instruction.modifiers.clamp
            else b.add(total, addend)
        )
        frame.registers.write_vector(target + number, value, frame.mask())


VECTOR_DIFFERENCES: Mapping[str, Emitter] = {
    **vector_ops(
        {"v_lerp_u8": _average, "v_msad_u8": VectorOp(_masked, clamped=_masked_saturated)}
    ),
    "v_qsad_pk_u16_u8": _packed(masked=False),
    "v_mqsad_pk_u16_u8": _packed(masked=True),
    "v_mqsad_u32_u8": _in_dwords,
}
