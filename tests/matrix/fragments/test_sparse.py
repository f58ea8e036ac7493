"""Sparse fragments: SWMMAC through `mma_sync`, with the operands that `compress_2to4` makes on the
host."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import blockIdx, shared
from amdjit.intrinsics import matrix, wave
from amdjit.intrinsics.matrix.operands.parameters import Nibble
from amdjit.types import bf8, bf16, f16, f32, fp8, i8, i32, u8
from tests.matrix.fragment_kernels import COL, ROW, at, in_memory, limits, marked, numpy_type

pytestmark = pytest.mark.usefixtures("device")

Matrix = np.ndarray[Any, Any]
TYPES = [
    (f16, f16, f32), (f16, f16, f16), (bf16, bf16, f32), (bf16, bf16, bf16),
    (fp8, fp8, f32), (fp8, bf8, f32), (bf8, fp8, f32), (bf8, bf8, f32),
    (i8, i8, i32), (u8, u8, i32), (i8, u8, i32), (u8, i8, i32),
    (matrix.i4, matrix.i4, i32), (matrix.u4, matrix.i4, i32), (matrix.u4, matrix.u4, i32),
]  # fmt: skip


def name_of(types: Any) -> str:
    return "-".join(getattr(each, "value", str(each)) for each in types)


@cache
def gemm(
    types: Any, tile: tuple[int, int, int], layouts: tuple[Any, Any], wave_size: int, clip: bool
) -> Any:
    """Return D = A B + C with a sparse A; C and D row-major."""
    a_type, b_type, c_type = types
    m, n, k = tile
    a_layout, b_layout = layouts

    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def kernel(held, index, b_matrix, c_matrix, d_matrix, depth):
        row, column = m * blockIdx.y, n * blockIdx.x
        left = matrix.fragment(matrix.sparse_a, m, n, k, a_type, a_layout)
        right = matrix.fragment(matrix.matrix_b, m, n, k, b_type, b_layout)
        total = matrix.fragment(matrix.accumulator, m, n, k, c_type)
        matrix.load_matrix_sync(total, c_matrix, (row, column), clip=clip)
        for step in range(0, depth, k):
            byte = step // 8
            matrix.load_matrix_sync(left, held, at(row, step // 2, a_layout, unit), clip=clip)
            matrix.load_index_sync(
                left, index, (row, byte) if a_layout is ROW else (byte, row), clip=clip
            )
            matrix.load_matrix_sync(right, b_matrix, at(step, column, b_layout, unit), clip=clip)
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d_matrix, total, (row, column), clip=clip)

    unit = 2 if isinstance(a_type, Nibble) else 1
    return kernel


def sparse(random: np.random.Generator, dtype: Any, m: int, k: int) -> Matrix:
    """Return a matrix with two random ones of each four that may be other than 0, at times
    fewer."""
    dense = random.integers(*limits(dtype), (m, k))
    order = np.argsort(random.random((m, k // 4, 4)), axis=2).reshape(m, k)
    return np.where(order < 2, dense, 0)


def check(
    types: Any,
    shape: Any,
    tile: Any,
    layouts: Any = (ROW, COL),
    wave_size: int = 32,
    clip: bool = False,
) -> None:
    m, n, k = shape
    random = np.random.default_rng(m + n * k)
    a, b, c = (
        sparse(random, types[0], m, k),
        random.integers(*limits(types[1]), (k, n)),
        random.integers(-9, 9, (m, n)),
    )
    held, index = matrix.compress_2to4(a)
    packed = matrix.pack_index(index)
    operands = (
        in_memory(held, types[0], layouts[0]),
        packed if layouts[0] is ROW else np.ascontiguousarray(packed.T),
    )
    d = np.full((m, n), 77).astype(numpy_type(types[2]))
    grid = -(-n // tile[1]), -(-m // tile[0])
    kernel = gemm(types, tile, layouts, wave_size, clip)
    kernel[grid, wave_size](*operands, in_memory(b, types[1], layouts[1]), c.astype(d.dtype), d, k)
    np.testing.assert_array_equal(d.astype(np.float64), a @ b + c)


OFTEN = [(types, 32) for types in TYPES[::2]] + [
    (types, 64) for types in (TYPES[1], TYPES[5], TYPES[11], TYPES[13])
]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "case", marked(itertools.product(TYPES, (32, 64)), OFTEN), ids=lambda case: name_of(case[0])
)
def test_all_types_of_gfx12(case: Any) -> None:
    """4-bit elements with k of 64."""
    types, wave_size = case
    check(types, (32, 16, 128), (16, 16, 64), wave_size=wave_size)


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("types", marked(TYPES[-3:], TYPES[-2:-1]), ids=name_of)
def test_4_bit_products_with_k_of_32(types: Any, wave_size: int) -> None:
    check(types, (16, 16, 96), (16, 16, 32), wave_size=wave_size)
    check(types, (16, 16, 96), (16, 16, 96), wave_size=wave_size)


@pytest.mark.sample(1)
@pytest.mark.parametrize("layouts", [(ROW, ROW), (COL, ROW), (COL, COL)], ids=name_of)
@pytest.mark.parametrize("types", marked((TYPES[0], TYPES[8]), TYPES[:1]), ids=name_of)
def test_other_layouts_in_memory(types: Any, layouts: Any) -> None:
    check(types, (16, 32, 64), (16, 16, 32), layouts)


@pytest.mark.sample(1)
@pytest.mark.parametrize("types", marked((TYPES[0], TYPES[5], TYPES[12]), TYPES[:1]), ids=name_of)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_tiles_of_many_blocks(types: Any, wave_size: int) -> None:
    check(types, (64, 32, 256), (32, 32, 128), wave_size=wave_size)
    check(types, (32, 16, 192), (32, 16, 96), wave_size=wave_size)


@pytest.mark.sample(1)
@pytest.mark.parametrize("types", [TYPES[0], TYPES[12]], ids=name_of)
@pytest.mark.parametrize("k", marked([40, 76], [76]))
def test_sparse_matrices_are_clipped(types: Any, k: int) -> None:
    """k ends within an instruction's, and for 76 within a byte of the index; m and n end within a
    block."""
    check(types, (19, 21, k if types[0] is not matrix.i4 else k // 8 * 8), (16, 16, 32), clip=True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_4_bit_elements_across_k(wave_size: int) -> None:
    check(TYPES[13], (32, 32, 128), (16, 16, 64), (COL, ROW), wave_size)
    check(TYPES[12], (16, 16, 96), (16, 16, 32), (COL, COL), wave_size)
    check(TYPES[14], (18, 22, 72), (16, 16, 32), (COL, ROW), wave_size, clip=True)


def test_partial_fragments_and_fills() -> None:
    check(TYPES[0], (5, 3, 64), (5, 3, 32))

    @amdjit.kernel(block=32)
    def fill(d, b):
        left = matrix.fragment(matrix.sparse_a, 5, 3, 32, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 5, 3, 32, f16, matrix.row_major)
        total = matrix.fragment(matrix.accumulator, 5, 3, 32, f32)
        matrix.fill_fragment(left, 2)
        matrix.load_matrix_sync(right, b)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    b = np.arange(96, dtype=np.float16).reshape(32, 3)
    d = np.zeros((5, 3), np.float32)
    fill[1, 32](d, b)
    first_two = np.arange(32) % 4 < 2
    np.testing.assert_array_equal(
        d, np.tile(2 * b[first_two].sum(axis=0, dtype=np.float32), (5, 1))
    )


def test_one_b_is_multiplied_with_a_dense_and_a_sparse_a() -> None:
    @amdjit.kernel(block=32)
    def both(a, held, index, b, d):
        left = matrix.fragment(matrix.matrix_a, 16, 16, 32, f16, matrix.row_major)
        kept = matrix.fragment(matrix.sparse_a, 16, 16, 32, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 16, 16, 32, f16, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, 16, 16, 32, f32)
        matrix.load_matrix_sync(left, a)
        matrix.load_matrix_sync(kept, held)
        matrix.load_index_sync(kept, index)
        matrix.load_matrix_sync(right, b)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, left, right, total)
        matrix.mma_sync(total, kept, right, total)
        matrix.store_matrix_sync(d, total)

    random = np.random.default_rng(5)
    a, b, other = (
        random.integers(-3, 4, (16, 32)),
        random.integers(-3, 4, (32, 16)),
        sparse(random, f16, 16, 32),
    )
    held, index = matrix.compress_2to4(other)
    d = np.zeros((16, 16), np.float32)
    half = np.float16
    both[1, 32](
        a.astype(half), held.astype(half), matrix.pack_index(index), b.T.astype(half).copy(), d
    )
    np.testing.assert_array_equal(d, (a + other) @ b)


def test_an_index_is_packed_in_pairs_of_bits_or_refused() -> None:
    index = np.array([[0, 1, 2, 3, 1, 3], [1, 2, 0, 3, 0, 2]])
    np.testing.assert_array_equal(
        matrix.pack_index(index), [[0b11_10_01_00, 0b11_01], [0b11_00_10_01, 0b10_00]]
    )
    for wrong, says in (
        (index[0], "of shape"),
        (index[:, :5], "of shape"),
        (index + 2, "with 4"),
        (index - 1, "with -1"),
    ):
        with pytest.raises(ValueError, match=f"an index {says}"):
            matrix.pack_index(wrong)


def test_the_sanitizer_has_nothing_to_say() -> None:
    with amdjit.sanitize("memory", "init", "sync"):
        check(TYPES[0], (19, 21, 76), (16, 16, 32), clip=True)
        check(TYPES[12], (16, 16, 64), (16, 16, 64), wave_size=64)


@pytest.mark.sample(1)
@pytest.mark.parametrize("pitch", [8, 12, 9])
def test_the_index_lies_in_lds_and_in_arrays_of_one_axis(pitch: int) -> None:
    """Rows are multiples of 4 bytes, or not."""

    @amdjit.kernel(block=32)
    def product(held, index, b, d):
        places, kept = shared.array(16 * pitch, u8), shared.array((16, 40), f16)
        for i in range(wave.lane_id(), 128, 32):
            places[i // 8 * pitch + i % 8] = index[i]
        left = matrix.fragment(matrix.sparse_a, 16, 16, 64, f16, ROW)
        right = matrix.fragment(matrix.matrix_b, 16, 16, 64, f16, ROW)
        total = matrix.fragment(matrix.accumulator, 16, 16, 64, f32)
        matrix.load_matrix_sync(left, held, 0, 32)
        matrix.store_matrix_sync(kept, left)
        matrix.synchronize_workgroup()
        matrix.fill_fragment(left, 9)
        matrix.load_matrix_sync(left, kept)
        matrix.load_index_sync(left, places, 0, pitch)
        matrix.load_matrix_sync(right, b)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    random = np.random.default_rng(6)
    a, b = sparse(random, f16, 16, 64), random.integers(-3, 4, (64, 16))
    held, index = matrix.compress_2to4(a)
    d = np.zeros((16, 16), np.float32)
    arrays = (
        held.astype(np.float16).reshape(-1),
        matrix.pack_index(index).reshape(-1),
        b.astype(np.float16),
    )
    product[1, 32](*arrays, d)
    np.testing.assert_array_equal(d, a @ b)


@pytest.mark.parametrize("types", marked((TYPES[0], TYPES[8], TYPES[12]), TYPES[8:9]), ids=name_of)
def test_sparse_matrices_are_clipped_in_wave64(types: Any) -> None:
    check(types, (19, 21, 40), (16, 16, 64), wave_size=64, clip=True)
