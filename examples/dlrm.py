"""The interaction of a recommendation model (DLRM), forward and backward: rocWMMA's simple_dlrm
sample.

Each sample of a batch has m features of k values: the first comes from dense inputs, the others are
embeddings.

Forward: the first feature, then the dot product of each pair of features, which is the part of A
A^T below the diagonal, row by row. Backward: with the gradient G of these products as a symmetric
matrix with a zero diagonal, the gradient of the features is G A; that of the first feature's copy
is passed on.

A workgroup of 4 waves handles a sample; LDS converts between fragments and single elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import blockDim, blockIdx, f16, f32, shared, static_range, threadIdx
from amdjit.examples.report import Report, compare_relative, small_integers
from amdjit.examples.waves import lanes, of_waves
from amdjit.intrinsics import matrix, wave
from amdjit.intrinsics.sync import lds_barrier

WAVES = 4
THREADS = 32 * WAVES
PADDING = (
    8  # elements between rows of LDS, so that rows of neighbouring lanes begin in different banks
)


@amdjit.device_function
def interact(features, out, m):
    """Compute the workgroup's sample of `forward`."""
    sample, values = features[blockIdx.x], features.shape[2]
    products = shared.array((m, m + PADDING), f32)
    a_part = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    b_part = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.col_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32, matrix.col_major)
    for block in range(wave.wave_id(), (m // 16) ** 2, WAVES):
        row, column = 16 * (block // (m // 16)), 16 * (block % (m // 16))
        matrix.fill_fragment(total, 0.0)
        for k in range(0, values, 16):
            matrix.load_matrix_sync(a_part, sample, (row, k))
            matrix.load_matrix_sync(b_part, sample, (column, k))
            matrix.mma_sync(total, a_part, b_part, total)
        # By columns, because a lane's elements are neighbours there; A A^T is symmetric.
        matrix.store_matrix_sync(products, total, (column, row))
    lds_barrier()

    for k in range(threadIdx.x, values, blockDim.x):
        out[blockIdx.x, k] = sample[0, k]
    for place in range(threadIdx.x, m * m, blockDim.x):
        row, column = place // m, place % m
        if column < row:
            out[blockIdx.x, values + row * (row - 1) // 2 + column] = f16(products[row, column])


@amdjit.kernel(block=(THREADS, 1, 1))
def forward(features, out, m: amdjit.Const):
    """features: [batch, m, k] of f16; out: [batch, k + m (m - 1) / 2]; m and k multiples of 16."""
    interact(features, out, m)


@amdjit.device_function
def pass_back(features, upstream, gradient, first_gradient, m):
    """Compute the workgroup's sample of `backward`."""
    sample, values = features[blockIdx.x], features.shape[2]
    pairs = shared.array((m, m + PADDING), f16)
    for place in range(threadIdx.x, m * m, blockDim.x):
        row, column = place // m, place % m
        low, high = min(row, column), max(row, column)
        pairs[row, column] = (
            upstream[blockIdx.x, values + high * (high - 1) // 2 + low] if low < high else f16(0)
        )
    for k in range(threadIdx.x, values, blockDim.x):
        first_gradient[blockIdx.x, k] = upstream[blockIdx.x, k]
    lds_barrier()

    pair_part = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    feature_part = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    result = matrix.fragment(matrix.accumulator, 16, 16, 16, f16)
    for block in range(wave.wave_id(), (m // 16) * (values // 16), WAVES):
        row, column = 16 * (block % (m // 16)), 16 * (block // (m // 16))
        matrix.fill_fragment(total, 0.0)
        for k in static_range(0, m, 16):
            matrix.load_matrix_sync(pair_part, pairs, (row, k))
            matrix.load_matrix_sync(feature_part, sample, (k, column))
            matrix.mma_sync(total, pair_part, feature_part, total)
        for i in static_range(result.num_elements):
            result.x[i] = f16(total.x[i])
        matrix.store_matrix_sync(gradient[blockIdx.x], result, (row, column))


@amdjit.kernel(block=(THREADS, 1, 1))
def backward(features, upstream, gradient, first_gradient, m: amdjit.Const):
    """features, gradient: [batch, m, k]; upstream: [batch, k + m (m - 1) / 2]; first_gradient:
    [batch, k]; f16."""
    pass_back(features, upstream, gradient, first_gradient, m)


def expected_forward(features: Any) -> Any:
    """Return the interaction in NumPy, exactly."""
    wide = features.astype(np.float64)
    row, column = np.tril_indices(wide.shape[1], -1)
    products = wide @ wide.transpose(0, 2, 1)
    return np.concatenate((wide[:, 0], products[:, row, column]), axis=1)


def expected_backward(features: Any, upstream: Any) -> Any:
    """Return the features' gradient in NumPy, exactly."""
    wide = features.astype(np.float64)
    batch, m, k = wide.shape
    row, column = np.tril_indices(m, -1)
    pairs = np.zeros((batch, m, m))
    pairs[:, row, column] = pairs[:, column, row] = upstream[:, k:]
    return pairs @ wide


def run(m: int, k: int, batch: int) -> list[Report]:
    """Run both passes on small integers; rocWMMA allows one epsilon."""
    features = small_integers(batch, m, k)
    upstream = small_integers(batch, k + m * (m - 1) // 2)
    out, gradient = np.full_like(upstream, np.nan), np.full_like(features, np.nan)
    first_gradient = np.full((batch, k), np.nan, np.float16)
    threads = lanes() * WAVES
    of_waves(forward, WAVES)[batch, threads](features, out, m)
    of_waves(backward, WAVES)[batch, threads](features, upstream, gradient, first_gradient, m)
    size = f"{batch} samples of {m} features of {k}"
    np.testing.assert_array_equal(first_gradient, upstream[:, :k])
    return [
        compare_relative(
            "dlrm", f"the interaction of {size} against NumPy", out, expected_forward(features), 1
        ),
        compare_relative(
            "dlrm", f"gradients of {size}", gradient, expected_backward(features, upstream), 1
        ),
    ]


def main() -> list[Report]:
    """Run the sample's size."""
    return run(32, 128, 64)


if __name__ == "__main__":
    print(*main(), sep="\n")
