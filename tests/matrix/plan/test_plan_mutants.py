"""That the plan's data tell: each mutant of the fragment layer and of the layouts fails, and with
ones would not.

Each mutant is run by the plan's own checks. Where only elements are moved, a matrix of ones gives
the right result all the same: they prove nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.multiply import instructions
from amdjit.intrinsics.models.matrix_layouts import Layout, MatrixInstruction
from amdjit.types import bf8, bf16, f16, f32, fp8, i8, i32, u32
from tests.matrix.plan.mutants import (
    CLIP_MUTANTS,
    FP8_MUTANT,
    PRODUCT_MUTANTS,
    SHARING_MUTANTS,
    SIGN_MUTANTS,
    Mutant,
    mutated,
)
from tests.matrix.plan.plan_checks import Data, check_copy, lds_product_error, product_error
from tests.matrix.plan.plan_data import COL, ROW, ones, random_data, rocwmma_data
from tests.matrix.plan.plan_kernels import A
from tests.matrix.sparse_data import two_of_four
from tests.matrix.wrapped_products import compute, kernel_of

pytestmark = pytest.mark.usefixtures("device")

HALF, BYTES = (f16, f16, f32, f32), (i8, i8, i32, i32)
ROUNDED = (bf16, bf16, bf16, bf16)


def is_wrong(types: Any, data: Data, layouts: Any = (ROW, COL, ROW)) -> bool:
    """Whether the plan's check of one wave tile of 2 by 2 blocks fails."""
    error, allowed = product_error(types, (2, 2), 32, layouts, (1, 1), (32, 32, 32), data)
    return error > allowed


@pytest.mark.sample(3)
@pytest.mark.parametrize("mutant", PRODUCT_MUTANTS, ids=str)
def test_products_kill_the_mutant(mutant: Mutant) -> None:
    with mutated(mutant):
        assert is_wrong(HALF, random_data), "the plan's own data let it pass"
        assert is_wrong(HALF, rocwmma_data), "rocWMMA's data let it pass"
        assert is_wrong(HALF, ones) is not mutant.is_layout


@pytest.mark.sample(1)
@pytest.mark.parametrize("mutant", PRODUCT_MUTANTS[4:6], ids=str)
@pytest.mark.parametrize("types", [ROUNDED], ids=lambda types: types[0].name)
def test_products_of_other_types_kill_an_order_of_k(mutant: Mutant, types: Any) -> None:
    """Also in bf16, where rocWMMA's rule of 100 epsilon alone would let most of these pass."""
    with mutated(mutant):
        assert is_wrong(types, random_data)
        assert not is_wrong(types, ones)


@pytest.mark.sample(1)
@pytest.mark.parametrize("data", [random_data, rocwmma_data, ones], ids=lambda data: data.__name__)
def test_without_a_mutant_nothing_is_wrong(data: Data) -> None:
    for types in (HALF, BYTES, ROUNDED, (fp8, bf8, f32, f32)):
        assert not is_wrong(types, data)


TYPE_MUTANTS = [*((each, BYTES) for each in SIGN_MUTANTS), (FP8_MUTANT, (fp8, bf8, f32, f32))]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("mutant", "types"), TYPE_MUTANTS, ids=str)
def test_mutants_of_types_and_signs_are_found(mutant: Mutant, types: Any) -> None:
    with mutated(mutant):
        assert is_wrong(types, random_data)


@pytest.mark.parametrize("mutant", SHARING_MUTANTS, ids=str)
def test_shared_loads_kill_the_mutant(mutant: Mutant) -> None:
    def copies() -> None:
        check_copy((A, 64, 32, f16, ROW), (64, 32), (2, 2), (3, 8, 4, 1), 32, "all")

    copies()
    arguments = (HALF, 64, (ROW, COL, ROW), (ROW, COL), (2, 2), (32, 32, 64))
    assert lds_product_error(*arguments, random_data) == 0
    with mutated(mutant):
        with pytest.raises(AssertionError):
            copies()
        assert lds_product_error(*arguments, random_data) > 0


def clipped_copy(use: Any, layout: Any) -> None:
    """Copy 19 by 21 elements, clipped, between matrices whose borders must neither be read nor
    written."""

    @amdjit.kernel(block=32)
    def copy(source, target):
        row, column = 16 * amdjit.blockIdx.y, 16 * amdjit.blockIdx.x
        part = matrix.fragment(use, 16, 16, 16, f32, layout)
        place = (row, column) if layout is ROW else (column, row)
        edge = (19 - row, 21 - column)
        matrix.load_matrix_sync(part, source, place, clip=edge)
        for i in amdjit.static_range(part.num_elements):
            part.x[i] = part.x[i] + 1
        matrix.store_matrix_sync(target, part, place, clip=edge)

    shape = (32, 32)
    source, target = np.full(shape, np.nan, np.float32), np.full(shape, -1, np.float32)
    source[:19, :21] = np.random.default_rng(1).integers(1, 100, (19, 21))
    expected = target.copy()
    expected[:19, :21] = source[:19, :21] + 1
    lying = [np.ascontiguousarray(each if layout is ROW else each.T) for each in (source, target)]
    copy[(2, 2), 32](*lying)
    np.testing.assert_array_equal(lying[1] if layout is ROW else lying[1].T, expected)


@pytest.mark.parametrize("use", [A], ids=lambda use: use.value)
def test_clipped_copies_kill_an_edge_that_is_off_by_one(use: Any) -> None:
    clipped_copy(use, ROW)
    for mutant in CLIP_MUTANTS:
        with mutated(mutant), pytest.raises(AssertionError):
            clipped_copy(use, ROW)


# Layouts of instructions.


class Transposed(Layout):
    """Rows for columns."""

    __slots__ = ()

    def position(self, lane: Any, element: Any) -> tuple[Any, Any]:
        row, column = super().position(lane, element)
        return column, row


class Permuted(Layout):
    """Neighbours exchanged along a lane's elements: k of A and B, positions of index, rows of C and
    D."""

    __slots__ = ()

    def position(self, lane: Any, element: Any) -> tuple[Any, Any]:
        row, column = super().position(lane, element)
        return (row, column ^ 1) if self.operand in ("a", "index") else (row ^ 1, column)


class Turned(Layout):
    """Other 16 lanes."""

    __slots__ = ()

    def position(self, lane: Any, element: Any) -> tuple[Any, Any]:
        return super().position(lane ^ 16, element)


INSTRUCTIONS = [
    "wmma_f32_16x16x16_f16_w32_gfx12", "wmma_i32_16x16x16_iu8_w64_gfx12",
    "wmma_i32_16x16x32_iu4_w32_gfx12",
    "swmmac_f32_16x16x32_f16_w32", "swmmac_f32_16x16x32_bf8_fp8_w64", "swmmac_i32_16x16x64_iu4_w64",
]  # fmt: skip


def instruction_is_wrong(product: MatrixInstruction, data: str) -> bool:
    """Whether the test of a product through the layouts fails; the data are random or ones."""
    random = np.random.default_rng(6)
    shapes = (16, product.k), (product.k, 16), (16, 16)
    a, b, c = (
        random.integers(-3, 4, shape) if data == "random" else np.ones(shape, int)
        for shape in shapes
    )
    index = None
    if product.is_sparse:
        a, index = matrix.compress_2to4(two_of_four(random, a))
    whole = a if index is None else matrix.expand_2to4(a, index)
    return not np.array_equal(compute(product, (a, b, c), index).astype(int), whole @ b + c)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_products_through_layouts_kill_wrong_layouts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = matrix.INSTRUCTIONS[name]
    right = MatrixInstruction.layout
    assert not instruction_is_wrong(product, "random")
    for operand in ("a", "b", "c", "d", *(("index",) if product.is_sparse else ())):
        for kind in (Transposed, Permuted, Turned):
            layout = right(product, operand)
            if kind is Transposed and layout.rows != layout.columns:
                continue
            wrong = kind(*(getattr(layout, field) for field in Layout.__dataclass_fields__))
            monkeypatch.setattr(
                MatrixInstruction, "layout",
                lambda self, other, operand=operand,
                wrong=wrong: wrong if other == operand else right(self, other),
            )  # fmt: skip
            assert instruction_is_wrong(product, "random"), (operand, kind)
            # Even ones are moved by which two of four are kept: sparse data are not all alike.
            if not product.is_sparse:
                assert not instruction_is_wrong(product, "ones"), (operand, kind)


@amdjit.device_function
def other_part(index, shift):
    """Return the part of an index that the key does not name."""
    return i32(u32(index) >> u32(16 - shift))


@pytest.mark.parametrize("name", ["swmmac_f32_16x16x32_f16_w32", "swmmac_i32_16x16x32_iu4_w64"])
def test_another_part_of_the_index_and_exchanged_positions_are_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    product, random = matrix.INSTRUCTIONS[name], np.random.default_rng(7)
    a, index = matrix.compress_2to4(two_of_four(random, random.integers(1, 4, (16, product.k))))
    b, c = random.integers(-3, 4, (product.k, 16)), random.integers(-3, 4, (16, 16))
    expected = matrix.expand_2to4(a, index) @ b + c
    np.testing.assert_array_equal(compute(product, (a, b, c), index, 1).astype(int), expected)
    exchanged = index.reshape(16, -1, 2)[..., ::-1].reshape(16, -1)
    later = np.roll(index, 2, axis=1)
    for wrong in (exchanged, later, index ^ 1):
        assert (compute(product, (a, b, c), wrong, 1).astype(int) != expected).any()
    kernel_of.cache_clear()
    monkeypatch.setattr(instructions, "_part", other_part)
    assert (compute(product, (a, b, c), index, 1).astype(int) != expected).any()
    kernel_of.cache_clear()


def test_one_order_of_k_in_both_operands_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why fragments may hold k in their own order: the mutants of one operand are no mutants if
    both have them."""
    right = MatrixInstruction.layout

    def both(self: MatrixInstruction, operand: str) -> Layout:
        layout = right(self, operand)
        return (
            layout
            if operand not in "ab"
            else Permuted(*(getattr(layout, f) for f in Layout.__dataclass_fields__))
        )

    monkeypatch.setattr(MatrixInstruction, "layout", both)
    for name in INSTRUCTIONS[:3]:
        assert not instruction_is_wrong(matrix.INSTRUCTIONS[name], "random")
