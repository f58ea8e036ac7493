"""VALU instructions on floats with one result, and conversions."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.float_extremes import EXTREMES, median
from amdjit.emulator.expressions.nans import Rule, converted_nan, first_nan, fused_nan, with_nans
from amdjit.emulator.host.builder import Builder, Value, element_of
from amdjit.emulator.instructions.operation import Rows, VectorOp, in_range, vector_ops
from amdjit.emulator.wave.operands import ELEMENTS, clamp_unit

_ADD, _SUB, _MUL = ix.binary("fadd"), ix.binary("fsub"), ix.binary("fmul")


def _basic(code: str) -> Rows:
    """Arithmetic of one format; half precision goes through single precision."""

    def form(expression: ix.Expression, rule: Rule = first_nan) -> ix.Expression:
        return with_nans(fx.through_float(expression) if code == "f16" else expression, rule)

    fused = with_nans(fx.fma_half if code == "f16" else fx.fma, fused_nan)
    return {
        f"v_add_{code}": form(_ADD),
        f"v_mul_{code}": form(_MUL),
        f"v_sub_{code}": form(_SUB),
        f"v_subrev_{code}": form(ix.reverse(_SUB)),
        f"v_fma_{code}": fused,
        f"v_fmac_{code}": fused,
        f"v_fmaak_{code}": fused,
        f"v_fmamk_{code}": fused,
        f"v_rcp_{code}": form(fx.reciprocal),
        f"v_sqrt_{code}": form(fx.square_root),
        f"v_rsq_{code}": form(fx.reciprocal_root),
        f"v_fract_{code}": form(fx.fraction(ELEMENTS[code])),
        **{f"v_{name}_{code}": form(expression) for name, expression in fx.TO_WHOLE.items()},
        **{f"v_{name}_{code}": expression for name, expression in EXTREMES.items()},
    }


def _three_way(code: str) -> Rows:
    low, high = EXTREMES["min_num"], EXTREMES["max_num"]
    least, greatest = EXTREMES["minimum"], EXTREMES["maximum"]
    return {
        f"v_min3_num_{code}": ix.chain(low, low),
        f"v_max3_num_{code}": ix.chain(high, high),
        f"v_minimum3_{code}": ix.chain(least, least),
        f"v_maximum3_{code}": ix.chain(greatest, greatest),
        f"v_med3_num_{code}": median,
        f"v_minmax_num_{code}": ix.chain(low, high),
        f"v_maxmin_num_{code}": ix.chain(high, low),
        f"v_minimummaximum_{code}": ix.chain(least, greatest),
        f"v_maximumminimum_{code}": ix.chain(greatest, least),
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


_CONVERSIONS: Rows = {
    "v_cvt_f32_i32": fx.from_integer(True, "float"),
    "v_cvt_f32_u32": fx.from_integer(False, "float"),
    "v_cvt_f64_i32": fx.from_integer(True, "double"),
    "v_cvt_f64_u32": fx.from_integer(False, "double"),
    "v_cvt_f16_i16": fx.through_float(fx.from_integer(True, "float")),
    "v_cvt_f16_u16": fx.through_float(fx.from_integer(False, "float")),
    "v_cvt_i32_f32": in_range(fx.to_integer(True)),
    "v_cvt_u32_f32": in_range(fx.to_integer(False)),
    "v_cvt_i32_f64": in_range(fx.to_integer(True)),
    "v_cvt_u32_f64": in_range(fx.to_integer(False)),
    "v_cvt_i16_f16": in_range(fx.through_float(fx.to_integer(True, "i16"))),
    "v_cvt_u16_f16": in_range(fx.through_float(fx.to_integer(False, "i16"))),
    "v_cvt_nearest_i32_f32": in_range(fx.nearest_up),
    "v_cvt_floor_i32_f32": in_range(fx.floor_to_integer),
    "v_cvt_off_f32_i4": _offset_nibble,
    "v_cvt_f16_f32": _conversion("fptrunc", "half"),
    "v_cvt_f32_f16": _conversion("fpext", "float"),
    "v_cvt_f32_f64": _conversion("fptrunc", "float"),
    "v_cvt_f64_f32": _conversion("fpext", "double"),
    **{f"v_cvt_f32_ubyte{index}": fx.unsigned_byte(index) for index in range(4)},
    "v_cvt_pk_rtz_f16_f32": VectorOp(fx.pack_towards_zero, clamped=_pack_units_towards_zero),
    "v_cvt_norm_i16_f16": in_range(_normalised_integer(True)),
    "v_cvt_norm_u16_f16": in_range(_normalised_integer(False)),
    "v_cvt_pk_norm_i16_f32": in_range(_pair(_normalised_integer(True))),
    "v_cvt_pk_norm_u16_f32": in_range(_pair(_normalised_integer(False))),
    "v_cvt_pk_norm_i16_f16": in_range(_pair(_normalised_integer(True))),
    "v_cvt_pk_norm_u16_f16": in_range(_pair(_normalised_integer(False))),
    "v_cvt_pk_i16_f32": in_range(_pair(fx.to_integer(True, "i16"))),
    "v_cvt_pk_u16_f32": in_range(_pair(fx.to_integer(False, "i16"))),
    "v_cvt_pk_i16_i32": _pair(_saturate_to_16(True)),
    "v_cvt_pk_u16_u32": _pair(_saturate_to_16(False)),
}

_PARTS: Rows = {
    "v_frexp_exp_i32_f32": in_range(fx.frexp_exponent),
    "v_frexp_exp_i32_f64": in_range(fx.frexp_exponent),
    "v_frexp_exp_i16_f16": in_range(_exponent_16),
    "v_frexp_mant_f32": with_nans(fx.frexp_mantissa),
    "v_frexp_mant_f64": with_nans(fx.frexp_mantissa),
    "v_frexp_mant_f16": with_nans(fx.through_float(fx.frexp_mantissa)),
    "v_ldexp_f32": with_nans(fx.ldexp_single),
    "v_ldexp_f64": with_nans(fx.ldexp_double),
    "v_ldexp_f16": with_nans(_ldexp_half),
    "v_mul_dx9_zero_f32": with_nans(fx.multiply_legacy),
    "v_fma_dx9_zero_f32": with_nans(fx.fma_legacy, fx.legacy_nan),
    "v_rcp_iflag_f32": with_nans(fx.reciprocal),
}

VECTOR_FLOAT: Mapping[str, VectorOp] = vector_ops(
    {
        **_basic("f16"),
        **_basic("f32"),
        **_basic("f64"),
        **_three_way("f16"),
        **_three_way("f32"),
        **_CONVERSIONS,
        **_PARTS,
    }
)
