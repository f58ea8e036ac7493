"""Phrases of conversions, packed halves, dot products and interpolations; see `phrases`."""

from __future__ import annotations

__all__ = ["PACKED_PHRASES"]

_HALVES = ", for both halves, in $t"

_CONVERSIONS = (
    (r"[sv]_cvt_(?P<to>[iu]\d+)_(?P<t>f\d+)", "{d} = {a} in $t, rounded towards 0 to $to"),
    (r"[sv]_cvt_(?P<to>f\d+)_(?P<t>[fiu]\d+)", "{d} = {a} in $t, converted to $to"),
    (r"v_cvt_(?P<to>[iu]32)_(?P<t>[iu]16)", "{d} = {a} in $t, extended to $to"),
    (r"s_cvt_hi_f32_f16", "{d} = the high half of {a} in f16, converted to f32"),
    (r"v_cvt_nearest_i32_f32", "{d} = floor({a} + 0.5) in f32, converted to i32"),
    (r"v_cvt_floor_i32_f32", "{d} = floor({a}) in f32, converted to i32"),
    (r"v_cvt_off_f32_i4", "{d} = the low 4 bits of {a} as i4, divided by 16, in f32"),
    (r"v_cvt_f32_ubyte(?P<n>\d)", "{d} = byte $n of {a} in u8, converted to f32"),
    (
        r"v_cvt_norm_(?P<to>[iu]16)_f16",
        "{d} = {a} in f16, limited to 1, times the largest $to and rounded to it",
    ),
    (
        r"v_cvt_pk_norm_(?P<to>[iu]16)_(?P<t>f\d+)",
        "{d} = {a} and {b} in $t, limited to 1, times the largest $to and rounded to it, as two"
        " halves",
    ),
    (
        r"[sv]_cvt_pk_rtz_f16_f32",
        "{d} = {a} and {b} in f32, converted to f16, rounded towards 0, as two halves",
    ),
    (
        r"v_cvt_pk_(?P<to>[iu]16)_(?P<t>f32)",
        "{d} = {a} and {b} in $t, rounded towards 0 to $to, as two halves",
    ),
    (
        r"v_cvt_pk_(?P<to>[iu]16)_(?P<t>[iu]32)",
        "{d} = {a} and {b} in $t, limited to $to, as two halves",
    ),
    (r"v_cvt_pk_u8_f32", "{d} = {c} with {a} in f32, converted to u8, as its byte {b}"),
    (r"v_sat_pk_u8_i16", "{d} = both halves of {a} in i16, limited to u8, as two bytes"),
    (r"v_cvt_f32_(?P<t>(?:fp|bf)8)", "{d} = a byte of {a} in $t, converted to f32"),
    (
        r"v_cvt_pk_f32_(?P<t>(?:fp|bf)8)",
        "{d} = two bytes of a half of {a} in $t, converted to f32, as two registers",
    ),
    (
        r"v_cvt_pk_(?P<t>(?:fp|bf)8)_f32",
        "{d} = {a} and {b} in f32, converted to $t, as two bytes of a half",
    ),
    (
        r"v_cvt_sr_(?P<t>(?:fp|bf)8)_f32",
        "{d} = {a} in f32, converted to $t, rounded at random by {b}, as one byte",
    ),
)

_PACKED = (
    (r"v_pk_add_(?P<t>[iuf]16)", "{d} = {a} + {b}" + _HALVES),
    (r"v_pk_sub_(?P<t>[iu]16)", "{d} = {a} - {b}" + _HALVES),
    (r"v_pk_mul_(lo_)?(?P<t>[uf]16)", "{d} = {a} * {b}" + _HALVES),
    (r"v_pk_mad_(?P<t>[iu]16)", "{d} = {a} * {b} + {c}" + _HALVES),
    (r"v_pk_fma_(?P<t>f16)", "{d} = {a} * {b} + {c}, rounded once" + _HALVES),
    (r"v_pk_fmac_(?P<t>f16)", "{d} = {a} * {b} + {d}, rounded once" + _HALVES),
    (r"v_pk_lshlrev_(?P<t>b16)", "{d} = {b} << {a}" + _HALVES),
    (r"v_pk_lshrrev_b(?P<t>16)", "{d} = {b} >> {a}, for both halves, in u16"),
    (r"v_pk_ashrrev_(?P<t>i16)", "{d} = {b} >> {a}" + _HALVES),
    (r"v_pk_min_(?P<t>[iu]16)", "{d} = the smaller of {a} and {b}" + _HALVES),
    (r"v_pk_max_(?P<t>[iu]16)", "{d} = the larger of {a} and {b}" + _HALVES),
    (
        r"v_pk_min(_num)?_(?P<t>f16)",
        "{d} = the smaller of {a} and {b}" + _HALVES + "; a number wins over a NaN",
    ),
    (
        r"v_pk_max(_num)?_(?P<t>f16)",
        "{d} = the larger of {a} and {b}" + _HALVES + "; a number wins over a NaN",
    ),
    (
        r"v_pk_minimum_(?P<t>f16)",
        "{d} = the smaller of {a} and {b}" + _HALVES + "; NaN if one is",
    ),
    (r"v_pk_maximum_(?P<t>f16)", "{d} = the larger of {a} and {b}" + _HALVES + "; NaN if one is"),
    (
        r"v_fma_mix_f32",
        "{d} = {a} * {b} + {c}, each in f32 or f16 as op_sel_hi says, rounded once to f32",
    ),
    (
        r"v_fma_mixlo_f16",
        "the low half of {d} = {a} * {b} + {c}, each in f32 or f16 as op_sel_hi says, rounded to"
        " f16",
    ),
    (
        r"v_fma_mixhi_f16",
        "the high half of {d} = {a} * {b} + {c}, each in f32 or f16 as op_sel_hi says, rounded to"
        " f16",
    ),
)

_PRODUCTS = (
    (
        r"v_dot(?P<n>\d)_(?P<to>[iuf]\d+|bf16)_(?P<x>[a-z]+\d+)_(?P<y>[a-z]+\d+)",
        "{d} = {c} + the $n products of {a}'s elements in $x and {b}'s in $y, in $to",
    ),
    (
        r"v_dot(?P<n>\d)_(?P<to>[iuf]\d+|bf16)_(?P<x>[a-z]+\d+)",
        "{d} = {c} + the $n products of {a}'s and {b}'s elements in $x, in $to",
    ),
    (
        r"v_dot(?P<n>\d)acc_(?P<to>f32)_(?P<x>[a-z]+\d+)",
        "{d} = {d} + the $n products of {a}'s and {b}'s elements in $x, in $to",
    ),
)

_INTERPOLATION = (
    (r"v_interp_p10_f32", "{d} = P0 + I * P10 of a pixel's attribute {a}, {b}, {c} in f32"),
    (r"v_interp_p2_f32", "{d} = {c} + J * P20 of a pixel's attribute {a}, {b} in f32"),
    (
        r"v_interp_p10_f16_f32",
        "{d} = P0 + I * P10 of a pixel's attribute {a}, {b}, {c} in f16, as f32",
    ),
    (
        r"v_interp_p2_f16_f32",
        "{d} = {c} + J * P20 of a pixel's attribute {a}, {b} in f16, as f16",
    ),
    (
        r"v_interp_p10_rtz_f16_f32",
        "{d} = P0 + I * P10 of a pixel's attribute {a}, {b}, {c} in f16, as f32, rounded towards 0",
    ),
    (
        r"v_interp_p2_rtz_f16_f32",
        "{d} = {c} + J * P20 of a pixel's attribute {a}, {b} in f16, as f16, rounded towards 0",
    ),
)

PACKED_PHRASES: tuple[tuple[str, str], ...] = (
    *_CONVERSIONS,
    *_PACKED,
    *_PRODUCTS,
    *_INTERPOLATION,
)
