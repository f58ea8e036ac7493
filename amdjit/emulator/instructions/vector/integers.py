"""VALU instructions on integers and bits that compute one result."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.scaled_floats import next_random
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import Rows, VectorOp, in_range, vector_ops
from amdjit.emulator.wave.operands import clamp_unit

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
