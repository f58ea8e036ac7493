"""The kernels of rocWMMA's test plan: fill, copy, cooperative copy, products of wave tiles, and
those through LDS.

Fragments lie in a grid of waves, the waves of a workgroup in a rectangle: `waves_down` of them
below each other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import amdjit
from amdjit import blockDim, blockIdx, shared, static_range
from amdjit.intrinsics import matrix, wave
from amdjit.intrinsics.matrix.operands.maps import chosen_when_running
from amdjit.intrinsics.matrix.operands.parameters import Nibble, Use, stored_type

A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator
ROW, COL = matrix.row_major, matrix.col_major
# (waves below each other, waves side by side): rocWMMA's (W,1) (W,2) (W,4) (2W,1) (2W,2) (4W,1).
BLOCKS = ((1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1))
# A grid has thousands of kernels, each with all its stages: what ran is let go.
few_kept = lru_cache(maxsize=8)


def sizes(use: Use, rows: int, columns: int) -> tuple[int, int, int]:
    """Return m, n, k of a fragment of these rows and columns."""
    return {A: (rows, 16, columns), B: (16, columns, rows), C: (rows, columns, 16)}[use]


@amdjit.device_function
def first_of_wave(rows, columns, waves_down):
    """Return row and column of the wave's first element."""
    number = wave.wave_id()
    across = blockDim.x // amdjit.wavefront_size // waves_down
    return (
        rows * (blockIdx.x * waves_down + number % waves_down),
        columns * (blockIdx.y * across + number // waves_down),
    )


@amdjit.device_function
def place(layout, row, column, ld, unit=1):
    """Return the offset of an element; unit: how many share a byte."""
    is_row = layout == matrix.mem_row_major if chosen_when_running(layout) else layout is ROW
    return row * ld + column // unit if is_row else column * ld + row // unit


@few_kept
def copy_kernel(use: Use, rows: int, columns: int, dtype: Any, layout: Any, wave_size: int) -> Any:
    """Return a kernel that copies a matrix from and to padded ones, or fills one with a value."""
    m, n, k = sizes(use, rows, columns)

    @amdjit.kernel(wave_size=wave_size)
    def copy(source, target, fills, value, ld_in, ld_out, waves_down):
        part = matrix.fragment(use, m, n, k, dtype, layout)
        row, column = first_of_wave(rows, columns, waves_down)
        if fills:
            matrix.fill_fragment(part, value)
        else:
            matrix.load_matrix_sync(part, source, place(layout, row, column, ld_in), ld_in)
        matrix.store_matrix_sync(target, part, place(layout, row, column, ld_out), ld_out)

    return copy


@few_kept
def shared_copy_kernel(
    use: Use, rows: int, columns: int, dtype: Any, layout: Any, count: int, wave_size: int
) -> Any:
    """Return a kernel of workgroups in which several waves share each fragment.

    Which ones is the launch's choice: a wave's number among those that share is its number shifted
    right, and so is the number of the fragment in its workgroup, of which there are `groups`; all
    are powers of two.
    """
    m, n, k = sizes(use, rows, columns)

    @amdjit.kernel(wave_size=wave_size, block=4 * wave_size)
    def copy(source, target, ld_in, ld_out, turn_shift, group_shift, groups):
        part = matrix.fragment(use, m, n, k, dtype, layout)
        number = wave.wave_id()
        mine, group = number >> turn_shift & count - 1, number >> group_shift & groups - 1
        row, column = rows * (blockIdx.x * groups + group), columns * blockIdx.y
        matrix.load_matrix_coop_sync(
            part, source, place(layout, row, column, ld_in), mine, count, ld_in
        )
        matrix.store_matrix_coop_sync(
            target, part, place(layout, row, column, ld_out), mine, count, ld_out
        )

    return copy


@few_kept
def product_kernel(
    types: Any, blocks: tuple[int, int], depths: tuple[int, ...], layouts: Any, wave_size: int
) -> Any:
    """Return D = alpha A B + beta C of wave tiles: `blocks` below each other and side by
    side.

    types: of A, B, of C and D, and of the sums. depths: rocWMMA's BlockK, one of which is the
    launch's choice. layouts: of A, B, and of C and D; None where the launch chooses it.
    """
    a_type, b_type, out_type, sum_type = types
    rows, columns = 16 * blocks[0], 16 * blocks[1]
    unit = 2 if isinstance(a_type, Nibble) else 1

    @amdjit.device_function
    def add_product(total, depth, a, b, k, row, column, ld_a, ld_b, a_layout, b_layout):
        left = matrix.fragment(
            A, rows, columns, depth, a_type, ROW if layouts[0] is None else a_layout
        )
        right = matrix.fragment(
            B, rows, columns, depth, b_type, COL if layouts[1] is None else b_layout
        )
        # The same registers: of another depth.
        sums = matrix.apply_fragment(total, C, rows, columns, depth, sum_type)
        for step in range(0, k, depth):
            matrix.load_matrix_sync(left, a, place(a_layout, row, step, ld_a, unit), ld_a, a_layout)
            matrix.load_matrix_sync(
                right, b, place(b_layout, step, column, ld_b, unit), ld_b, b_layout
            )
            matrix.mma_sync(sums, left, right, sums)

    @amdjit.kernel(wave_size=wave_size)
    def kernel(
        a, b, c, d, k, ld_a, ld_b, ld_c, ld_d, waves_down, alpha, beta, of_a, of_b, of_c, depth
    ):
        row, column = first_of_wave(rows, columns, waves_down)
        a_layout = of_a if layouts[0] is None else layouts[0]
        b_layout = of_b if layouts[1] is None else layouts[1]
        c_layout = of_c if layouts[2] is None else layouts[2]
        total = matrix.fragment(C, rows, columns, depths[0], sum_type)
        result = matrix.fragment(C, rows, columns, depths[0], out_type, layouts[2])
        matrix.fill_fragment(total, 0)
        for n in static_range(len(depths)):
            if len(depths) == 1 or depth == depths[n]:
                add_product(total, depths[n], a, b, k, row, column, ld_a, ld_b, a_layout, b_layout)
        matrix.load_matrix_sync(result, c, place(c_layout, row, column, ld_c), ld_c, c_layout)
        for i in static_range(result.num_elements):
            result.x[i] = out_type(
                sum_type(alpha) * total.x[i] + sum_type(beta) * sum_type(result.x[i])
            )
        matrix.store_matrix_sync(d, result, place(c_layout, row, column, ld_d), ld_d, c_layout)

    return kernel


@few_kept
def lds_product_kernel(
    types: Any,
    depth: int,
    layouts: Any,
    lds_layouts: Any,
    waves: tuple[int, int],
    wave_size: int,
) -> Any:
    """Return D = A B of a workgroup whose waves share tiles in LDS, two of which take turns; one
    block a wave.

    lds_layouts: of A's and B's tiles. The next tiles are loaded while the waves multiply.
    """
    a_type, b_type, _, sum_type = types
    a_layout, b_layout, c_layout = layouts
    a_lds, b_lds = lds_layouts
    a_stored, b_stored = stored_type(a_type), stored_type(b_type)
    down, across = waves
    rows, columns, count = 16 * down, 16 * across, down * across
    a_pitch, b_pitch = depth if a_lds is ROW else rows, columns if b_lds is ROW else depth

    @amdjit.kernel(wave_size=wave_size, block=wave_size * down * across)
    def kernel(a, b, d, k, ld_a, ld_b, ld_d):
        number = wave.wave_id()
        row, column = rows * blockIdx.x, columns * blockIdx.y
        a_tiles, b_tiles = (
            shared.array((2, rows * depth), a_stored),
            shared.array((2, columns * depth), b_stored),
        )
        a_part = matrix.fragment(A, rows, columns, depth, a_type, a_layout)
        b_part = matrix.fragment(B, rows, columns, depth, b_type, b_layout)
        left = matrix.fragment(A, 16, 16, depth, a_type, a_lds)
        right = matrix.fragment(B, 16, 16, depth, b_type, b_lds)
        total = matrix.fragment(C, 16, 16, depth, sum_type, c_layout)
        matrix.fill_fragment(total, 0)
        turn = 0
        for step in range(0, k, depth):
            matrix.load_matrix_coop_sync(
                a_part, a, place(a_layout, row, step, ld_a), number, count, ld_a
            )
            matrix.load_matrix_coop_sync(
                b_part, b, place(b_layout, step, column, ld_b), number, count, ld_b
            )
            matrix.store_matrix_coop_sync(a_tiles[turn], a_part, 0, number, count, a_pitch, a_lds)
            matrix.store_matrix_coop_sync(b_tiles[turn], b_part, 0, number, count, b_pitch, b_lds)
            matrix.synchronize_workgroup()
            matrix.load_matrix_sync(
                left, a_tiles[turn], place(a_lds, 16 * (number % down), 0, a_pitch), a_pitch
            )
            matrix.load_matrix_sync(
                right, b_tiles[turn], place(b_lds, 0, 16 * (number // down), b_pitch), b_pitch
            )
            matrix.mma_sync(total, left, right, total)
            turn = 1 - turn
        at = place(c_layout, row + 16 * (number % down), column + 16 * (number // down), ld_d)
        matrix.store_matrix_sync(d, total, at, ld_d)

    return kernel
