"""Fragments in kernels: products of all types and layouts, copies, and the code that they
become."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import f16x8, shared, static_range, threadIdx
from amdjit.intrinsics import matrix
from amdjit.testing import isa
from amdjit.types import bf8, bf16, f16, f32, f64, fp8, i8, i16, i32, u8, u16, u32
from tests.matrix.fragment_kernels import (
    COL,
    ROW,
    exact,
    exact_limits,
    in_memory,
    numpy_type,
    product_kernel,
)

pytestmark = pytest.mark.usefixtures("device")

TYPES = [
    (f16, f16, f32), (f16, f16, f16), (bf16, bf16, f32), (bf16, bf16, bf16),
    (fp8, fp8, f32), (fp8, bf8, f32), (bf8, fp8, f32), (bf8, bf8, f32),
    (i8, i8, i32), (u8, u8, i32), (i8, u8, i32), (u8, i8, i32),
    (matrix.i4, matrix.i4, i32), (matrix.u4, matrix.i4, i32), (matrix.u4, matrix.u4, i32),
]  # fmt: skip
LAYOUTS = list(itertools.product((ROW, COL), repeat=3))


def name_of(value: Any) -> str:
    return value.value if hasattr(value, "value") else str(value)


def check_product(
    types: tuple[Any, Any, Any], shape: tuple[int, int, int], tile: tuple[int, int, int],
    layouts: tuple[Any, ...],
    wave_size: int = 32,
) -> None:  # fmt: skip
    a_type, b_type, c_type = types
    m, n, k = shape
    random = np.random.default_rng(m + n + k)
    a = random.integers(*exact_limits(a_type), (m, k))
    b = random.integers(*exact_limits(b_type), (k, n))
    c = random.integers(*exact(-9, 10), (m, n))
    d = np.full((m, n) if layouts[2] is ROW else (n, m), 77).astype(numpy_type(c_type))
    operands = (
        in_memory(a, a_type, layouts[0]),
        in_memory(b, b_type, layouts[1]),
        in_memory(c, c_type, layouts[2]),
    )
    kernel = product_kernel(*types, *tile, layouts, wave_size)
    kernel[(n // tile[1], m // tile[0]), wave_size](*operands, d, k)
    found = (d if layouts[2] is ROW else d.T).astype(np.float64)
    np.testing.assert_array_equal(found, a @ b + c)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "layouts", LAYOUTS, ids=lambda layouts: "".join(each.value[0] for each in layouts)
)
def test_all_eight_combinations_of_layouts(layouts: tuple[Any, ...]) -> None:
    check_product((f16, f16, f32), (32, 48, 64), (16, 16, 16), layouts)


@pytest.mark.sample(6)
@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(map(name_of, types)))
def test_all_types_of_gfx12(types: tuple[Any, Any, Any]) -> None:
    check_product(types, (64, 16, 64), (32, 16, 32), (ROW, COL, ROW))


@pytest.mark.sample(3)
@pytest.mark.parametrize("types", TYPES[::2], ids=lambda types: "-".join(map(name_of, types)))
def test_products_of_every_type_in_wave64_are_numpys(types: tuple[Any, Any, Any]) -> None:
    check_product(types, (16, 32, 64), (16, 32, 32), (ROW, COL, COL), 64)


@pytest.mark.parametrize(
    "types", [TYPES[8], TYPES[5], TYPES[2]], ids=lambda types: "-".join(map(name_of, types))
)
def test_types_that_are_read_element_by_element(types: tuple[Any, Any, Any]) -> None:
    check_product(types, (16, 16, 32), (16, 16, 16), (COL, ROW, COL))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "types", [TYPES[-3], TYPES[-1]], ids=lambda types: "-".join(map(name_of, types))
)
def test_4_bit_products_with_k_of_16(types: tuple[Any, Any, Any]) -> None:
    check_product(types, (16, 16, 48), (16, 16, 16), (ROW, COL, ROW), 32)
    check_product(types, (16, 16, 48), (16, 16, 48), (ROW, COL, ROW), 64)


@pytest.mark.sample(2)
@pytest.mark.parametrize("tile", [(16, 48, 16), (64, 16, 32), (32, 64, 48), (16, 16, 96)], ids=str)
def test_tiles_of_any_multiples_of_16(tile: tuple[int, int, int]) -> None:
    check_product((f16, f16, f32), (64, 192, 96), tile, (ROW, ROW, ROW))


COPIED = {1: [fp8, bf8, i8, u8], 2: [f16, bf16, i16, u16], 4: [f32, i32, u32], 8: [f64]}


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("layout", [ROW, COL], ids=name_of)
@pytest.mark.parametrize("use", [matrix.matrix_a, matrix.matrix_b, matrix.accumulator], ids=name_of)
def test_loads_and_stores_copy_and_touch_nothing_else(use: Any, layout: Any) -> None:
    """Of all types, from padded matrices of one axis to padded ones: no element of a border is read
    or written."""

    @amdjit.kernel(block=32)
    def copy(source, target, dtype: amdjit.Const, ld, out_ld):
        part = matrix.fragment(use, 32, 16, 32, dtype, layout)
        matrix.load_matrix_sync(part, source, 4 * ld + 3, ld)
        matrix.store_matrix_sync(target, part, 2 * out_ld + 1, out_ld)

    rows, columns = {"matrix_a": (32, 32), "matrix_b": (32, 16), "accumulator": (32, 16)}[use.value]
    if layout is COL:
        rows, columns = columns, rows
    # Elements of one size are copied by the same code: one of each size, all types in turn.
    turn = 2 * (matrix.matrix_a, matrix.matrix_b, matrix.accumulator).index(use) + (layout is COL)
    for same in COPIED.values():
        dtype = same[turn % len(same)]
        inner = np.random.default_rng(1).integers(0, 100, (rows, columns)).astype(dtype.dtype)
        source = np.full((rows + 8, columns + 11), 111).astype(dtype.dtype)
        source[4 : 4 + rows, 3 : 3 + columns] = inner
        target = np.full((rows + 4, columns + 3), 99).astype(dtype.dtype)
        expected = target.copy()
        expected[2 : 2 + rows, 1 : 1 + columns] = inner
        copy[1, 32](source.reshape(-1), target.reshape(-1), dtype, source.shape[1], target.shape[1])
        np.testing.assert_array_equal(target.astype(float), expected.astype(float))


def test_ld_alone_means_the_first_element_and_layouts_can_be_given_with_the_call() -> None:
    @amdjit.kernel(block=32)
    def transpose(source, target):
        part = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
        matrix.load_matrix_sync(part, source, 16)
        matrix.store_matrix_sync(target, part, 16, layout=matrix.col_major)

    source = np.arange(256, dtype=np.float32)
    target = np.zeros(256, np.float32)
    transpose[1, 32](source, target)
    np.testing.assert_array_equal(target.reshape(16, 16), source.reshape(16, 16).T)


def test_layouts_can_be_chosen_by_the_launch() -> None:
    """The number is rocWMMA's layout_t for accumulators, 0 by rows, 1 by columns; it may be a
    constant."""

    @amdjit.kernel(block=32)
    def copy(source, target, source_layout, target_layout, sizes):
        part = matrix.fragment(matrix.accumulator, 32, 16, 16, f32)
        matrix.load_matrix_sync(
            part, source, 0, 16 if source_layout == 0 else 32, layout=source_layout
        )
        matrix.store_matrix_sync(
            target, part, 0, 16 if target_layout == 0 else 32, layout=target_layout
        )
        matrix.store_matrix_sync(sizes, part, 0, 32, matrix.mem_col_major)
        left = matrix.fragment(matrix.matrix_a, 5, 16, 7, f16, matrix.row_major)
        sizes[0], sizes[1], sizes[2] = (
            f32(left.height),
            f32(left.width),
            f32(part.height * part.width),
        )

    rows = np.random.default_rng(6).standard_normal((32, 16)).astype(np.float32)
    for layouts in itertools.product((matrix.mem_row_major, matrix.mem_col_major), repeat=2):
        source, expected = ((rows.T if layout else rows).reshape(-1) for layout in layouts)
        target, sizes = np.zeros(512, np.float32), np.zeros(512, np.float32)
        copy[1, 32](source.copy(), target, *layouts, sizes)
        np.testing.assert_array_equal(target, expected)
        np.testing.assert_array_equal(sizes[3:], rows.T.reshape(-1)[3:])
        assert list(sizes[:3]) == [5, 7, 512]


def test_elements_are_changed_one_by_one_and_fragments_stand_in_tuples() -> None:
    @amdjit.kernel(block=32)
    def scale(source, target):
        parts = tuple(matrix.fragment(matrix.accumulator, 16, 16, 16, f32) for _ in range(2))
        for number in static_range(2):
            matrix.load_matrix_sync(parts[number], source, (16 * number, 0))
        for i in static_range(parts[0].num_elements):
            parts[0].x[i] = 2 * parts[0].x[i] + parts[1].x[i]
        matrix.fill_fragment(parts[1], 5)
        for number in static_range(2):
            matrix.store_matrix_sync(target, parts[number], (16 * number, 0))

    source = np.random.default_rng(2).standard_normal((32, 16)).astype(np.float32)
    target = np.zeros_like(source)
    scale[1, 32](source, target)
    np.testing.assert_array_equal(target[:16], 2 * source[:16] + source[16:])
    assert (target[16:] == 5).all()


@pytest.mark.parametrize("pitch", [16, 24, 19])
def test_fragments_go_through_lds(pitch: int) -> None:
    """Rows are multiples of 16 bytes, or not."""

    @amdjit.kernel(block=32)
    def through(source, target):
        tile = shared.array((16, pitch), f16)
        flat = shared.array(16 * pitch, f16)
        part = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
        matrix.load_matrix_sync(part, source)
        matrix.store_matrix_sync(tile, part)
        matrix.synchronize_workgroup()
        turned = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.row_major)
        matrix.load_matrix_sync(turned, tile)
        matrix.store_matrix_sync(flat, turned, 0, pitch)
        matrix.synchronize_workgroup()
        matrix.load_matrix_sync(part, flat, 0, pitch)
        matrix.store_matrix_sync(target, part)

    source = np.random.default_rng(3).standard_normal((16, 16)).astype(np.float16)
    target = np.zeros_like(source)
    through[1, 32](source, target)
    np.testing.assert_array_equal(target, source)
    wide = isa(through.compile(f16[:, :], f16[:, :])).count("ds_load_b128")
    assert wide or pitch == 19


def test_fill_takes_4_bit_values() -> None:
    @amdjit.kernel(block=32)
    def fill(target):
        ones = matrix.fragment(matrix.matrix_a, 16, 16, 32, matrix.i4, matrix.row_major)
        twos = matrix.fragment(matrix.matrix_b, 16, 16, 32, matrix.i4, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, 16, 16, 32, i32)
        matrix.fill_fragment(ones, -1)
        matrix.fill_fragment(twos, 2)
        matrix.fill_fragment(total, 7)
        matrix.mma_sync(total, ones, twos, total)
        matrix.store_matrix_sync(target, total)

    target = np.zeros((16, 16), np.int32)
    fill[1, 32](target)
    assert (target == 7 - 2 * 32).all()


def test_results_chain_into_the_next_product_without_exchange_of_lanes() -> None:
    """An accumulator's elements, converted, are those of a matrix_b: what the MLP of AMD's article
    is about."""

    @amdjit.kernel(block=32)
    def mlp(first, second, x, out):
        weights = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
        values = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.row_major)
        total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
        matrix.load_matrix_sync(weights, first)
        matrix.load_matrix_sync(values, x)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, weights, values, total)
        for i in static_range(total.num_elements):
            values.x[i] = f16(total.x[i])
        matrix.load_matrix_sync(weights, second)
        matrix.fill_fragment(total, 0)
        matrix.mma_sync(total, weights, values, total)
        matrix.store_matrix_sync(out, total)

    random = np.random.default_rng(4)
    first, second, x = (
        random.integers(*exact(-3, 4), (16, 16)).astype(np.float16) for _ in range(3)
    )
    out = np.zeros((16, 16), np.float32)
    mlp[1, 32](first, second, x, out)
    np.testing.assert_array_equal(out, second.astype(int) @ (first.astype(int) @ x.astype(int)))
    code = isa(mlp.compile(f16[:, :], f16[:, :], f16[:, :], f32[:, :])).no_scratch()
    code.absent("ds_*", "v_permlane*", "*_dpp*")


def test_many_accumulators_stay_in_registers() -> None:
    @amdjit.kernel(block=32)
    def tiles(a, b, d):
        left = matrix.fragment(matrix.matrix_a, 64, 64, 16, f16, matrix.row_major)
        right = matrix.fragment(matrix.matrix_b, 64, 64, 16, f16, matrix.col_major)
        total = matrix.fragment(matrix.accumulator, 64, 64, 16, f32)
        matrix.fill_fragment(total, 0.0)
        for k in range(0, a.shape[1], 16):
            matrix.load_matrix_sync(left, a, (0, k))
            matrix.load_matrix_sync(right, b, (0, k))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    code = isa(tiles.compile(f16[:, :], f16[:, :], f32[:, :])).no_scratch().no_spills()
    code.max_vgprs(240).count("v_wmma_f32_16x16x16_f16", 16).count("global_load_b128", 8)


def test_the_alignment_of_an_access_is_checked() -> None:
    @amdjit.kernel(block=32)
    def load(x, alignment: amdjit.Const):
        x.store(8 * threadIdx.x, f16x8(x.load(8 * threadIdx.x + 1, 8, alignment)), 16)

    assert "align 2" in load.compile(f16[:], 2).llvm
    for wrong in (1, 3, 32):
        with pytest.raises(amdjit.CompileError, match=f"an alignment of {wrong} bytes"):
            load.compile(f16[:], wrong)


def test_ml_dtypes_are_the_host_side() -> None:
    assert numpy_type(bf16) == ml_dtypes.bfloat16
