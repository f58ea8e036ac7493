"""VALU instructions on integers and bits with one result."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import VectorOp, vector_op
from amdjit.emulator.wave.operands import clamp_unit

_ADD, _SUB, _MUL = ix.binary("add"), ix.binary("sub"), ix.binary("mul")
# They ignore clamp (RDNA 4 ISA, 7.2.3.1).
_ALIGN_BITS, _ALIGN_BYTES = ix.align(1), ix.align(8)
_AND, _OR, _XOR = ix.binary("and"), ix.binary("or"), ix.binary("xor")


def _choose(b: Builder, no: Value, yes: Value, condition: Value) -> Value:
    return b.select(condition, yes, no)


def _pack_halves(b: Builder, low: Value, high: Value) -> Value:
    """The operands are halves: an inline constant such as -1.0 has their format."""
    low, high = (b.resize(b.bitcast(half, "i16"), 32) for half in (low, high))
    return b.or_(low, b.shift("shl", high, 16))


def _pack_units(b: Builder, low: Value, high: Value) -> Value:
    return _pack_halves(b, clamp_unit(b, low), clamp_unit(b, high))


def _saturating_product(signed: bool) -> ix.Expression:
    """The low 32 bits of a product of 24-bit numbers, saturated under `clamp` as the sum of
    V_MAD_*24 is."""
    mad = ix.saturating_wide_mad(signed, 24)
    return lambda b, x, y: mad(b, x, y, b.const(x, 0))


_BITS = {
    "v_mov_b32": vector_op(ix.mov, "b32"),
    "v_mov_b16": vector_op(ix.mov, "b16"),
    "v_not_b32": vector_op(Builder.not_, "b32"),
    "v_not_b16": vector_op(Builder.not_, "b16"),
    "v_bfrev_b32": vector_op(ix.intrinsic("bitreverse"), "b32"),
    "v_clz_i32_u32": vector_op(ix.count_leading, "u32"),
    "v_ctz_i32_b32": vector_op(ix.count_trailing, "b32"),
    "v_cls_i32": vector_op(ix.count_sign, "i32"),
    "v_cndmask_b32": vector_op(_choose, "b32 b32 mask"),
    "v_cndmask_b16": vector_op(_choose, "b16 b16 mask"),
    "v_and_b32": vector_op(_AND, "b32 b32"),
    "v_or_b32": vector_op(_OR, "b32 b32"),
    "v_xor_b32": vector_op(_XOR, "b32 b32"),
    "v_xnor_b32": vector_op(ix.negated(_XOR), "b32 b32"),
    "v_and_b16": vector_op(_AND, "b16 b16"),
    "v_or_b16": vector_op(_OR, "b16 b16"),
    "v_xor_b16": vector_op(_XOR, "b16 b16"),
    "v_lshlrev_b32": vector_op(ix.reverse(ix.shift("shl")), "b32 b32"),
    "v_lshrrev_b32": vector_op(ix.reverse(ix.shift("lshr")), "b32 b32"),
    "v_ashrrev_i32": vector_op(ix.reverse(ix.shift("ashr")), "b32 i32"),
    "v_lshlrev_b16": vector_op(ix.reverse(ix.shift("shl")), "b16 b16"),
    "v_lshrrev_b16": vector_op(ix.reverse(ix.shift("lshr")), "b16 b16"),
    "v_ashrrev_i16": vector_op(ix.reverse(ix.shift("ashr")), "b16 i16"),
    "v_lshlrev_b64": vector_op(ix.reverse(ix.shift("shl")), "b32 b64"),
    "v_lshrrev_b64": vector_op(ix.reverse(ix.shift("lshr")), "b32 b64"),
    "v_ashrrev_i64": vector_op(ix.reverse(ix.shift("ashr")), "b32 i64"),
    "v_bfe_u32": vector_op(ix.bfe(False), "u32 u32 u32"),
    "v_bfe_i32": vector_op(ix.bfe(True), "i32 u32 u32"),
    "v_bfi_b32": vector_op(ix.bfi, "b32 b32 b32"),
    "v_bfm_b32": vector_op(ix.bfm, "b32 b32"),
    "v_alignbit_b32": vector_op(_ALIGN_BITS, "b32 b32 b32", clamped=_ALIGN_BITS),
    "v_alignbyte_b32": vector_op(_ALIGN_BYTES, "b32 b32 b32", clamped=_ALIGN_BYTES),
    "v_perm_b32": vector_op(ix.permute_bytes, "b32 b32 b32"),
    "v_xor3_b32": vector_op(ix.chain(_XOR, _XOR), "b32 b32 b32"),
    "v_or3_b32": vector_op(ix.chain(_OR, _OR), "b32 b32 b32"),
    "v_and_or_b32": vector_op(ix.and_or, "b32 b32 b32"),
    "v_lshl_or_b32": vector_op(ix.lshl_or, "b32 b32 b32"),
    "v_lshl_add_u32": vector_op(ix.lshl_add, "u32 u32 u32"),
    "v_add_lshl_u32": vector_op(ix.add_lshl, "u32 u32 u32"),
    "v_xad_u32": vector_op(ix.xad, "u32 u32 u32"),
    "v_bcnt_u32_b32": vector_op(ix.bit_count_add, "b32 u32"),
    "v_pack_b32_f16": vector_op(_pack_halves, "f16 f16", clamped=_pack_units),
}

_ARITHMETIC = {
    "v_add_nc_u32": vector_op(_ADD, "u32 u32", clamped=ix.saturating("uadd")),
    "v_sub_nc_u32": vector_op(_SUB, "u32 u32", clamped=ix.saturating("usub")),
    "v_subrev_nc_u32": vector_op(
        ix.reverse(_SUB), "u32 u32", clamped=ix.reverse(ix.saturating("usub"))
    ),
    "v_add_nc_i32": vector_op(_ADD, "i32 i32", clamped=ix.saturating("sadd")),
    "v_sub_nc_i32": vector_op(_SUB, "i32 i32", clamped=ix.saturating("ssub")),
    "v_add_nc_u16": vector_op(_ADD, "u16 u16", clamped=ix.saturating("uadd")),
    "v_sub_nc_u16": vector_op(_SUB, "u16 u16", clamped=ix.saturating("usub")),
    "v_add_nc_i16": vector_op(_ADD, "i16 i16", clamped=ix.saturating("sadd")),
    "v_sub_nc_i16": vector_op(_SUB, "i16 i16", clamped=ix.saturating("ssub")),
    "v_add3_u32": vector_op(ix.chain(_ADD, _ADD), "u32 u32 u32"),
    "v_mul_lo_u32": vector_op(_MUL, "u32 u32"),
    "v_mul_lo_u16": vector_op(_MUL, "u16 u16"),
    "v_mul_hi_u32": vector_op(ix.mul_high(False), "u32 u32"),
    "v_mul_hi_i32": vector_op(ix.mul_high(True), "i32 i32"),
    "v_mul_u32_u24": vector_op(
        ix.mul_24(False, False), "u32 u32", clamped=_saturating_product(False)
    ),
    "v_mul_i32_i24": vector_op(
        ix.mul_24(True, False), "i32 i32", clamped=_saturating_product(True)
    ),
    "v_mul_hi_u32_u24": vector_op(ix.mul_24(False, True), "u32 u32"),
    "v_mul_hi_i32_i24": vector_op(ix.mul_24(True, True), "i32 i32"),
    "v_mad_u32_u24": vector_op(
        ix.mad_24(False), "u32 u32 u32", clamped=ix.saturating_wide_mad(False, 24)
    ),
    "v_mad_i32_i24": vector_op(
        ix.mad_24(True), "i32 i32 i32", clamped=ix.saturating_wide_mad(True, 24)
    ),
    "v_mad_u16": vector_op(ix.mad, "u16 u16 u16", clamped=ix.saturating_mad(False)),
    "v_mad_i16": vector_op(ix.mad, "i16 i16 i16", clamped=ix.saturating_mad(True)),
    "v_mad_u32_u16": vector_op(
        ix.mad_wide(False), "u16 u16 u32", clamped=ix.saturating_wide_mad(False, 16)
    ),
    "v_mad_i32_i16": vector_op(
        ix.mad_wide(True), "i16 i16 i32", clamped=ix.saturating_wide_mad(True, 16)
    ),
    "v_sad_u8": vector_op(
        ix.sum_of_differences(8), "u32 u32 u32", clamped=ix.saturating_differences(8)
    ),
    "v_sad_hi_u8": vector_op(
        ix.sum_of_differences(8, True), "u32 u32 u32", clamped=ix.saturating_differences(8, True)
    ),
    "v_sad_u16": vector_op(
        ix.sum_of_differences(16), "u32 u32 u32", clamped=ix.saturating_differences(16)
    ),
    "v_sad_u32": vector_op(
        ix.sum_of_differences(32), "u32 u32 u32", clamped=ix.saturating_differences(32)
    ),
    "v_cvt_i32_i16": vector_op(ix.widen(True), "i16"),
    "v_cvt_u32_u16": vector_op(ix.widen(False), "u16"),
}


def _minimum_maximum() -> dict[str, VectorOp]:
    table: dict[str, VectorOp] = {}
    for sign, low, high in (("i", "smin", "smax"), ("u", "umin", "umax")):
        lowest, highest = ix.intrinsic(low), ix.intrinsic(high)
        for width in (16, 32):
            code = f"{sign}{width}"
            two, three = f"{code} {code}", f"{code} {code} {code}"
            table[f"v_min_{code}"] = vector_op(lowest, two)
            table[f"v_max_{code}"] = vector_op(highest, two)
            chosen = {
                "min3": ix.chain(lowest, lowest),
                "max3": ix.chain(highest, highest),
                "med3": ix.median(sign == "i"),
            }
            for name, expression in chosen.items():
                # One of the sources is in range, so that clamp changes nothing.
                table[f"v_{name}_{code}"] = vector_op(expression, three, clamped=expression)
            table[f"v_maxmin_{code}"] = vector_op(ix.chain(highest, lowest), three)
            table[f"v_minmax_{code}"] = vector_op(ix.chain(lowest, highest), three)
    return table


VECTOR_INTEGER: Mapping[str, VectorOp] = {**_BITS, **_ARITHMETIC, **_minimum_maximum()}
