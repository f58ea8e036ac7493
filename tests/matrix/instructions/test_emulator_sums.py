"""Products of floats on the emulator are those of the host's models, bit for bit: instructions and
fragments."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import bf8, bf16, f16, f32, fp8
from amdjit.intrinsics import matrix
from amdjit.intrinsics.models.matrix_layouts import MatrixInstruction
from tests.matrix.float_data import DATA, DTYPES, bits_of
from tests.matrix.instruction_kernels import run
from tests.matrix.sparse_data import distinct_places

FLOATS = [each for each in matrix.INSTRUCTIONS.values() if not each.is_integer]
ELEMENTS = {"f16": f16, "bf16": bf16, "fp8": fp8, "bf8": bf8, "f32": f32}


def each(instructions: list[MatrixInstruction]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("product", instructions, ids=lambda product: product.name)


@pytest.mark.sample(30)
@each(FLOATS)
@pytest.mark.parametrize("data", ["normal", "any_bits", "finite", "mixed", "tiny", "powers"])
def test_instructions_sum_as_the_host_does(product: MatrixInstruction, data: str) -> None:
    random = np.random.default_rng([FLOATS.index(product), list(DATA).index(data)])
    a = DATA[data](random, product.a, (16, product.held_k))
    b = DATA[data](random, product.b, (product.k, 16))
    c = DATA[data](random, product.result, (16, 16))
    index = random.integers(0, 4, a.shape) if product.is_sparse else None  # the same twice, too
    found = run(product.name, a, b, c, index)
    np.testing.assert_array_equal(
        bits_of(found), bits_of(matrix.reference(product.name, a, b, c, index))
    )


@cache
def fragment_kernel(product: MatrixInstruction, wide_k: bool) -> Any:
    """Return a kernel of 16 by 16 by 64 a step, in one wave."""
    left_type, right_type, sum_type = (
        ELEMENTS[kind] for kind in (product.a, product.b, product.result)
    )
    sparse = product.is_sparse
    use = matrix.sparse_a if sparse else matrix.matrix_a

    @amdjit.kernel(block=product.wave_size, wave_size=product.wave_size)
    def kernel(a, index, b, c, d):
        left = matrix.fragment(use, 16, 16, 64, left_type, matrix.row_major, wide_k=wide_k)
        right = matrix.fragment(
            matrix.matrix_b, 16, 16, 64, right_type, matrix.row_major, wide_k=wide_k
        )
        total = matrix.fragment(matrix.accumulator, 16, 16, 64, sum_type)
        matrix.load_matrix_sync(total, c)
        for k in range(0, b.shape[0], 64):
            if sparse:
                matrix.load_matrix_sync(left, a, (0, k // 2))
                matrix.load_index_sync(left, index, (0, k // 8))
            else:
                matrix.load_matrix_sync(left, a, (0, k))
            matrix.load_matrix_sync(right, b, (k, 0))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total)

    return kernel


def fragment_product(product: MatrixInstruction, wide_k: bool) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return D of fragments, the same by the host's model, and the operands."""
    random = np.random.default_rng(FLOATS.index(product))
    a = DATA["normal"](random, product.a, (16, 128 // (2 if product.is_sparse else 1)))
    b, c = (
        DATA["normal"](random, product.b, (128, 16)),
        DATA["normal"](random, product.result, (16, 16)),
    )
    index = distinct_places(random, a.shape) if product.is_sparse else None
    packed = np.zeros((16, 1), np.uint8) if index is None else matrix.pack_index(index)
    found = np.zeros((16, 16), DTYPES[product.result])
    with amdjit.use("emulator:gfx1201"):
        fragment_kernel(product, wide_k)[1, product.wave_size](a, packed, b, c, found)
    order = "wide_k" if wide_k else "fragment"
    return found, matrix.reference(product.name, a, b, c, index, order=order), (a, b, c, index)


@pytest.mark.sample(5)
@each(FLOATS)
def test_fragments_sum_in_the_order_that_the_host_is_told(product: MatrixInstruction) -> None:
    found, expected, _ = fragment_product(product, False)
    np.testing.assert_array_equal(bits_of(found), bits_of(expected))


@pytest.mark.sample(2)
@each([product for product in FLOATS if not product.is_sparse and product.layout("a").bits == 8])
def test_fragments_with_wide_k_sum_in_their_own_order(product: MatrixInstruction) -> None:
    found, expected, operands = fragment_product(product, True)
    np.testing.assert_array_equal(bits_of(found), bits_of(expected))
    assert (
        bits_of(expected) != bits_of(matrix.reference(product.name, *operands, order="fragment"))
    ).any()
