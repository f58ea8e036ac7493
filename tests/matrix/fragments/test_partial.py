"""Fragments that end before their blocks do, and loads and stores that are clipped at the matrix's
edge."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import blockIdx, shared
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.parameters import Nibble
from amdjit.types import bf16, f16, f32, fp8, i8, i32, u8
from tests.matrix.fragment_kernels import COL, ROW, at, exact, exact_limits, in_memory, marked

pytestmark = pytest.mark.usefixtures("device")

A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator
LAYOUTS = list(itertools.product((ROW, COL), repeat=3))


def letters(layouts: tuple[Any, ...]) -> str:
    return "".join(each.value[0] for each in layouts)


@cache
def gemm(
    types: tuple[Any, Any, Any],
    tile: tuple[int, int, int],
    layouts: tuple[Any, ...],
    wave_size: int = 32,
) -> Any:
    """Return D = A B + C of matrices of any size, in tiles of any size."""
    a_type, b_type, c_type = types
    m, n, k = tile
    a_layout, b_layout, c_layout = layouts

    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def kernel(a_matrix, b_matrix, c_matrix, d_matrix, depth):
        row, column = m * blockIdx.y, n * blockIdx.x
        left = matrix.fragment(A, m, n, k, a_type, a_layout)
        right = matrix.fragment(B, m, n, k, b_type, b_layout)
        total = matrix.fragment(C, m, n, k, c_type, c_layout)
        place = (row, column) if c_layout is ROW else (column, row)
        matrix.load_matrix_sync(total, c_matrix, place, clip=True)
        for step in range(0, depth, k):
            matrix.load_matrix_sync(left, a_matrix, at(row, step, a_layout, unit), clip=True)
            matrix.load_matrix_sync(right, b_matrix, at(step, column, b_layout, unit), clip=True)
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d_matrix, total, place, clip=True)

    unit = 2 if isinstance(a_type, Nibble) else 1
    return kernel


def check(
    types: Any,
    shape: tuple[int, int, int],
    tile: tuple[int, int, int],
    layouts: Any,
    wave_size: int = 32,
) -> None:
    m, n, k = shape
    random = np.random.default_rng(m * n + k)
    a, b = (
        random.integers(*exact_limits(types[0]), (m, k)),
        random.integers(*exact_limits(types[1]), (k, n)),
    )
    c = random.integers(*exact(-9, 10), (m, n))
    operands = [
        in_memory(v, t, layout) for v, t, layout in zip((a, b, c), types, layouts, strict=True)
    ]
    d = np.full_like(operands[2], 77)
    grid = -(-n // tile[1]), -(-m // tile[0])
    gemm(types, tile, layouts, wave_size)[grid, wave_size](*operands, d, k)
    found = (d if layouts[2] is ROW else d.T).astype(np.float64)
    np.testing.assert_array_equal(found, a @ b + c)


OFTEN = (LAYOUTS[2], LAYOUTS[5], LAYOUTS[0])


@pytest.mark.sample(1)
@pytest.mark.parametrize("layouts", marked(LAYOUTS, OFTEN), ids=letters)
def test_a_matrix_of_any_size_in_all_layouts(layouts: tuple[Any, ...]) -> None:
    """Every edge is met: whole tiles, tiles that end within a lane's elements, and between them."""
    check((f16, f16, f32), (37, 21, 43), (32, 16, 32), layouts)


TYPES = [
    (bf16, bf16, bf16), (fp8, fp8, f32), (i8, u8, i32), (matrix.i4, matrix.u4, i32),
]  # fmt: skip


CASES = list(itertools.product(TYPES, (32, 64)))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "case", marked(CASES, CASES[1::2]), ids=lambda case: f"{case[0][0]}-{case[1]}"
)
def test_other_types_are_clipped(case: Any) -> None:
    types, wave_size = case
    check(types, (19, 33, 38), (16, 32, 32), (ROW, COL, ROW), wave_size)


TILES = [(2, 3, 1), (16, 1, 16), (5, 16, 24), (17, 20, 33), (1, 1, 1), (3, 40, 12)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("tile", marked(TILES, TILES[:4]), ids=str)
def test_fragments_of_any_size(tile: tuple[int, int, int]) -> None:
    layouts = LAYOUTS[2] if tile[0] % 2 else LAYOUTS[5]
    check((f16, f16, f32), (2 * tile[0] + 1, tile[1], 3 * tile[2]), tile, layouts)


def test_4_bit_fragments_of_any_even_k() -> None:
    check((matrix.i4, matrix.i4, i32), (7, 9, 44), (5, 9, 22), (ROW, COL, ROW))
    check((matrix.u4, matrix.i4, i32), (7, 9, 28), (7, 9, 14), (ROW, COL, COL), 64)


BEFORE = [(-5, -3), (-16, 2), (3, -20), (-40, 0), (-8, -8), (-1, 14)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("place", marked(BEFORE, BEFORE[:4]), ids=str)
def test_fragments_begin_before_their_array(place: tuple[int, int]) -> None:
    """What lies before is 0 when loaded and not written: out of NaN into 99, of all uses, by both
    layouts."""

    @amdjit.kernel(block=32)
    def copy(source, target, flat, row, column, use: amdjit.Const, layout: amdjit.Const):
        part = matrix.fragment(use, 32, 32, 32, f16, layout)
        matrix.load_matrix_sync(part, source, (row, column), clip=True)
        matrix.store_matrix_sync(flat, part, 0, 32)
        matrix.store_matrix_sync(target, part, (row, column), clip=True)

    inner = np.random.default_rng(9).standard_normal((21, 24)).astype(np.float16)
    for use, layout in itertools.product((A, B, C), (ROW, COL)):
        around, written = np.full((70, 80), np.nan, np.float16), np.full((70, 80), 99, np.float16)
        around[45:66, 45:69] = inner
        flat, padded = np.zeros(1024, np.float16), np.zeros((99, 99), np.float16)
        padded[45:66, 45:69] = inner
        with amdjit.sanitize("memory", "init"):
            copy[1, 32](around[45:66, 45:69], written[45:66, 45:69], flat, *place, use, layout)
        rows, columns = (slice(45 + first, 77 + first) for first in place)
        np.testing.assert_array_equal(flat.reshape(32, 32), padded[rows, columns])
        expected, inside = np.full((99, 99), 99, np.float16), np.zeros((99, 99), bool)
        inside[45:66, 45:69] = True
        inside[: rows.start] = inside[rows.stop :] = False
        inside[:, : columns.start] = inside[:, columns.stop :] = False
        expected[inside] = padded[inside]
        np.testing.assert_array_equal(written, expected[:70, :80])


@pytest.mark.sample(1)
@pytest.mark.parametrize("layout", [ROW, COL], ids=["row", "col"])
def test_4_bit_fragments_begin_before_their_array(layout: Any) -> None:
    @amdjit.kernel(block=32)
    def copy(source, target):
        part = matrix.fragment(A, 16, 16, 32, matrix.u4, layout)
        matrix.load_matrix_sync(part, source, (-3, -2), clip=True)
        matrix.store_matrix_sync(target, part)

    source = np.random.default_rng(2).integers(1, 256, (40, 30)).astype(np.uint8)
    target = np.full((16, 16) if layout is ROW else (32, 8), 99, np.uint8)
    with amdjit.sanitize("memory", "init"):
        copy[1, 32](source, target)
    expected = np.pad(source, ((3, 0), (2, 0)))[: target.shape[0], : target.shape[1]]
    np.testing.assert_array_equal(target, expected)


ACROSS_K = list(itertools.product((32, 64), ((COL, ROW), (COL, COL), (ROW, ROW)), (16, 32, 64)))


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", marked(ACROSS_K, ACROSS_K[::5]), ids=str)
def test_4_bit_elements_across_k(case: Any) -> None:
    """Whole tiles, clipped ones, and partial fragments of A by columns and B by rows: lanes
    transpose them."""
    wave_size, layouts, k = case
    types = (matrix.i4, matrix.u4, i32)
    check(types, (64, 32, 2 * k), (32, 32, k), (*layouts, ROW), wave_size)
    check(types, (22, 38, 2 * k + 6), (16, 32, k), (*layouts, COL), wave_size)
    check(types, (6, 10, k + 2), (6, 10, 10), (*layouts, ROW), wave_size)


PLACES = list(itertools.product((A, B, C), (ROW, COL), ("LDS", "global")))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "case", marked(PLACES, PLACES[::3]), ids=lambda case: f"{case[0].value}-{case[2]}"
)
def test_a_partial_fragment_reads_and_writes_nothing_but_its_elements(case: Any) -> None:
    """Out of a border of NaN into a border of 99, by an offset and ld."""
    use, layout, space = case

    @amdjit.kernel(block=32)
    def copy(source, target, ld, out_ld):
        tile = shared.array(20 * 24, f16)
        part = matrix.fragment(use, 3, 5, 9, f16, layout)
        matrix.load_matrix_sync(part, source, 2 * ld + 1, ld)
        if space == "LDS":
            matrix.store_matrix_sync(tile, part, 7, 24)
            matrix.synchronize_workgroup()
            matrix.fill_fragment(part, 5)
            matrix.load_matrix_sync(part, tile, 7, 24)
        matrix.store_matrix_sync(target, part, out_ld + 2, out_ld)

    rows, columns = {A: (3, 9), B: (9, 5), C: (3, 5)}[use]
    if layout is COL:
        rows, columns = columns, rows
    inner = np.random.default_rng(1).standard_normal((rows, columns)).astype(np.float16)
    source = np.full((rows + 3, columns + 4), np.nan, np.float16)
    source[2 : 2 + rows, 1 : 1 + columns] = inner
    target = np.full((rows + 2, columns + 5), 99, np.float16)
    expected = target.copy()
    expected[1 : 1 + rows, 2 : 2 + columns] = inner
    copy[1, 32](source.reshape(-1), target.reshape(-1), source.shape[1], target.shape[1])
    np.testing.assert_array_equal(target, expected)


@amdjit.kernel(block=32)
def copy_twice(source, target, flat, rows, columns, use: amdjit.Const, layout: amdjit.Const):
    part = matrix.fragment(use, 16, 16, 16, f16, layout)
    other = matrix.fragment(use, 16, 16, 16, f16, layout)
    matrix.load_matrix_sync(part, source, (2, 3), clip=(rows, columns))
    matrix.store_matrix_sync(flat, part, 0, 16)
    matrix.load_matrix_sync(other, flat, 0, 16, clip=(rows, columns))
    matrix.store_matrix_sync(target, other, 0, 16, clip=(rows, columns))


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "counts", [(16, 16), (99, 99), (16, 5), (3, 16), (1, 1), (11, 13), (0, 4), (4, 0), (-3, 20)]
)
def test_the_edge_is_given_as_rows_and_columns(counts: tuple[int, int]) -> None:
    """For A, B and an accumulator, in both layouts, of arrays of one axis and of two."""
    rows, columns = (min(max(count, 0), 16) for count in counts)
    if not rows or not columns:
        rows, columns = 0, 0
    for use, layout in itertools.product((A, B, C), (ROW, COL)):
        source = np.full((21, 24), np.nan, np.float16)
        inner = np.random.default_rng(2).standard_normal((16, 16)).astype(np.float16)
        inside = (slice(rows), slice(columns)) if layout is ROW else (slice(columns), slice(rows))
        source[2:18, 3:19][inside] = inner[inside]
        flat, target = np.full(256, 99, np.float16), np.full(256, 99, np.float16)
        copy_twice[1, 32](source, target, flat, *counts, use, layout)
        expected, padded = np.full((16, 16), 99, np.float16), np.zeros((16, 16), np.float16)
        expected[inside] = padded[inside] = inner[inside]
        np.testing.assert_array_equal(flat.reshape(16, 16), padded)
        np.testing.assert_array_equal(target.reshape(16, 16), expected)


def test_the_padding_of_filled_fragments_adds_nothing_to_products() -> None:
    @amdjit.kernel(block=32)
    def product(d, dtype: amdjit.Const, sums: amdjit.Const, k: amdjit.Const):
        left = matrix.fragment(A, 3, 5, k, dtype, ROW)
        right = matrix.fragment(B, 3, 5, k, dtype, COL)
        total = matrix.fragment(C, 3, 5, k, sums)
        matrix.fill_fragment(left, 2)
        matrix.fill_fragment(right, 3)
        matrix.fill_fragment(total, 1)
        matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    for dtype, sums, k in (
        (f16, f32, 7),
        (i8, i32, 33),
        (matrix.i4, i32, 10),
        (matrix.u4, i32, 38),
    ):
        d = np.zeros((3, 5), sums.dtype)
        product[1, 32](d, dtype, sums, k)
        assert (d == 1 + 6 * k).all()


def test_waves_share_a_clipped_tile() -> None:
    @amdjit.kernel(block=64)
    def copy(source, target):
        tile = shared.array((48, 40), f32)
        part = matrix.fragment(A, 48, 16, 32, f32, ROW)
        matrix.load_matrix_coop_sync(
            part, source, (5, 6), amdjit.intrinsics.wave.wave_id(), 2, clip=True
        )
        matrix.store_matrix_coop_sync(tile, part, (0, 0), amdjit.intrinsics.wave.wave_id(), 2)
        matrix.synchronize_workgroup()
        matrix.load_matrix_coop_sync(part, tile, (0, 0), amdjit.intrinsics.wave.wave_id(), 2)
        matrix.store_matrix_coop_sync(
            target, part, (1, 1), amdjit.intrinsics.wave.wave_id(), 2, clip=True
        )

    source = np.random.default_rng(3).standard_normal((40, 33)).astype(np.float32)
    target = np.full((47, 30), 99, np.float32)
    copy[1, 64](source, target)
    padded = np.zeros((48, 32), np.float32)
    padded[:35, :27] = source[5:, 6:]
    np.testing.assert_array_equal(target[1:, 1:], padded[:46, :29])
    assert (target[0] == 99).all()
    assert (target[:, 0] == 99).all()


def test_a_dimension_of_one_is_a_vector() -> None:
    """y = A x with FragN = 1: x and y are one column each, and nothing is read or written beside
    them."""

    @amdjit.kernel(block=32)
    def matrix_vector(a, x, y):
        row = 16 * blockIdx.x
        left = matrix.fragment(A, 16, 1, 16, f16, ROW)
        right = matrix.fragment(B, 16, 1, 16, f16, COL)
        total = matrix.fragment(C, 16, 1, 16, f32, COL)
        matrix.fill_fragment(total, 0)
        for k in range(0, a.shape[1], 16):
            matrix.load_matrix_sync(left, a, (row, k), clip=True)
            matrix.load_matrix_sync(right, x, k, x.shape[0], clip=(x.shape[0] - k, 1))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(y, total, row, y.shape[0], clip=(y.shape[0] - row, 1))

    random = np.random.default_rng(4)
    a, x = (
        random.integers(*exact(-3, 4), (53, 70)).astype(np.float16),
        random.integers(*exact(-3, 4), 70).astype(np.float16),
    )
    y = np.full(53, np.nan, np.float32)
    matrix_vector[4, 32](a, x, y)
    np.testing.assert_array_equal(y, a.astype(int) @ x.astype(int))


def test_the_sanitizer_has_nothing_to_say_about_clipped_tiles() -> None:
    """Nothing is read that nobody has written, and nothing outside of the arrays."""
    with amdjit.sanitize("memory", "init", "sync"):
        check((f16, f16, f32), (21, 19, 23), (16, 16, 16), (ROW, COL, ROW))
        check((matrix.i4, matrix.i4, i32), (19, 5, 38), (16, 5, 32), (ROW, COL, COL))


@pytest.mark.sample(1)
@pytest.mark.parametrize("cut", ["rows", "strided", "view"])
def test_parts_of_matrices_are_clipped_at_their_own_edge(cut: str) -> None:
    """What the host cuts out of a matrix, by rows or by steps, and what the kernel does."""

    @amdjit.kernel(block=32)
    def copy(source, target):
        inner = source[2:23, 3:] if cut == "view" else source
        left = matrix.fragment(A, 32, 16, 32, f16, ROW)
        right = matrix.fragment(B, 16, 32, 32, f16, ROW)
        matrix.load_matrix_sync(left, inner, clip=True)
        matrix.load_matrix_sync(right, inner, clip=True)
        for i in amdjit.static_range(left.num_elements):
            left.x[i] = left.x[i] + left.x[i]
        matrix.store_matrix_sync(target, left)
        matrix.store_matrix_sync(target, right, (32, 0))

    random = np.random.default_rng(7)
    whole = random.standard_normal((24, 80)).astype(np.float16)
    given = {
        "rows": whole[2:23, 3:30],
        "strided": whole[2:23, 3:57:2],
        "view": whole[:, :30].copy(),
    }[cut]
    inner = given[2:23, 3:] if cut == "view" else given
    target = np.full((64, 32), 99, np.float16)
    copy[1, 32](given, target)
    expected = np.zeros((32, 32), np.float16)
    expected[: inner.shape[0], : inner.shape[1]] = inner
    np.testing.assert_array_equal(target, np.concatenate((2 * expected, expected)))
