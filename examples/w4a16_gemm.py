"""A product with 4-bit weights: D = A W in f16, where W is stored as (w - zero) * scale with
integers w from 0 to 15.

Groups of 64 neighbours along k of a column share a scale and a zero, as in GPTQ and AWQ. A wave
reads 4-bit fragments, `matrix.convert` turns them into f16 in registers, in about two instructions
per element, and the zeros are subtracted exactly. Scaling a group's sum costs a sixteenth of
scaling its weights.
"""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import blockIdx, f16, f32, static_range
from amdjit.examples.report import Report, compare_relative
from amdjit.examples.waves import lanes, of_waves
from amdjit.intrinsics import matrix

GROUP = 64
COLUMNS = 32


@amdjit.device_function
def subtract_zeros(weights, zeros, group, column):
    """Subtract the zero of its column from each weight."""
    for i in static_range(weights.num_elements):
        weights.x[i] = weights.x[i] - f16(zeros[group, column + matrix.place_of(weights, i)[1]])


@amdjit.kernel(block=32)
def w4a16_gemm(a, w, scales, zeros, d):
    """a: f16 [m, k]; w: u8 [n, k / 2]; scales: f16, zeros: u8 [k / 64, n]; d: f16 [m, n]; grid: (n
    / 32, m / 16)."""
    row, column = 16 * blockIdx.y, COLUMNS * blockIdx.x
    left = matrix.fragment(matrix.matrix_a, 16, COLUMNS, GROUP, f16, matrix.row_major)
    packed = matrix.fragment(matrix.matrix_b, 16, COLUMNS, GROUP, matrix.u4, matrix.col_major)
    of_group = matrix.fragment(matrix.accumulator, 16, COLUMNS, GROUP, f32)
    total = matrix.fragment(matrix.accumulator, 16, COLUMNS, GROUP, f32)
    matrix.fill_fragment(total, 0)
    for group in range(scales.shape[0]):
        matrix.load_matrix_sync(left, a, (row, GROUP * group), clip=True)
        matrix.load_matrix_sync(packed, w, (column, GROUP // 2 * group))
        weights = matrix.convert(packed, f16)
        subtract_zeros(weights, zeros, group, column)
        matrix.fill_fragment(of_group, 0)
        matrix.mma_sync(of_group, left, weights, of_group)
        for i in static_range(total.num_elements):
            scale = f32(scales[group, column + matrix.place_of(total, i)[1]])
            total.x[i] = total.x[i] + scale * of_group.x[i]
    matrix.store_matrix_sync(d, matrix.convert(total, f16), (row, column), clip=True)


def main(m: int = 24, n: int = 64, k: int = 192) -> Report:
    """Multiply random numbers with random weights; rocWMMA's rule is 10 epsilon."""
    random = np.random.default_rng(5)
    a = random.standard_normal((m, k)).astype(np.float16)
    whole = random.integers(0, 16, (k, n))
    zeros = random.integers(0, 16, (k // GROUP, n)).astype(np.uint8)
    scales = (random.random((k // GROUP, n)) / 16).astype(np.float16)
    columns = whole.T.astype(np.uint8)
    d = np.full((m, n), np.nan, np.float16)
    launch = of_waves(w4a16_gemm, 1)[(n // COLUMNS, -(-m // 16)), lanes()]
    launch(a, columns[:, ::2] | columns[:, 1::2] << 4, scales, zeros, d)
    weights = (whole - zeros.repeat(GROUP, axis=0)) * scales.astype(np.float64).repeat(
        GROUP, axis=0
    )
    text = f"{m}x{n}x{k} f16 with weights of 4 bits against NumPy"
    return compare_relative("w4a16_gemm", text, d, a.astype(np.float64) @ weights, 10)


if __name__ == "__main__":
    print(main())
