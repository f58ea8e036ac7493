"""Operations of gfx11 that gfx12 has under another name: what they do is said once, there.

The names of floats' minima and maxima stay their own: they treat signalling NaNs as MODE's IEEE bit
says (RDNA 3 ISA, V_MIN_F32), as gfx12 no longer does.
"""

from __future__ import annotations

from collections.abc import Mapping

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
