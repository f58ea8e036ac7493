"""Fragments seen as others: what moves and what does not, and that the matrix stays what it is."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
from fragment_kernels import COL, ROW

import amdjit
from amdjit import shared
from amdjit.intrinsics import matrix, wave
from amdjit.types import bf16, f16, f32, f64, fp8, i8, i32, u8

A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator
EXCHANGE = re.compile(r"ds_bpermute|ds_permute|v_permlane|row_xmask|v_readlane|scratch_")


def sizes(use: Any, rows: int, columns: int) -> tuple[int, int, int]:
    """Return m, n, k of a fragment that is a matrix of these rows and columns."""
    return {A: (rows, 16, columns), B: (16, columns, rows), C: (rows, columns, 16)}[use]


def converting(source: Any, target: Any, dtype: Any, rows: int, columns: int, layouts: Any, wave_size: int) -> Any:
    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def convert(a, d):
        part = matrix.fragment(source, *first, dtype, layouts[0])
        matrix.load_matrix_sync(part, a)
        other = matrix.apply_fragment(part, target, *second, dtype, layouts[1])
        matrix.store_matrix_sync(d, other)

    first, second = sizes(source, rows, columns), sizes(target, rows, columns)
    return convert


def check_conversion(uses: Any, dtype: Any, rows: int, columns: int, layouts: Any, wave_size: int) -> None:
    values = np.random.default_rng(rows + columns).permutation(rows * columns).reshape(rows, columns) % 251
    expected = values.astype(dtype.dtype)
    a = np.ascontiguousarray(expected if layouts[0] is ROW else expected.T)
    d = np.zeros((rows, columns) if layouts[1] is ROW else (columns, rows), dtype.dtype)
    with amdjit.use("emulator:gfx1201"):
        converting(*uses, dtype, rows, columns, layouts, wave_size)[1, wave_size](a, d)
    np.testing.assert_array_equal((d if layouts[1] is ROW else d.T).astype(float), expected.astype(float))


PAIRS = [pair for pair in itertools.product((A, B, C), repeat=2)]


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("uses", PAIRS, ids=lambda uses: "-".join(use.value for use in uses))
def test_a_matrix_stays_the_same_as_another_operand(uses: Any, wave_size: int) -> None:
    check_conversion(uses, f16, 32, 16, (ROW, COL), wave_size)
    check_conversion(uses, (u8, f32, f64)[PAIRS.index(uses) % 3], 32, 16, (COL, ROW), wave_size)


@pytest.mark.exhaustive
def test_matrices_of_all_sizes_of_elements_stay_the_same() -> None:
    for uses, wave_size, dtype in itertools.product(PAIRS, (32, 64), (f16, u8, f32, f64)):
        for layouts in ((COL, COL), (ROW, ROW)):
            check_conversion(uses, dtype, 32, 48, layouts, wave_size)


@pytest.mark.parametrize("uses", [(A, B), (C, A), (B, C)], ids=lambda uses: "-".join(use.value for use in uses))
@pytest.mark.parametrize("dtype", [bf16, fp8], ids=str)
def test_partial_fragments_and_other_types(uses: Any, dtype: Any) -> None:
    check_conversion(uses, dtype, 21, 40, (ROW, ROW), 32)


def test_what_does_not_move_costs_nothing() -> None:
    def code(source: Any, target: Any, dtype: Any, wave_size: int) -> str:
        kernel = converting(source, target, dtype, 16, 32, (ROW, COL), wave_size)
        return str(kernel.compile(dtype[:, :], dtype[:, :]).asm)

    for use in (A, B, C):
        assert not EXCHANGE.search(code(use, use, f16, 32))
    for pair, dtype, wave_size in (((B, C), f16, 32), ((C, B), i8, 32), ((C, B), f32, 64), ((B, C), u8, 64)):
        assert not EXCHANGE.search(code(*pair, dtype, wave_size))
    for pair, dtype, wave_size in (((B, C), f16, 64), ((A, B), f16, 32), ((C, A), f32, 32)):
        assert EXCHANGE.search(code(*pair, dtype, wave_size))
        assert "scratch_" not in code(*pair, dtype, wave_size)


def test_a_transpose_of_16_bits_takes_four_shuffles_through_lds_hardware() -> None:
    """Neighbours swap by DPP; only what goes to other 8 lanes takes a shuffle, two elements at once."""
    code = converting(C, A, f16, 16, 16, (COL, ROW), 32).compile(f16[:, :], f16[:, :]).asm
    assert code.count("ds_bpermute_b32") == 4
    assert code.count("row_xmask") == 4 + 2 * 2


@pytest.mark.parametrize("wave_size", [32, 64])
def test_a_transposed_a_is_a_b(wave_size: int) -> None:
    """A A^T out of one load, and B^T B."""

    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def squares(a, b, d, e):
        left = matrix.fragment(A, 32, 32, 16, f16, ROW)
        right = matrix.fragment(B, 32, 32, 16, f16, ROW)
        total = matrix.fragment(C, 32, 32, 16, f32)
        matrix.load_matrix_sync(left, a)
        matrix.load_matrix_sync(right, b)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, left, matrix.apply_transpose(left), total)
        matrix.store_matrix_sync(d, total)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, matrix.apply_transpose(right), right, total)
        matrix.store_matrix_sync(e, total)

    random = np.random.default_rng(1)
    a, b = random.integers(-3, 4, (32, 16)), random.integers(-3, 4, (16, 32))
    d, e = np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32)
    with amdjit.use("emulator:gfx1201"):
        squares[1, wave_size](a.astype(np.float16), b.astype(np.float16), d, e)
    np.testing.assert_array_equal(d, a @ a.T)
    np.testing.assert_array_equal(e, b.T @ b)


def test_a_transpose_is_stored_as_such_and_a_layout_is_changed() -> None:
    @amdjit.kernel(block=32)
    def store(a, d, e):
        left = matrix.fragment(A, 32, 16, 64, i8, ROW)
        matrix.load_matrix_sync(left, a)
        turned = matrix.apply_transpose(left)
        matrix.store_matrix_sync(d, matrix.apply_data_layout(turned, ROW))
        matrix.store_matrix_sync(e, matrix.apply_data_layout(left, COL))

    a = np.random.default_rng(2).integers(-128, 128, (32, 64)).astype(np.int8)
    d, e = np.zeros((64, 32), np.int8), np.zeros((64, 32), np.int8)
    with amdjit.use("emulator:gfx1201"):
        store[1, 32](a, d, e)
    np.testing.assert_array_equal(d, a.T)
    np.testing.assert_array_equal(e, a.T)


@pytest.mark.parametrize("wave_size", [32, 64])
def test_registers_go_through_lds_as_they_are(wave_size: int) -> None:
    """In wide accesses, whatever the layout: a row-major B, an accumulator, and one that waves share."""

    @amdjit.kernel(block=(2 * wave_size, 1, 1), wave_size=wave_size)
    def through(b, c, d, e, parts, out):
        number = wave.wave_id()
        halves, words = shared.array((2, 64, 16), f16), shared.array((2, 32, 16), f32)
        right = matrix.fragment(B, 16, 32, 32, f16, ROW)
        total = matrix.fragment(C, 16, 32, 16, f32)
        part = matrix.fragment(A, 32, 16, 32, f32, ROW, matrix.coop_col_slice_2d(2 * wave_size, 1))
        matrix.load_matrix_sync(right, b)
        matrix.load_matrix_sync(total, c)
        matrix.load_matrix_sync(part, parts)
        matrix.store_matrix_sync(halves[number], matrix.to_register_file(right))
        matrix.store_matrix_sync(words[number], matrix.to_register_file(total))
        matrix.synchronize_workgroup()
        matrix.fill_fragment(right, 0)
        matrix.fill_fragment(total, 0)
        matrix.load_matrix_sync(matrix.to_register_file(right), halves[1 - number])
        file = matrix.to_register_file(total)
        matrix.load_matrix_sync(file, words[1 - number])
        again = matrix.from_register_file(file, C, 16, 32, 16, f32, COL)
        matrix.synchronize_workgroup()
        matrix.store_matrix_sync(words[number], matrix.to_register_file(part))
        matrix.fill_fragment(part, 0)
        matrix.load_matrix_sync(matrix.to_register_file(part), words[number])
        matrix.store_matrix_sync(d, right)
        matrix.store_matrix_sync(e, again)
        matrix.store_matrix_sync(out, part)

    random = np.random.default_rng(3)
    b, c = random.standard_normal((32, 32)).astype(np.float16), random.standard_normal((16, 32)).astype(np.float32)
    parts = random.standard_normal((32, 32)).astype(np.float32)
    d, e, out = np.zeros_like(b), np.zeros((32, 16), np.float32), np.zeros_like(parts)
    with amdjit.use("emulator:gfx1201"):
        through[1, 2 * wave_size](b, c, d, e, parts, out)
    np.testing.assert_array_equal(d, b)
    np.testing.assert_array_equal(e, c.T)
    np.testing.assert_array_equal(out, parts)


def test_registers_of_4_bit_fragments() -> None:
    @amdjit.kernel(block=32)
    def through(a, d):
        tile = shared.array((32, 16), u8)
        left = matrix.fragment(A, 32, 16, 32, matrix.i4, ROW)
        matrix.load_matrix_sync(left, a)
        matrix.store_matrix_sync(tile, matrix.to_register_file(left))
        other = matrix.fragment(A, 32, 16, 32, matrix.i4, ROW)
        matrix.load_matrix_sync(matrix.to_register_file(other), tile)
        matrix.store_matrix_sync(d, other)

    a = np.random.default_rng(4).integers(0, 256, (32, 16)).astype(np.uint8)
    d = np.zeros_like(a)
    with amdjit.use("emulator:gfx1201"):
        through[1, 32](a, d)
    np.testing.assert_array_equal(d, a)


def test_a_result_becomes_the_left_operand_of_the_next_product() -> None:
    """(A B) C in registers: the sums, converted, are transposed into an A."""

    @amdjit.kernel(block=32)
    def chain(a, b, c, d):
        left, right = matrix.fragment(A, 32, 32, 16, f16, ROW), matrix.fragment(B, 32, 32, 16, f16, ROW)
        total = matrix.fragment(C, 32, 32, 16, f16)
        matrix.load_matrix_sync(left, a)
        matrix.load_matrix_sync(right, b)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, left, right, total)
        product = matrix.apply_fragment(total, A, 32, 16, 32, f16, ROW)
        last = matrix.fragment(B, 32, 16, 32, f16, ROW)
        result = matrix.fragment(C, 32, 16, 32, f32)
        matrix.load_matrix_sync(last, c)
        matrix.fill_fragment(result, 0)
        matrix.mma_sync(result, product, last, result)
        matrix.store_matrix_sync(d, result)

    random = np.random.default_rng(5)
    a, b, c = (random.integers(-2, 3, shape) for shape in ((32, 16), (16, 32), (32, 16)))
    d = np.zeros((32, 16), np.float32)
    with amdjit.use("emulator:gfx1201"):
        chain[1, 32](*(each.astype(np.float16) for each in (a, b, c)), d)
    np.testing.assert_array_equal(d, a @ b @ c)


def test_coordinates_of_waves() -> None:
    """A launch of 2 by 3 workgroups of 2 by 2 waves tiles a matrix with blocks of 16 by 32."""

    @amdjit.kernel(block=(64, 2, 1))
    def stamp(d, flat, seen):
        row, column = matrix.matrix_coord(16, 32)
        part = matrix.fragment(C, 16, 32, 16, i32)
        wave_row, wave_column = matrix.wave_coord()
        block_row, block_column = matrix.block_coord()
        matrix.fill_fragment(part, 1000 * block_row + 100 * block_column + 10 * wave_row + wave_column)
        matrix.store_matrix_sync(d, part, (row, column))
        matrix.store_matrix_sync(flat, part, matrix.data_offset((row, column), 64, COL), 64, COL)
        rows, columns = matrix.workgroup_dim()
        seen[0], seen[1] = rows, columns

    d, flat, seen = np.zeros((64, 192), np.int32), np.zeros(64 * 192, np.int32), np.zeros(2, np.int32)
    with amdjit.use("emulator:gfx1201"):
        stamp[(2, 3), (64, 2)](d, flat, seen)
    row, column = np.mgrid[:64, :192]
    row, column = row // 16, column // 32
    np.testing.assert_array_equal(d, 1000 * row + 100 * column + 10 * (row % 2) + column % 2)
    np.testing.assert_array_equal(flat.reshape(192, 64).T, d)
    assert list(seen) == [2, 2]
