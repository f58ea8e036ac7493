"""The products of rocWMMA's programs: each wave computes its tile of D, from global memory or from
tiles that its workgroup shares in LDS."""

from __future__ import annotations

import amdjit
from amdjit import blockIdx, shared, static_range
from amdjit.intrinsics import matrix, wave
from amdjit.rocwmma.cases import Case, Layout, Program

__all__ = ["product_kernel"]

_LAYOUTS = {Layout.ROWS: matrix.row_major, Layout.COLUMNS: matrix.col_major}


@amdjit.device_function
def _offset(layout, row, column, ld):
    """Return the offset of an element."""
    return row * ld + column if layout is matrix.row_major else column * ld + row


@amdjit.device_function
def _finish(total, c, d, place, ld, layout, depth, alpha, beta, out_type):
    """Store alpha total + beta C, computed in the type of the sums."""
    kind = total.kind
    sum_type = kind.dtype
    result = matrix.fragment(matrix.accumulator, kind.m, kind.n, depth, out_type, layout)
    matrix.load_matrix_sync(result, c, place, ld)
    for i in static_range(result.num_elements):
        result.x[i] = out_type(
            sum_type(alpha) * total.x[i] + sum_type(beta) * sum_type(result.x[i])
        )
    matrix.store_matrix_sync(d, result, place, ld)


def product_kernel(case: Case, wave_size: int) -> amdjit.Kernel:
    """Return a kernel of D = alpha A B + beta C on flat arrays, for a case's types, layouts, tiles
    and depth.

    The launch passes k, the leading dimensions, alpha and beta.
    """
    make = _direct if case.program is Program.DIRECT else _staged
    return make(case, wave_size)


def _direct(case: Case, wave_size: int) -> amdjit.Kernel:
    """Return a kernel in which each wave loads its own tiles of A and B from global memory."""
    a_layout, b_layout, c_layout = (_LAYOUTS[each] for each in case.layouts)
    rows, columns, depth = case.rows, case.columns, case.depth
    in_type, out_type, sum_type = case.types.input, case.types.output, case.types.compute
    down, across = case.waves

    @amdjit.kernel(wave_size=wave_size, block=wave_size * down * across)
    def gemm(a, b, c, d, k, ld_a, ld_b, ld_c, alpha, beta):
        number = wave.wave_id()
        row = rows * (blockIdx.x * down + number % down)
        column = columns * (blockIdx.y * across + number // down)
        left = matrix.fragment(matrix.matrix_a, rows, columns, depth, in_type, a_layout)
        right = matrix.fragment(matrix.matrix_b, rows, columns, depth, in_type, b_layout)
        total = matrix.fragment(matrix.accumulator, rows, columns, depth, sum_type)
        matrix.fill_fragment(total, 0)
        for step in range(0, k, depth):
            matrix.load_matrix_sync(left, a, _offset(a_layout, row, step, ld_a), ld_a)
            matrix.load_matrix_sync(right, b, _offset(b_layout, step, column, ld_b), ld_b)
            matrix.mma_sync(total, left, right, total)
        place = _offset(c_layout, row, column, ld_c)
        _finish(total, c, d, place, ld_c, c_layout, depth, alpha, beta, out_type)

    return gemm


@amdjit.device_function
def _load_together(part, source, layout, row, column, ld, count):
    """Load a workgroup's tile from global memory; each wave loads its share."""
    place = _offset(layout, row, column, ld)
    matrix.load_matrix_coop_sync(part, source, place, wave.wave_id(), count, ld)


def _staged(case: Case, wave_size: int) -> amdjit.Kernel:
    """Return a kernel in which the waves of a workgroup load its tiles together into LDS. LDS has
    space for two pairs of tiles, which are used alternately: the next tiles are loaded while the
    waves multiply."""
    a_layout, b_layout, c_layout = (_LAYOUTS[each] for each in case.layouts)
    rows, columns, depth = case.rows, case.columns, case.depth
    in_type, out_type, sum_type = case.types.input, case.types.output, case.types.compute
    down, across = case.waves
    stored = case.types.stored
    m, n, count = rows * down, columns * across, down * across

    @amdjit.kernel(wave_size=wave_size, block=wave_size * count)
    def gemm(a, b, c, d, k, ld_a, ld_b, ld_c, alpha, beta):
        number = wave.wave_id()
        row, column = m * blockIdx.x, n * blockIdx.y
        first_row, first_column = rows * (number % down), columns * (number // down)
        a_tiles = shared.array((2, m * depth), stored)
        b_tiles = shared.array((2, n * depth), stored)
        a_part = matrix.fragment(matrix.matrix_a, m, n, depth, in_type, a_layout)
        b_part = matrix.fragment(matrix.matrix_b, m, n, depth, in_type, b_layout)
        left = matrix.fragment(matrix.matrix_a, rows, columns, depth, in_type, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, rows, columns, depth, in_type, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, rows, columns, depth, sum_type)
        matrix.fill_fragment(total, 0)
        _load_together(a_part, a, a_layout, row, 0, ld_a, count)
        _load_together(b_part, b, b_layout, 0, column, ld_b, count)
        turn = 0
        for step in range(0, k, depth):
            a_tile, b_tile = a_tiles[turn], b_tiles[turn]
            matrix.store_matrix_coop_sync(a_tile, a_part, 0, number, count, depth, matrix.row_major)
            matrix.store_matrix_coop_sync(b_tile, b_part, 0, number, count, depth, matrix.col_major)
            matrix.synchronize_workgroup()
            if step + depth < k:
                _load_together(a_part, a, a_layout, row, step + depth, ld_a, count)
                _load_together(b_part, b, b_layout, step + depth, column, ld_b, count)
            matrix.load_matrix_sync(left, a_tile, first_row * depth, depth)
            matrix.load_matrix_sync(right, b_tile, first_column * depth, depth)
            matrix.mma_sync(total, left, right, total)
            turn = 1 - turn
        place = _offset(c_layout, row + first_row, column + first_column, ld_c)
        _finish(total, c, d, place, ld_c, c_layout, depth, alpha, beta, out_type)

    return gemm
