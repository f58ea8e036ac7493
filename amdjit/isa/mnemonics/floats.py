"""What names say of floats: rounding, infinities, and results that are one of the sources."""

from __future__ import annotations

import re
from dataclasses import replace

from amdjit.isa.traits import FloatMode, Traits

_ROUNDED = "add|sub|subrev|mul|fma|fmac|fmaak|fmamk|fract|ldexp|div_fmas"
_SINGLE = re.compile(
    rf"[vs]_(?:({_ROUNDED})_f32|cvt_f32_[iu]32|(mul|fma|fmac)_dx9_zero_f32"
    r"|fma_mix_f32|fma_mix(lo|hi)_f16|cvt_f32_f64|cvt_pk(accum)?_u8_f32|cubema_f32)"
)
# v_cvt_f32_f64 is above: it rounds in the mode of its result (measured on a gfx1201), although
# LLVM's SIModeRegister.cpp sets that of its source.
_WIDE = re.compile(
    rf"[vs]_(?:({_ROUNDED})_f(16|64)|pk_(add|mul|fma|fmac)_f16|cvt_f16_(f32|[iu]16))"
)
_PICKS = re.compile(r"_(min|max|med3|cube[st]c)")


def with_float_traits(base: Traits, name: str) -> Traits:
    """Return the traits with those of float results."""
    if "f16" not in name and "f32" not in name and "f64" not in name:
        return replace(base, picks_source=True) if _PICKS.search(name) else base
    return replace(
        base,
        picks_source=_PICKS.search(name) is not None,
        is_quotient=name.startswith("v_div_fixup_"),
        rounding=_rounding(name),
    )


def _rounding(name: str) -> FloatMode | None:
    """MODE does not count for approximate instructions, for dot and matrix products, nor where the
    instruction says itself how it rounds."""
    if _SINGLE.fullmatch(name):
        return FloatMode.SINGLE
    return FloatMode.HALF_AND_DOUBLE if _WIDE.fullmatch(name) else None
