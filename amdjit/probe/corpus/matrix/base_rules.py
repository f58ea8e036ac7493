"""The rule that the emulator follows for each row of floats, in the terms in which it may be
otherwise."""

from __future__ import annotations

from dataclasses import replace

from amdjit.probe.corpus.matrix.grid_rules import GridRule
from amdjit.probe.corpus.matrix.rounded_rules import RoundedRule
from amdjit.probe.corpus.matrix.rows import Row
from amdjit.probe.corpus.matrix.special_values import Specials

__all__ = ["Rule", "base_rule"]

Rule = GridRule | RoundedRule

_GFX12 = GridRule()
_GFX11 = GridRule(
    step=2, group=1, cut="truncation", c_floor=False, c_exception=False, relative=True,
    flushes_c=True, flushes_result=True,
)  # fmt: skip
_CDNA3 = Specials(factor_nan=0x7FFFFFFF, invalid=0x7FFFFFFF, canonical=0x7FFFFFFF, overflow=True)
_GFX942 = GridRule(
    step=8, group=1 << 10, cut="truncation", sum_bits=32, c_sum_bits=32, c_bits=24,
    c_exception=False, kept=31, vanishing_sign=True, specials=_CDNA3,
)  # fmt: skip


def base_rule(row: Row) -> Rule:
    """Return a row's rule. Sources: `intrinsics.models`."""
    if row.is_mfma:
        return _mfma_rule(row)
    return rdna_rule(row.kinds, row.is_gfx11)


def rdna_rule(kinds: tuple[str, str, str], is_gfx11: bool) -> Rule:
    """Return the rule of WMMA, SWMMAC and dot products of RDNA."""
    if is_gfx11:
        wide = kinds[2] != "f16"
        return replace(
            _GFX11, flushes_factors=kinds[0] == "bf16", flushes_c=wide, flushes_result=wide
        )
    if kinds[0] in ("fp8", "bf8"):
        return replace(_GFX12, group=4, specials=Specials(invalid=0xFFC00A3D))
    return _GFX12


def _mfma_rule(row: Row) -> Rule:
    kind, target = row.kinds[0], row.target
    if kind in ("f64", "f32"):
        nan = 0x7FFFFFFF if target in ("gfx942", "gfx950") else 0x7FC00000
        return RoundedRule(nan=nan)
    if target == "gfx908":
        return RoundedRule("exact", 4 if kind == "f16" else 2)
    if target == "gfx90a":
        older = kind == "bf16" and not row.instruction.name.endswith("_1k")
        return RoundedRule(
            "pairs", 2 if older else 4, flushes_factors=True, flushes_c=True,
            flushes_products=True, flushes_result=True,
        )  # fmt: skip
    if kind in ("f16", "bf16"):
        return replace(_GFX942, step=min(8, row.shape[2]))
    if kind == "xf32":
        return replace(_GFX942, step=4)
    return replace(_GFX942, step=16, groups="even and odd", groups_meet=True, c_drops=25)
