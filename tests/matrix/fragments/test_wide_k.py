"""Fragments with `wide_k`: 16 bytes a lane for elements of 8 and 4 bits, in another order of k, the
same in A and B."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import shared
from amdjit.intrinsics import matrix, wave
from amdjit.testing import isa
from amdjit.types import bf8, f16, f32, fp8, i8, i32, u8
from tests.matrix.fragment_kernels import COL, ROW, exact_limits, in_memory

pytestmark = pytest.mark.usefixtures("device")

TYPES = [
    (i8, i8, i32), (i8, u8, i32), (fp8, bf8, f32), (f16, f16, f32),
    (matrix.i4, matrix.u4, i32), (matrix.i4, matrix.i4, i32),
]  # fmt: skip


def name_of(value: Any) -> str:
    return value.value if hasattr(value, "value") else str(value)


@cache
def kernel(
    a: Any,
    b: Any,
    c: Any,
    m: int,
    n: int,
    k: int,
    layouts: tuple[Any, Any],
    wave_size: int,
    both: bool,
) -> Any:
    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def product(a_matrix, b_matrix, d_matrix):
        left = matrix.fragment(matrix.matrix_a, m, n, k, a, layouts[0], wide_k=True)
        right = matrix.fragment(matrix.matrix_b, m, n, k, b, layouts[1], wide_k=both)
        total = matrix.fragment(matrix.accumulator, m, n, k, c)
        matrix.fill_fragment(total, 0)
        matrix.load_matrix_sync(left, a_matrix)
        matrix.load_matrix_sync(right, b_matrix)
        matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d_matrix, total)

    return product


def check(
    types: Any, shape: tuple[int, int, int], layouts: tuple[Any, Any], wave_size: int = 32
) -> None:
    a_type, b_type, c_type = types
    m, n, k = shape
    random = np.random.default_rng(m + n + k)
    a, b = (
        random.integers(*exact_limits(a_type), (m, k)),
        random.integers(*exact_limits(b_type), (k, n)),
    )
    d = np.full((m, n), 77).astype(c_type.dtype)
    product = kernel(*types, *shape, layouts, wave_size, True)
    product[1, wave_size](in_memory(a, a_type, layouts[0]), in_memory(b, b_type, layouts[1]), d)
    np.testing.assert_array_equal(d.astype(np.float64), a @ b)


@pytest.mark.sample(3)
@pytest.mark.covering(1)
@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(map(name_of, types)))
@pytest.mark.parametrize("wave_size", [32, 64])
def test_products_are_those_of_numpy(types: Any, wave_size: int) -> None:
    """Random integers: an A whose k were in another order than B's would give other sums."""
    check(types, (32, 16, 128), (ROW, COL), wave_size)
    check(types, (16, 48, 64), (ROW, COL), wave_size)


@pytest.mark.sample(1)
@pytest.mark.parametrize("layouts", [(ROW, ROW), (COL, COL), (COL, ROW)], ids=str)
def test_what_is_read_element_by_element_has_the_same_order(layouts: tuple[Any, Any]) -> None:
    check((i8, i8, i32), (16, 32, 96), layouts)


@pytest.mark.sample(3)
@pytest.mark.covering(1)
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 16, 48), (13, 7, 45), (16, 16, 2)], ids=str)
@pytest.mark.parametrize(
    "types", [TYPES[0], TYPES[2]], ids=lambda types: "-".join(map(name_of, types))
)
def test_k_of_any_size_is_padded(types: Any, shape: tuple[int, int, int]) -> None:
    check(types, shape, (ROW, COL))


def test_4_bit_products_of_16_in_k_have_two_in_a_block() -> None:
    for k in (16, 32, 48):
        check(TYPES[4], (16, 16, k), (ROW, COL))
        check(TYPES[4], (16, 16, k), (ROW, COL), 64)


def test_lanes_load_16_bytes_at_once_and_the_products_are_as_many() -> None:
    product = kernel(i8, i8, i32, 32, 48, 64, (ROW, COL), 32, True)
    code = isa(product.compile(i8[:, :], i8[:, :], i32[:, :]))
    code.only("global_load_*", "global_load_b128").count("global_load_b128", 2 * (2 + 3))
    code.count("v_wmma_i32_16x16x16_iu8", 2 * 3 * 4)


@pytest.mark.parametrize("waves", [1, 2, 4])
def test_waves_share_wide_blocks(waves: int) -> None:
    @amdjit.kernel(block=32 * waves)
    def copy(source, target):
        tile = shared.array((32, 80), i8)
        part = matrix.fragment(matrix.matrix_a, 32, 16, 64, i8, matrix.row_major, wide_k=True)
        number = wave.wave_id()
        matrix.load_matrix_coop_sync(part, source, (1, 3), number, waves)
        matrix.store_matrix_coop_sync(tile, part, None, number, waves)
        matrix.synchronize_workgroup()
        matrix.load_matrix_coop_sync(part, tile, None, number, waves)
        matrix.store_matrix_coop_sync(target, part, (0, 2), number, waves)

    source = np.random.default_rng(5).integers(-128, 128, (40, 70)).astype(np.int8)
    target = np.full((32, 70), 7, np.int8)
    expected = target.copy()
    expected[:, 2:66] = source[1:33, 3:67]
    copy[1, 32 * waves](source, target)
    np.testing.assert_array_equal(target, expected)


def test_other_orders_of_k_are_refused() -> None:
    with pytest.raises(amdjit.CompileError, match="have k in different orders"):
        kernel(i8, i8, i32, 16, 16, 32, (ROW, COL), 32, False).compile(
            i8[:, :], i8[:, :], i32[:, :]
        )
    # Elements of 16 bits are in the same order in any case.
    kernel(f16, f16, f32, 16, 16, 32, (ROW, COL), 32, False).compile(
        f16[:, :], f16[:, :], f32[:, :]
    )


@pytest.mark.parametrize(
    ("use", "wide_k", "message"),
    [
        (matrix.accumulator, True, "accumulator has no wide_k"),
        (matrix.sparse_a, True, "sparse_a has no wide_k"),
        (matrix.matrix_a, 2, "wide_k is 2"),
    ],
    ids=str,
)
def test_what_has_no_wide_k_is_refused(use: Any, wide_k: Any, message: str) -> None:
    @amdjit.kernel(block=32)
    def wrong(x):
        part = matrix.fragment(use, 16, 16, 32, i32, matrix.row_major, wide_k=wide_k)
        matrix.load_matrix_sync(part, x)

    with pytest.raises(amdjit.CompileError, match=message):
        wrong.compile(i32[:, :])


def test_wide_fragments_are_transposed_and_made_others() -> None:
    @amdjit.kernel(block=32)
    def transpose(a_matrix, b_matrix, d_matrix, other: amdjit.Const):
        right = matrix.fragment(matrix.matrix_b, 16, 16, 64, i8, matrix.col_major, wide_k=True)
        left = matrix.fragment(matrix.matrix_a, 16, 16, 64, i8, matrix.row_major, wide_k=True)
        total = matrix.fragment(matrix.accumulator, 16, 16, 64, i32)
        matrix.fill_fragment(total, 0)
        matrix.load_matrix_sync(left, a_matrix)
        matrix.load_matrix_sync(right, b_matrix)
        if other:
            left = matrix.apply_fragment(left, matrix.matrix_a, 16, 16, 64, i8, matrix.row_major)
            right = matrix.apply_fragment(right, matrix.matrix_b, 16, 16, 64, i8, matrix.col_major)
        # (A B)^T = B^T A^T
        matrix.mma_sync(total, matrix.apply_transpose(right), matrix.apply_transpose(left), total)
        matrix.store_matrix_sync(d_matrix, total)

    random = np.random.default_rng(6)
    a, b = (random.integers(-128, 128, (16, 64)).astype(np.int8) for _ in range(2))
    for other in (False, True):
        d = np.zeros((16, 16), np.int32)
        transpose[1, 32](a, b, d, other)
        np.testing.assert_array_equal(d, b.astype(np.int32) @ a.T.astype(np.int32))
