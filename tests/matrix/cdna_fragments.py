"""The types, kinds and kernels that the tests of fragments on CDNA share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import bf8, bf8_fnuz, bf16, f16, f32, f64, fp8, fp8_fnuz, i8, i32
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.blocks import INSTRUCTION_TYPES
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction, mfma_instructions

ROWS, COLUMNS = matrix.row_major, matrix.col_major
A, B, C, SPARSE = matrix.matrix_a, matrix.matrix_b, matrix.accumulator, matrix.sparse_a
XF32 = matrix.xf32
FLOATS = {"gfx942": (fp8_fnuz, bf8_fnuz), "gfx950": (fp8, bf8)}
exhaustive = pytest.mark.exhaustive


def rows_of_types(target: str) -> list[tuple[Any, Any, Any]]:
    """Return the types of A, B and the sums that rocWMMA's documentation lists for a processor."""
    found: list[tuple[Any, Any, Any]] = [
        (f16, f16, f32), (bf16, bf16, f32), (i8, i8, i32), (f32, f32, f32),
    ]  # fmt: skip
    if target != "gfx908":
        found.append((f64, f64, f64))
    if target == "gfx942":
        found.append((XF32, XF32, f32))
    found += [(a, b, f32) for a in FLOATS.get(target, ()) for b in FLOATS.get(target, ())]
    return found


def kinds_of(target: str, types: Any, side: int, k: int, left: Any = A) -> list[FragmentKind]:
    """Return the kinds of A, B and C of one block."""
    layouts = (ROWS, ROWS, None)
    return [
        FragmentKind(use, side, side, k, dtype, layout, 64, generation=Generation(target))
        for use, dtype, layout in zip((left, B, C), types, layouts, strict=True)
    ]


def instruction_of(target: str, a: FragmentKind, b: FragmentKind) -> MfmaInstruction:
    """Return the instruction for blocks of A and B."""
    names = INSTRUCTION_TYPES[a.dtype], INSTRUCTION_TYPES[b.dtype]
    k = b.blocks.instruction_depth * a.blocks.per_instruction
    (found,) = (
        each
        for each in mfma_instructions(target).values()
        if (each.m, each.k, each.is_sparse) == (a.blocks.side, k, a.is_sparse)
        and (each.a, each.b) == names
        and each.blocks == 1
    )
    return found


def places(kind: FragmentKind) -> tuple[Any, Any]:
    """Return (across, along) of each item of `x` in each lane, [lanes, items]."""
    blocks = kind.blocks
    lane, item = np.meshgrid(np.arange(64), np.arange(kind.size), indexing="ij")
    block, element = item // blocks.held, item % blocks.held
    odd, upper = blocks.steps
    first = lane // 16 % 2 * odd + lane // 32 * upper
    along = blocks.depth * (block % blocks.count_along) + first + element * blocks.stride
    return blocks.side * (block // blocks.count_along) + lane % blocks.side, along


@cache
def multiply(m: int, n: int, k: int, types: Any, layouts: Any, wide: bool = False) -> Any:
    """Return a kernel of one wave that computes D = A B + C."""
    a_type, b_type, sum_type = types

    @amdjit.kernel(block=64)
    def kernel(a, b, c, d, depth):
        left = matrix.fragment(A, m, n, k, a_type, layouts[0], wide_k=wide)
        right = matrix.fragment(B, m, n, k, b_type, layouts[1], wide_k=wide)
        total = matrix.fragment(C, m, n, k, sum_type)
        matrix.load_matrix_sync(total, c, layout=layouts[2])
        for step in range(0, depth, k):
            matrix.load_matrix_sync(left, a, (0, step) if layouts[0] is ROWS else (step, 0))
            matrix.load_matrix_sync(right, b, (step, 0) if layouts[1] is ROWS else (0, step))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total, layout=layouts[2])

    return kernel


def lying(values: Any, layout: Any) -> Any:
    return np.ascontiguousarray(values if layout is ROWS else values.T)
