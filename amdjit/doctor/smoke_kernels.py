"""The kernels of the smoke run, one of each kind."""

from __future__ import annotations

import amdjit
from amdjit import atomic, f16, f32, shared, syncthreads, threadIdx, u32
from amdjit.intrinsics import matrix

__all__ = [
    "BLOCK",
    "SIDE",
    "assert_ascending",
    "count_values",
    "multiply",
    "print_squares",
    "reverse_blocks",
    "saxpy",
]

BLOCK = 256
SIDE = 16


@amdjit.kernel
def saxpy(a, x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


@amdjit.kernel(block=BLOCK)
def reverse_blocks(x, out):
    kept = shared.array(BLOCK, f32)
    kept[threadIdx.x] = x[amdjit.grid(1)]
    syncthreads()
    out[amdjit.grid(1)] = kept[BLOCK - 1 - threadIdx.x]


@amdjit.kernel
def count_values(x, counts):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        atomic.add(counts, x[i], u32(1))


@amdjit.kernel
def multiply(a, b, out):
    left = matrix.fragment(matrix.matrix_a, SIDE, SIDE, SIDE, f16, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, SIDE, SIDE, SIDE, f16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, SIDE, SIDE, SIDE, f32)
    matrix.fill_fragment(total, 0)
    matrix.load_matrix_sync(left, a, (0, 0))
    matrix.load_matrix_sync(right, b, (0, 0))
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(out, total, (0, 0))


@amdjit.kernel
def print_squares(x):
    i = amdjit.grid(1)
    print("square of", i, "is", x[i] * x[i])


@amdjit.kernel
def assert_ascending(x):
    i = amdjit.grid(1)
    assert x[i] == i, "x must ascend"
