"""Conversions between integers and floats, and to packed formats: a row for each, as in
`isa/integer_rows.py`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from amdjit.isa import integer_expressions as ix
from amdjit.isa.arithmetic import Arithmetic, Value, element_of
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.elements import Convert
from amdjit.isa.floats.fp8 import (
    BF8_TO_SINGLE,
    FP8_TO_SINGLE,
    fnuz_to_single,
    pair_to_fp8,
    single_to_fp8,
)
from amdjit.isa.floats.nans import bits, converted_nan, is_nan, quieted, with_nans
from amdjit.isa.integer_rows import VECTOR_ROWS, Pair, Row, in_range, rows


def _normalised_integer(signed: bool) -> ix.Expression:
    """Convert [-1, 1] or [0, 1] to 16-bit integers, rounding to nearest even."""
    limit, low = (32767.0, -1.0) if signed else (65535.0, 0.0)

    def expression(b: Arithmetic, x: Value) -> Value:
        wide = b.convert("fpext", x, "float") if element_of(x.type) == "half" else x
        clamped = b.intrinsic(
            "maximum", b.intrinsic("minimum", wide, b.const(wide, 1.0)), b.const(wide, low)
        )
        # NaN passes through to the conversion, which returns 0 for it. The product of 24 and 16
        # bits is exact in double.
        exact = b.convert("fpext", clamped, "double")
        scaled = b.intrinsic("roundeven", b.binary("fmul", exact, b.const(exact, limit)))
        return fx.to_integer(signed, "i16")(b, scaled)

    return expression


def _pair(expression: ix.Expression) -> ix.Expression:
    """Apply an expression to both operands and pack the 16-bit results, the first one low."""

    def packed(b: Arithmetic, x: Value, y: Value) -> Value:
        low, high = (b.resize(expression(b, v), 32) for v in (x, y))
        return b.or_(low, b.shift("shl", high, 16))

    return packed


def _saturate_to_16(signed: bool) -> ix.Expression:
    def expression(b: Arithmetic, x: Value) -> Value:
        if signed:
            low = b.intrinsic("smax", x, b.const(x, -32768))
            return b.resize(b.intrinsic("smin", low, b.const(x, 32767)), 16)
        return b.resize(b.intrinsic("umin", x, b.const(x, 65535)), 16)

    return expression


def _offset_nibble(b: Arithmetic, x: Value) -> Value:
    nibble = b.shift("ashr", b.shift("shl", x, 28), 28)
    return b.binary(
        "fmul", b.convert("sitofp", nibble, "float"), b.const(b.bitcast(x, "float"), 0.0625)
    )


def _widened(element: str) -> ix.Expression:
    return with_nans(fx.cast("fpext", element), converted_nan(element))


def _narrowed(element: str) -> Row:
    return Row(
        with_nans(fx.cast("fptrunc", element), converted_nan(element)),
        tiny=fx.tiny_if_narrowed(element),
    )


def _saturated_bytes(b: Arithmetic, x: Value) -> Value:
    """Convert two i16 in a dword to two u8 with saturation."""
    parts = []
    for start in (0, 16):
        number = b.resize(b.resize(b.shift("lshr", x, start), 16), 32, True)
        low = b.intrinsic("smax", number, b.const(x, 0))
        parts.append(b.intrinsic("smin", low, b.const(x, 255)))
    return b.resize(b.or_(parts[0], b.shift("shl", parts[1], 8)), 16)


def put_byte(b: Arithmetic, x: Value, position: Value, old: Value) -> Value:
    """Convert f32 to u8, rounded as MODE says, and insert it into a dword at byte
    `position`[1:0]. NaN is 0."""
    limited = b.intrinsic(
        "minimumnum", b.intrinsic("maximumnum", x, b.const(x, 0.0)), b.const(x, 255.0)
    )
    # The sum has no fraction bits.
    shifter = b.const(x, 2.0**23)
    whole = b.binary("fsub", b.binary("fadd", limited, shifter), shifter)
    place = b.shift("shl", b.mask(position, 2), 3)
    kept = b.and_(old, b.not_(b.shift("shl", b.const(old, 255), place)))
    return b.or_(kept, b.shift("shl", fx.to_integer(signed=False)(b, whole), place))


def _pack(b: Arithmetic, low: Value, high: Value) -> Value:
    """V_PACK_B32_F16, which makes NaNs quiet (captured on a gfx1201)."""
    halves = (b.select(is_nan(b, x), quieted(b, x), bits(b, x)) for x in (low, high))
    return VECTOR_ROWS["v_pack_b32_f16"].expression(b, *halves)


def _pack_units(b: Arithmetic, low: Value, high: Value) -> Value:
    return _pack(b, fx.clamp_unit(b, low), fx.clamp_unit(b, high))


def _bytes(name: str, kind: str, widen: Convert) -> Mapping[str, Row]:
    """Return the conversions of an 8-bit format that instructions call `name`, with one result."""
    pair, stochastic = partial(pair_to_fp8, kind=kind), partial(single_to_fp8, kind=kind)
    return {
        f"v_cvt_f32_{name}": Row(widen),
        f"v_cvt_pk_{name}_f32": Row(pair, limited=partial(pair, clamps=True)),
        f"v_cvt_sr_{name}_f32": Row(stochastic, limited=partial(stochastic, clamps=True)),
    }


def _two_bytes(widen: Convert) -> Pair:
    def expression(b: Arithmetic, lanes: Value) -> tuple[Value, Value]:
        both = b.resize(lanes, 32)
        return widen(b, both), widen(b, b.shift("lshr", both, 8))

    return expression


_OCP = {"fp8": FP8_TO_SINGLE, "bf8": BF8_TO_SINGLE}
_FNUZ = {name: fnuz_to_single(f"{name}_fnuz") for name in _OCP}
_OCP_ROWS: Mapping[str, Row] = {
    **_bytes("fp8", "fp8", _OCP["fp8"]),
    **_bytes("bf8", "bf8", _OCP["bf8"]),
}
# The instructions of gfx942 with these names, of other formats (CDNA 3 ISA, V_CVT_F32_FP8).
FNUZ_CONVERSIONS: Mapping[str, Row] = {
    **_bytes("fp8", "fp8_fnuz", _FNUZ["fp8"]),
    **_bytes("bf8", "bf8_fnuz", _FNUZ["bf8"]),
}
# Their second result is the number of the upper byte.
BYTE_PAIRS: Mapping[str, Pair] = {
    f"v_cvt_pk_f32_{name}": _two_bytes(widen) for name, widen in _OCP.items()
}
FNUZ_BYTE_PAIRS: Mapping[str, Pair] = {
    f"v_cvt_pk_f32_{name}": _two_bytes(widen) for name, widen in _FNUZ.items()
}


CONVERSIONS: Mapping[str, Row] = rows(
    {
        "v_cvt_f32_i32": fx.from_integer(signed=True, element="float"),
        "v_cvt_f32_u32": fx.from_integer(signed=False, element="float"),
        "v_cvt_f64_i32": fx.from_integer(signed=True, element="double"),
        "v_cvt_f64_u32": fx.from_integer(signed=False, element="double"),
        "v_cvt_f16_i16": fx.through_float(fx.from_integer(signed=True, element="float")),
        "v_cvt_f16_u16": fx.through_float(fx.from_integer(signed=False, element="float")),
        "v_cvt_i32_f32": in_range(fx.to_integer(signed=True)),
        "v_cvt_u32_f32": in_range(fx.to_integer(signed=False)),
        "v_cvt_i32_f64": in_range(fx.to_integer(signed=True)),
        "v_cvt_u32_f64": in_range(fx.to_integer(signed=False)),
        "v_cvt_i16_f16": in_range(fx.through_float(fx.to_integer(signed=True, element="i16"))),
        "v_cvt_u16_f16": in_range(fx.through_float(fx.to_integer(signed=False, element="i16"))),
        "v_cvt_nearest_i32_f32": in_range(fx.nearest_up),
        "v_cvt_floor_i32_f32": in_range(fx.floor_to_integer),
        "v_cvt_off_f32_i4": _offset_nibble,
        "v_cvt_f16_f32": _narrowed("half"),
        "v_cvt_f32_f16": _widened("float"),
        "v_cvt_f32_bf16": fx.brain_to_single,
        "v_cvt_f32_f64": _narrowed("float"),
        "v_cvt_f64_f32": _widened("double"),
        # Clamp, omod and MODE's rounding and FP16_OVFL have no effect (captured on a gfx1201).
        "v_cvt_pk_rtz_f16_f32": Row(
            fx.pack_towards_zero, clamped=fx.pack_towards_zero, packs_halves=True
        ),
        "v_cvt_norm_i16_f16": in_range(_normalised_integer(signed=True)),
        "v_cvt_norm_u16_f16": in_range(_normalised_integer(signed=False)),
        "v_cvt_pk_norm_i16_f32": in_range(_pair(_normalised_integer(signed=True))),
        "v_cvt_pk_norm_u16_f32": in_range(_pair(_normalised_integer(signed=False))),
        "v_cvt_pk_norm_i16_f16": in_range(_pair(_normalised_integer(signed=True))),
        "v_cvt_pk_norm_u16_f16": in_range(_pair(_normalised_integer(signed=False))),
        "v_cvt_pk_i16_f32": in_range(_pair(fx.to_integer(signed=True, element="i16"))),
        "v_cvt_pk_u16_f32": in_range(_pair(fx.to_integer(signed=False, element="i16"))),
        "v_cvt_pk_i16_i32": _pair(_saturate_to_16(signed=True)),
        "v_cvt_pk_u16_u32": _pair(_saturate_to_16(signed=False)),
        "v_sat_pk_u8_i16": in_range(_saturated_bytes),
        "v_cvt_pk_u8_f32": in_range(put_byte),
        **_OCP_ROWS,
        "v_pack_b32_f16": Row(_pack, clamped=_pack_units),
    }
)
