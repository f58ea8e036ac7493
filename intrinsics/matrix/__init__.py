"""Matrix cores: where operands lie in a wave, and what the instructions compute.

    from amdjit.intrinsics import matrix
    matrix.layout("wmma_f32_16x16x16_f16_w32_gfx12", operand="a").element(17, 3)   # (row, column): (1, 7)

`layout` and `INSTRUCTIONS` are the facts, `pack` and `unpack` bring whole matrices into a wave's registers and back,
`reference` is the product in NumPy, `compress_2to4` makes the operands of a sparse one, `layout_map` draws a layout.
"""

from __future__ import annotations

from amdjit.intrinsics.matrix.maps import layout_map
from amdjit.intrinsics.matrix.packing import pack, unpack
from amdjit.intrinsics.matrix.products import compress_2to4, expand_2to4, reference
from amdjit.intrinsics.matrix_layouts import INSTRUCTIONS, Layout, MatrixInstruction, layout, matrix_instruction

__all__ = [
    "INSTRUCTIONS",
    "Layout",
    "MatrixInstruction",
    "compress_2to4",
    "expand_2to4",
    "layout",
    "layout_map",
    "matrix_instruction",
    "pack",
    "reference",
    "unpack",
]
