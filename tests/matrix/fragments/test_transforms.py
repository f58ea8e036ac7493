"""Fragments seen as others: which ones move elements, and that the matrix stays the same."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import shared
from amdjit.intrinsics import matrix, wave
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import Nibble
from amdjit.intrinsics.matrix.views import transforms
from amdjit.language.compile_time import Refused
from amdjit.testing import isa
from amdjit.types import bf16, f16, f32, f64, fp8, i8, i32, u8
from tests.matrix.fragment_kernels import (
    COL,
    ROW,
    A,
    B,
    C,
    check_conversion,
    converting,
    exact,
    in_memory,
    sizes,
)

pytestmark = pytest.mark.usefixtures("device")

EXCHANGE = re.compile(r"ds_bpermute|ds_permute|v_permlane|row_xmask|v_readlane|scratch_")


PAIRS = [pair for pair in itertools.product((A, B, C), repeat=2)]


@pytest.mark.sample(4)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("uses", PAIRS, ids=lambda uses: "-".join(use.value for use in uses))
def test_a_matrix_stays_the_same_as_another_operand(uses: Any, wave_size: int) -> None:
    check_conversion(uses, f16, 32, 16, (ROW, COL), wave_size)
    check_conversion(uses, (u8, f32, f64)[PAIRS.index(uses) % 3], 32, 16, (COL, ROW), wave_size)


@pytest.mark.exhaustive
@pytest.mark.parametrize("uses", PAIRS, ids=lambda uses: "-".join(use.value for use in uses))
def test_matrices_of_all_sizes_of_elements_stay_the_same(uses: Any) -> None:
    for wave_size, dtype in itertools.product((32, 64), (f16, u8, f32, f64)):
        for layouts in ((COL, COL), (ROW, ROW)):
            check_conversion(uses, dtype, 32, 48, layouts, wave_size)


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    "uses", [(A, B), (C, A), (B, C)], ids=lambda uses: "-".join(use.value for use in uses)
)
@pytest.mark.parametrize("dtype", [bf16, fp8], ids=str)
def test_partial_fragments_and_other_types(uses: Any, dtype: Any) -> None:
    check_conversion(uses, dtype, 21, 40, (ROW, ROW), 32)


def test_what_does_not_move_costs_nothing() -> None:
    def code(source: Any, target: Any, dtype: Any, wave_size: int) -> str:
        kernel = converting(source, target, dtype, 16, 32, (ROW, COL), wave_size)
        return str(kernel.compile(dtype[:, :], dtype[:, :]).asm_full)

    for use in (A, B, C):
        assert not EXCHANGE.search(code(use, use, f16, 32))
    for pair, dtype, wave_size in (
        ((B, C), f16, 32),
        ((C, B), i8, 32),
        ((C, B), f32, 64),
        ((B, C), u8, 64),
    ):
        assert not EXCHANGE.search(code(*pair, dtype, wave_size))
    for pair, dtype, wave_size in (((B, C), f16, 64), ((A, B), f16, 32), ((C, A), f32, 32)):
        assert EXCHANGE.search(code(*pair, dtype, wave_size))
        assert "scratch_" not in code(*pair, dtype, wave_size)


def transposing(
    use: Any, m: int, n: int, k: int, dtype: Any, wave_size: int, layouts: Any = (ROW, ROW)
) -> Any:
    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def transposed(a, d):
        part = matrix.fragment(use, m, n, k, dtype, layouts[0])
        matrix.load_matrix_sync(part, a)
        matrix.store_matrix_sync(d, matrix.transpose(part), layout=layouts[1])

    return transposed


def check_transpose(
    use: Any, rows: int, columns: int, dtype: Any, layouts: Any, wave_size: int
) -> None:
    """The elements are numbers in random order: no other exchange passes."""
    values = (
        np.random.default_rng(rows + columns).permutation(rows * columns).reshape(rows, columns)
    )
    values = values % 16 if isinstance(dtype, Nibble) else (values % 251).astype(dtype.dtype)
    a, expected = in_memory(values, dtype, layouts[0]), in_memory(values.T, dtype, layouts[1])
    d = np.zeros_like(expected)
    transposing(use, *sizes(use, rows, columns), dtype, wave_size, layouts)[1, wave_size](a, d)
    np.testing.assert_array_equal(d, expected)


TRANSPOSES = [
    (A, f16, 32, 16), (B, bf16, 16, 48), (C, f32, 32, 32), (C, f16, 21, 40), (A, u8, 16, 32),
    (B, i8, 33, 16),
    (C, f64, 16, 16), (A, matrix.i4, 32, 64), (B, matrix.u4, 32, 32), (C, fp8, 16, 16),
]  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("case", TRANSPOSES, ids=lambda case: f"{case[0].value}-{case[1]}")
def test_a_fragment_becomes_its_transpose_of_the_same_use(case: Any, wave_size: int) -> None:
    use, dtype, rows, columns = case
    check_transpose(
        use, rows, columns, dtype, (ROW, COL) if rows > columns else (COL, ROW), wave_size
    )


def test_4_bit_blocks_of_other_depths_are_transposed() -> None:
    """16 by 32 elements are one block, their transpose two that are half as deep."""
    check_transpose(A, 16, 32, matrix.i4, (ROW, ROW), 32)
    check_transpose(B, 16, 32, matrix.u4, (COL, ROW), 32)
    check_transpose(A, 20, 40, matrix.u4, (ROW, COL), 32)


def test_results_become_operands_with_a_k_of_their_own_order() -> None:
    """An accumulator of 8 bits as an A of wide_k, and that as a B of wide_k."""

    @amdjit.kernel(block=32)
    def convert(c, d, e):
        total = matrix.fragment(C, 32, 64, 16, i8, ROW)
        matrix.load_matrix_sync(total, c)
        left = matrix.apply_fragment(total, A, 32, 16, 64, i8, ROW, wide_k=True)
        right = matrix.apply_fragment(left, B, 16, 64, 32, i8, COL, wide_k=True)
        matrix.store_matrix_sync(d, left)
        matrix.store_matrix_sync(e, right)

    c = np.random.default_rng(4).integers(-128, 128, (32, 64)).astype(np.int8)
    d, e = np.zeros((32, 64), np.int8), np.zeros((64, 32), np.int8)
    convert[1, 32](c, d, e)
    np.testing.assert_array_equal(d, c)
    np.testing.assert_array_equal(e, c.T)


@pytest.mark.parametrize("wave_size", [32, 64])
def test_a_transpose_takes_one_or_two_instructions_a_register_and_bit(wave_size: int) -> None:
    """Three swaps of bits take a `v_perm_b32` with DPP, the one between rows two instructions. LDS
    takes no part."""
    kernel = transposing(C, 16, 16, 16, f16, wave_size, (COL, COL))
    code = isa(kernel.compile(f16[:, :], f16[:, :])).absent("ds_*").no_scratch()
    registers, in_rows = (4, 3) if wave_size == 32 else (2, 3)
    code.count("v_perm_b32_e64_dpp", registers * in_rows).count("v_permlanex16_b32", registers)
    code.count("v_permlane64_b32", registers if wave_size == 64 else 0)


@pytest.mark.sample(6)
@pytest.mark.parametrize("columns", [16, 32])
@pytest.mark.parametrize("rows", [16, 48, 64])
@pytest.mark.parametrize("dtype", [f16, u8, f32, matrix.i4], ids=str)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_every_fragment_can_become_every_other_of_its_matrix(
    wave_size: int, dtype: Any, rows: int, columns: int
) -> None:
    """There is a plan for each pair of kinds, but for 4 bits in wave64 with blocks that half a wave
    holds."""

    uses = (A, B) if isinstance(dtype, Nibble) else (A, B, C)
    wide = {A: (False, True), B: (False, True), C: (False,)}
    fragments = [
        FragmentKind(use, *sizes(use, rows, columns), dtype, ROW, wave_size, None, is_wide)
        for use in uses
        for is_wide in wide[use]
    ]
    for source, target in itertools.product(fragments, repeat=2):
        if min(source.blocks.lanes, target.blocks.lanes) == wave_size:
            assert transforms.plan(source, target, False).kind == target
        elif (source.is_left, source.blocks.steps, source.blocks.depth) != (
            target.is_left,
            target.blocks.steps,
            target.blocks.depth,
        ):
            with pytest.raises(Refused):
                transforms.plan(source, target, False)


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
    a, b = random.integers(*exact(-3, 4), (32, 16)), random.integers(*exact(-3, 4), (16, 32))
    d, e = np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32)
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
    store[1, 32](a, d, e)
    np.testing.assert_array_equal(d, a.T)
    np.testing.assert_array_equal(e, a.T)


@pytest.mark.sample(1)
@pytest.mark.parametrize("wave_size", [32, 64])
def test_registers_go_through_lds_as_they_are(wave_size: int) -> None:
    """In wide accesses, whatever the layout: a row-major B, an accumulator, and one that waves
    share."""

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
    b, c = (
        random.standard_normal((32, 32)).astype(np.float16),
        random.standard_normal((16, 32)).astype(np.float32),
    )
    parts = random.standard_normal((32, 32)).astype(np.float32)
    d, e, out = np.zeros_like(b), np.zeros((32, 16), np.float32), np.zeros_like(parts)
    through[1, 2 * wave_size](b, c, d, e, parts, out)
    np.testing.assert_array_equal(d, b)
    np.testing.assert_array_equal(e, c.T)
    np.testing.assert_array_equal(out, parts)


def test_registers_of_4_bit_fragments() -> None:
    @amdjit.kernel(block=32)
    def through(a, d):
        tile = shared.array((64, 16), u8)
        left = matrix.fragment(A, 32, 16, 32, matrix.i4, ROW)
        matrix.load_matrix_sync(left, a)
        matrix.store_matrix_sync(tile, matrix.to_register_file(left))
        other = matrix.fragment(A, 32, 16, 32, matrix.i4, ROW)
        matrix.load_matrix_sync(matrix.to_register_file(other), tile)
        matrix.store_matrix_sync(d, other)

    a = np.random.default_rng(4).integers(0, 256, (32, 16)).astype(np.uint8)
    d = np.zeros_like(a)
    through[1, 32](a, d)
    np.testing.assert_array_equal(d, a)


@pytest.mark.sample(1)
def test_a_result_becomes_the_left_operand_of_the_next_product() -> None:
    """(A B) C in registers: the sums, converted, are transposed into an A."""

    @amdjit.kernel(block=32)
    def chain(a, b, c, d):
        left, right = (
            matrix.fragment(A, 32, 32, 16, f16, ROW),
            matrix.fragment(B, 32, 32, 16, f16, ROW),
        )
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
    a, b, c = (random.integers(*exact(-2, 3), shape) for shape in ((32, 16), (16, 32), (32, 16)))
    d = np.zeros((32, 16), np.float32)
    chain[1, 32](*(each.astype(np.float16) for each in (a, b, c)), d)
    np.testing.assert_array_equal(d, a @ b @ c)


def test_coordinates_of_waves_are_those_of_the_block() -> None:
    """A launch of 2 by 3 workgroups of 2 by 2 waves tiles a matrix with blocks of 16 by 32."""

    @amdjit.kernel(block=(64, 2, 1))
    def stamp(d, flat, seen):
        row, column = matrix.matrix_coord(16, 32)
        part = matrix.fragment(C, 16, 32, 16, i32)
        wave_row, wave_column = matrix.wave_coord()
        block_row, block_column = matrix.block_coord()
        matrix.fill_fragment(
            part, 1000 * block_row + 100 * block_column + 10 * wave_row + wave_column
        )
        matrix.store_matrix_sync(d, part, (row, column))
        matrix.store_matrix_sync(flat, part, matrix.data_offset((row, column), 64, COL), 64, COL)
        rows, columns = matrix.workgroup_dim()
        seen[0], seen[1] = rows, columns

    d, flat, seen = (
        np.zeros((64, 192), np.int32),
        np.zeros(64 * 192, np.int32),
        np.zeros(2, np.int32),
    )
    stamp[(2, 3), (64, 2)](d, flat, seen)
    row, column = np.mgrid[:64, :192]
    row, column = row // 16, column // 32
    np.testing.assert_array_equal(d, 1000 * row + 100 * column + 10 * (row % 2) + column % 2)
    np.testing.assert_array_equal(flat.reshape(192, 64).T, d)
    assert list(seen) == [2, 2]
