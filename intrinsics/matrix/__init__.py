"""Matrix cores: rocWMMA's fragments for kernels, the layouts of operands in a wave, and what the
instructions compute.

    from amdjit.intrinsics import matrix
    a = matrix.layout("wmma_f32_16x16x16_f16_w32_gfx12", operand="a")
    a.element(17, 3)   # (row, column): (1, 7)

`wmma_...` and `swmmac_...` are the instructions themselves, `layout` and `INSTRUCTIONS` the facts
about them. `pack` and `unpack` convert whole matrices to a wave's registers and back,
`compress_2to4` and `pack_index` make the operands of a sparse product, `layout_map` draws a layout.
`reference` computes a product in NumPy, rounded as a GPU rounds it; `certainty` says how well that
is known, `error_bound` how far the result may be from the exact product.

The rooms below: `operands` says what a fragment is and where its elements lie, `transfers` moves
them to and from memory, `multiply` chooses and describes the instructions, `fragments` puts these
together, and `views` makes other fragments of a fragment. Start with `fragments`.
"""

from __future__ import annotations

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
    sparse_a,
    store_matrix_sync,
    synchronize_workgroup,
    u4,
    xf32,
)
from amdjit.intrinsics.matrix.multiply.certainty import certainty
from amdjit.intrinsics.matrix.multiply.instructions import (
    swmmac_bf16_16x16x32_bf16,
    swmmac_f16_16x16x32_f16,
    swmmac_f32_16x16x32_bf8_bf8,
    swmmac_f32_16x16x32_bf8_fp8,
    swmmac_f32_16x16x32_bf16,
    swmmac_f32_16x16x32_f16,
    swmmac_f32_16x16x32_fp8_bf8,
    swmmac_f32_16x16x32_fp8_fp8,
    swmmac_i32_16x16x32_iu4,
    swmmac_i32_16x16x32_iu8,
    swmmac_i32_16x16x64_iu4,
    wmma_bf16_16x16x16_bf16,
    wmma_f16_16x16x16_f16,
    wmma_f32_16x16x16_bf8_bf8,
    wmma_f32_16x16x16_bf8_fp8,
    wmma_f32_16x16x16_bf16,
    wmma_f32_16x16x16_f16,
    wmma_f32_16x16x16_fp8_bf8,
    wmma_f32_16x16x16_fp8_fp8,
    wmma_i32_16x16x16_iu4,
    wmma_i32_16x16x16_iu8,
    wmma_i32_16x16x32_iu4,
)
from amdjit.intrinsics.matrix.multiply.products import (
    compress_2to4,
    error_bound,
    expand_2to4,
    pack_index,
    reference,
)
from amdjit.intrinsics.matrix.operands.coordinates import (
    block_coord,
    data_offset,
    matrix_coord,
    wave_coord,
    workgroup_dim,
)
from amdjit.intrinsics.matrix.operands.maps import (
    layout,
    layout_map,
    matrix_instruction,
    mem_col_major,
    mem_row_major,
)
from amdjit.intrinsics.matrix.operands.packing import pack, unpack
from amdjit.intrinsics.matrix.operands.schedules import (
    coop_col_major_2d,
    coop_col_slice_2d,
    coop_row_major_2d,
    coop_row_slice_2d,
    default_schedule,
    single,
)
from amdjit.intrinsics.matrix.sparse import load_index_sync
from amdjit.intrinsics.matrix.views.conversions import convert
from amdjit.intrinsics.matrix.views.cooperation import load_matrix_coop_sync, store_matrix_coop_sync
from amdjit.intrinsics.matrix.views.elements import column_of, place_of, reduce, row_of
from amdjit.intrinsics.matrix.views.transforms import (
    apply_data_layout,
    apply_fragment,
    apply_transpose,
    from_register_file,
    to_register_file,
    transpose,
)
from amdjit.intrinsics.models.matrix_layouts import (
    INSTRUCTIONS,
    Layout,
    MatrixInstruction,
)
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction, mfma_instructions
from amdjit.intrinsics.models.mfma_layouts import MfmaLayout

__all__ = [
    "INSTRUCTIONS",
    "Fragment",
    "Layout",
    "MatrixInstruction",
    "MfmaInstruction",
    "MfmaLayout",
    "accumulator",
    "apply_data_layout",
    "apply_fragment",
    "apply_transpose",
    "block_coord",
    "certainty",
    "col_major",
    "column_of",
    "compress_2to4",
    "convert",
    "coop_col_major_2d",
    "coop_col_slice_2d",
    "coop_row_major_2d",
    "coop_row_slice_2d",
    "data_offset",
    "default_schedule",
    "error_bound",
    "expand_2to4",
    "fill_fragment",
    "fragment",
    "from_register_file",
    "i4",
    "layout",
    "layout_map",
    "load_index_sync",
    "load_matrix_coop_sync",
    "load_matrix_sync",
    "matrix_a",
    "matrix_b",
    "matrix_coord",
    "matrix_instruction",
    "mem_col_major",
    "mem_row_major",
    "mfma_instructions",
    "mma_sync",
    "pack",
    "pack_index",
    "place_of",
    "reduce",
    "reference",
    "row_major",
    "row_of",
    "single",
    "sparse_a",
    "store_matrix_coop_sync",
    "store_matrix_sync",
    "swmmac_bf16_16x16x32_bf16",
    "swmmac_f16_16x16x32_f16",
    "swmmac_f32_16x16x32_bf8_bf8",
    "swmmac_f32_16x16x32_bf8_fp8",
    "swmmac_f32_16x16x32_bf16",
    "swmmac_f32_16x16x32_f16",
    "swmmac_f32_16x16x32_fp8_bf8",
    "swmmac_f32_16x16x32_fp8_fp8",
    "swmmac_i32_16x16x32_iu4",
    "swmmac_i32_16x16x32_iu8",
    "swmmac_i32_16x16x64_iu4",
    "synchronize_workgroup",
    "to_register_file",
    "transpose",
    "u4",
    "unpack",
    "wave_coord",
    "wmma_bf16_16x16x16_bf16",
    "wmma_f16_16x16x16_f16",
    "wmma_f32_16x16x16_bf8_bf8",
    "wmma_f32_16x16x16_bf8_fp8",
    "wmma_f32_16x16x16_bf16",
    "wmma_f32_16x16x16_f16",
    "wmma_f32_16x16x16_fp8_bf8",
    "wmma_f32_16x16x16_fp8_fp8",
    "wmma_i32_16x16x16_iu4",
    "wmma_i32_16x16x16_iu8",
    "wmma_i32_16x16x32_iu4",
    "workgroup_dim",
    "xf32",
]
