"""D = alpha A B + beta C, and a product of i8 with an activation, by fragments, after rocWMMA's perf_hgemm sample.

A workgroup of 4 waves computes a 128 by 128 tile of D, each wave a 64 by 64 quarter of it. B is given by columns, that
is as its transpose. Two tiles of LDS take turns: while the waves multiply one step of k out of the first, the next one
is on its way from global memory, and goes into the second; so one barrier a step is enough.

The fragments compute the transpose, D^T = B^T A^T: a lane then holds neighbours of a row of D and stores them at once.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f32, i8, i32, shared, static_range
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import matrix, wave
from amdjit.intrinsics.sync import lds_barrier

WAVES = 4
TILE = 128
QUARTER = 64


@amdjit.device_function
def strip_of(dtype):
    """Return an accumulator of 16 rows of a wave's quarter of D: of 16 columns of its transpose."""
    return matrix.fragment(matrix.accumulator, QUARTER, 16, 16, dtype, matrix.col_major)


@amdjit.device_function
def multiply(a_tile, b_tile, row, column, dtype, step, depth, total):
    """Add a tile's products to the wave's accumulators, 16 steps of k at a time."""
    left = matrix.fragment(matrix.matrix_a, QUARTER, 16, step, dtype, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, QUARTER, 16, step, dtype, matrix.col_major)
    for k in static_range(0, depth, step):
        matrix.load_matrix_sync(left, b_tile, (column, k))
        for strip in static_range(len(total)):
            matrix.load_matrix_sync(right, a_tile, (row + 16 * strip, k))
            matrix.mma_sync(total[strip], left, right, total[strip])


@amdjit.device_function
def compute_tile(a, b, c, d, kinds, depth, finish):
    """Compute the workgroup's tile of D."""
    dtype, sum_type = kinds
    a_tiles = shared.array((2, TILE, depth + 16 // dtype.nbytes), dtype)
    b_tiles = shared.array((2, TILE, depth + 16 // dtype.nbytes), dtype)
    number = wave.wave_id()
    first_row, first_column = TILE * blockIdx.y, TILE * blockIdx.x
    row, column = QUARTER * (number // 2), QUARTER * (number % 2)
    a_part = matrix.fragment(matrix.matrix_a, TILE, TILE, depth, dtype, matrix.row_major)
    b_part = matrix.fragment(matrix.matrix_b, TILE, TILE, depth, dtype, matrix.col_major)
    total = tuple(strip_of(sum_type) for _ in range(QUARTER // 16))
    for strip in total:
        matrix.fill_fragment(strip, 0)

    matrix.load_matrix_coop_sync(a_part, a, (first_row, 0), number, WAVES)
    matrix.load_matrix_coop_sync(b_part, b, (first_column, 0), number, WAVES)
    turn = 0
    for k in range(depth, a.shape[1] + depth, depth):
        matrix.store_matrix_coop_sync(a_tiles[turn], a_part, (0, 0), number, WAVES)
        matrix.store_matrix_coop_sync(b_tiles[turn], b_part, (0, 0), number, WAVES)
        lds_barrier()
        if k < a.shape[1]:
            matrix.load_matrix_coop_sync(a_part, a, (first_row, k), number, WAVES)
            matrix.load_matrix_coop_sync(b_part, b, (first_column, k), number, WAVES)
        multiply(a_tiles[turn], b_tiles[turn], row, column, dtype, 16, depth, total)
        turn = 1 - turn

    old = strip_of(d.dtype)
    for i in static_range(len(total)):
        place = first_row + row + 16 * i, first_column + column
        matrix.load_matrix_sync(old, c, place)
        for e in static_range(old.num_elements):
            old.x[e] = finish(total[i].x[e], old.x[e])
        matrix.store_matrix_sync(d, old, place)


@amdjit.kernel(block=(32 * WAVES, 1, 1))
def fragment_gemm(a, b, c, d, kinds: amdjit.Const, depth: amdjit.Const, finish: amdjit.Const):
    """kinds: of A's and B's elements, and of their sums. depth: of a tile. finish(total, c): an element of D."""
    compute_tile(a, b, c, d, kinds, depth, finish)


def twice_both(total, c):
    """alpha = beta = 2."""
    return f16(2 * total + 2 * f32(c))


def relu(total, c):
    """What is positive of the sum, scaled, added to c and saturated to 8 bits."""
    return i8(min((max(total, 0) >> 4) + c, 127))


def run_half(m: int, n: int, k: int) -> Report:
    """f16 with alpha = beta = 2, on rocWMMA's integers, which f16 holds: its rule is 10 epsilon."""
    t = np.arange(max(m * k, n * k, m * n))
    values = np.where(t % 3 != 0, -(t % 5), t % 5).astype(np.float16)
    a, b, c = values[: m * k].reshape(m, k), values[: n * k].reshape(n, k), values[: m * n].reshape(m, n)
    d = np.full((m, n), np.nan, np.float16)
    fragment_gemm[(n // TILE, m // TILE), 32 * WAVES](a, b, c, d, (f16, f32), 32, twice_both)
    expected = 2 * (a.astype(np.float64) @ b.T.astype(np.float64)) + 2 * c.astype(np.float64)
    relative = np.abs(d - expected) / (np.abs(d.astype(np.float64)) + np.abs(expected) + 1)
    epsilon = float(np.finfo(np.float16).eps)
    text = f"2 A B + 2 C of {m}x{n}x{k} f16 against NumPy, relative to |d| + |expected| + 1"
    return compare("fragment_gemm", text, relative, np.zeros_like(relative), 10 * epsilon)


def run_integers(m: int, n: int, k: int) -> Report:
    """i8 with an activation on top: exact."""
    random = np.random.default_rng(2)
    a, b = random.integers(-8, 8, (m, k)).astype(np.int8), random.integers(-8, 8, (n, k)).astype(np.int8)
    c = random.integers(-20, 20, (m, n)).astype(np.int8)
    d = np.full((m, n), 77, np.int8)
    fragment_gemm[(n // TILE, m // TILE), 32 * WAVES](a, b, c, d, (i8, i32), 64, relu)
    total = a.astype(np.int32) @ b.T.astype(np.int32)
    expected = np.minimum((np.maximum(total, 0) >> 4) + c, 127)
    return compare("fragment_gemm", f"ReLU(A B) / 16 + C of {m}x{n}x{k} i8 against NumPy", d, expected)


def main() -> list[Report]:
    """Run both."""
    return [run_half(256, 128, 192), run_integers(128, 256, 192)]


if __name__ == "__main__":
    print(*main(), sep="\n")
