"""Multiply two 16 by 16 matrices of f16 with one matrix instruction, after AMD's "Using the Matrix
Cores of RDNA 4".

One wave of 32 lanes holds the matrices. Lane `l` is row (of A) or column (of B and C) `l % 16`; the
upper 16 lanes hold the other half of what the lower ones hold:

    a[e] = A[l % 16, 8 * (l // 16) + e]     e = 0..7: one 128-bit load
    b[e] = B[8 * (l // 16) + e, l % 16]
    c[e] = C[8 * (l // 16) + e, l % 16]

The matrices are flat arrays here, so that the row length 16 is a constant.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import f16, f16x8, f32x8, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import amdgcn


@amdjit.kernel(block=32)
def wmma_matmul(a, b, c):
    column, half = threadIdx.x % 16, threadIdx.x // 16
    a_fragment = a.load(16 * column + 8 * half, 8)
    b_fragment = f16x8()
    for e in static_range(8):
        b_fragment[e] = b[16 * (8 * half + e) + column]
    c_fragment = amdgcn.wmma_f32_16x16x16_f16_w32_gfx12(a_fragment, b_fragment, f32x8())
    for e in static_range(8):
        c[16 * (8 * half + e) + column] = f16(c_fragment[e])


def main() -> Report:
    """Multiply matrices of small integers, whose products f16 holds exactly."""
    random = np.random.default_rng(4)
    a, b = (random.integers(-8, 9, (16, 16)).astype(np.float16) for _ in range(2))
    c = np.empty((16, 16), np.float16)
    wmma_matmul[1, 32](a.reshape(-1), b.reshape(-1), c.reshape(-1))
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    return compare("wmma_matmul", "a 16x16x16 product of f16 against NumPy", c, expected)


if __name__ == "__main__":
    print(main())
