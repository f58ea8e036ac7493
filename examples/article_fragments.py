"""The kernels of AMD's RDNA 4 articles again, with fragments: none of them knows which lane holds
what.

`wmma_matmul`, `wmma_matmul_f32_input`, `mlp`, `wide_k_int8`, `transpose_shuffle` and
`transpose_wmma` do the same with the instructions alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit
from amdjit import f16, f32, i8, i32, shared, static_range, threadIdx
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import amdgcn, matrix
from amdjit.intrinsics.convert import round_toward_zero_to_f16
from amdjit.intrinsics.sync import lds_barrier

SIZES = (32, 48, 64)


@amdjit.device_function
def operands(m, n, k, dtype, b_layout):
    """Return fragments of A, by rows, and B."""
    return (
        matrix.fragment(matrix.matrix_a, m, n, k, dtype, matrix.row_major, wide_k=True),
        matrix.fragment(matrix.matrix_b, m, n, k, dtype, b_layout, wide_k=True),
    )


@amdjit.device_function
def cleared(dtype):
    """Return an accumulator of zeros."""
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, dtype)
    matrix.fill_fragment(total, 0)
    return total


@amdjit.kernel(block=32)
def matmul(a, b, c):
    """C = f16(A B), all by rows."""
    left, right = operands(16, 16, 16, f16, matrix.row_major)
    total, rounded = cleared(f32), cleared(f16)
    matrix.load_matrix_sync(left, a)
    matrix.load_matrix_sync(right, b)
    matrix.mma_sync(total, left, right, total)
    for i in static_range(total.num_elements):
        rounded.x[i] = f16(total.x[i])
    matrix.store_matrix_sync(c, rounded)


@amdjit.device_function
def pack(result, source):
    """Round a fragment of f32 toward zero to f16, two elements at a time."""
    for pair in static_range(result.num_elements // 2):
        two = amdgcn.cvt_pkrtz(source.x[2 * pair], source.x[2 * pair + 1])
        result.x[2 * pair], result.x[2 * pair + 1] = two[0], two[1]


@amdjit.kernel(block=32)
def matmul_f32_input(a, b, c):
    """C = A B of f32, computed in f16."""
    left, right = operands(16, 16, 16, f16, matrix.row_major)
    wide_left, wide_right = operands(16, 16, 16, f32, matrix.row_major)
    total = cleared(f32)
    matrix.load_matrix_sync(wide_left, a)
    matrix.load_matrix_sync(wide_right, b)
    pack(left, wide_left)
    pack(right, wide_right)
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(c, total)


@amdjit.kernel(block=32)
def two_layers(weights, x, out, residual: amdjit.Const):
    """W2 (W1 X), plus W1 X if residual: the accumulator serves as the next product's B."""
    left, right = operands(16, 16, 16, f16, matrix.row_major)
    hidden, result, rounded = cleared(f32), cleared(f32), cleared(f16)
    matrix.load_matrix_sync(left, weights[0])
    matrix.load_matrix_sync(right, x)
    matrix.mma_sync(hidden, left, right, hidden)
    for i in static_range(hidden.num_elements):
        rounded.x[i] = f16(hidden.x[i])
    matrix.load_matrix_sync(left, weights[1])
    middle = matrix.apply_fragment(
        rounded, matrix.matrix_b, 16, 16, 16, f16, matrix.row_major, wide_k=True
    )
    matrix.mma_sync(result, left, middle, hidden if residual else result)
    matrix.store_matrix_sync(out, result)


@amdjit.kernel(block=32)
def wide_k(a, b, c):
    """C = A B of i8, 32 by 48 by 64, in one wave, with B and C by columns. One read of 16 bytes
    feeds two WMMAs."""
    m, n, k = SIZES
    left, right = operands(m, n, k, i8, matrix.col_major)
    total = matrix.fragment(matrix.accumulator, m, n, k, i32, matrix.col_major)
    matrix.fill_fragment(total, 0)
    matrix.load_matrix_sync(left, a)
    matrix.load_matrix_sync(right, b)
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(c, total)


@amdjit.kernel(block=32)
def transpose(source, out):
    """The product with the identity, stored by columns."""
    identity = shared.array((16, 24), f16)
    for row in range(threadIdx.x // 16, 16, 2):
        identity[row, threadIdx.x % 16] = f16(1) if row == threadIdx.x % 16 else f16(0)
    lds_barrier()
    left, right = operands(16, 16, 16, f16, matrix.row_major)
    same = cleared(f16)
    matrix.load_matrix_sync(left, source)
    matrix.load_matrix_sync(right, identity)
    matrix.mma_sync(same, left, right, same)
    matrix.store_matrix_sync(out, same, layout=matrix.col_major)


@amdjit.kernel(block=32)
def transpose_in_registers(source, out):
    """The article's `shfl_movmatrix`: S^T in a fragment like S's, by moves between lanes."""
    held = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    matrix.load_matrix_sync(held, source)
    matrix.store_matrix_sync(out, matrix.transpose(held))


def run_products() -> list[Report]:
    """Multiply small integers, and f32 that rounding to nearest would change."""
    random = np.random.default_rng(4)
    a, b = (random.integers(-3, 4, (16, 16)).astype(np.float16) for _ in range(2))
    c = np.full((16, 16), np.nan, np.float16)
    matmul[1, 32](a, b, c)
    first = _compare_sums(
        "a 16x16x16 product of f16", c, a.astype(np.float32) @ b.astype(np.float32)
    )
    just_above = 1 + 2**-11 + 2**-20
    wide_a, wide_b = (
        (random.integers(-4, 5, (16, 16)) * just_above).astype(np.float32) for _ in range(2)
    )
    wide_c = np.full((16, 16), np.nan, np.float32)
    matmul_f32_input[1, 32](wide_a, wide_b, wide_c)
    left, right = (
        round_toward_zero_to_f16(values).astype(np.float64) for values in (wide_a, wide_b)
    )
    return [first, _compare_sums("one of f32, rounded toward zero", wide_c, left @ right)]


def run_layers() -> list[Report]:
    """Run two layers on small integers, whose sums f16 holds, with and without a residual
    connection."""
    random = np.random.default_rng(6)
    weights = random.integers(-3, 4, (2, 16, 16)).astype(np.float16)
    x = random.integers(-3, 4, (16, 16)).astype(np.float16)
    w1, w2 = weights.astype(np.float32)
    hidden = w1 @ x.astype(np.float32)
    reports = []
    for residual in (False, True):
        out = np.full((16, 16), np.nan, np.float32)
        two_layers[1, 32](weights, x, out, residual)
        text = "two layers and a residual connection" if residual else "two layers"
        reports.append(_compare_sums(text, out, w2 @ hidden + (hidden if residual else 0)))
    return reports


def run_integers() -> Report:
    """Multiply the article's integers, -3 to 3."""
    m, n, k = SIZES
    random = np.random.default_rng(2025)
    a, b = (
        random.integers(-3, 4, (m, k)).astype(np.int8),
        random.integers(-3, 4, (n, k)).astype(np.int8),
    )
    c = np.full((n, m), -1, np.int32)
    wide_k[1, 32](a, b, c)
    return _compare(f"a {m}x{n}x{k} product of i8", c.T, a.astype(np.int32) @ b.astype(np.int32).T)


def run_transposes() -> list[Report]:
    """Transpose random finite numbers by a product, and any numbers, NaN and -0 included, by
    moves."""
    random = np.random.default_rng(8)
    source = random.standard_normal((16, 16)).astype(np.float16)
    out = np.full((16, 16), np.nan, np.float16)
    transpose[1, 32](source, out)
    any_bits = random.integers(0, 65536, (16, 16)).astype(np.uint16)
    moved = np.zeros((16, 16), np.uint16)
    transpose_in_registers[1, 32](any_bits.view(np.float16), moved.view(np.float16))
    return [
        _compare("the transpose of a 16x16 f16 matrix", out, source.T),
        _compare("the same by moves, of any bits", moved, any_bits.T),
    ]


def _compare_sums(checked: str, result: Any, expected: Any) -> Report:
    """Compare sums of floats, which RDNA 3 does not compute exactly even if they are small
    integers."""
    return compare(
        "article_fragments", f"{checked}, through fragments, against NumPy", result, expected, 1e-4
    )


def _compare(checked: str, result: Any, expected: Any) -> Report:
    return compare(
        "article_fragments", f"{checked}, through fragments, against NumPy", result, expected
    )


def main() -> list[Report]:
    """Run all."""
    return [*run_products(), *run_layers(), run_integers(), *run_transposes()]


if __name__ == "__main__":
    print(*main(), sep="\n")
