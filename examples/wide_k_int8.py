"""Multiply 8-bit integers with 128-bit loads: two WMMAs share one load, after AMD's "wide WMMA"
article.

One wave computes C (32 by 48) = A (32 by 64) times B^T (B: 48 by 64). An i8 WMMA takes 8 bytes per
lane, but a lane can load 16: the first 8 go to one WMMA, the rest to the next. This changes the
order of k, in A and B alike. A sum of integers does not depend on the order, so the result is
exact.

C is stored by columns, as in BLAS: element (row, column) is at row + 32 * column.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import bitcast, i32x2, i32x4, i32x8, local, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import amdgcn

ROWS, COLUMNS, DEPTH = 32, 48, 64


@amdjit.device_function
def load_tile(matrix, tile, k):
    """Return a lane's 16 bytes of 16 rows: the bytes of row `lane % 16` from 32 k + 16 (lane // 16)
    on."""
    lane = threadIdx.x
    return bitcast(
        matrix.load((16 * tile + lane % 16) * DEPTH + 32 * k + 16 * (lane // 16), 16), i32x4
    )


@amdjit.kernel(block=32)
def wide_k_int8(a, b, c):
    total = local.array((2, 3), i32x8)
    for m, n in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)):
        total[m, n] = i32x8()

    for k in static_range(2):
        for m in static_range(2):
            left = load_tile(a, m, k)
            for n in static_range(3):
                right = load_tile(b, n, k)
                for half in static_range(2):
                    a_bytes = i32x2(left[2 * half], left[2 * half + 1])
                    b_bytes = i32x2(right[2 * half], right[2 * half + 1])
                    total[m, n] = amdgcn.wmma_i32_16x16x16_iu8_w32_gfx12(
                        True, a_bytes, True, b_bytes, total[m, n], False
                    )

    lane = threadIdx.x
    for m in static_range(2):
        for n in static_range(3):
            first = 16 * m + 8 * (lane // 16) + ROWS * (16 * n + lane % 16)
            sums = total[m, n]
            c.store(first, i32x4(sums[0], sums[1], sums[2], sums[3]))
            c.store(first + 4, i32x4(sums[4], sums[5], sums[6], sums[7]))


def main() -> Report:
    """Multiply random integers in -3..3, as the article does."""
    random = np.random.default_rng(2025)
    a = random.integers(-3, 4, (ROWS, DEPTH)).astype(np.int8)
    b = random.integers(-3, 4, (COLUMNS, DEPTH)).astype(np.int8)
    c = np.empty((COLUMNS, ROWS), np.int32)  # C by columns is its transpose by rows
    wide_k_int8[1, 32](a.reshape(-1), b.reshape(-1), c.reshape(-1))
    expected = a.astype(np.int32) @ b.astype(np.int32).T
    return compare(
        "wide_k_int8", "a 32x48x64 product of i8, C by columns, against NumPy", c.T, expected
    )


if __name__ == "__main__":
    print(main())
