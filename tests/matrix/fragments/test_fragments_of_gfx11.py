"""Fragments on gfx11: the same source as for gfx12, on lanes that all hold A and B."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import Const, bf16, f16, f32, f64, i8, i32
from amdjit.intrinsics import matrix
from amdjit.intrinsics.models.matrix_layouts import GFX11_INSTRUCTIONS, MatrixInstruction

ROWS, COLUMNS = matrix.row_major, matrix.col_major
A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator
DTYPES: dict[Any, Any] = {
    f16: np.float16, bf16: ml_dtypes.bfloat16, f32: np.float32, f64: np.float64, i8: np.int8,
    i32: np.int32,
}  # fmt: skip
NAMES: dict[Any, str] = {f16: "f16", bf16: "bf16", f32: "f32", i8: "iu8", i32: "i32"}
exhaustive = pytest.mark.exhaustive
both_waves = pytest.mark.parametrize("lanes", [32, pytest.param(64, marks=exhaustive)])


def multiply(a, b, c, d, factor: Const, total: Const, layouts: Const, wide: Const):
    left = matrix.fragment(A, 32, 16, 32, factor, layouts[0], wide_k=wide)
    right = matrix.fragment(B, 32, 16, 32, factor, layouts[1], wide_k=wide)
    result = matrix.fragment(C, 32, 16, 32, total)
    matrix.load_matrix_sync(result, c, layout=layouts[2])
    for k in range(0, 64, 32):
        matrix.load_matrix_sync(left, a, (0, k) if layouts[0] is ROWS else (k, 0))
        matrix.load_matrix_sync(right, b, (k, 0) if layouts[1] is ROWS else (0, k))
        matrix.mma_sync(result, left, right, result)
    matrix.store_matrix_sync(d, result, layout=layouts[2])


@cache
def in_waves(function: Any, lanes: int) -> Any:
    """Return a kernel of one wave of that many lanes."""
    return amdjit.kernel(block=lanes, wave_size=lanes)(function)


def in_memory(values: Any, layout: Any) -> Any:
    return values if layout is ROWS else np.ascontiguousarray(values.T)


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", ["gfx1100", pytest.param("gfx1201", marks=exhaustive)])
@both_waves
@pytest.mark.parametrize(
    ("factor", "total"),
    [
        (f16, f32),
        (bf16, bf16),
        (i8, i32),
        pytest.param(f16, f16, marks=exhaustive),
        pytest.param(bf16, f32, marks=exhaustive),
    ],
)
def test_the_same_source_is_the_reference_of_each_target(
    factor: Any, total: Any, lanes: int, target: str
) -> None:
    random = np.random.default_rng(lanes)
    layouts = {f16: (ROWS, COLUMNS, ROWS), bf16: (COLUMNS, ROWS, COLUMNS)}.get(factor, (ROWS,) * 3)
    shapes = (32, 64), (64, 16), (32, 16)
    a, b, c = (20 * random.standard_normal(shape) for shape in shapes)
    a, b, c = a.astype(DTYPES[factor]), b.astype(DTYPES[factor]), c.astype(DTYPES[total])
    given = [in_memory(each, layout) for each, layout in zip((a, b, c), layouts, strict=True)]
    found = np.zeros_like(given[2])
    wide = factor is i8
    with amdjit.use(f"emulator:{target}"):
        in_waves(multiply, lanes)[1, lanes](*given, found, factor, total, layouts, wide)
    name = f"wmma_{NAMES[total]}_16x16x16_{NAMES[factor]}_w{lanes}"
    order = "wide_k" if wide and target == "gfx1201" else "fragment"
    expected = matrix.reference(name, a, b, c, order=order, target=target)
    width = f"u{expected.itemsize}"
    np.testing.assert_array_equal(
        np.ascontiguousarray(in_memory(found, layouts[2])).view(width), expected.view(width)
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", ["gfx1103", "gfx1150", "gfx1151"])
def test_products_are_the_same_on_all_processors_of_the_family(target: str) -> None:
    test_the_same_source_is_the_reference_of_each_target(f16, f32, 32, target)
    test_the_same_source_is_the_reference_of_each_target(i8, i32, 32, target)


def copied(a, d, use: Const, sizes: Const, kind: Const, layout: Const):
    held = matrix.fragment(use, sizes[0], sizes[1], sizes[2], kind, layout)
    matrix.load_matrix_sync(held, a)
    matrix.store_matrix_sync(d, held)


@pytest.mark.sample(1)
@both_waves
@pytest.mark.parametrize("layout", [ROWS, COLUMNS], ids=lambda layout: layout.value)
@pytest.mark.parametrize(
    "use",
    [C, pytest.param(A, marks=exhaustive), pytest.param(B, marks=exhaustive)],
    ids=lambda use: use.value,
)
def test_whole_and_partial_fragments_come_back(use: Any, layout: Any, lanes: int) -> None:
    random = np.random.default_rng(3)
    for kind, sizes in (
        (f16, (32, 48, 16)),
        (f32, (13, 9, 7)),
        (i8, (21, 16, 40)),
        (f64, (16,) * 3),
    ):
        m, n, k = sizes
        shape = in_memory(
            np.zeros({A: (m, k), B: (k, n), C: (m, n)}[use], DTYPES[kind]), layout
        ).shape
        a = random.integers(-100, 100, shape).astype(DTYPES[kind])
        found = np.full((shape[0] + 1, shape[1] + 3), 7, DTYPES[kind])
        with amdjit.use("emulator:gfx1100"):
            in_waves(copied, lanes)[1, lanes](
                a, found[: shape[0], : shape[1]], use, sizes, kind, layout
            )
        np.testing.assert_array_equal(found[: shape[0], : shape[1]], a)
        assert (found[shape[0] :] == 7).all()
        assert (found[:, shape[1] :] == 7).all()


def nibbles(a, b, d, left_layout: Const, right_layout: Const):
    left = matrix.fragment(A, 16, 16, 64, matrix.i4, left_layout)
    right = matrix.fragment(B, 16, 16, 64, matrix.u4, right_layout)
    total = matrix.fragment(C, 16, 16, 64, i32)
    matrix.fill_fragment(total, 3)
    matrix.load_matrix_sync(left, a)
    matrix.load_matrix_sync(right, b)
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total)


@both_waves
@pytest.mark.parametrize("layout", [ROWS, COLUMNS], ids=lambda layout: layout.value)
def test_products_of_4_bits(layout: Any, lanes: int) -> None:
    random = np.random.default_rng(4)
    a, b = random.integers(-8, 8, (16, 64)), random.integers(0, 16, (64, 16))
    found = np.zeros((16, 16), np.int32)
    with amdjit.use("emulator:gfx1100"):
        in_waves(nibbles, lanes)[1, lanes](
            in_bytes(in_memory(a, layout)), in_bytes(in_memory(b, layout)), found, layout, layout
        )
    np.testing.assert_array_equal(found, a @ b + 3)


def in_bytes(values: Any) -> Any:
    return (values[:, ::2] & 15 | (values[:, 1::2] & 15) << 4).astype(np.uint8)


def views(c, turned, summed, placed, stored):
    given = matrix.fragment(C, 32, 48, 16, f32)
    matrix.load_matrix_sync(given, c)
    matrix.store_matrix_sync(turned, matrix.transpose(given))
    sums, peaks = matrix.reduce(given, 0, "add"), matrix.reduce(given, 1, "max")
    own = matrix.fragment(C, 32, 48, 16, f32)
    for i in amdjit.static_range(own.num_elements):
        own.x[i] = sums[matrix.column_of(given, i)] + 1000 * peaks[matrix.row_of(given, i)]
    matrix.store_matrix_sync(summed, own)
    for i in amdjit.static_range(own.num_elements):
        row, column = matrix.place_of(own, i)
        own.x[i] = f32(row * 100 + column)
    matrix.store_matrix_sync(placed, own)
    again = matrix.from_register_file(matrix.to_register_file(given), C, 32, 48, 16, f32)
    matrix.store_matrix_sync(stored, again)


@both_waves
def test_views_of_accumulators(lanes: int) -> None:
    c = np.random.default_rng(5).integers(-50, 50, (32, 48)).astype(np.float32)
    turned, summed, placed, stored = (
        np.zeros((48, 32), np.float32),
        *np.zeros((3, 32, 48), np.float32),
    )
    with amdjit.use("emulator:gfx1100"):
        in_waves(views, lanes)[1, lanes](c, turned, summed, placed, stored)
    np.testing.assert_array_equal(turned, c.T)
    np.testing.assert_array_equal(summed, c.sum(0) + 1000 * c.max(1)[:, None])
    np.testing.assert_array_equal(placed, np.arange(32)[:, None] * 100 + np.arange(48))
    np.testing.assert_array_equal(stored, c)


def moved(c, d, uses: Const, sizes: Const, kind: Const):
    (m, n, k), (other_m, other_n, other_k) = sizes
    given = matrix.fragment(uses[0], m, n, k, kind, ROWS)
    matrix.load_matrix_sync(given, c)
    other = matrix.apply_fragment(given, uses[1], other_m, other_n, other_k, kind, ROWS)
    matrix.store_matrix_sync(d, other)


@pytest.mark.sample(1)
@both_waves
@pytest.mark.parametrize("kind", [f16, pytest.param(i8, marks=exhaustive)], ids=str)
@pytest.mark.parametrize(
    "uses",
    [
        (C, B),
        pytest.param((C, A), marks=exhaustive),
        (A, B),
        pytest.param((B, A), marks=exhaustive),
    ],
)
def test_fragments_become_operands(uses: Any, kind: Any, lanes: int) -> None:
    sizes = {A: (32, 16, 48), B: (16, 48, 32), C: (32, 48, 16)}
    c = np.random.default_rng(6).integers(-50, 50, (32, 48)).astype(DTYPES[kind])
    found = np.zeros_like(c)
    with amdjit.use("emulator:gfx1100"):
        in_waves(moved, lanes)[1, lanes](c, found, uses, (sizes[uses[0]], sizes[uses[1]]), kind)
    np.testing.assert_array_equal(found, c)


def dumped(a, registers, operand: Const, kind: Const):
    use = matrix.accumulator if operand == "d" else A if operand == "a" else B
    held = matrix.fragment(use, 16, 16, 16, kind, ROWS)
    matrix.load_matrix_sync(held, a)
    for i in amdjit.static_range(held.num_elements):
        registers[amdjit.threadIdx.x, i] = held.x[i]


@both_waves
@pytest.mark.parametrize("operand", "abd")
@pytest.mark.parametrize("kind", [f16, pytest.param(i8, marks=exhaustive)], ids=str)
def test_registers_are_those_of_the_layout(kind: Any, operand: str, lanes: int) -> None:
    name = f"wmma_{'f32_16x16x16_f16' if kind is f16 else 'i32_16x16x16_iu8'}_w{lanes}"
    layout = matrix.layout(name, operand, "gfx1100")
    a = np.random.default_rng(7).integers(-50, 50, (16, 16)).astype(DTYPES[kind])
    registers = np.zeros((lanes, layout.elements), a.dtype)
    with amdjit.use("emulator:gfx1100"):
        in_waves(dumped, lanes)[1, lanes](a, registers, operand, kind)
    expected = np.tile(layout.scatter(a), (lanes // layout.lanes, 1))
    np.testing.assert_array_equal(registers, expected)


def stored_by_some(a, b, d, count):
    left = matrix.fragment(A, 16, 16, 16, f16, ROWS)
    right = matrix.fragment(B, 16, 16, 16, f16, ROWS)
    total = matrix.fragment(C, 16, 16, 16, f32)
    matrix.fill_fragment(total, 0)
    matrix.load_matrix_sync(left, a)
    matrix.load_matrix_sync(right, b)
    matrix.mma_sync(total, left, right, total)
    if amdjit.threadIdx.x < count:
        for i in amdjit.static_range(total.num_elements):
            d[amdjit.threadIdx.x, i] = total.x[i]


@both_waves
def test_products_that_some_lanes_use_are_computed_by_all(lanes: int) -> None:
    """LLVM would move them into the branch."""
    a, b = (np.random.default_rng(8).integers(0, 4, (16, 16)).astype(np.float16) for _ in range(2))
    layout = matrix.layout(f"wmma_f32_16x16x16_f16_w{lanes}", "d", "gfx1100")
    found = np.zeros((lanes, layout.elements), np.float32)
    with amdjit.use("emulator:gfx1100"):
        in_waves(stored_by_some, lanes)[1, lanes](a, b, found, 5)
    expected = layout.scatter(a.astype(np.float32) @ b.astype(np.float32))
    np.testing.assert_array_equal(found[:5], expected[:5])
    assert (found[5:] == 0).all()


@pytest.mark.parametrize("product", GFX11_INSTRUCTIONS.values(), ids=lambda product: product.name)
def test_layouts_place_each_element_once_in_each_copy(product: MatrixInstruction) -> None:
    for operand in "abcd":
        layout = product.layout(operand)
        held = np.zeros((layout.rows, layout.columns), int)
        for lane in range(product.wave_size):
            for i in range(layout.elements):
                held[layout.element(lane, i)] += 1
        assert (held == layout.copies).all()
        assert layout.wave_size == product.wave_size == layout.lanes * layout.copies
        values = np.arange(256).reshape(16, 16) % 13 - 6
        for selected in range(layout.sets):
            packed = matrix.pack(layout, values, selected)
            assert packed.shape == (product.wave_size, layout.registers)
            found = matrix.unpack(layout, packed, selected=selected)
            np.testing.assert_array_equal(found.astype(int), values)
        text = matrix.layout_map(layout)
        assert (f"lanes 16 to {product.wave_size - 1} hold the same" in text) == (operand in "ab")
