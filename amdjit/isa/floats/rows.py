"""Arithmetic on floats with one result: a row for each instruction, as in `isa/integer_rows.py`.

The emulator executes them, `intrinsics/models/vector_arithmetic.py` computes with arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from amdjit.isa import integer_expressions as ix
from amdjit.isa.arithmetic import ELEMENTS, Arithmetic, Value
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.conversions import (
    BYTE_PAIRS,
    CONVERSIONS,
    FNUZ_BYTE_PAIRS,
    FNUZ_CONVERSIONS,
)
from amdjit.isa.floats.division import FORMATS, SCALES, fix_up, multiply_add, scale_expression
from amdjit.isa.floats.extremes import EXTREMES, median, median_of, older
from amdjit.isa.floats.graphics import GRAPHICS
from amdjit.isa.floats.nans import fused_nan, with_nans
from amdjit.isa.floats.scaled import SCALED_CONVERSIONS
from amdjit.isa.integer_rows import VECTOR_ROWS, Pair, Row, Rows, in_range, rows

_ADD, _SUB, _MUL = ix.binary("fadd"), ix.binary("fsub"), ix.binary("fmul")


def _form(code: str, expression: ix.Expression) -> ix.Expression:
    """Return an expression for one format; half precision is computed in single precision."""
    return with_nans(fx.through_float(expression) if code == "f16" else expression)


def _fused(code: str) -> Row:
    """Results are tiny or not before their exponent is limited, but those of f64 afterwards, as
    those of other sums and products (rocjitsu, `fp_mode.h`)."""
    expression = with_nans(fx.fma_half if code == "f16" else fx.fma, fused_nan)
    return Row(expression, tiny=None if code == "f64" else fx.tiny_if_fused)


def _multiplied(code: str) -> Row:
    return Row(_form(code, _MUL), tiny=fx.tiny_if_multiplied if code == "f32" else None)


def _basic(code: str) -> Rows:
    form = partial(_form, code)
    return {
        f"v_add_{code}": form(_ADD),
        f"v_mul_{code}": _multiplied(code),
        f"v_fma_{code}": _fused(code),
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
) -> Row:
    """Return the row of an extreme of gfx11, made of its minimum and maximum."""
    quieting, other = (make(older(False, ieee), older(True, ieee)) for ieee in (True, False))
    return Row(quieting, unquieted=other)


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


def _exponent_16(b: Arithmetic, x: Value) -> Value:
    return b.resize(fx.frexp_exponent(b, b.convert("fpext", x, "float")), 16)


def _ldexp_half(b: Arithmetic, x: Value, exponent: Value) -> Value:
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
    **{
        f"v_ldexp_{code}": Row(with_nans(ldexp), tiny=fx.tiny_if_scaled(ldexp))
        for code, ldexp in (
            ("f16", _ldexp_half),
            ("f32", fx.ldexp_single),
            ("f64", fx.ldexp_double),
        )
    },
    "v_mul_dx9_zero_f32": with_nans(fx.multiply_legacy),
    "v_fmac_dx9_zero_f32": with_nans(fx.fma_legacy, fx.legacy_nan),
    "v_fma_dx9_zero_f32": with_nans(fx.fma_legacy, fx.legacy_nan),
}

# Their bits have not been published; those of f16 and f32 are in `approximate.py`.
_DOUBLE_APPROXIMATIONS: Rows = {
    "v_rcp_f64": with_nans(fx.reciprocal),
    "v_sqrt_f64": with_nans(fx.square_root),
    "v_rsq_f64": with_nans(fx.reciprocal_root),
}

FLOATS: Mapping[str, Row] = rows(
    {
        **_DOUBLE_APPROXIMATIONS,
        **_older_extremes("f16"),
        **_older_extremes("f32"),
        **_older_extremes("f64"),
        **_basic("f16"),
        **_basic("f32"),
        **_basic("f64"),
        **_narrow("f16"),
        **_narrow("f32"),
        **_PARTS,
        **GRAPHICS,
        **{f"v_div_fmas_{code}": multiply_add(form) for code, form in SCALES.items()},
        **{f"v_div_fixup_{form.code}": fix_up for form in FORMATS.values()},
        "v_div_fixup_legacy_f16": fix_up,
    }
)

# Their second result is whether the quotient is to be scaled back.
DIVISION_SCALES: Mapping[str, Pair] = {
    f"v_div_scale_{code}": partial(scale_expression, form=form) for code, form in SCALES.items()
}


_FNUZ: Mapping[str, Row | Pair] = {**FNUZ_CONVERSIONS, **FNUZ_BYTE_PAIRS}
_ROWS: Mapping[str, Row | Pair] = {
    **VECTOR_ROWS,
    **CONVERSIONS,
    **FLOATS,
    **DIVISION_SCALES,
    **BYTE_PAIRS,
    **SCALED_CONVERSIONS,
}


def row_of_floats(operation: str, family: str) -> Row | Pair:
    """Return the row, or the expression of two results, of an instruction on floats, or of one that
    makes floats. family: the name of its instruction set."""
    return _FNUZ.get(operation, _ROWS[operation]) if family == "gfx942" else _ROWS[operation]
