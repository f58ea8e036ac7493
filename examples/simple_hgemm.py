"""D = alpha A B + beta C in f16, one 16 by 16 block per wave: rocWMMA's simple_hgemm sample, line
by line.

A lies by rows, B by columns, C and D by rows; sums of f16 are f32. A workgroup of 128 by 4
work-items is 16 waves of 32 lanes, 4 by 4 blocks, or 8 of CDNA's 64 lanes, 2 by 4 blocks. Nothing
goes through LDS; perf_hgemm shows what LDS is good for. The types are those of the arrays:
simple_sgemm runs the kernel with f32 and f64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f32
from amdjit.examples.report import Report, compare_relative
from amdjit.examples.waves import lanes
from amdjit.intrinsics import matrix, wave

BLOCK = (128, 4)
SIZE = 256


@amdjit.kernel(block=(*BLOCK, 1))
def simple_hgemm(a, b, c, d, alpha, beta):
    """a: m by k; b: n by k, the transpose of B; c, d: m by n; all multiples of 16."""
    sum_type = f32 if d.dtype == f16 else d.dtype
    a_part = matrix.fragment(matrix.matrix_a, 16, 16, 16, a.dtype, matrix.row_major)
    b_part = matrix.fragment(matrix.matrix_b, 16, 16, 16, b.dtype, matrix.col_major)
    c_part = matrix.fragment(matrix.accumulator, 16, 16, 16, d.dtype)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, sum_type)
    matrix.fill_fragment(total, 0.0)

    # These waves lie along x. Values computed from wave_id stay in scalar registers.
    number, down = wave.wave_id(), BLOCK[0] // amdjit.wavefront_size
    row = 16 * (down * blockIdx.x + number % down)
    column = 16 * (BLOCK[1] * blockIdx.y + number // down)
    if row < a.shape[0] and column < b.shape[0]:
        for k in range(0, a.shape[1], 16):
            matrix.load_matrix_sync(a_part, a, (row, k))
            matrix.load_matrix_sync(b_part, b, (column, k))
            matrix.mma_sync(total, a_part, b_part, total)
        matrix.load_matrix_sync(c_part, c, (row, column))
        for i in range(c_part.num_elements):
            c_part.x[i] = d.dtype(alpha * total.x[i] + beta * sum_type(c_part.x[i]))
        matrix.store_matrix_sync(d, c_part, (row, column))


def sample_data(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Return the samples' data: (r + j) % 5 with a random r for each row, negative if it is a
    multiple of 3."""
    values = (random.integers(0, 5, (rows, 1)) + np.arange(columns)) % 5
    return np.where(values % 3 == 0, -values, values)


def multiply(dtype: Any, m: int, n: int, k: int) -> tuple[Any, Any]:
    """Return D and what NumPy computes, of the sample's matrices with alpha = beta = 2.1."""
    random = np.random.default_rng(3)
    shapes = (m, k), (n, k), (m, n)
    a, b, c = (sample_data(random, *shape).astype(dtype) for shape in shapes)
    d = np.full((m, n), np.nan, dtype)
    sums = np.float64 if dtype is np.float64 else np.float32
    alpha = beta = sums(2.1)
    grid = -(-m // (16 * BLOCK[0] // lanes())), -(-n // (16 * BLOCK[1]))
    simple_hgemm[grid, BLOCK](a, b, c, d, alpha, beta)
    return d, alpha * (a.astype(sums) @ b.T.astype(sums)) + beta * c.astype(sums)


def main(m: int = SIZE, n: int = SIZE, k: int = SIZE) -> Report:
    """Multiply with sums rounded to f32 and results to f16."""
    d, expected = multiply(np.float16, m, n, k)
    return compare_relative(
        "simple_hgemm", f"2.1 A B + 2.1 C of {m}x{n}x{k} f16 against NumPy", d, expected, 10
    )


if __name__ == "__main__":
    print(main())
