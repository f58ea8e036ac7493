"""A fragment converted to another type is the same matrix, whichever lanes hold its elements."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import matrix
from amdjit.types import bf16, f16, f32, f64, fp8, i8, i32, u8
from tests.matrix.fragment_kernels import COL, ROW, in_memory, marked

pytestmark = pytest.mark.usefixtures("device")

A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator


def converting(
    use: Any, sizes: Any, source: Any, target: Any, layouts: Any, wave_size: int, wide_k: bool
) -> Any:
    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def kernel(a, d):
        part = matrix.fragment(use, *sizes, source, layouts[0], wide_k=wide_k)
        matrix.load_matrix_sync(part, a)
        matrix.store_matrix_sync(d, matrix.convert(part, target), layout=layouts[1])

    return kernel


CASES = [
    (A, 32, 64, matrix.i4, f16), (B, 96, 32, matrix.u4, f16), (A, 16, 32, matrix.u4, f32),
    (B, 64, 16, matrix.i4, i8),
    (A, 16, 64, matrix.i4, bf16), (A, 16, 32, f16, f32), (B, 16, 32, f32, f16),
    (C, 32, 16, f32, f16),
    (A, 16, 48, i8, f16), (A, 10, 20, f16, i8), (B, 16, 16, f32, fp8), (C, 16, 32, i32, f64),
    (A, 6, 84, matrix.u4, f16),
]  # fmt: skip
LAYOUTS = ((ROW, COL), (COL, ROW))
GRID = list(itertools.product(CASES, (32, 64), LAYOUTS))
# Each conversion, in waves of either size and with either pair of layouts.
OFTEN = [GRID[4 * number + number % 4] for number in range(len(CASES))]


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", marked(GRID, OFTEN), ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_matrix_is_the_same_in_another_type(case: Any) -> None:
    """The elements are small integers in random order, which both types hold."""
    (use, rows, columns, source, target), wave_size, layouts = case
    values = np.random.default_rng(rows).integers(
        0 if source is matrix.u4 else -8, 8, (rows, columns)
    )
    sizes = {A: (rows, 16, columns), B: (16, columns, rows), C: (rows, columns, 16)}[use]
    a, expected = in_memory(values, source, layouts[0]), in_memory(values, target, layouts[1])
    d = np.zeros_like(expected)
    converting(use, sizes, source, target, layouts, wave_size, False)[1, wave_size](a, d)
    np.testing.assert_array_equal(d.astype(float), expected.astype(float))


def test_both_may_have_k_in_an_order_of_their_own() -> None:
    values = np.random.default_rng(1).integers(0, 16, (16, 128))
    a, d = in_memory(values, matrix.u4, ROW), np.zeros((16, 128), np.uint8)
    converting(A, (16, 16, 128), matrix.u4, u8, (ROW, ROW), 32, True)[1, 32](a, d)
    np.testing.assert_array_equal(d, values)


def test_4_bit_elements_become_f16_in_two_instructions() -> None:
    """Two together: their bits below those of 1024, which is subtracted. One exchange between rows
    of lanes a register."""

    def count(rows: int) -> Any:
        kernel = converting(A, (rows, 16, 32), matrix.u4, f16, (ROW, ROW), 32, False)
        return str(kernel.compile(u8[:, :], f16[:, :]).asm_full)

    assert count(16).count("v_pk_add_f16") == 8
    assert count(16).count("v_permlanex16_b32") == 2
    vector = [len(re.findall(r"^\tv_", count(rows), re.MULTILINE)) for rows in (16, 32)]
    assert vector[1] - vector[0] <= 2 * 16


def test_the_sanitizer_has_nothing_to_say() -> None:
    values = np.random.default_rng(2).integers(-8, 8, (6, 70))
    a, d = in_memory(values, matrix.i4, ROW), np.zeros((6, 70), np.float16)
    with amdjit.sanitize("memory", "init", "sync"):
        converting(A, (6, 16, 70), matrix.i4, f16, (ROW, ROW), 32, False)[1, 32](a, d)
    np.testing.assert_array_equal(d, values)
