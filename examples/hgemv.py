"""y = alpha A x + beta y in f16: rocWMMA's simple_sgemv sample, as a product of A with a matrix of
one column.

RDNA cannot multiply f32, so the sample's f32 is f16 here, with f32 sums; the types are those of the
arrays, and simple_sgemm runs the kernel with f32 on CDNA. The fragments of x and y
are one column wide: beyond it the matrix core multiplies zeros that exist only in registers. (The
sample reads 16 columns of x and writes 16 of y, beyond the end of both.) With `clip=True` the sizes
need not be multiples of anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import blockIdx, f32
from amdjit.examples.report import Report, compare_relative, small_integers
from amdjit.examples.waves import lanes, of_waves
from amdjit.intrinsics import matrix, wave

WAVES = 4


@amdjit.kernel(block=(32 * WAVES, 1, 1))
def hgemv(a, x, y, result, alpha, beta):
    """a: k by m, A by columns; x: k by 1; y, result: m by 1. A wave computes 16 elements."""
    row = 16 * (WAVES * blockIdx.x + wave.wave_id())
    a_part = matrix.fragment(matrix.matrix_a, 16, 1, 16, a.dtype, matrix.col_major)
    x_part = matrix.fragment(matrix.matrix_b, 16, 1, 16, x.dtype, matrix.row_major)
    y_part = matrix.fragment(matrix.accumulator, 16, 1, 16, y.dtype, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 1, 16, f32)
    matrix.fill_fragment(total, 0.0)
    for k in range(0, a.shape[0], 16):
        matrix.load_matrix_sync(a_part, a, (k, row), clip=True)
        matrix.load_matrix_sync(x_part, x, (k, 0), clip=True)
        matrix.mma_sync(total, a_part, x_part, total)
    matrix.load_matrix_sync(y_part, y, (row, 0), clip=True)
    for i in range(y_part.num_elements):
        y_part.x[i] = y.dtype(alpha * total.x[i] + beta * f32(y_part.x[i]))
    matrix.store_matrix_sync(result, y_part, (row, 0), clip=True)


def multiply(dtype: Any, m: int, k: int) -> tuple[Any, Any]:
    """Return y and what NumPy computes, of small integers with alpha = beta = 2.1."""
    a, x, y = (small_integers(*shape, dtype=dtype) for shape in ((k, m), (k, 1), (m, 1)))
    result = np.full((m, 1), np.nan, dtype)
    alpha = beta = np.float32(2.1)
    launch = of_waves(hgemv, WAVES)[-(-m // (16 * WAVES)), lanes() * WAVES]
    launch(a, x, y, result, alpha, beta)
    a, x, y = (each.astype(np.float32) for each in (a, x, y))
    return result, alpha * (a.T @ x) + beta * y


def run(m: int, k: int) -> Report:
    """Multiply f16."""
    result, expected = multiply(np.float16, m, k)
    return compare_relative(
        "hgemv", f"2.1 A x + 2.1 y of {m}x{k} f16 against NumPy", result, expected, 10
    )


def main() -> list[Report]:
    """The sample's size, and one that is no multiple of anything."""
    return [run(256, 256), run(77, 45)]


if __name__ == "__main__":
    print(*main(), sep="\n")
