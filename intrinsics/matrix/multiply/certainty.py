"""How well the sums of each matrix and dot instruction of gfx12 and gfx11, and of each matrix
instruction of CDNA, are known, in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType

from amdjit.intrinsics.models.certainty import Certainty, Known
from amdjit.intrinsics.models.matrix_layouts import (
    BITS,
    GFX11_INSTRUCTIONS,
    INSTRUCTIONS,
    instructions_of,
)
from amdjit.intrinsics.models.mfma_instructions import (
    CDNA,
    MfmaInstruction,
    mfma_instruction,
    mfma_instructions,
)

_ROCJITSU = "ROCm/rocm-systems, rocjitsu's float_dot fixtures (Radeon AI PRO R9700, gfx1201)"
_GOC = "bjacob/goc's captures (gfx1201)"
_FLOATS = Known("measured", _ROCJITSU)
_INTEGERS = Known("measured", _GOC, "clamp in wave64")
_SAME_STEP = Known("rule", "the step of v_dot2_f32_f16 and v_dot2_f32_bf16", "results of a GPU")
_PICKED = Known(
    "rule",
    f"{_GOC} for which elements of B are taken; the sum as in WMMA",
    "rounding: the captures are exact sums",
)
_PICKED_INTEGERS = Known(
    "rule", "RDNA4 ISA, 7.12; the sum as in WMMA", "results of a GPU, with clamp above all"
)
_EXACT = Known("rule", 'RDNA4 ISA, 16 "Instructions": the sum is exact', "results of a GPU")
_BYTES = Known("model", "rocjitsu's gfx12_dot.h, for v_dot4_f32", "rounding")
_BYTE_STEPS = Known(
    "model",
    "rocjitsu's gfx12_dot.h, for v_dot4_f32, along k in steps of four",
    "rounding, and the order of the steps",
)


def _matrix_instructions() -> Iterator[tuple[str, Known]]:
    for each in INSTRUCTIONS.values():
        is_byte_float = BITS[each.a] == 8 and not each.is_integer
        if is_byte_float:
            known = _BYTE_STEPS
        elif each.is_sparse:
            known = _PICKED_INTEGERS if each.is_integer else _PICKED
        else:
            known = _INTEGERS if each.is_integer else _FLOATS
        yield each.mnemonic, known


KNOWN: Mapping[str, Known] = MappingProxyType(
    {
        **dict(_matrix_instructions()),
        "dot2_f32_f16": _FLOATS,
        "dot2_f32_bf16": _FLOATS,
        "dot2_f16_f16": _SAME_STEP,
        "dot2_bf16_bf16": _SAME_STEP,
        "dual_dot2acc_f32_f16": _SAME_STEP,
        "dual_dot2acc_f32_bf16": _SAME_STEP,
        "dot4_f32_fp8_fp8": _BYTES,
        "dot4_f32_fp8_bf8": _BYTES,
        "dot4_f32_bf8_fp8": _BYTES,
        "dot4_f32_bf8_bf8": _BYTES,
        "dot4_i32_iu8": _EXACT,
        "dot4_u32_u8": _EXACT,
        "dot8_i32_iu4": _EXACT,
        "dot8_u32_u4": _EXACT,
    }
)


_CAPTURED_GFX11, _CAPTURED_GFX12 = "gfx1100", "gfx1201"
_W7900 = Known(
    "measured",
    "ROCm/rocm-systems, rocjitsu's float_dot fixtures (Radeon Pro W7900, gfx1100)",
    "other processors of RDNA 3",
)
_SAME_STEP_GFX11 = Known("rule", "the step of WMMA with 16-bit results", "results of a GPU")
_INTEGERS_GFX11 = Known(
    "rule", "RDNA3 ISA, 7.9: the sum is exact, and clamp saturates it once", "results of a GPU"
)
_EXACT_GFX11 = Known("rule", 'RDNA3 ISA, 16 "Instructions": the sum is exact', "results of a GPU")

GFX11_KNOWN: Mapping[str, Known] = MappingProxyType(
    {
        **{
            each.mnemonic: _INTEGERS_GFX11 if each.is_integer else _W7900
            for each in GFX11_INSTRUCTIONS.values()
        },
        "dot2_f32_f16": _W7900,
        "dot2_f32_bf16": _W7900,
        "dot2_f16_f16": _SAME_STEP_GFX11,
        "dot2_bf16_bf16": _SAME_STEP_GFX11,
        "dot2acc_f32_f16": replace(_SAME_STEP_GFX11, source="the step of v_dot2_f32_f16"),
        "dual_dot2acc_f32_f16": replace(_SAME_STEP_GFX11, source="the step of v_dot2_f32_f16"),
        "dual_dot2acc_f32_bf16": replace(_SAME_STEP_GFX11, source="the step of v_dot2_f32_bf16"),
        "dot4_i32_iu8": _EXACT_GFX11,
        "dot4_u32_u8": _EXACT_GFX11,
        "dot8_i32_iu4": _EXACT_GFX11,
        "dot8_u32_u4": _EXACT_GFX11,
    }
)


_MMA_SIM = "MMA-Sim 2.1.1 (arXiv 2511.10909), fitted by its authors to "
_FITTED: Mapping[str, Known] = MappingProxyType(
    {
        "gfx908": Known(
            "rule",
            f"{_MMA_SIM}an MI100",
            "results of a GPU; NaN payloads; two versions of the rule disagree",
        ),
        "gfx90a": Known("rule", f"{_MMA_SIM}an MI250X", "results of a GPU; NaN payloads"),
        "gfx942": Known("rule", f"{_MMA_SIM}an MI300X", "results of a GPU; the sign of zero"),
    }
)
_SUM_CDNA = Known("rule", "CDNA3 ISA, 7.1: the sum is exact", "results of a GPU, with clamp")
_SPARSE_CDNA = Known(
    "model", "the rule of dense products, for the kept ones in their order", "rounding"
)
_GFX950 = Known("model", "the rule of gfx942", "rounding")
_SCALED = Known(
    "model",
    "the rule of 8-bit floats of gfx942, with the scales in the exponents of products",
    "rounding",
)


def _cdna_known(instruction: MfmaInstruction) -> Known:
    if instruction.is_integer:
        return _SUM_CDNA
    if instruction.is_scaled:
        return _SCALED
    if instruction.is_sparse:
        return _SPARSE_CDNA
    return _FITTED.get(instruction.target, _GFX950)


def cdna_known(target: str) -> Mapping[str, Known]:
    """Return what is known about each matrix instruction of a processor of CDNA, by clang's
    names."""
    return {name: _cdna_known(each) for name, each in mfma_instructions(target).items()}


def _known_of(found: Known, captured: str, target: str | None) -> Known:
    """Return what is known of a processor; captured: the one of its family with captures."""
    if found.certainty != "measured" or target in (None, captured):
        return found
    return Known("rule", f"as captured on {captured}: {found.source}", "results of a GPU")


def certainty(instruction: str, target: str | None = None) -> Certainty:
    """Return how well an instruction's sums are known to be a GPU's: "measured", "rule" or "model".

    instruction: a WMMA, SWMMAC or dot instruction by its name in AMD's assembler, without `v_`; an
    MFMA or SMFMAC by that name or clang's. target: the processor, such as "gfx1100" or "gfx942";
    without it, gfx1201. Raises ValueError for others.
    `models.certainty.MEANING` explains the words.
    """
    return known(instruction, target).certainty


def known(instruction: str, target: str | None = None) -> Known:
    """Return what is known about an instruction. Raises ValueError like `certainty`."""
    if target in CDNA:
        return _cdna_known(mfma_instruction(instruction, str(target)))
    is_gfx11 = instructions_of(target) is GFX11_INSTRUCTIONS
    rows = GFX11_KNOWN if is_gfx11 else KNOWN
    if instruction in rows:
        captured = _CAPTURED_GFX11 if is_gfx11 else _CAPTURED_GFX12
        return _known_of(rows[instruction], captured, target)
    shorter = instruction.removeprefix("v_")
    alike = [shorter] if shorter in rows else get_close_matches(shorter, rows, 3)
    remedy = (
        f"did you mean {', '.join(alike)}?"
        if alike
        else "such as wmma_f32_16x16x16_f16 or dot2_f32_f16"
    )
    kinds = (
        "WMMA or dot instruction of gfx11"
        if is_gfx11
        else "WMMA, SWMMAC or dot instruction of gfx12"
    )
    raise ValueError(f"{instruction!r} is no {kinds}: {remedy}")
