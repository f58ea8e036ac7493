"""D = alpha A B + beta C in f16, one 16 by 16 block per wave: rocWMMA's simple_hgemm sample, line
by line.

A lies by rows, B by columns, C and D by rows; sums are f32. A workgroup of 128 by 4 work-items is
16 waves, 4 by 4 blocks. Nothing goes through LDS; perf_hgemm shows what LDS is good for.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f32
from amdjit.examples.report import Report, compare_relative
from amdjit.intrinsics import matrix, wave

BLOCK = (128, 4)
SIZE = 256


@amdjit.kernel(block=(*BLOCK, 1))
def simple_hgemm(a, b, c, d, alpha, beta):
    """a: m by k; b: n by k, the transpose of B; c, d: m by n; all multiples of 16."""
    a_part = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    b_part = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.col_major)
    c_part = matrix.fragment(matrix.accumulator, 16, 16, 16, f16)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.fill_fragment(total, 0.0)

    # Four waves lie along x. Values computed from wave_id stay in scalar registers.
    number = wave.wave_id()
    row, column = 16 * (4 * blockIdx.x + number % 4), 16 * (4 * blockIdx.y + number // 4)
    if row < a.shape[0] and column < b.shape[0]:
        for k in range(0, a.shape[1], 16):
            matrix.load_matrix_sync(a_part, a, (row, k))
            matrix.load_matrix_sync(b_part, b, (column, k))
            matrix.mma_sync(total, a_part, b_part, total)
        matrix.load_matrix_sync(c_part, c, (row, column))
        for i in range(c_part.num_elements):
            c_part.x[i] = f16(alpha * total.x[i] + beta * f32(c_part.x[i]))
        matrix.store_matrix_sync(d, c_part, (row, column))


def sample_data(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Return the samples' data: (r + j) % 5 with a random r for each row, negative if it is a
    multiple of 3."""
    values = (random.integers(0, 5, (rows, 1)) + np.arange(columns)) % 5
    return np.where(values % 3 == 0, -values, values).astype(np.float16)


def main(m: int = SIZE, n: int = SIZE, k: int = SIZE) -> Report:
    """Multiply the sample's matrices with alpha = beta = 2.1, sums rounded to f32 and results to
    f16."""
    random = np.random.default_rng(3)
    a, b, c = sample_data(random, m, k), sample_data(random, n, k), sample_data(random, m, n)
    d = np.full((m, n), np.nan, np.float16)
    alpha = beta = np.float32(2.1)
    grid = -(-m // 64), -(-n // 64)
    simple_hgemm[grid, BLOCK](a, b, c, d, alpha, beta)
    expected = alpha * (a.astype(np.float32) @ b.T.astype(np.float32)) + beta * c.astype(np.float32)
    return compare_relative(
        "simple_hgemm", f"2.1 A B + 2.1 C of {m}x{n}x{k} f16 against NumPy", d, expected, 10
    )


if __name__ == "__main__":
    print(main())
