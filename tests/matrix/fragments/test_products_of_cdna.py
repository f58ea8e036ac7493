"""Fragments on CDNA run: products are those of their instructions, and elements arrive where NumPy
has them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import Const, bf8_fnuz, bf16, f16, f32, f64, fp8_fnuz, i8, i32
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.blocks import cdna_side
from amdjit.intrinsics.matrix.operands.parameters import stored_type
from amdjit.intrinsics.models.mfma_instructions import CDNA
from tests.matrix.cdna_fragments import (
    COLUMNS,
    FLOATS,
    ROWS,
    SPARSE,
    XF32,
    A,
    B,
    C,
    exhaustive,
    instruction_of,
    kinds_of,
    lying,
    multiply,
    rows_of_types,
)


def random_matrices(types: Any, *shapes: tuple[int, int]) -> list[Any]:
    """Return numbers of all sizes for floats, any integers else."""
    random = np.random.default_rng(len(types[0].value if types[0] is XF32 else types[0].name))
    found = []
    for kind, shape in zip(map(stored_type, types), shapes, strict=True):
        numbers = random.standard_normal(shape)
        found.append((numbers if kind.is_float else np.rint(40 * numbers)).astype(kind.dtype))
    return found


def check_product(
    target: str, types: Any, m: int, n: int, k: int, layouts: Any, wide: bool
) -> None:
    """Compare bit for bit with the instruction's arithmetic in the fragments' order of k, and with
    NumPy."""
    a, b, c = random_matrices(types, (m, 128), (128, n), (m, n))
    given = [lying(each, layout) for each, layout in zip((a, b, c), layouts, strict=True)]
    d = np.zeros_like(given[2])
    with amdjit.use(f"emulator:{target}"):
        multiply(m, n, k, types, layouts, wide)[1, 64](*given, d, 128)
    found = lying(d, layouts[2])
    kinds = kinds_of(target, types, cdna_side(m, n, types[0]), k)
    name, order = instruction_of(target, *kinds[:2]).name, "wide_k" if wide else "fragment"
    expected = matrix.reference(name, a, b, c, target=target, order=order)
    bits = f"u{found.itemsize}"
    np.testing.assert_array_equal(found.view(bits), expected.view(bits))
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    close = 0 if types[2] is i32 else 0.05 if types[0] is XF32 else 1e-4
    np.testing.assert_allclose(found.astype(np.float64), exact, atol=close, rtol=0)


SLICE = (
    ("gfx908", (bf16, bf16, f32), 16, 32, False),
    ("gfx90a", (f64, f64, f64), 32, 32, True),
    ("gfx942", (XF32, XF32, f32), 32, 32, False),
    ("gfx942", (fp8_fnuz, bf8_fnuz, f32), 16, 48, True),
    ("gfx950", (i8, i8, i32), 64, 32, False),
)
EVERY = tuple(
    (target, types, m, n, wide)
    for target in CDNA
    for types in rows_of_types(target)
    for m, n in ((16, 16), (32, 32), (48, 16), (64, 32))
    for wide in (False, True)
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("target", "types", "m", "n", "wide"),
    [*SLICE, *(pytest.param(*each, marks=exhaustive) for each in EVERY if each not in SLICE)],
)
def test_products_are_the_reference_of_their_instruction(
    target: str, types: Any, m: int, n: int, wide: bool
) -> None:
    layouts = (COLUMNS, ROWS, COLUMNS) if wide else (ROWS, COLUMNS, ROWS)
    check_product(target, types, m, n, 64, layouts, wide)


@pytest.mark.parametrize("dtype", [f16, pytest.param(bf16, marks=exhaustive)])
def test_sums_of_16_bits_are_rounded_once_a_step(dtype: Any) -> None:
    a, b, c = random_matrices((dtype,) * 3, (32, 128), (128, 32), (32, 32))
    d = np.zeros_like(c)
    with amdjit.use("emulator:gfx942"):
        multiply(32, 32, 32, (dtype,) * 3, (ROWS,) * 3)[1, 64](a, b, c, d, 128)
    name = {f16: "mfma_f32_32x32x8f16", bf16: "mfma_f32_32x32x8bf16_1k"}[dtype]
    for step in range(0, 128, 32):
        part = a[:, step : step + 32], b[step : step + 32]
        c = matrix.reference(name, *part, c.astype(np.float32), target="gfx942").astype(c.dtype)
    np.testing.assert_array_equal(d.view(np.uint16), c.view(np.uint16))


@cache
def multiply_sparse(m: int, k: int, dtype: Any, sums: Any) -> Any:
    @amdjit.kernel(block=64)
    def kernel(held, index, b, d):
        left = matrix.fragment(SPARSE, m, m, k, dtype, ROWS)
        right = matrix.fragment(B, m, m, k, dtype, COLUMNS)
        total = matrix.fragment(C, m, m, k, sums)
        matrix.fill_fragment(total, 0)
        for step in range(0, b.shape[1], k):
            matrix.load_matrix_sync(left, held, (0, step // 2))
            matrix.load_index_sync(left, index, (0, step // 8))
            matrix.load_matrix_sync(right, b, (0, step))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    return kernel


SPARSE_SLICE = (("gfx942", 16, 32, f16), ("gfx942", 32, 64, i8), ("gfx950", 64, 128, bf16))
EVERY_SPARSE = tuple(
    (target, m, k, dtype)
    for target in CDNA[2:]
    for m in (16, 32, 48)
    for k in (64, 128)
    for dtype in (f16, bf16, i8, *FLOATS[target])
)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("target", "m", "k", "dtype"),
    [*SPARSE_SLICE, *(pytest.param(*each, marks=exhaustive) for each in EVERY_SPARSE)],
)
def test_sparse_products_are_the_reference_of_their_instruction(
    target: str, m: int, k: int, dtype: Any
) -> None:
    sums = i32 if dtype is i8 else f32
    dense, b = random_matrices((dtype, dtype), (m, 256), (256, m))
    random = np.random.default_rng(5)
    kept = np.argsort(random.random((m, 64, 4)), axis=2)[..., :2]
    zeroed = np.zeros((m, 64, 4), dense.dtype)
    np.put_along_axis(
        zeroed, kept, np.take_along_axis(dense.reshape(m, 64, 4), kept, axis=2), axis=2
    )
    held, index = matrix.compress_2to4(zeroed.reshape(m, 256))
    d = np.zeros((m, m), sums.dtype)
    with amdjit.use(f"emulator:{target}"):
        multiply_sparse(m, k, dtype, sums)[1, 64](
            held, matrix.pack_index(index), lying(b, COLUMNS), d
        )
    kinds = kinds_of(target, (dtype, dtype, sums), cdna_side(m, m, dtype), k, SPARSE)
    name = instruction_of(target, *kinds[:2]).name
    zeros = np.zeros((m, m))
    expected = matrix.reference(name, held, b, zeros, index, target=target, order="fragment")
    np.testing.assert_array_equal(d.view(np.uint32), expected.view(np.uint32))
    exact = zeroed.reshape(m, 256).astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(d.astype(np.float64), exact, atol=1e-4, rtol=0)


@cache
def converting(use: Any, m: int, n: int, source: Any, target: Any) -> Any:
    @amdjit.kernel(block=64)
    def kernel(x, d):
        part = matrix.fragment(use, m, n, 64, source, ROWS)
        matrix.load_matrix_sync(part, x)
        matrix.store_matrix_sync(d, matrix.convert(part, target))

    return kernel


def check_conversion(target: str, use: Any, m: int, n: int, source: Any, wanted: Any) -> None:
    is_nibble = source is matrix.i4
    shape = (m, 64) if use is A else (m, n)
    values = np.random.default_rng(m).integers(-8, 8, shape)
    given = values.astype(np.int8 if is_nibble else source.dtype)
    if is_nibble:
        bits = given.view(np.uint8) & 15
        given = bits[:, ::2] | bits[:, 1::2] << 4
    d = np.zeros(shape, wanted.dtype)
    with amdjit.use(f"emulator:{target}"):
        converting(use, m, n, source, wanted)[1, 64](given, d)
    np.testing.assert_array_equal(d.astype(np.int64), values)


CONVERSIONS = (
    ("gfx942", A, 32, 32, f16, f32), ("gfx90a", A, 16, 16, f64, f32),
    ("gfx950", A, 16, 16, matrix.i4, i8), ("gfx908", A, 32, 32, matrix.i4, bf16),
    ("gfx942", C, 32, 32, f32, f64),
)  # fmt: skip
EVERY_CONVERSION = tuple(
    (target, use, m, n, source, wanted)
    for target in CDNA
    for use in (A, C)
    for m, n in ((16, 16), (32, 32), (48, 16))
    for source in (*((matrix.i4,) if use is A else ()), i8, f16, bf16, f32, f64)
    for wanted in (i8, f16, bf16, f32, f64)
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("target", "use", "m", "n", "source", "wanted"),
    [*CONVERSIONS, *(pytest.param(*each, marks=exhaustive) for each in EVERY_CONVERSION)],
)
def test_operands_become_those_of_other_types(
    target: str, use: Any, m: int, n: int, source: Any, wanted: Any
) -> None:
    check_conversion(target, use, m, n, source, wanted)


def copied_through_registers(a, d, use: Const, sizes: Const, dtype: Const):
    part = matrix.fragment(use, sizes[0], sizes[1], sizes[2], dtype, ROWS)
    matrix.load_matrix_sync(part, a)
    file = matrix.to_register_file(part)
    tile = amdjit.shared.array((file.width, file.height), dtype)
    matrix.store_matrix_sync(tile, file)
    matrix.synchronize_workgroup()
    other = matrix.fragment(use, sizes[0], sizes[1], sizes[2], dtype, ROWS)
    matrix.load_matrix_sync(matrix.to_register_file(other), tile)
    matrix.store_matrix_sync(d, other)


def test_register_files_hold_fragments_of_every_block() -> None:
    kernel = amdjit.kernel(block=64)(copied_through_registers)
    for use, sizes, shape, dtype in (
        (A, (16, 16, 4), (16, 4), f32),
        (A, (32, 32, 6), (32, 6), f32),
        (B, (16, 48, 12), (12, 48), f64),
        (C, (64, 32, 8), (64, 32), f32),
        (A, (32, 32, 64), (32, 64), i8),
    ):
        a = np.random.default_rng(1).integers(-100, 100, shape).astype(dtype.dtype)
        d = np.zeros_like(a)
        with amdjit.use("emulator:gfx942"):
            kernel[1, 64](a, d, use, sizes, dtype)
        np.testing.assert_array_equal(d, a)


def turned_and_reduced(a, d, rows, columns, use: Const, sizes: Const, dtype: Const):
    part = matrix.fragment(use, sizes[0], sizes[1], sizes[2], dtype, ROWS)
    matrix.load_matrix_sync(part, a)
    turned = matrix.transpose(part)
    matrix.store_matrix_sync(d, turned)
    of_rows, of_columns = matrix.reduce(part, 1, "max"), matrix.reduce(part, 0, "max")
    for i in amdjit.static_range(part.num_elements):
        row, column = matrix.place_of(part, i)
        if row < rows.shape[0] and column < columns.shape[0]:
            rows[row] = of_rows[matrix.row_of(part, i)]
            columns[column] = of_columns[matrix.column_of(part, i)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["gfx942", *(pytest.param(t, marks=exhaustive) for t in CDNA)])
@pytest.mark.parametrize(
    ("use", "shape", "dtype"),
    [
        (C, (32, 64), f32), (C, (48, 16), f16), (A, (32, 32), f16), (B, (16, 64), f32),
        (C, (16, 32), f64), (C, (13, 40), i32),
    ],
)  # fmt: skip
def test_fragments_are_transposed_and_reduced(
    target: str, use: Any, shape: tuple[int, int], dtype: Any
) -> None:
    kernel = amdjit.kernel(block=64)(turned_and_reduced)
    sizes = {A: (shape[0], 32, shape[1]), B: (32, shape[1], shape[0]), C: (*shape, 16)}[use]
    a = np.random.default_rng(2).permutation(shape[0] * shape[1]).reshape(shape)
    a = (a % 2039).astype(dtype.dtype)
    d, rows, columns = (np.zeros(size, a.dtype) for size in (shape[::-1], *shape))
    with amdjit.use(f"emulator:{target}"):
        kernel[1, 64](a, d, rows, columns, use, sizes, dtype)
    np.testing.assert_array_equal(d, a.T)
    np.testing.assert_array_equal(rows, a.max(axis=1))
    np.testing.assert_array_equal(columns, a.max(axis=0))


@amdjit.kernel(block=(128, 2, 1))
def multiply_shared(a, b, d):
    all_waves = matrix.coop_row_major_2d(128, 2)
    tile = amdjit.shared.array((64, 40), f16)
    part = matrix.fragment(A, 64, 32, 32, f16, ROWS, all_waves)
    left = matrix.fragment(A, 64, 32, 32, f16, ROWS)
    right = matrix.fragment(B, 64, 32, 32, f16, ROWS)
    total = matrix.fragment(C, 64, 32, 32, f32)
    matrix.fill_fragment(total, 0)
    column = 32 * amdjit.wave_id()
    for k in range(0, a.shape[1], 32):
        matrix.load_matrix_sync(part, a, (0, k))
        matrix.synchronize_workgroup()
        matrix.store_matrix_sync(tile, part)
        matrix.synchronize_workgroup()
        matrix.load_matrix_sync(left, tile)
        matrix.load_matrix_sync(right, b, (k, column))
        matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total, (0, column))


def test_waves_share_fragments_by_a_schedule() -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 96), (96, 128)))
    d = np.zeros((64, 128), np.float32)
    with amdjit.use("emulator:gfx942"):
        multiply_shared[1, (128, 2)](a, b, d)
    np.testing.assert_array_equal(d, a.astype(np.float32) @ b.astype(np.float32))


@amdjit.kernel(block=64)
def multiply_clipped(a, b, d):
    row, column = 32 * amdjit.blockIdx.y, 32 * amdjit.blockIdx.x
    left = matrix.fragment(A, 32, 32, 16, f32, ROWS)
    right = matrix.fragment(B, 32, 32, 16, f32, COLUMNS)
    total = matrix.fragment(C, 32, 32, 16, f32)
    matrix.fill_fragment(total, 0)
    for k in range(0, a.shape[1], 16):
        matrix.load_matrix_sync(left, a, (row, k), clip=True)
        matrix.load_matrix_sync(right, b, (column, k), clip=True)
        matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total, (row, column), clip=True)


def test_loads_and_stores_end_where_the_matrix_does() -> None:
    random = np.random.default_rng(4)
    a, b = (random.integers(-3, 4, shape).astype(np.float32) for shape in ((45, 37), (70, 37)))
    d = np.zeros((45, 70), np.float32)
    with amdjit.use("emulator:gfx942"):
        multiply_clipped[(3, 2), 64](a, b, d)
    np.testing.assert_array_equal(d, a @ b.T)
