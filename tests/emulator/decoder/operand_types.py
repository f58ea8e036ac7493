"""Operand types of opcodes, from the mnemonic and the width of each operand.

The assembler's names carry the types: `v_cvt_f32_f16` writes f32 and reads f16. The tables below
hold the opcodes whose names do not say it all (RDNA 4 ISA document, chapter 16 "Instructions").
"""

from __future__ import annotations

import re

_TYPE = re.compile(r"^(b?f16|f32|f64|[iub](?:4|8|16|24|32|64|96|128)|iu[48]|[fb]p?f?8)$")
_BITS = re.compile(r"(\d+)$")

# Opcodes that read their destination too (accumulators, partial writes, exchanges).
_ACCUMULATES = re.compile(
    r"v_mac_|fmac|dot2acc|v_dot\dc_|cvt_pkaccum|writelane|v_swap|_swmmac_|fma_mixlo|fma_mixhi|"
    r"bitset|s_cmov|addk|mulk|permlane(x)?16|v_cvt_pk_(fp8|bf8)_f32|v_cvt_sr_|load.*d16|"
    r"permlane(16|32)_swap|v_cvt_scalef32_((sr|pk|sr_pk)_(fp8|bf8|fp4)|f16)_|v_ashr_pk_|"
    r"v_bitop3_b16"
)
# role -> type of single operands, by mnemonic.
_EXCEPTIONS: dict[str, dict[str, str]] = {
    "v_ldexp_f32": {"src1": "i32"},
    "v_ldexp_f64": {"src1": "i32"},
    "v_ldexp_f16": {"src1": "i16"},
    "v_trig_preop_f64": {"src1": "u32"},
    "v_cvt_sr_fp8_f32": {"vdst": "b32", "src0": "f32", "src1": "b32"},
    "v_cvt_sr_bf8_f32": {"vdst": "b32", "src0": "f32", "src1": "b32"},
    "v_cvt_pk_fp8_f32": {"vdst": "b32"},
    "v_cvt_pk_bf8_f32": {"vdst": "b32"},
    "v_cvt_sr_f16_f32": {"vdst": "f16", "src0": "f32", "src1": "b32"},
    "v_cvt_sr_bf16_f32": {"vdst": "bf16", "src0": "f32", "src1": "b32"},
    "v_ashr_pk_i8_i32": {"vdst": "b16", "src0": "i32", "src1": "i32", "src2": "u32"},
    "v_ashr_pk_u8_i32": {"vdst": "b16", "src0": "i32", "src1": "i32", "src2": "u32"},
    "v_cvt_off_f32_i4": {"src0": "b32"},
    "v_cvt_f32_fp8": {"src0": "b32"},
    "v_cvt_f32_bf8": {"src0": "b32"},
    "v_cvt_pk_f32_fp8": {"vdst": "v2f32", "src0": "b32"},
    "v_cvt_pk_f32_bf8": {"vdst": "v2f32", "src0": "b32"},
    "v_cvt_pk_u8_f32": {"vdst": "b32", "src0": "f32", "src1": "u32", "src2": "b32"},
    "v_cvt_pkaccum_u8_f32": {"vdst": "b32", "src0": "f32", "src1": "u32"},
    "v_sat_pk_u8_i16": {"vdst": "b16", "src0": "v2i16"},
    "v_mad_u32_u16": {"src0": "u16", "src1": "u16", "src2": "u32"},
    "v_mad_i32_i16": {"src0": "i16", "src1": "i16", "src2": "i32"},
    "v_mad_co_u64_u32": {"vdst": "u64", "src0": "u32", "src1": "u32", "src2": "u64"},
    "v_mad_co_i64_i32": {"vdst": "i64", "src0": "i32", "src1": "i32", "src2": "i64"},
    "v_mad_u64_u32": {"vdst": "u64", "src0": "u32", "src1": "u32", "src2": "u64"},
    "v_mad_i64_i32": {"vdst": "i64", "src0": "i32", "src1": "i32", "src2": "i64"},
    "v_dot2acc_f32_f16": {"src0": "v2f16", "src1": "v2f16"},
    "v_dot2c_f32_f16": {"src0": "v2f16", "src1": "v2f16"},
    "v_dot2c_f32_bf16": {"src0": "v2bf16", "src1": "v2bf16"},
    "v_dot2c_i32_i16": {"src0": "v2i16", "src1": "v2i16"},
    "v_dot2_i32_i16": {"src0": "v2i16", "src1": "v2i16", "src2": "i32"},
    "v_dot2_u32_u16": {"src0": "v2u16", "src1": "v2u16", "src2": "u32"},
    "v_dot2_f32_f16": {"src0": "v2f16", "src1": "v2f16", "src2": "f32"},
    "v_dot2_f32_bf16": {"src0": "v2bf16", "src1": "v2bf16", "src2": "f32"},
    "v_dot2_f16_f16": {"vdst": "f16", "src0": "v2f16", "src1": "v2f16", "src2": "f16"},
    "v_dot2_bf16_bf16": {"vdst": "bf16", "src0": "v2bf16", "src1": "v2bf16", "src2": "bf16"},
    "v_fma_mix_f32": {"vdst": "f32", "src0": "f32", "src1": "f32", "src2": "f32"},
    "v_fma_mixlo_f16": {"vdst": "f16", "src0": "f32", "src1": "f32", "src2": "f32"},
    "v_fma_mixhi_f16": {"vdst": "f16", "src0": "f32", "src1": "f32", "src2": "f32"},
    "v_pack_b32_f16": {"vdst": "v2f16", "src0": "f16", "src1": "f16"},
    "v_cvt_pk_rtz_f16_f32": {"vdst": "v2f16"},
    "s_cvt_pk_rtz_f16_f32": {"sdst": "v2f16"},
    "v_cvt_pk_i16_f32": {"vdst": "v2i16"},
    "v_cvt_pk_u16_f32": {"vdst": "v2u16"},
    "v_cvt_pk_i16_i32": {"vdst": "v2i16"},
    "v_cvt_pk_u16_u32": {"vdst": "v2u16"},
    "v_cvt_pk_norm_i16_f16": {"vdst": "v2i16", "src0": "f16", "src1": "f16"},
    "v_cvt_pk_norm_u16_f16": {"vdst": "v2u16", "src0": "f16", "src1": "f16"},
    "v_cvt_pk_norm_i16_f32": {"vdst": "v2i16"},
    "v_cvt_pk_norm_u16_f32": {"vdst": "v2u16"},
    "v_cvt_pkrtz_f16_f32": {"vdst": "v2f16"},
    "v_cvt_pknorm_i16_f16": {"vdst": "v2i16", "src0": "f16", "src1": "f16"},
    "v_cvt_pknorm_u16_f16": {"vdst": "v2u16", "src0": "f16", "src1": "f16"},
    "v_cvt_pknorm_i16_f32": {"vdst": "v2i16"},
    "v_cvt_pknorm_u16_f32": {"vdst": "v2u16"},
    "v_frexp_exp_i32_f32": {"vdst": "i32"},
    "s_bcnt0_i32_b64": {"sdst": "i32"},
    "s_cvt_hi_f32_f16": {"src0": "b32"},
    "v_sad_u16": {"vdst": "u32", "src0": "v2u16", "src1": "v2u16", "src2": "u32"},
    "v_qsad_pk_u16_u8": {"vdst": "b64", "src0": "b64", "src1": "b32", "src2": "b64"},
    "v_mqsad_pk_u16_u8": {"vdst": "b64", "src0": "b64", "src1": "b32", "src2": "b64"},
    "v_mqsad_u32_u8": {"vdst": "b128", "src0": "b64", "src1": "b32", "src2": "b128"},
    "v_cmp_class_f16": {"src1": "b16"},
    "v_cmpx_class_f16": {"src1": "b16"},
    "v_cmp_class_f32": {"src1": "b32"},
    "v_cmpx_class_f32": {"src1": "b32"},
    "v_cmp_class_f64": {"src1": "b32"},
    "v_cmpx_class_f64": {"src1": "b32"},
    "v_interp_p10_f16_f32": {"vdst": "f32", "src0": "f16", "src1": "f32", "src2": "f16"},
    "v_interp_p10_rtz_f16_f32": {"vdst": "f32", "src0": "f16", "src1": "f32", "src2": "f16"},
    "v_interp_p2_f16_f32": {"vdst": "f16", "src0": "f16", "src1": "f32", "src2": "f32"},
    "v_interp_p2_rtz_f16_f32": {"vdst": "f16", "src0": "f16", "src1": "f32", "src2": "f32"},
}
# Conversions with a scale (CDNA 4 ISA, 7.3): the last source is the scale; those that round
# stochastically have random bits before it. Floats of 8 bits and fewer are b32, or b192.
_SCALED = re.compile(
    r"v_cvt_scalef32_(?P<random>sr_)?(?P<count>2xpk16|pk32|pk)?_?"
    r"(?P<to>b?f16|f32|[fb]p?f?[468])_(?P<of>b?f16|f32|[fb]p?f?[468])"
)
_FOUR_BYTES = re.compile(r"v_(lerp|sad|sad_hi|msad)_u8")


def named_types(mnemonic: str) -> list[str]:
    """Return the type tokens of a mnemonic, from left to right."""
    return [token for token in mnemonic.split("_") if _TYPE.match(token)]


def bits_of(name: str) -> int:
    """Return the width of a type name in bits."""
    match = _BITS.search(name)
    assert match
    return int(match.group(1))


def reads_destination(mnemonic: str) -> bool:
    """True if the opcode's destination register is a source too."""
    return bool(_ACCUMULATES.search(mnemonic))


def operand_type(mnemonic: str, role: str, dwords: int, is_mask: bool) -> str:
    """Return the type of an operand: see OperandSpec.type."""
    if is_mask:
        return "mask"
    exception = _EXCEPTIONS.get(mnemonic, {}).get(role)
    if exception:
        return exception
    if mnemonic.startswith(("v_wmma", "v_swmmac")):
        return _matrix_type(mnemonic, role, dwords)
    scaled = _SCALED.fullmatch(mnemonic)
    if scaled:
        return _scaled_type(scaled, role, dwords)
    if mnemonic.startswith(("v_dot4", "v_dot8")):
        result, *sources = named_types(mnemonic)
        inner = sources[-1] if role == "src1" else sources[0]
        return result if role in ("vdst", "src2") else f"v{mnemonic[5]}{inner}"
    if "ubyte" in mnemonic and role == "src0":
        return "b32"
    if mnemonic.startswith("s_pack_"):
        return "b32"
    if _FOUR_BYTES.match(mnemonic):
        return "b32"
    names = named_types(mnemonic)
    if not names:
        return f"b{32 * dwords}"
    chosen = names[0] if role in ("vdst", "sdst") else names[-1]
    return _fitted(chosen, dwords, "_pk_" in mnemonic)


def _fitted(name: str, dwords: int, packed: bool) -> str:
    """Return `name` made as wide as the registers are."""
    kind, bits = name.rstrip("0123456789"), bits_of(name)
    if packed and bits * 2 == 32 * dwords:
        return f"v2{name}"
    if bits in (4, 8, 24) or bits > 32 * dwords or (bits < 32 * dwords and dwords > 1):
        letter = kind if kind in ("i", "u") and bits != 4 else "b"
        return f"{letter}{32 * dwords}"
    return name


def _scaled_type(parts: re.Match[str], role: str, dwords: int) -> str:
    name = parts["to"] if role == "vdst" else parts["of"]
    two_numbers = (
        parts["of"] == "f32" and parts["count"] in ("pk", "2xpk16") and not parts["random"]
    )
    scale = "src2" if parts["random"] or two_numbers else "src1"
    if role == scale:
        return "f32"
    if role == "src1" and parts["random"]:
        return "b32"
    if dwords > 2 or (name[-1] in "468" and not name.endswith("16")):
        return f"b{32 * dwords}"
    return f"v2{name}" if dwords == 2 or (parts["count"] and name != "f32") else name


def _matrix_type(mnemonic: str, role: str, dwords: int) -> str:
    """v_wmma_<dst>_16x16x<k>_<a>[_<b>]: per-lane vectors; the index of a swmmac is b32."""
    if mnemonic.startswith("v_swmmac") and role == "src2":
        return "b32" if dwords == 1 else f"b{32 * dwords}"
    names = named_types(mnemonic)
    destination, sources = names[0], names[1:]
    name = {"vdst": destination, "src2": destination, "src0": sources[0], "src1": sources[-1]}[role]
    return f"v{32 * dwords // bits_of(name)}{name}"
