"""Phrases of vector ALU instructions, by patterns of their names; see `phrases`.

Scalar float instructions have the same operations and stand here with them. Matrix products and
comparisons of lanes get their words from traits and from `scalar_phrases.COMPARISONS`.
"""

from __future__ import annotations

from amdjit.isa.mnemonics.scalar_phrases import COMPARISONS

__all__ = ["VECTOR_PHRASES"]


# Phrases of conversions, packed halves, dot products and interpolations; see `phrases`.


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


_T = r"(?P<t>[biuf]\d+)"
_INT = r"(?P<t>[iu]\d+)"
_FLOAT = r"(?P<t>f\d+)"
_NAN_LOSES = "; a number wins over a NaN"
_NAN_WINS = "; NaN if one is"

_MOVES = (
    (r"v_nop", "does nothing"),
    (r"v_clrexcp", "clears the wave's exceptions of floats"),
    (r"v_pipeflush", "lets the vector ALU finish what it has begun"),
    (rf"v_mov_{_T}", "{d} = {a} in $t"),
    (rf"v_swap_{_T}", "{d} and {e} change places, in $t"),
    (r"v_movrels_b32", "{d} = the VGPR that is M0 places after {a}"),
    (r"v_movreld_b32", "puts {a} into the VGPR that is M0 places after {d}"),
    (
        r"v_movrelsd_b32",
        "puts the VGPR that is M0 places after {a} into the one that is M0 places after {d}",
    ),
    (
        r"v_movrelsd_2_b32",
        "puts the VGPR M0[9:0] places after {a} into the one M0[25:16] places after {d}",
    ),
    (
        r"v_swaprel_b32",
        "the VGPR M0[25:16] places after {d} and the VGPR M0[9:0] places after {e} change places",
    ),
    (rf"v_cndmask_{_T}", "{d} = {b} if the lane's bit of {c} is 1, else {a}, in $t"),
    (r"v_readfirstlane_b32", "{d} = {a} of the first active lane (of lane 0 if none is active)"),
    (r"v_readlane_b32", "{d} = {a} of lane {b}"),
    (r"v_writelane_b32", "{d} of lane {b} = {a}"),
    (
        r"v_permlane16_b32",
        "{d} = {a} of a lane of the same row of 16, as 4 bits of {b} and {c} choose it",
    ),
    (
        r"v_permlanex16_b32",
        "{d} = {a} of a lane of the other row of 16, as 4 bits of {b} and {c} choose it",
    ),
    (r"v_permlane16_var_b32", "{d} = {a} of the lane {b}[3:0] of the same row of 16"),
    (r"v_permlanex16_var_b32", "{d} = {a} of the lane {b}[3:0] of the other row of 16"),
    (r"v_permlane64_b32", "{d} = {a} of the lane 32 places away, in a wave64"),
)

_BITS = (
    (rf"v_not_{_T}", "{d} = ~{a} in $t"),
    (r"v_bfrev_b32", "{d} = the bits of {a} in reverse order"),
    (r"v_clz_i32_u32", "{d} = the number of zeros above the highest 1 of {a}, -1 if there is no 1"),
    (r"v_ctz_i32_b32", "{d} = the number of zeros below the lowest 1 of {a}, -1 if there is no 1"),
    (r"v_cls_i32", "{d} = how many bits from the top of {a} equal its sign, -1 if all do"),
    (rf"v_and_{_T}", "{d} = {a} & {b} in $t"),
    (rf"v_or_{_T}", "{d} = {a} | {b} in $t"),
    (rf"v_xor_{_T}", "{d} = {a} ^ {b} in $t"),
    (rf"v_xnor_{_T}", "{d} = ~({a} ^ {b}) in $t"),
    (r"v_xor3_b32", "{d} = {a} ^ {b} ^ {c} in b32"),
    (r"v_or3_b32", "{d} = {a} | {b} | {c} in b32"),
    (r"v_and_or_b32", "{d} = ({a} & {b}) | {c} in b32"),
    (r"v_lshl_or_b32", "{d} = ({a} << {b}) | {c} in b32"),
    (rf"v_lshlrev_{_T}", "{d} = {b} << {a} in $t"),
    (r"v_lshrrev_b(?P<n>\d+)", "{d} = {b} >> {a} in u$n"),
    (r"v_ashrrev_(?P<t>i\d+)", "{d} = {b} >> {a} in $t"),
    (r"v_bfe_u32", "{d} = the field of {a} at bit {b} with {c} bits"),
    (r"v_bfe_i32", "{d} = the field of {a} at bit {b} with {c} bits, sign-extended"),
    (r"v_bfi_b32", "{d} = ({a} & {b}) | (~{a} & {c}) in b32"),
    (r"v_bfm_b32", "{d} = ((1 << {a}) - 1) << {b} in b32"),
    (r"v_alignbit_b32", "{d} = the low 32 bits of (({a} << 32) | {b}) >> {c}[4:0]"),
    (r"v_alignbyte_b32", "{d} = the low 32 bits of (({a} << 32) | {b}) >> 8 * {c}[1:0]"),
    (r"v_perm_b32", "{d} = four bytes of {a} and {b}, each chosen by a byte of {c}"),
    (r"v_bcnt_u32_b32", "{d} = {b} + how many bits of {a} are 1"),
    (r"v_mbcnt_lo_u32_b32", "{d} = {b} + how many of lanes 0..31 below this one have a 1 in {a}"),
    (r"v_mbcnt_hi_u32_b32", "{d} = {b} + how many of lanes 32..63 below this one have a 1 in {a}"),
    (r"v_pack_b32_f16", "{d} = {a} in bits 15:0, {b} in bits 31:16, as f16"),
)

_INTEGERS = (
    (rf"v_add_nc_{_INT}", "{d} = {a} + {b} in $t"),
    (rf"v_sub_nc_{_INT}", "{d} = {a} - {b} in $t"),
    (r"v_subrev_nc_u32", "{d} = {b} - {a} in u32"),
    (r"v_add_co_u32", "{d} = {a} + {b} in u32; {e} = the carries"),
    (r"v_sub_co_u32", "{d} = {a} - {b} in u32; {e} = the borrows"),
    (r"v_subrev_co_u32", "{d} = {b} - {a} in u32; {e} = the borrows"),
    (r"v_add_co_ci_u32", "{d} = {a} + {b} + the lane's bit of {c} in u32; {e} = the carries"),
    (r"v_sub_co_ci_u32", "{d} = {a} - {b} - the lane's bit of {c} in u32; {e} = the borrows"),
    (r"v_subrev_co_ci_u32", "{d} = {b} - {a} - the lane's bit of {c} in u32; {e} = the borrows"),
    (r"v_add3_u32", "{d} = {a} + {b} + {c} in u32"),
    (r"v_lshl_add_u32", "{d} = ({a} << {b}) + {c} in u32"),
    (r"v_add_lshl_u32", "{d} = ({a} + {b}) << {c} in u32"),
    (r"v_xad_u32", "{d} = ({a} ^ {b}) + {c} in u32"),
    (rf"v_mul_lo_{_INT}", "{d} = {a} * {b} in $t, the low half of the product"),
    (rf"v_mul_hi_{_INT}", "{d} = the high half of {a} * {b} in $t"),
    (r"v_mul_[iu]32_(?P<t>[iu])24", "{d} = {a} * {b} of 24 bits each, in ${t}32"),
    (r"v_mul_hi_[iu]32_(?P<t>[iu])24", "{d} = bits 47:32 of {a} * {b} of 24 bits each, in ${t}32"),
    (r"v_mad_[iu]32_(?P<t>[iu])(?P<n>24|16)", "{d} = {a} * {b} of $n bits each + {c}, in ${t}32"),
    (r"v_mad_(?P<t>[iu]16)", "{d} = {a} * {b} + {c} in $t"),
    (r"v_mad_co_(?P<w>[iu]64)_(?P<t>[iu]32)", "{d} = {a} * {b} + {c} in $w; {e} = the carries"),
    (rf"v_min_{_INT}", "{d} = the smaller of {a} and {b} in $t"),
    (rf"v_max_{_INT}", "{d} = the larger of {a} and {b} in $t"),
    (rf"v_min3_{_INT}", "{d} = the smallest of {a}, {b} and {c} in $t"),
    (rf"v_max3_{_INT}", "{d} = the largest of {a}, {b} and {c} in $t"),
    (rf"v_med3_{_INT}", "{d} = the middle one of {a}, {b} and {c} in $t"),
    (rf"v_maxmin_{_INT}", "{d} = the smaller of {c} and the larger of {a} and {b} in $t"),
    (rf"v_minmax_{_INT}", "{d} = the larger of {c} and the smaller of {a} and {b} in $t"),
    (r"v_sad_u8", "{d} = {c} + the sum of |x - y| over the four bytes of {a} and {b}"),
    (
        r"v_sad_hi_u8",
        "{d} = {c} + (the sum of |x - y| over the four bytes of {a} and {b} << 16)",
    ),
    (r"v_sad_u16", "{d} = {c} + the sum of |x - y| over the two halves of {a} and {b}"),
    (r"v_sad_u32", "{d} = {c} + |{a} - {b}| in u32"),
    (r"v_msad_u8", "{d} = {c} + the sum of |x - y| over the bytes of {a} and {b} where y is not 0"),
    (
        r"v_qsad_pk_u16_u8",
        "{d} = four sums of byte differences of {a}, at byte 0 to 3, and {b}, each added to 16 bits"
        " of {c}",
    ),
    (
        r"v_mqsad_pk_u16_u8",
        "{d} = four sums of byte differences of {a}, at byte 0 to 3, and {b} where {b}'s bytes are"
        " not 0, each added to 16 bits of {c}",
    ),
    (
        r"v_mqsad_u32_u8",
        "{d} = four sums of byte differences of {a}, at byte 0 to 3, and {b} where {b}'s bytes are"
        " not 0, each added to 32 bits of {c}",
    ),
    (r"v_lerp_u8", "{d} = the averages of the bytes of {a} and {b}, rounded up where {c} has a 1"),
)

_FLOATS = (
    (rf"[sv]_add_{_FLOAT}", "{d} = {a} + {b} in $t"),
    (rf"[sv]_sub_{_FLOAT}", "{d} = {a} - {b} in $t"),
    (rf"v_subrev_{_FLOAT}", "{d} = {b} - {a} in $t"),
    (rf"[sv]_mul_{_FLOAT}", "{d} = {a} * {b} in $t"),
    (
        r"v_fmac_dx9_zero_f32",
        "{d} = {a} * {b} + {d} in f32, rounded once; the product is 0 if {a} or {b} is",
    ),
    (r"v_mul_dx9_zero_f32", "{d} = {a} * {b} in f32, 0 if one of them is 0"),
    (rf"[sv]_(fma|fmaak|fmamk)_{_FLOAT}", "{d} = {a} * {b} + {c} in $t, rounded once"),
    (rf"[sv]_fmac_{_FLOAT}", "{d} = {a} * {b} + {d} in $t, rounded once"),
    (
        r"v_fma_dx9_zero_f32",
        "{d} = {a} * {b} + {c} in f32, rounded once; the product is 0 if {a} or {b} is",
    ),
    (rf"[sv]_min(_num)?_{_FLOAT}", "{d} = the smaller of {a} and {b} in $t" + _NAN_LOSES),
    (rf"[sv]_max(_num)?_{_FLOAT}", "{d} = the larger of {a} and {b} in $t" + _NAN_LOSES),
    (rf"[sv]_minimum_{_FLOAT}", "{d} = the smaller of {a} and {b} in $t" + _NAN_WINS),
    (rf"[sv]_maximum_{_FLOAT}", "{d} = the larger of {a} and {b} in $t" + _NAN_WINS),
    (rf"v_min3(_num)?_{_FLOAT}", "{d} = the smallest of {a}, {b} and {c} in $t" + _NAN_LOSES),
    (rf"v_max3(_num)?_{_FLOAT}", "{d} = the largest of {a}, {b} and {c} in $t" + _NAN_LOSES),
    (rf"v_minimum3_{_FLOAT}", "{d} = the smallest of {a}, {b} and {c} in $t" + _NAN_WINS),
    (rf"v_maximum3_{_FLOAT}", "{d} = the largest of {a}, {b} and {c} in $t" + _NAN_WINS),
    (rf"v_med3(_num)?_{_FLOAT}", "{d} = the middle one of {a}, {b} and {c} in $t" + _NAN_LOSES),
    (
        rf"v_minmax(_num)?_{_FLOAT}",
        "{d} = the larger of {c} and the smaller of {a} and {b} in $t" + _NAN_LOSES,
    ),
    (
        rf"v_maxmin(_num)?_{_FLOAT}",
        "{d} = the smaller of {c} and the larger of {a} and {b} in $t" + _NAN_LOSES,
    ),
    (
        rf"v_minimummaximum_{_FLOAT}",
        "{d} = the larger of {c} and the smaller of {a} and {b} in $t" + _NAN_WINS,
    ),
    (
        rf"v_maximumminimum_{_FLOAT}",
        "{d} = the smaller of {c} and the larger of {a} and {b} in $t" + _NAN_WINS,
    ),
    (rf"[sv]_trunc_{_FLOAT}", "{d} = {a} rounded towards 0 to a whole number in $t"),
    (rf"[sv]_ceil_{_FLOAT}", "{d} = {a} rounded up to a whole number in $t"),
    (rf"[sv]_floor_{_FLOAT}", "{d} = {a} rounded down to a whole number in $t"),
    (rf"[sv]_rndne_{_FLOAT}", "{d} = {a} rounded to the nearest whole number, ties to even, in $t"),
    (rf"v_fract_{_FLOAT}", "{d} = {a} - floor({a}) in $t"),
    (rf"v_(s_)?exp_{_FLOAT}", "{d} = 2 to the power {a} in $t, approximated"),
    (rf"v_(s_)?log_{_FLOAT}", "{d} = the logarithm of {a} to base 2 in $t, approximated"),
    (rf"v_(s_)?rcp_{_FLOAT}", "{d} = 1 / {a} in $t, approximated"),
    (
        r"v_rcp_iflag_f32",
        "{d} = 1 / {a} in f32, approximated, for the division of integers: raises its exceptions",
    ),
    (rf"v_(s_)?rsq_{_FLOAT}", "{d} = 1 / the square root of {a} in $t, approximated"),
    (rf"v_(s_)?sqrt_{_FLOAT}", "{d} = the square root of {a} in $t, approximated"),
    (rf"v_sin_{_FLOAT}", "{d} = the sine of 2 pi {a} in $t, approximated"),
    (rf"v_cos_{_FLOAT}", "{d} = the cosine of 2 pi {a} in $t, approximated"),
    (rf"v_ldexp_{_FLOAT}", "{d} = {a} * 2 to the power {b} in $t"),
    (r"v_frexp_exp_i\d+_(?P<t>f\d+)", "{d} = the exponent of {a} in $t, for a mantissa below 1"),
    (rf"v_frexp_mant_{_FLOAT}", "{d} = the mantissa of {a} in $t, between 0.5 and 1"),
    (
        rf"v_div_scale_{_FLOAT}",
        "{d} = {a} scaled for the division {c} / {b} in $t; {e} = whether the quotient must be"
        " scaled back",
    ),
    (
        rf"v_div_fmas_{_FLOAT}",
        "{d} = {a} * {b} + {c} in $t, rounded once, scaled back if the lane's bit of {m} is 1",
    ),
    (
        rf"v_div_fixup_{_FLOAT}",
        "{d} = the quotient {a} of {c} / {b} in $t, special cases put right",
    ),
    (
        r"v_trig_preop_f64",
        "{d} = the segment {b} of 2 / pi that reduces {a} as the argument of a sine, in f64",
    ),
    (r"v_cubeid_f32", "{d} = the number of the cube map's face that ({a}, {b}, {c}) meets"),
    (r"v_cubesc_f32", "{d} = the first coordinate on the cube map's face of ({a}, {b}, {c})"),
    (r"v_cubetc_f32", "{d} = the second coordinate on the cube map's face of ({a}, {b}, {c})"),
    (r"v_cubema_f32", "{d} = twice the largest coordinate of ({a}, {b}, {c}), with its sign"),
    (r"v_mullit_f32", "{d} = {a} * {b} in f32 for lighting: the least number unless {b}, {c} > 0"),
)

_COMPARISONS = (
    (rf"v_cmp_f_{_T}", "{d} = 0"),
    (rf"v_cmp_(t|tru)_{_T}", "{d} = a bit for each active lane"),
    (rf"v_cmpx_f_{_T}", "EXEC = 0"),
    (rf"v_cmpx_(t|tru)_{_T}", "EXEC stays as it is"),
    *(
        (rf"v_cmp_{name}_{_T}", "{d} = a bit for each active lane: " + f"{condition} in $t")
        for name, condition in COMPARISONS.items()
    ),
    *(
        (rf"v_cmpx_{name}_{_T}", f"EXEC = a bit for each active lane: {condition} in $t")
        for name, condition in COMPARISONS.items()
    ),
    (
        rf"v_cmp_class_{_T}",
        "{d} = a bit for each active lane: {a} in $t is of one of the classes of numbers in {b}",
    ),
    (
        rf"v_cmpx_class_{_T}",
        "EXEC = a bit for each active lane: {a} in $t is of one of the classes of numbers in {b}",
    ),
)

VECTOR_PHRASES: tuple[tuple[str, str], ...] = (
    *_MOVES,
    *_BITS,
    *_INTEGERS,
    *_FLOATS,
    *_COMPARISONS,
    *PACKED_PHRASES,
)
