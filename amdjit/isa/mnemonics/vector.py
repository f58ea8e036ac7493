"""What the names of vector ALU instructions say: lanes, matrices and packed halves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from amdjit.isa.matrix_products import BlockProduct, MatrixProduct
from amdjit.isa.mnemonics.floats import with_float_traits
from amdjit.isa.traits import (
    Arithmetic,
    Idle,
    SingleLane,
    Traits,
    Unit,
)

_MATRIX = re.compile(
    r"v_(?P<sparse>s?)wmma(?:c)?_(?P<result>\w+?)_16x16x(?P<k>\d+)_(?P<a>[^_]+)(?:_(?P<b>\w+))?"
)
# As gfx90a and gfx942 spell them: 32x32x4bf16_1k, 32x32x4_2b_bf16.
_BLOCKS = re.compile(
    r"v_(?P<sparse>s?)mfma(?:c|_scale)?_(?P<result>[fi]\d+)_(?P<m>\d+)x(?P=m)x(?P<k>\d+)(?:_\d+b)?_?"
    r"(?P<a>f64|x?f32|b?f16|i8|f8f6f4|[fb][pf]8)(?:_(?P<b>[fb][pf]8))?(?:_1k)?"
)
# RDNA 4 ISA, 7.1: the instructions of the transcendental unit.
_TRANSCENDENTAL = re.compile(r"v_(s_)?(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)_f(16|32|64)")
# gfx9's, of whose register op_sel chooses a part.
_BYTES = re.compile(r"v_cvt_(scalef32_)?(sr_[fb][pf]8|(sr_)?pk_fp4)_b?f(16|32)")
_HALVES = re.compile(
    r"v_cvt_(scalef32_)?pk_[fb][pf]8_b?f(16|32)|v_cvt_scalef32_f16_[fb][pf]8|v_cvt_sr_b?f16_f32"
    r"|v_bitop3_b16|v_ashr_pk_[iu]8_i32"
)
_SINGLE_LANES: Mapping[str, SingleLane] = {
    "v_readlane_b32": SingleLane.READ,
    "v_readfirstlane_b32": SingleLane.READ,
    "v_writelane_b32": SingleLane.WRITE,
}


def vector_traits(base: Traits, name: str, format_name: str) -> Traits:
    """Return the traits of a vector ALU instruction, or of half a dual-issue one."""
    matrix = _matrix(name)
    is_pseudo_scalar = name.startswith("v_s_")
    lane = _SINGLE_LANES.get(name)
    multiplies_matrices = name.startswith(("v_mfma_", "v_smfmac_"))
    is_whole = bool(matrix or is_pseudo_scalar or lane or multiplies_matrices)
    is_move = name.startswith("v_permlane")
    return replace(
        with_float_traits(base, name),
        unit=Unit.TRANSCENDENTAL if _TRANSCENDENTAL.fullmatch(name) else Unit.VALU,
        matrix=matrix,
        block_product=_block_product(name) if multiplies_matrices else None,
        lane_by_lane=not is_whole and not is_move,
        once_per_wave=is_whole or name in ("v_permlane64_b32", "v_permlane32_swap_b32"),
        single_lane=lane,
        moved_role="src0" if is_move else None,
        reads_inactive=name in ("v_readlane_b32", "v_permlane64_b32"),
        is_pseudo_scalar=is_pseudo_scalar,
        ignores_exec=matrix is not None or multiplies_matrices,
        is_relative=name.startswith(("v_movrel", "v_swaprel")),
        idle=Idle.DELAY if name == "v_nop" else None,
        arithmetic=Arithmetic.MOVE if name == "v_mov_b32" else None,
        compares=name.startswith("v_cmp"),
        is_packed=name.startswith("v_pk_"),
        is_mixed=name.startswith("v_fma_mix"),
        part_bits=8 if _BYTES.fullmatch(name) else 16 if _HALVES.fullmatch(name) else None,
    )


def _matrix(name: str) -> MatrixProduct | None:
    match = _MATRIX.fullmatch(name)
    if match is None:
        return None
    a, b = match["a"], match["b"] or match["a"]
    return MatrixProduct(match["result"], a, b, int(match["k"]), bool(match["sparse"]))


def _block_product(name: str) -> BlockProduct | None:
    match = _BLOCKS.fullmatch(name)
    if match is None:
        return None
    a, b = match["a"], match["b"] or match["a"]
    shape = int(match["m"]), int(match["k"])
    return BlockProduct(match["result"], a, b, *shape, bool(match["sparse"]))
