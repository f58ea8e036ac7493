"""Kernels as users of rocWMMA write them: batches at strides, and a convolution as products of its
taps."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import blockIdx, static_range
from amdjit.intrinsics import matrix
from amdjit.types import f16, f32
from tests.matrix.fragment_kernels import exact

pytestmark = pytest.mark.usefixtures("device")


def test_batched_products_of_strided_matrices() -> None:
    """Matrices of a batch by an index, and by a stride in an array of one axis; sizes are no
    multiples of tiles."""

    @amdjit.kernel(block=32)
    def batched(a, b, d, alpha, stride):
        batch, row, column = blockIdx.z, 32 * blockIdx.x, 32 * blockIdx.y
        left = matrix.fragment(matrix.matrix_a, 32, 32, 16, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 32, 32, 16, f16, matrix.row_major)
        total = matrix.fragment(matrix.accumulator, 32, 32, 16, f32)
        matrix.fill_fragment(total, 0)
        for k in range(0, a.shape[2], 16):
            matrix.load_matrix_sync(left, a[batch], (row, k), clip=True)
            matrix.load_matrix_sync(right, b[batch], (k, column), clip=True)
            matrix.mma_sync(total, left, right, total)
        for i in range(total.num_elements):
            total.x[i] *= alpha
        ld = b.shape[2]
        at = batch * stride + matrix.data_offset((row, column), ld, matrix.row_major)
        matrix.store_matrix_sync(d, total, at, ld, clip=(a.shape[1] - row, ld - column))

    random = np.random.default_rng(0)
    a = random.integers(*exact(-3, 4), (3, 40, 36)).astype(np.float16)
    b = random.integers(*exact(-3, 4), (3, 36, 20)).astype(np.float16)
    d = np.full((3, 40, 20), np.nan, np.float32)
    with amdjit.sanitize("memory", "init"):
        batched[(2, 1, 3), 32](a, b, d.reshape(-1), f32(0.5), 40 * 20)
    np.testing.assert_array_equal(d, 0.5 * (a.astype(float) @ b.astype(float)))


def test_a_convolution_is_a_product_for_each_of_its_taps() -> None:
    """3 by 3 taps, images by [batch, row, column, channel], one element of padding: a tile begins
    before its row."""

    @amdjit.kernel(block=32)
    def convolution(x, taps, y):
        batch, row, column = blockIdx.z, blockIdx.y, 16 * blockIdx.x
        left = matrix.fragment(matrix.matrix_a, 16, 32, 16, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 16, 32, 16, f16, matrix.row_major)
        total = matrix.fragment(matrix.accumulator, 16, 32, 16, f32)
        matrix.fill_fragment(total, 0)
        for down in static_range(3):
            source = row + down - 1
            if 0 <= source < x.shape[1]:
                for across in range(3):
                    for channel in range(0, x.shape[3], 16):
                        matrix.load_matrix_sync(
                            left, x[batch, source], (column + across - 1, channel), clip=True
                        )
                        matrix.load_matrix_sync(right, taps[down, across], (channel, 0), clip=True)
                        matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(y[batch, row], total, (column, 0), clip=True)

    random = np.random.default_rng(1)
    x, taps = (
        random.integers(*exact(-3, 4), (2, 4, 20, 24)),
        random.integers(*exact(-3, 4), (3, 3, 24, 32)),
    )
    y = np.full((2, 4, 20, 32), np.nan, np.float32)
    with amdjit.sanitize("memory", "init"):
        convolution[(2, 4, 2), 32](x.astype(np.float16), taps.astype(np.float16), y)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = sum(
        padded[:, i : i + 4, j : j + 20] @ taps[i, j] for i in range(3) for j in range(3)
    )
    np.testing.assert_array_equal(y, expected)
