"""Matrix cores: rocWMMA's fragments for kernels; where operands lie in a wave, and what the instructions compute.

    from amdjit.intrinsics import matrix
    matrix.layout("wmma_f32_16x16x16_f16_w32_gfx12", operand="a").element(17, 3)   # (row, column): (1, 7)

`layout` and `INSTRUCTIONS` are the facts, `pack` and `unpack` bring whole matrices into a wave's registers and back,
`reference` is the product in NumPy, `compress_2to4` makes the operands of a sparse one, `layout_map` draws a layout.
"""

from __future__ import annotations

from amdjit.intrinsics.matrix.cooperation import load_matrix_coop_sync, store_matrix_coop_sync
from amdjit.intrinsics.matrix.fragments import (
    Fragment,
    accumulator,
    col_major,
    fill_fragment,
    fragment,
    i4,
    load_matrix_sync,
    matrix_a,
    matrix_b,
    mma_sync,
    row_major,
    store_matrix_sync,
    synchronize_workgroup,
    u4,
)
from amdjit.intrinsics.matrix.maps import layout_map
from amdjit.intrinsics.matrix.packing import pack, unpack
from amdjit.intrinsics.matrix.products import compress_2to4, expand_2to4, reference
from amdjit.intrinsics.matrix_layouts import INSTRUCTIONS, Layout, MatrixInstruction, layout, matrix_instruction

__all__ = [
    "INSTRUCTIONS",
    "Fragment",
    "Layout",
    "MatrixInstruction",
    "accumulator",
    "col_major",
    "compress_2to4",
    "expand_2to4",
    "fill_fragment",
    "fragment",
    "i4",
    "layout",
    "layout_map",
    "load_matrix_coop_sync",
    "load_matrix_sync",
    "matrix_a",
    "matrix_b",
    "matrix_instruction",
    "mma_sync",
    "pack",
    "reference",
    "row_major",
    "store_matrix_coop_sync",
    "store_matrix_sync",
    "synchronize_workgroup",
    "u4",
    "unpack",
]
