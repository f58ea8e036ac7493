"""A lane's elements: their places, the rows and columns they are in, and sums and extremes over
them."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import static_range
from amdjit.intrinsics import matrix
from amdjit.types import bf16, f16, f32, f64, i8, i32, u32
from tests.matrix.fragment_kernels import COL, ROW, marked

pytestmark = pytest.mark.usefixtures("device")

A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator
UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.fmin, "max": np.fmax, "maximum": np.maximum}


def spreading(
    use: Any, m: int, n: int, k: int, dtype: Any, wave_size: int, axis: int, operation: str
) -> Any:
    """Return a kernel that replaces each element by what its row or column comes to, and copies by
    places."""

    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def spread(a, d, copy):
        part = matrix.fragment(use, m, n, k, dtype, ROW)
        matrix.load_matrix_sync(part, a)
        found = matrix.reduce(part, axis, operation)
        for i in static_range(part.num_elements):
            row, column = matrix.place_of(part, i)
            if row < a.shape[0] and column < a.shape[1]:
                copy[row, column] = part.x[i]
            part.x[i] = found[matrix.column_of(part, i) if axis == 0 else matrix.row_of(part, i)]
        matrix.store_matrix_sync(d, part)

    return spread


FRAGMENTS = [
    (C, 32, 48, 16, f32), (C, 21, 10, 16, i32), (A, 32, 16, 48, f16), (B, 16, 33, 20, f64),
    (A, 16, 16, 64, i8),
    (C, 16, 16, 16, bf16), (C, 5, 40, 16, u32),
]  # fmt: skip
CASES = list(itertools.product(FRAGMENTS, (32, 64), (0, 1)))


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", marked(CASES, CASES[::5] + CASES[17:18]), ids=str)
def test_rows_and_columns_are_reduced(case: Any) -> None:
    (use, m, n, k, dtype), wave_size, axis = case
    rows, columns = {A: (m, k), B: (k, n), C: (m, n)}[use]
    a = (
        np.random.default_rng(rows)
        .integers(-9 if dtype is not u32 else 2, 10, (rows, columns))
        .astype(dtype.dtype)
    )
    for operation in ("add", "min", "maximum"):
        d, copy = np.zeros_like(a), np.zeros_like(a)
        spreading(use, m, n, k, dtype, wave_size, axis, operation)[1, wave_size](a, d, copy)
        expected = (
            UFUNCS[operation].reduce(a.astype(float), axis=axis, keepdims=True).astype(dtype.dtype)
        )
        np.testing.assert_array_equal(
            d.astype(float), np.broadcast_to(expected, a.shape).astype(float)
        )
        np.testing.assert_array_equal(copy.astype(float), a.astype(float))


@pytest.mark.parametrize(("operation", "spreads"), [("max", False), ("maximum", True)])
def test_nan_is_passed_over_or_not(operation: str, spreads: bool) -> None:
    a = np.random.default_rng(1).standard_normal((16, 16)).astype(np.float32)
    a[3, 5] = np.nan
    d, copy = np.zeros_like(a), np.zeros_like(a)
    spreading(C, 16, 16, 16, f32, 32, 1, operation)[1, 32](a, d, copy)
    np.testing.assert_array_equal(d[:, 0], UFUNCS[operation].reduce(a, axis=1))
    assert np.isnan(d[3]).all() == spreads


def test_columns_of_an_accumulator_take_one_exchange_and_rows_four() -> None:
    """Two elements in one `v_maximum3_f32`; nothing through LDS."""

    def code(axis: int) -> str:
        @amdjit.kernel(block=32)
        def highest(a, d):
            part = matrix.fragment(C, 64, 16, 16, f32, COL)
            matrix.load_matrix_sync(part, a)
            d[amdjit.threadIdx.x] = matrix.reduce(part, axis, "maximum")[0]

        return str(highest.compile(f32[:, :], f32[:]).asm_full)

    columns, rows = code(0), code(1)
    assert columns.count("v_maximum3_f32") == 15
    assert columns.count("v_permlanex16_b32") == 1
    assert rows.count("row_xmask") == 4
    assert not re.search("ds_|scratch_", columns + rows)


def test_numbers_of_lines_are_those_of_all_accumulators() -> None:
    """Sums of rows and columns of one are used for others with as many rows or columns."""

    @amdjit.kernel(block=32)
    def scale(a, d, e):
        part = matrix.fragment(C, 32, 16, 16, f32, ROW)
        tall, wide = (
            matrix.fragment(C, 48, 16, 16, f32, ROW),
            matrix.fragment(C, 32, 48, 16, f32, ROW),
        )
        matrix.load_matrix_sync(part, a)
        columns, rows = matrix.reduce(part, 0), matrix.reduce(part, 1)
        for i in static_range(tall.num_elements):
            tall.x[i] = columns[matrix.column_of(tall, i)]
        for i in static_range(wide.num_elements):
            wide.x[i] = rows[matrix.row_of(wide, i)]
        matrix.store_matrix_sync(d, tall)
        matrix.store_matrix_sync(e, wide)

    a = np.random.default_rng(2).integers(-9, 9, (32, 16)).astype(np.float32)
    d, e = np.zeros((48, 16), np.float32), np.zeros((32, 48), np.float32)
    scale[1, 32](a, d, e)
    np.testing.assert_array_equal(d, np.broadcast_to(a.sum(axis=0), d.shape))
    np.testing.assert_array_equal(e, np.broadcast_to(a.sum(axis=1)[:, None], e.shape))
