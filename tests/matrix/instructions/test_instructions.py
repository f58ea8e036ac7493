"""Every WMMA and SWMMAC of gfx12 on the emulator, through the layouts, against NumPy on whole
matrices.

The emulator was written from the ISA document and is itself tested from assembly
(tests/emulator/matrix/test_emulator_matrix).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.packing import DTYPES
from amdjit.intrinsics.models.matrix_layouts import BITS, MatrixInstruction
from tests.matrix.instruction_kernels import FLAGS, run
from tests.matrix.sparse_data import two_of_four

Matrix = np.ndarray[Any, Any]
ALL = list(matrix.INSTRUCTIONS.values())
INTEGERS = [instruction for instruction in ALL if instruction.is_integer]
FLOATS = [instruction for instruction in ALL if not instruction.is_integer]


def each(instructions: list[MatrixInstruction]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("product", instructions, ids=lambda product: product.name)


def small(random: np.random.Generator, rows: int, columns: int) -> Matrix:
    """Integers that every type holds: -3 to 3, so that sums are exact in any order."""
    return random.integers(-3, 4, (rows, columns))


def operands(product: MatrixInstruction, seed: int = 1) -> tuple[Matrix, Matrix, Matrix]:
    """Return whole A, B, C: A and B neither symmetric nor alike along k, so that no order passes
    for another."""
    random = np.random.default_rng(seed)
    a = small(random, 16, product.k)
    a = two_of_four(random, a) if product.is_sparse else a
    return a, small(random, product.k, 16), 5 * small(random, 16, 16)


def computed(product: MatrixInstruction, a: Matrix, b: Matrix, c: Matrix, **flags: bool) -> Matrix:
    held, index = matrix.compress_2to4(a) if product.is_sparse else (a, None)
    chosen = (flags.get("a_signed", True), flags.get("b_signed", True), flags.get("clamp", False))
    return np.asarray(run(product.name, held, b, c, index, chosen))


@pytest.mark.sample(20)
@each(ALL)
def test_products_of_small_integers_are_exact(product: MatrixInstruction) -> None:
    a, b, c = operands(product)
    found = computed(product, a, b, c)
    np.testing.assert_array_equal(found.astype(np.int64), a @ b + c)
    held, index = matrix.compress_2to4(a) if product.is_sparse else (a, None)
    np.testing.assert_array_equal(found, matrix.reference(product.name, held, b, c, index))


@each(ALL)
def test_the_data_tell_a_transposed_or_permuted_operand_apart(product: MatrixInstruction) -> None:
    """What a wrong layout would compute differs in most elements from what the test above
    expects."""
    a, b, c = operands(product)
    found, k = a @ b + c, product.k
    swapped_runs = np.arange(k).reshape(2, 2, k // 4).transpose(1, 0, 2).ravel()
    swapped_neighbours = np.arange(k) ^ 1
    mutations = {
        "A's k in runs": a[:, swapped_runs] @ b,
        "A's k in pairs": a[:, swapped_neighbours] @ b,
        "B's k in runs": a @ b[swapped_runs],
        "A's rows upside down": a[::-1] @ b,
        "B's columns turned round": a @ b[:, ::-1],
        "D transposed": (a @ b + c).T - c,
        "A transposed in blocks of 16": a.reshape(16, -1, 16).transpose(2, 1, 0).reshape(16, k) @ b,
        "B transposed in blocks of 16": a @ b.reshape(-1, 16, 16).transpose(0, 2, 1).reshape(k, 16),
    }
    for name, wrong in mutations.items():
        assert (found != wrong + c).mean() > 0.5, name


@pytest.mark.sample(12)
@each(INTEGERS)
@pytest.mark.parametrize(("a_signed", "b_signed", "clamp"), FLAGS)
def test_integers_of_all_bits_with_signs_and_clamp(
    product: MatrixInstruction, a_signed: bool, b_signed: bool, clamp: bool
) -> None:
    random = np.random.default_rng(8 * clamp + 2 * a_signed + b_signed)
    limits = [(-(1 << BITS[kind] - 1), 1 << BITS[kind] - 1) if signed else (0, 1 << BITS[kind])
              for kind, signed in ((product.a, a_signed), (product.b, b_signed))]  # fmt: skip
    a = random.integers(*limits[0], (16, product.k))
    a = two_of_four(random, a) if product.is_sparse else a
    b = random.integers(*limits[1], (product.k, 16))
    c = random.integers(-(1 << 31), 1 << 31, (16, 16))
    c[0], c[1] = (1 << 31) - 1, -(1 << 31)
    found = computed(product, a, b, c, a_signed=a_signed, b_signed=b_signed, clamp=clamp)
    total = a @ b + c
    assert (total != total.astype(np.int32)).any()  # some saturate
    held, index = matrix.compress_2to4(a) if product.is_sparse else (a, None)
    flags = {"a_signed": a_signed, "b_signed": b_signed, "clamp": clamp}
    np.testing.assert_array_equal(found, matrix.reference(product.name, held, b, c, index, **flags))
    if not clamp:
        np.testing.assert_array_equal(found, total.astype(np.int32))


@pytest.mark.sample(16)
@each(FLOATS)
def test_floats_are_as_close_to_exact_sums_as_the_rule_says(product: MatrixInstruction) -> None:
    random = np.random.default_rng(4)
    kinds = (product.a, product.b, product.result)
    shapes = ((16, product.k), (product.k, 16), (16, 16))
    a, b, c = (
        random.standard_normal(s).astype(DTYPES[k]) for k, s in zip(kinds, shapes, strict=True)
    )
    a = two_of_four(random, a).astype(a.dtype) if product.is_sparse else a
    found = computed(product, a, b, c)
    held, index = matrix.compress_2to4(a) if product.is_sparse else (a, None)
    exact = a.astype(float) @ b.astype(float) + c.astype(float)
    bound = matrix.error_bound(product.name, held, b, c, index)
    assert (np.abs(found.astype(float) - exact) <= bound).all()
    assert np.abs(exact).max() > 1


@each([product for product in ALL if product.is_sparse])
def test_kept_places_need_not_ascend(product: MatrixInstruction) -> None:
    random = np.random.default_rng(5)
    held, b, c = (
        small(random, 16, product.k // 2),
        small(random, product.k, 16),
        small(random, 16, 16),
    )
    fours = [random.permutation(4)[:2] for _ in range(16 * product.k // 4)]
    index = np.array(fours).reshape(16, product.k // 2)
    assert (np.diff(index.reshape(-1, 2), axis=1) < 0).any()
    found = run(product.name, held, b, c, index).astype(np.int64)
    np.testing.assert_array_equal(found, matrix.expand_2to4(held, index) @ b + c)
