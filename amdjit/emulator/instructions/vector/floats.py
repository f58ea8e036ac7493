"""VALU instructions on floats with one result, and conversions."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.float_extremes import EXTREMES, median
from amdjit.emulator.expressions.nans import Rule, converted_nan, first_nan, fused_nan, with_nans
from amdjit.emulator.host.builder import Builder, Value, element_of
from amdjit.emulator.instructions.operation import VectorOp, vector_op
from amdjit.emulator.wave.operands import clamp_unit

_ADD, _SUB, _MUL = ix.binary("fadd"), ix.binary("fsub"), ix.binary("fmul")
_ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rndne": "roundeven"}


def _basic(code: str) -> dict[str, VectorOp]:
    """Arithmetic of one format; half precision goes through single precision."""

    def form(expression: ix.Expression, rule: Rule = first_nan) -> ix.Expression:
        return with_nans(fx.through_float(expression) if code == "f16" else expression, rule)

    one, two, three = code, f"{code} {code}", f"{code} {code} {code}"
    fused = with_nans(fx.fma_half if code == "f16" else fx.fma, fused_nan)
    table = {
        f"v_add_{code}": vector_op(form(_ADD), two),
        f"v_mul_{code}": vector_op(form(_MUL), two),
        f"v_sub_{code}": vector_op(form(_SUB), two),
        f"v_subrev_{code}": vector_op(form(ix.reverse(_SUB)), two),
        f"v_fma_{code}": vector_op(fused, three),
        f"v_fmac_{code}": vector_op(fused, two, accumulates=code),
        f"v_fmaak_{code}": vector_op(fused, three),
        f"v_fmamk_{code}": vector_op(fused, three),
        f"v_rcp_{code}": vector_op(form(fx.reciprocal), one),
        f"v_sqrt_{code}": vector_op(form(fx.square_root), one),
        f"v_rsq_{code}": vector_op(form(fx.reciprocal_root), one),
        f"v_fract_{code}": vector_op(
            form(fx.fraction({"f16": "half", "f32": "float", "f64": "double"}[code])), one
        ),
    }
    for name, llvm_name in _ROUNDING.items():
        table[f"v_{name}_{code}"] = vector_op(form(ix.intrinsic(llvm_name)), one)
    for name, expression in EXTREMES.items():
        table[f"v_{name}_{code}"] = vector_op(expression, two)
    return table


def _three_way(code: str) -> dict[str, VectorOp]:
    three = f"{code} {code} {code}"
    low, high = EXTREMES["min_num"], EXTREMES["max_num"]
    least, greatest = EXTREMES["minimum"], EXTREMES["maximum"]
    return {
        f"v_min3_num_{code}": vector_op(ix.chain(low, low), three),
        f"v_max3_num_{code}": vector_op(ix.chain(high, high), three),
        f"v_minimum3_{code}": vector_op(ix.chain(least, least), three),
        f"v_maximum3_{code}": vector_op(ix.chain(greatest, greatest), three),
        f"v_med3_num_{code}": vector_op(median, three),
        f"v_minmax_num_{code}": vector_op(ix.chain(low, high), three),
        f"v_maxmin_num_{code}": vector_op(ix.chain(high, low), three),
        f"v_minimummaximum_{code}": vector_op(ix.chain(least, greatest), three),
        f"v_maximumminimum_{code}": vector_op(ix.chain(greatest, least), three),
    }


def _exponent_16(b: Builder, x: Value) -> Value:
    return b.resize(fx.frexp_exponent(b, b.convert("fpext", x, "float")), 16)


def _ldexp_half(b: Builder, x: Value, exponent: Value) -> Value:
    wide = fx.ldexp_single(b, b.convert("fpext", x, "float"), exponent)
    # ldexp_single rounds to 24 bits first; a half has 11 and its scaled value is exact there unless
    # it underflows.
    return b.convert("fptrunc", wide, "half")


def _conversion(operation: str, element: str) -> ix.Expression:
    return with_nans(fx.cast(operation, element), converted_nan(element))


def _normalised_integer(signed: bool) -> ix.Expression:
    """Convert [-1, 1] or [0, 1] to 16-bit integers, rounding to nearest even."""
    limit, low = (32767.0, -1.0) if signed else (65535.0, 0.0)

    def expression(b: Builder, x: Value) -> Value:
        wide = b.convert("fpext", x, "float") if element_of(x.type) == "half" else x
        clamped = b.intrinsic(
            "maximum", b.intrinsic("minimum", wide, b.const(wide, 1.0)), b.const(wide, low)
        )
        # NaN goes through to the conversion, which makes 0 of it. The product of 24 and 16 bits is
        # exact in double.
        exact = b.convert("fpext", clamped, "double")
        scaled = b.intrinsic("roundeven", b.binary("fmul", exact, b.const(exact, limit)))
        return fx.to_integer(signed, "i16")(b, scaled)

    return expression


def _pair(expression: ix.Expression) -> ix.Expression:
    """Apply to both operands and pack the two 16-bit results, the first one low."""

    def packed(b: Builder, x: Value, y: Value) -> Value:
        low, high = (b.resize(expression(b, v), 32) for v in (x, y))
        return b.or_(low, b.shift("shl", high, 16))

    return packed


def _saturate_to_16(signed: bool) -> ix.Expression:
    def expression(b: Builder, x: Value) -> Value:
        if signed:
            low = b.intrinsic("smax", x, b.const(x, -32768))
            return b.resize(b.intrinsic("smin", low, b.const(x, 32767)), 16)
        return b.resize(b.intrinsic("umin", x, b.const(x, 65535)), 16)

    return expression


def _offset_nibble(b: Builder, x: Value) -> Value:
    nibble = b.shift("ashr", b.shift("shl", x, 28), 28)
    return b.binary(
        "fmul", b.convert("sitofp", nibble, "float"), b.const(b.bitcast(x, "float"), 0.0625)
    )


def _pack_units_towards_zero(b: Builder, x: Value, y: Value) -> Value:
    """Clamping before is the same: both limits are halves, and rounding crosses neither."""
    return fx.pack_towards_zero(b, clamp_unit(b, x), clamp_unit(b, y))


def _in_range(expression: ix.Expression, sources: str) -> VectorOp:
    """An integer that is in its type's range already: `clamp` changes nothing (RDNA 4 ISA,
    7.2.3.1)."""
    return vector_op(expression, sources, clamped=expression)


_CONVERSIONS = {
    "v_cvt_f32_i32": vector_op(fx.from_integer(True, "float"), "i32"),
    "v_cvt_f32_u32": vector_op(fx.from_integer(False, "float"), "u32"),
    "v_cvt_f64_i32": vector_op(fx.from_integer(True, "double"), "i32"),
    "v_cvt_f64_u32": vector_op(fx.from_integer(False, "double"), "u32"),
    "v_cvt_f16_i16": vector_op(fx.through_float(fx.from_integer(True, "float")), "i16"),
    "v_cvt_f16_u16": vector_op(fx.through_float(fx.from_integer(False, "float")), "u16"),
    "v_cvt_i32_f32": _in_range(fx.to_integer(True), "f32"),
    "v_cvt_u32_f32": _in_range(fx.to_integer(False), "f32"),
    "v_cvt_i32_f64": _in_range(fx.to_integer(True), "f64"),
    "v_cvt_u32_f64": _in_range(fx.to_integer(False), "f64"),
    "v_cvt_i16_f16": _in_range(fx.through_float(fx.to_integer(True, "i16")), "f16"),
    "v_cvt_u16_f16": _in_range(fx.through_float(fx.to_integer(False, "i16")), "f16"),
    "v_cvt_nearest_i32_f32": _in_range(fx.nearest_up, "f32"),
    "v_cvt_floor_i32_f32": _in_range(fx.floor_to_integer, "f32"),
    "v_cvt_off_f32_i4": vector_op(_offset_nibble, "b32"),
    "v_cvt_f16_f32": vector_op(_conversion("fptrunc", "half"), "f32"),
    "v_cvt_f32_f16": vector_op(_conversion("fpext", "float"), "f16"),
    "v_cvt_f32_f64": vector_op(_conversion("fptrunc", "float"), "f64"),
    "v_cvt_f64_f32": vector_op(_conversion("fpext", "double"), "f32"),
    **{f"v_cvt_f32_ubyte{index}": vector_op(fx.unsigned_byte(index), "b32") for index in range(4)},
    "v_cvt_pk_rtz_f16_f32": vector_op(
        fx.pack_towards_zero, "f32 f32", clamped=_pack_units_towards_zero
    ),
    "v_cvt_norm_i16_f16": _in_range(_normalised_integer(True), "f16"),
    "v_cvt_norm_u16_f16": _in_range(_normalised_integer(False), "f16"),
    "v_cvt_pk_norm_i16_f32": _in_range(_pair(_normalised_integer(True)), "f32 f32"),
    "v_cvt_pk_norm_u16_f32": _in_range(_pair(_normalised_integer(False)), "f32 f32"),
    "v_cvt_pk_norm_i16_f16": _in_range(_pair(_normalised_integer(True)), "f16 f16"),
    "v_cvt_pk_norm_u16_f16": _in_range(_pair(_normalised_integer(False)), "f16 f16"),
    "v_cvt_pk_i16_f32": _in_range(_pair(fx.to_integer(True, "i16")), "f32 f32"),
    "v_cvt_pk_u16_f32": _in_range(_pair(fx.to_integer(False, "i16")), "f32 f32"),
    "v_cvt_pk_i16_i32": vector_op(_pair(_saturate_to_16(True)), "i32 i32"),
    "v_cvt_pk_u16_u32": vector_op(_pair(_saturate_to_16(False)), "u32 u32"),
}

_PARTS = {
    "v_frexp_exp_i32_f32": _in_range(fx.frexp_exponent, "f32"),
    "v_frexp_exp_i32_f64": _in_range(fx.frexp_exponent, "f64"),
    "v_frexp_exp_i16_f16": _in_range(_exponent_16, "f16"),
    "v_frexp_mant_f32": vector_op(with_nans(fx.frexp_mantissa), "f32"),
    "v_frexp_mant_f64": vector_op(with_nans(fx.frexp_mantissa), "f64"),
    "v_frexp_mant_f16": vector_op(with_nans(fx.through_float(fx.frexp_mantissa)), "f16"),
    "v_ldexp_f32": vector_op(with_nans(fx.ldexp_single), "f32 i32"),
    "v_ldexp_f64": vector_op(with_nans(fx.ldexp_double), "f64 i32"),
    "v_ldexp_f16": vector_op(with_nans(_ldexp_half), "f16 i16"),
    "v_mul_dx9_zero_f32": vector_op(with_nans(fx.multiply_legacy), "f32 f32"),
    "v_fma_dx9_zero_f32": vector_op(with_nans(fx.fma_legacy, fx.legacy_nan), "f32 f32 f32"),
    "v_rcp_iflag_f32": vector_op(with_nans(fx.reciprocal), "f32"),
}

VECTOR_FLOAT: Mapping[str, VectorOp] = {
    **_basic("f16"),
    **_basic("f32"),
    **_basic("f64"),
    **_three_way("f16"),
    **_three_way("f32"),
    **_CONVERSIONS,
    **_PARTS,
}
