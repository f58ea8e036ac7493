"""Layouts as data, packing, and the sparse form, all on the host."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit.intrinsics import matrix
from amdjit.intrinsics.builtins.table import rows
from amdjit.intrinsics.models.matrix_layouts import OPERANDS, Layout

LAYOUTS = [
    pytest.param(instruction.layout(operand), id=f"{instruction.name}-{operand}")
    for instruction in matrix.INSTRUCTIONS.values()
    for operand in OPERANDS
    if operand != "index" or instruction.is_sparse
]


def test_the_instructions_are_clangs_builtins_of_gfx12() -> None:
    builtins = {
        row.name
        for row in rows().values()
        if row.group in ("wmma", "swmmac") and "gfx1201" in row.targets
    }
    assert set(matrix.INSTRUCTIONS) == builtins
    assert sum(instruction.is_sparse for instruction in matrix.INSTRUCTIONS.values()) == 22
    assert len(matrix.INSTRUCTIONS) == 44


@pytest.mark.sample(66)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_covers_its_matrix_once(layout: Layout) -> None:
    held = [layout.element(lane, i) for lane in range(layout.lanes) for i in range(layout.elements)]
    assert sorted(held) == list(itertools.product(range(layout.rows), range(layout.columns)))
    assert layout.place(*layout.element(layout.lanes - 1, 1)) == (layout.lanes - 1, 1)
    assert layout.lanes * layout.elements == layout.rows * layout.columns
    assert (
        layout.bits * layout.elements * layout.sets >= 32 * layout.registers
        or layout.operand == "index"
    )


# By hand from AMD's matrix instruction calculator: (instruction, operand, lane, element, row,
# column).
@pytest.mark.parametrize(
    ("name", "operand", "lane", "i", "place"),
    [
        ("wmma_f32_16x16x16_f16_w32_gfx12", "a", 17, 3, (1, 7)),
        ("wmma_f32_16x16x16_f16_w32_gfx12", "b", 3, 4, (8, 3)),
        ("wmma_f32_16x16x16_f16_w64_gfx12", "a", 35, 2, (3, 10)),
        ("wmma_f32_16x16x16_f16_w64_gfx12", "d", 35, 2, (6, 3)),
        ("wmma_f32_16x16x16_f16_w64_gfx12", "d", 16, 0, (8, 0)),
        ("wmma_i32_16x16x16_iu8_w64_gfx12", "b", 33, 1, (5, 1)),
        ("wmma_i32_16x16x32_iu4_w32_gfx12", "a", 16, 15, (0, 31)),
        ("swmmac_f32_16x16x32_f16_w32", "b", 16, 8, (24, 0)),
        ("swmmac_i32_16x16x64_iu4_w64", "b", 48, 3, (51, 0)),
        ("swmmac_f32_16x16x32_f16_w32", "a", 16, 2, (0, 6)),
    ],
)
def test_places_of_the_calculator(
    name: str, operand: str, lane: int, i: int, place: tuple[int, int]
) -> None:
    assert matrix.layout(name, operand=operand).element(lane, i) == place


def test_names_may_leave_out_what_is_usual() -> None:
    full = matrix.layout("wmma_i32_16x16x32_iu4_w32_gfx12", "a")
    assert matrix.layout("wmma_i32_16x16x32_iu4", "a") == full
    assert matrix.layout("wmma_i32_16x16x32_iu4_w32", "a") == full
    assert (
        matrix.layout("swmmac_f32_16x16x32_f16", "index").instruction
        == "swmmac_f32_16x16x32_f16_w32"
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: matrix.layout("wmma_f32_16x16x16_f61", "a"), ValueError, "did you mean"),
        (lambda: matrix.layout("wmma_f32_16x16x16_f16", "e"), ValueError, "it has a, b, c, d"),
        (lambda: matrix.layout("wmma_f32_16x16x16_f16", "index"), ValueError, "it has a, b, c, d$"),
        (
            lambda: matrix.layout("wmma_f32_16x16x16_f16", "a").element(32, 0),
            IndexError,
            "lanes 0 to 31 do",
        ),
        (
            lambda: matrix.layout("wmma_i32_16x16x16_iu4_w64", "a").element(32, 0),
            IndexError,
            "lanes 0 to 31 do",
        ),
        (
            lambda: matrix.layout("wmma_f32_16x16x16_f16", "a").element(0, 8),
            IndexError,
            "a lane holds 8 elements",
        ),
        (
            lambda: matrix.layout("wmma_f32_16x16x16_f16", "a").place(16, 0),
            IndexError,
            "outside of a, 16 by 16",
        ),
    ],
)
def test_what_there_is_not_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.sample(66)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_packing_and_unpacking_keep_a_matrix(layout: Layout) -> None:
    random = np.random.default_rng(1)
    shape = layout.rows, layout.columns
    if layout.kind == "position":
        values = random.integers(0, 4, shape)
    elif layout.kind in ("iu8", "iu4", "i32"):
        values = random.integers(-(1 << layout.bits - 1), 1 << layout.bits - 1, shape)
    else:
        values = random.integers(-4, 5, shape) / 2
    for selected in range(layout.sets):
        packed = matrix.pack(layout, values, selected)
        assert (packed.shape, packed.dtype) == ((layout.wave_size, layout.registers), np.uint32)
        np.testing.assert_array_equal(
            matrix.unpack(layout, packed, selected=selected).astype(float), values
        )
        lane, i = layout.place(3, 2)
        word, shift = divmod(i * layout.bits + selected * layout.elements * layout.bits, 32)
        bits = int(packed[lane, word]) >> shift & (1 << layout.bits) - 1
        assert (
            bits
            == int(matrix.pack(layout, np.full(shape, values[3, 2]))[lane, 0])
            & (1 << layout.bits) - 1
        )


def test_registers_hold_the_lowest_element_in_the_lowest_bits() -> None:
    layout = matrix.layout("wmma_i32_16x16x16_iu8", "a")
    a = np.arange(256).reshape(16, 16).astype(np.uint8)
    assert matrix.pack(layout, a)[0].tolist() == [0x03020100, 0x07060504]
    assert matrix.pack(layout, a)[17].tolist() == [0x1B1A1918, 0x1F1E1D1C]
    np.testing.assert_array_equal(matrix.unpack(layout, matrix.pack(layout, a), signed=False), a)
    assert matrix.unpack(layout, matrix.pack(layout, a))[15, 15] == -1


def test_unpacking_takes_vectors_as_kernels_store_them() -> None:
    layout = matrix.layout("wmma_bf16_16x16x16_bf16", "d")
    stored = np.arange(256).reshape(32, 8).astype(ml_dtypes.bfloat16)
    found = matrix.unpack(layout, stored)
    assert found.dtype == ml_dtypes.bfloat16
    assert found[9, 2] == stored[18, 1]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: matrix.pack(matrix.layout("wmma_i32_16x16x16_iu4", "a"), np.full((16, 16), 16)),
            "integers of 4 bits",
        ),
        (
            lambda: matrix.pack(matrix.layout("wmma_i32_16x16x16_iu4", "a"), np.full((16, 16), -9)),
            "integers of 4 bits",
        ),
        (
            lambda: matrix.pack(
                matrix.layout("wmma_i32_16x16x16_iu8", "a"), np.full((16, 16), 0.5)
            ),
            "integers of 8",
        ),
        (
            lambda: matrix.pack(matrix.layout("wmma_i32_16x16x32_iu4", "a"), np.zeros((16, 16))),
            "16 by 32, not 16 by 16",
        ),
        (
            lambda: matrix.pack(
                matrix.layout("swmmac_i32_16x16x64_iu4", "index"), np.zeros((16, 32)), 1
            ),
            "has 1",
        ),
        (
            lambda: matrix.unpack(
                matrix.layout("wmma_i32_16x16x16_iu8", "a"), np.zeros((32, 4), "i4")
            ),
            "256 bytes",
        ),
        (
            lambda: matrix.reference("wmma_f32_16x16x16_f16", *[np.zeros((16, 8))] * 3),
            r"not \(16, 8\)",
        ),
        (
            lambda: matrix.reference("swmmac_f32_16x16x32_f16", *[np.zeros((16, 16))] * 3),
            "and an index",
        ),
        (lambda: matrix.compress_2to4(np.ones((16, 6))), "multiple of 4"),
        (
            lambda: matrix.compress_2to4(np.ones((16, 8)) * (np.arange(8) > 4)),
            "row 0 has .* columns 4 to 7",
        ),
        (lambda: matrix.expand_2to4(np.ones((16, 8)), np.ones((16, 6))), "do not fit"),
    ],
)
def test_operands_that_do_not_fit_are_refused(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_compression_keeps_two_of_four_in_order_and_fills_with_zeros() -> None:
    values, index = matrix.compress_2to4(np.array([[0, 7, 0, 5, 0, 0, 0, 0, 0, 0, 9, 0]]))
    assert (values[0, :4].tolist(), index[0, :2].tolist()) == ([7, 5, 0, 0], [1, 3])
    assert values[0, 4 + index[0, 4:].tolist().index(2)] == 9
    assert all(first < second for first, second in index.reshape(-1, 2))
    assert index.dtype == np.uint8


def test_compression_and_expansion_are_inverse() -> None:
    random = np.random.default_rng(2)
    dense = random.integers(-5, 6, (32, 64)) * (
        np.argsort(random.random((32, 16, 4)), axis=2).reshape(32, 64) < 2
    )
    np.testing.assert_array_equal(matrix.expand_2to4(*matrix.compress_2to4(dense)), dense)


def test_the_reference_wraps_saturates_and_reads_signs() -> None:
    a, b = np.full((16, 16), 255), np.full((16, 16), 127)
    c = np.full((16, 16), 2**31 - 1)
    name = "wmma_i32_16x16x16_iu8"
    assert matrix.reference(name, a, b, c)[0, 0] == 2**31 - 1 - 16 * 127
    assert (
        matrix.reference(name, a, b, c, a_signed=False)[0, 0] == 2**31 - 1 + 16 * 255 * 127 - 2**32
    )
    assert matrix.reference(name, a, b, c, a_signed=False, clamp=True)[0, 0] == 2**31 - 1
    assert matrix.reference("wmma_f16_16x16x16_f16", a, b, 0 * a).dtype == np.float16


def test_a_map_shows_every_element() -> None:
    text = matrix.layout_map(matrix.layout("wmma_i32_16x16x16_iu4_w64", "a"))
    head, description, _, columns, _, first, *rest = text.splitlines()
    assert head == "wmma_i32_16x16x16_iu4_w64_gfx12, operand A"
    assert description.endswith("8 elements a lane in 1 register, lanes 0 to 31 only")
    assert columns.split() == ["|", *map(str, range(16))]
    assert first.split()[2:12] == [
        "0.0",
        "0.1",
        "0.2",
        "0.3",
        "0.4",
        "0.5",
        "0.6",
        "0.7",
        "16.0",
        "16.1",
    ]
    assert rest[-1].split()[-1] == "31.7"


@pytest.mark.parametrize("index", [[[0, 4]], [[-1, 2]], [[0.5, 1.0]], [[0, 1, 2]], [0, 1]])
def test_places_other_than_0_to_3_are_refused(index: Any) -> None:
    with pytest.raises(ValueError, match="give rows of pairs of 0 to 3"):
        matrix.pack_index(np.array(index))
    with pytest.raises(ValueError, match="give rows of pairs of 0 to 3"):
        matrix.expand_2to4(np.ones(np.shape(index)), np.array(index))


def test_what_is_compressed_may_be_empty_or_not_a_number() -> None:
    for shape in ((0, 8), (2, 0)):
        values, index = matrix.compress_2to4(np.zeros(shape, np.float16))
        assert values.shape == index.shape == (shape[0], shape[1] // 2)
        assert matrix.expand_2to4(values, index).shape == shape
    held, index = matrix.compress_2to4(np.array([[np.nan, 0, np.inf, -0.0]], np.float32))
    np.testing.assert_array_equal(held, [[np.nan, np.inf]])
    assert index.tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="more than two values in columns 0 to 3"):
        matrix.compress_2to4(np.array([[np.nan, np.nan, 1, 0]]))


def test_a_set_of_an_index_that_there_is_not_is_refused() -> None:
    layout = matrix.layout("swmmac_f32_16x16x32_f16_w32", "index")
    packed = matrix.pack(layout, np.full((16, 16), 2), 1)
    assert (matrix.unpack(layout, packed, selected=1) == 2).all()
    for wrong in (2, -1):
        with pytest.raises(ValueError, match="has 2"):
            matrix.unpack(layout, packed, selected=wrong)
