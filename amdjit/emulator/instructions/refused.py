"""Why instructions of the opcode tables are not executed. An instruction that has neither an
emitter nor a reason is a gap, and fails a test."""

from __future__ import annotations

from collections.abc import Mapping

_PIXELS = "it interpolates inputs of pixel shaders: graphics"
_INTERPOLATED = ("_f32", "_f16_f32", "_rtz_f16_f32")
_HANDLER = "it is for trap handlers and debuggers"

REFUSED: Mapping[str, str] = {
    **dict.fromkeys(
        (f"v_interp_{part}{to}" for part in ("p10", "p2") for to in _INTERPOLATED), _PIXELS
    ),
    "ds_param_load": _PIXELS,
    "ds_direct_load": "it broadcasts to whole quads of pixels: graphics",
    "global_atomic_ordered_add_b64": "its order is that of the graphics pipeline's waves",
    "s_alloc_vgpr": "kernels with dynamic registers are not emulated",
    "s_rfe_b64": _HANDLER,
    "s_sethalt": _HANDLER,
    "s_setkill": _HANDLER,
    "s_sendmsghalt": _HANDLER,
}


_OLDER: Mapping[str, str] = {
    "s_endpgm_ordered_ps_done": "it ends an ordered section of pixel shaders: graphics",
    **dict.fromkeys(
        ("s_subvector_loop_begin", "s_subvector_loop_end"),
        "the RDNA 3 ISA document (16.2, SOPK) does not have it, and compilers do not use it",
    ),
}
_FORKS = "forks split a wave in the order of two counts of lanes, which compilers do not use"
_GFX9: Mapping[str, str] = {
    "s_endpgm_ordered_ps_done": "it ends an ordered section of pixel shaders: graphics",
    "s_endpgm_saved": _HANDLER,
    "s_rfe_restore_b64": _HANDLER,
    "s_cbranch_g_fork": _FORKS,
    "s_cbranch_i_fork": _FORKS,
    "s_cbranch_join": _FORKS,
    "s_setvskip": "what a wave does that skips vector instructions is not emulated",
    **dict.fromkeys(
        (f"s_scratch_{verb}_b{bits}" for verb in ("load", "store") for bits in (32, 64, 128)),
        "it reaches scratch memory in which 64 lanes are interleaved, and here they are apart",
    ),
    **dict.fromkeys(
        ("s_dcache_discard", "s_dcache_discard_x2"),
        "it loses stores that have not left the cache, and here there is none",
    ),
    **dict.fromkeys(
        ("v_exp_legacy_f32", "v_log_legacy_f32"),
        "no ISA document says what its legacy rules are, and compilers do not use it",
    ),
    "v_screen_partition_4se_b32": "it divides a screen among shader engines: graphics",
}
# By family, in addition to those above.
_OWN: Mapping[str, Mapping[str, str]] = {
    "gfx12": {},
    "gfx11": _OLDER,
    "gfx11.5": _OLDER,
    "gfx906": _GFX9,
    "gfx908": _GFX9,
    "gfx90a": _GFX9,
    "gfx942": _GFX9,
    "gfx950": _GFX9,
}


def refusal(operation: str, family: str = "gfx12") -> str | None:
    """Return why an operation is refused on a processor family, None if it is not listed."""
    return REFUSED.get(operation) or _OWN[family].get(operation)
