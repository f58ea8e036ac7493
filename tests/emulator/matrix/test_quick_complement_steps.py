"""gfx11's products of ordinary operands, and of those just beyond: bit for bit those of the scalar
model.

Factors and accumulators are drawn near the limits of the quick form: zeros of both signs, subnormal
numbers, wide gaps between exponents and sums that cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit.emulator.instructions.matrix.layouts import Matrix
from tests.emulator.matrix.test_repeated_products import FLOATS, expected, name_of, product

Registers = NDArray[np.uint32]
# Exponent fields of factors and of accumulators in f32: ordinary, and up to two beyond the limits.
FACTORS = {"f16": (0, 30), "bf16": (127 - 37, 127 + 37)}
ADDENDS = {"f32": (28, 245), "f16": (1, 28), "bf16": (28, 245)}
FRACTIONS = {"f16": 10, "bf16": 7, "f32": 23}


def drawn(
    random: np.random.Generator, kind: str, fields: tuple[int, int], shape: tuple[int, int]
) -> NDArray[Any]:
    """Return bits of numbers with these fields: all over the range or within a few, and zeros."""
    low, high = fields
    if random.random() < 0.5:
        low = int(random.integers(low, high + 1))
        high = min(high, low + int(random.integers(0, 12)))
    bits = random.integers(low, high + 1, shape) << FRACTIONS[kind]
    fraction = random.integers(0, 1 << FRACTIONS[kind], shape)
    bits |= np.where(random.random(shape) < 0.3, 0, fraction)
    bits = np.where(random.random(shape) < random.choice([0.0, 0.1, 0.9]), 0, bits)
    signs = random.random(shape) < random.choice([0.0, 0.5, 1.0])
    width = 32 if kind == "f32" else 16
    return bits | signs.astype(np.int64) << width - 1


def halves(
    random: np.random.Generator, kind: str, fields: Any, lanes: int, count: int
) -> Registers:
    low, high = (drawn(random, kind, fields, (count, lanes)) for _ in range(2))
    return np.ascontiguousarray((low | high << 16).astype(np.uint32))


def operands(random: np.random.Generator, matrix: Matrix) -> tuple[Registers, ...]:
    """Return registers of A, B, C and D before."""
    beyond = int(random.integers(0, 3)) if random.random() < 0.3 else 0
    low, high = FACTORS[matrix.a]
    if matrix.result == "f16":
        high = 19 if random.random() < 0.7 else 20
    factors = max(low - beyond, 0), min(high + beyond, 30 if matrix.a == "f16" else 254)
    low, high = ADDENDS[matrix.result]
    addends = max(low - beyond, 0), high + beyond
    lanes, results = matrix.wave_size, matrix.result_dwords
    a, b = (halves(random, matrix.a, factors, lanes, 8) for _ in range(2))
    if matrix.result == "f32":
        c = drawn(random, "f32", addends, (results, lanes)).astype(np.uint32)
    else:
        c = halves(random, matrix.result, addends, lanes, results)
    return a, b, c, random.integers(0, 1 << 32, c.shape, np.uint32)


def check(matrix: Matrix, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b, c, d = operands(random, matrix)
    modes = {"clamps": seed % 2, "half": seed // 2 % 2}
    found = product(matrix, a, b, c, d, **modes)
    np.testing.assert_array_equal(found, expected(matrix, a, b, c, d, **modes), err_msg=str(seed))


@pytest.mark.sample(2)
@pytest.mark.parametrize("matrix", FLOATS, ids=name_of)
def test_products_at_the_limits_of_the_quick_form(matrix: Matrix) -> None:
    for seed in range(6 if matrix.wave_size == 32 else 2):
        check(matrix, seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1000, 3000, 100))
@pytest.mark.parametrize("matrix", FLOATS, ids=name_of)
def test_many_products_at_the_limits_of_the_quick_form(matrix: Matrix, first: int) -> None:
    for seed in range(first, first + 100):
        check(matrix, seed)
