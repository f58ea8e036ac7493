"""Operations of gfx9 and gfx11 that the newest family has under another name: what they do is said
once.

Only what does the same is here. The names of floats' minima and maxima stay their own: they treat
signalling NaNs as MODE's IEEE bit says (RDNA 3 ISA, V_MIN_F32), as gfx12 no longer does. So do the
names of gfx9's atomics of floats. Sources: CDNA 3, RDNA 3 and RDNA 4 ISA documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_SCALAR: Mapping[str, str] = {
    "s_add_u32": "s_add_co_u32",
    "s_sub_u32": "s_sub_co_u32",
    "s_add_i32": "s_add_co_i32",
    "s_sub_i32": "s_sub_co_i32",
    "s_addc_u32": "s_add_co_ci_u32",
    "s_subb_u32": "s_sub_co_ci_u32",
    "s_addk_i32": "s_addk_co_i32",
    "s_ff1_i32_b32": "s_ctz_i32_b32",
    "s_ff1_i32_b64": "s_ctz_i32_b64",
    "s_flbit_i32_b32": "s_clz_i32_u32",
    "s_flbit_i32_b64": "s_clz_i32_u64",
    "s_flbit_i32": "s_cls_i32",
    "s_flbit_i32_i64": "s_cls_i32_i64",
}
_VECTOR: Mapping[str, str] = {
    "v_add_u32": "v_add_nc_u32",
    "v_sub_u32": "v_sub_nc_u32",
    "v_subrev_u32": "v_subrev_nc_u32",
    "v_add_i32": "v_add_nc_i32",
    "v_sub_i32": "v_sub_nc_i32",
    "v_add_u16": "v_add_nc_u16",
    "v_sub_u16": "v_sub_nc_u16",
    "v_add_i16": "v_add_nc_i16",
    "v_sub_i16": "v_sub_nc_i16",
    "v_addc_co_u32": "v_add_co_ci_u32",
    "v_subb_co_u32": "v_sub_co_ci_u32",
    "v_subbrev_co_u32": "v_subrev_co_ci_u32",
    "v_ffbl_b32": "v_ctz_i32_b32",
    "v_ffbh_u32": "v_clz_i32_u32",
    "v_ffbh_i32": "v_cls_i32",
    "v_mad_u64_u32": "v_mad_co_u64_u32",
    "v_mad_i64_i32": "v_mad_co_i64_i32",
    "v_cvt_pkrtz_f16_f32": "v_cvt_pk_rtz_f16_f32",
    "v_cvt_pknorm_i16_f32": "v_cvt_pk_norm_i16_f32",
    "v_cvt_pknorm_u16_f32": "v_cvt_pk_norm_u16_f32",
    "v_cvt_pknorm_i16_f16": "v_cvt_pk_norm_i16_f16",
    "v_cvt_pknorm_u16_f16": "v_cvt_pk_norm_u16_f16",
    "v_cvt_flr_i32_f32": "v_cvt_floor_i32_f32",
    "v_cvt_rpi_i32_f32": "v_cvt_nearest_i32_f32",
    "v_mul_legacy_f32": "v_mul_dx9_zero_f32",
}
_WIDTHS: Mapping[str, str] = {
    "dword": "b32",
    "dwordx2": "b64",
    "dwordx3": "b96",
    "dwordx4": "b128",
    "dwordx8": "b256",
    "dwordx16": "b512",
}
_DIRECT: Mapping[str, str] = {"ubyte": "u8", "sbyte": "i8", "ushort": "u16", "sshort": "i16"}
_LOADS: Mapping[str, str] = {
    "load_ubyte": "load_u8",
    "load_sbyte": "load_i8",
    "load_ushort": "load_u16",
    "load_sshort": "load_i16",
    "load_ubyte_d16": "load_d16_u8",
    "load_sbyte_d16": "load_d16_i8",
    "load_short_d16": "load_d16_b16",
    "load_ubyte_d16_hi": "load_d16_hi_u8",
    "load_sbyte_d16_hi": "load_d16_hi_i8",
    "load_short_d16_hi": "load_d16_hi_b16",
    "store_byte": "store_b8",
    "store_short": "store_b16",
    "store_byte_d16_hi": "store_d16_hi_b8",
    "store_short_d16_hi": "store_d16_hi_b16",
}
_ATOMICS: Mapping[str, tuple[str, str]] = {
    "swap": ("swap", "b"),
    "cmpswap": ("cmpswap", "b"),
    "add": ("add", "u"),
    "sub": ("sub", "u"),
    "smin": ("min", "i"),
    "umin": ("min", "u"),
    "smax": ("max", "i"),
    "umax": ("max", "u"),
    "and": ("and", "b"),
    "or": ("or", "b"),
    "xor": ("xor", "b"),
    "inc": ("inc", "u"),
    "dec": ("dec", "u"),
}
_LDS_WIDTHS = ("b8", "b16", "b32", "b64", "b96", "b128")
_LDS_LOADS = ("i8", "u8", "i16", "u16", *_LDS_WIDTHS)
_LDS_HALVES = ("u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi", "u16_d16", "u16_d16_hi")


def _logic() -> Iterator[tuple[str, str]]:
    for width in ("b32", "b64"):
        for name in ("and", "or"):
            yield f"s_{name}n2_{width}", f"s_{name}_not1_{width}"
            for target in ("saveexec", "wrexec"):
                yield f"s_{name}n1_{target}_{width}", f"s_{name}_not0_{target}_{width}"
                yield f"s_{name}n2_{target}_{width}", f"s_{name}_not1_{target}_{width}"


def _memory() -> Iterator[tuple[str, str]]:
    for memory in ("global", "scratch"):
        for old, new in {**_WIDTHS, **_DIRECT}.items():
            yield f"{memory}_load_lds_{old}", f"{memory}_load_lds_{new}"
    for memory in ("flat", "global", "scratch", "buffer", "s", "s_buffer", "s_scratch"):
        for old, new in _WIDTHS.items():
            yield f"{memory}_load_{old}", f"{memory}_load_{new}"
            yield f"{memory}_store_{old}", f"{memory}_store_{new}"
        for old, new in _LOADS.items():
            yield f"{memory}_{old}", f"{memory}_{new}"
        for old, (new, kind) in _ATOMICS.items():
            yield f"{memory}_atomic_{old}", f"{memory}_atomic_{new}_{kind}32"
            yield f"{memory}_atomic_{old}_x2", f"{memory}_atomic_{new}_{kind}64"


def _formats() -> Iterator[tuple[str, str]]:
    for verb in ("load", "store"):
        for memory in ("buffer", "tbuffer"):
            for channels in ("x", "xy", "xyz", "xyzw"):
                old, new = f"format_d16_{channels}", f"d16_format_{channels}"
                yield f"{memory}_{verb}_{old}", f"{memory}_{verb}_{new}"
        yield f"buffer_{verb}_format_d16_hi_x", f"buffer_{verb}_d16_hi_format_x"


def _lds() -> Iterator[tuple[str, str]]:
    for kind in _LDS_LOADS:
        yield f"ds_read_{kind}", f"ds_load_{kind}"
    for kind in _LDS_HALVES:
        yield f"ds_read_{kind}", f"ds_load_{kind}"
    for kind in _LDS_WIDTHS:
        yield f"ds_write_{kind}", f"ds_store_{kind}"
    for kind in ("b8", "b16"):
        yield f"ds_write_{kind}_d16_hi", f"ds_store_{kind}_d16_hi"
    for kind in ("b32", "b64"):
        for form in ("2", "2st64"):
            wide = "2addr_stride64" if "st" in form else "2addr"
            yield f"ds_read{form}_{kind}", f"ds_load_{wide}_{kind}"
            yield f"ds_write{form}_{kind}", f"ds_store_{wide}_{kind}"
            yield f"ds_wrxchg{form}_rtn_{kind}", f"ds_storexchg_{wide}_rtn_{kind}"
        yield f"ds_wrxchg_rtn_{kind}", f"ds_storexchg_rtn_{kind}"
    for kind in ("b64_tr_b16", "b64_tr_b8", "b96_tr_b6", "b64_tr_b4"):
        yield f"ds_read_{kind}", f"ds_load_{kind}"
    yield "ds_read_addtid_b32", "ds_load_addtid_b32"
    yield "ds_write_addtid_b32", "ds_store_addtid_b32"


GFX9_OPERATIONS: Mapping[str, str] = {
    **_SCALAR,
    **_VECTOR,
    **dict(_logic()),
    **dict(_memory()),
    **dict(_formats()),
    **dict(_lds()),
}


_SUBTRACTIONS = {
    f"{memory}_atomic_csub_u32": f"{memory}_atomic_sub_clamp_u32" for memory in ("buffer", "global")
}

GFX11_OPERATIONS: Mapping[str, str] = {
    "s_add_u32": "s_add_co_u32",
    "s_sub_u32": "s_sub_co_u32",
    "s_add_i32": "s_add_co_i32",
    "s_sub_i32": "s_sub_co_i32",
    "s_addc_u32": "s_add_co_ci_u32",
    "s_subb_u32": "s_sub_co_ci_u32",
    "s_addk_i32": "s_addk_co_i32",
    "s_waitcnt_depctr": "s_wait_alu",
    "v_mad_u64_u32": "v_mad_co_u64_u32",
    "v_mad_i64_i32": "v_mad_co_i64_i32",
    "lds_direct_load": "ds_direct_load",
    "lds_param_load": "ds_param_load",
    **_SUBTRACTIONS,
}
