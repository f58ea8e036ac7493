"""VALU arithmetic on floats with one result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from amdjit.emulator.expressions import floats as fx
from amdjit.emulator.expressions import integers as ix
from amdjit.emulator.expressions.float_extremes import EXTREMES, median, median_of, older
from amdjit.emulator.expressions.nans import fused_nan, with_nans
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import Rows, VectorOp, in_range, vector_ops
from amdjit.emulator.wave.operands import ELEMENTS

_ADD, _SUB, _MUL = ix.binary("fadd"), ix.binary("fsub"), ix.binary("fmul")


def _form(code: str, expression: ix.Expression) -> ix.Expression:
    """Return an expression for one format; half precision is computed in single precision."""
    return with_nans(fx.through_float(expression) if code == "f16" else expression)


def _fused(code: str) -> ix.Expression:
    return with_nans(fx.fma_half if code == "f16" else fx.fma, fused_nan)


def _basic(code: str) -> Rows:
    form = partial(_form, code)
    return {
        f"v_add_{code}": form(_ADD),
        f"v_mul_{code}": form(_MUL),
        f"v_fma_{code}": _fused(code),
        f"v_rcp_{code}": form(fx.reciprocal),
        f"v_sqrt_{code}": form(fx.square_root),
        f"v_rsq_{code}": form(fx.reciprocal_root),
        f"v_fract_{code}": form(fx.fraction(ELEMENTS[code])),
        **{f"v_{name}_{code}": form(expression) for name, expression in fx.TO_WHOLE.items()},
        **{f"v_{name}_{code}": expression for name, expression in EXTREMES.items()},
    }


def _narrow(code: str) -> Rows:
    """Return the instructions that double precision does not have."""
    fused = _fused(code)
    low, high = EXTREMES["min_num"], EXTREMES["max_num"]
    least, greatest = EXTREMES["minimum"], EXTREMES["maximum"]
    return {
        f"v_sub_{code}": _form(code, _SUB),
        f"v_subrev_{code}": _form(code, ix.reverse(_SUB)),
        f"v_fmac_{code}": fused,
        f"v_fmaak_{code}": fused,
        f"v_fmamk_{code}": fused,
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


def _by_mode(
    make: Callable[[ix.Expression, ix.Expression], ix.Expression],
) -> VectorOp:
    """Return the row of an extreme of gfx11, made of its minimum and maximum."""
    quieting, other = (make(older(False, ieee), older(True, ieee)) for ieee in (True, False))
    return VectorOp(quieting, unquieted=other)


def _older_extremes(code: str) -> Rows:
    """Return the extremes of gfx11 for one format."""
    both: Rows = {
        f"v_min_{code}": _by_mode(lambda low, high: low),
        f"v_max_{code}": _by_mode(lambda low, high: high),
    }
    if code == "f64":
        return both
    return {
        **both,
        f"v_min3_{code}": _by_mode(lambda low, high: ix.chain(low, low)),
        f"v_max3_{code}": _by_mode(lambda low, high: ix.chain(high, high)),
        f"v_med3_{code}": _by_mode(median_of),
        f"v_minmax_{code}": _by_mode(lambda low, high: ix.chain(low, high)),
        f"v_maxmin_{code}": _by_mode(lambda low, high: ix.chain(high, low)),
    }


def _exponent_16(b: Builder, x: Value) -> Value:
    return b.resize(fx.frexp_exponent(b, b.convert("fpext", x, "float")), 16)


def _ldexp_half(b: Builder, x: Value, exponent: Value) -> Value:
    wide = fx.ldexp_single(b, b.convert("fpext", x, "float"), exponent)
    # ldexp_single rounds to 24 bits first; a half has 11, so its scaled value is exact there unless
    # it underflows.
    return b.convert("fptrunc", wide, "half")


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
    "v_fmac_dx9_zero_f32": with_nans(fx.fma_legacy, fx.legacy_nan),
    "v_fma_dx9_zero_f32": with_nans(fx.fma_legacy, fx.legacy_nan),
    "v_rcp_iflag_f32": with_nans(fx.reciprocal),
}

VECTOR_FLOAT: Mapping[str, VectorOp] = vector_ops(
    {
        **_older_extremes("f16"),
        **_older_extremes("f32"),
        **_older_extremes("f64"),
        **_basic("f16"),
        **_basic("f32"),
        **_basic("f64"),
        **_narrow("f16"),
        **_narrow("f32"),
        **_PARTS,
    }
)
