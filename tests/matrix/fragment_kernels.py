"""Kernels over fragments: products of any types and layouts, copies, and what is compared with
them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import blockIdx
from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.parameters import Nibble, stored_type
from amdjit.types import i8, u8
from tests.matrix.tested_devices import is_gfx11

Matrix = np.ndarray[Any, Any]
A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator
ROW, COL = matrix.row_major, matrix.col_major


@cache
def product_kernel(
    a: Any, b: Any, c: Any, m: int, n: int, k: int, layouts: tuple[Any, ...], wave: int
) -> Any:
    """Return a kernel D = A B + C of one tile a workgroup; layouts: of A, B, and of C and D."""
    a_layout, b_layout, c_layout = layouts

    @amdjit.kernel(block=wave, wave_size=wave)
    def kernel(a_matrix, b_matrix, c_matrix, d_matrix, depth):
        row, column = m * blockIdx.y, n * blockIdx.x
        left = matrix.fragment(matrix.matrix_a, m, n, k, a, a_layout)
        right = matrix.fragment(matrix.matrix_b, m, n, k, b, b_layout)
        total = matrix.fragment(matrix.accumulator, m, n, k, c, c_layout)
        place = (row, column) if c_layout is ROW else (column, row)
        matrix.load_matrix_sync(total, c_matrix, place)
        for step in range(0, depth, k):
            matrix.load_matrix_sync(left, a_matrix, at(row, step, a_layout, unit))
            matrix.load_matrix_sync(right, b_matrix, at(step, column, b_layout, unit))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d_matrix, total, place)

    unit = 2 if isinstance(a, Nibble) else 1
    return kernel


@amdjit.device_function
def at(row, column, layout, unit):
    """Return the indices of an element; unit: how many share a byte."""
    return (row, column // unit) if layout is ROW else (column, row // unit)


def numpy_type(dtype: Any) -> Any:
    """Return the type of a matrix's elements on the host, before 4-bit ones are packed."""
    found = {Nibble.I4: np.dtype(np.int8), Nibble.U4: np.dtype(np.uint8)}.get(dtype)
    return found or stored_type(dtype).dtype


def limits(dtype: Any) -> tuple[int, int]:
    """Return bounds of random integers that make exact sums."""
    if isinstance(dtype, Nibble):
        return (-8, 8) if dtype is Nibble.I4 else (0, 16)
    if dtype in (i8, u8):
        return (-128, 128) if dtype is i8 else (0, 256)
    return -3, 4


def exact(low: int, high: int) -> tuple[int, int]:
    """Return bounds of random integers, of which the current device's sums of floats are exact:
    those of gfx11 only if nothing cancels."""
    return (0, high) if is_gfx11() else (low, high)


def exact_limits(dtype: Any) -> tuple[int, int]:
    """Return `limits`, with the bounds of `exact` for floats."""
    is_float = not isinstance(dtype, Nibble) and dtype.is_float
    return exact(*limits(dtype)) if is_float else limits(dtype)


def in_memory(values: Matrix, dtype: Any, layout: Any) -> Matrix:
    """Return a matrix as it lies in memory: 4-bit elements two a byte."""
    lying = np.ascontiguousarray(values if layout is ROW else values.T).astype(numpy_type(dtype))
    if not isinstance(dtype, Nibble):
        return lying
    bits = lying.view(np.uint8) & 15
    return bits[:, ::2] | bits[:, 1::2] << 4


def marked(cases: Iterable[Any], often: Iterable[Any]) -> list[Any]:
    """Return cases for `parametrize`, of which others than those to run often run when all are
    asked for."""
    chosen = list(often)
    return [
        case if case in chosen else pytest.param(case, marks=pytest.mark.exhaustive)
        for case in cases
    ]


def converting(
    source: Any, target: Any, dtype: Any, rows: int, columns: int, layouts: Any, wave_size: int
) -> Any:
    @amdjit.kernel(block=wave_size, wave_size=wave_size)
    def convert(a, d):
        part = matrix.fragment(source, *first, dtype, layouts[0])
        matrix.load_matrix_sync(part, a)
        other = matrix.apply_fragment(part, target, *second, dtype, layouts[1])
        matrix.store_matrix_sync(d, other)

    first, second = sizes(source, rows, columns), sizes(target, rows, columns)
    return convert


def check_conversion(
    uses: Any, dtype: Any, rows: int, columns: int, layouts: Any, wave_size: int
) -> None:
    values = (
        np.random.default_rng(rows + columns).permutation(rows * columns).reshape(rows, columns)
        % 251
    )
    expected = values.astype(dtype.dtype)
    a = np.ascontiguousarray(expected if layouts[0] is ROW else expected.T)
    d = np.zeros((rows, columns) if layouts[1] is ROW else (columns, rows), dtype.dtype)
    converting(*uses, dtype, rows, columns, layouts, wave_size)[1, wave_size](a, d)
    np.testing.assert_array_equal(
        (d if layouts[1] is ROW else d.T).astype(float), expected.astype(float)
    )


def sizes(use: Any, rows: int, columns: int) -> tuple[int, int, int]:
    """Return m, n, k of a fragment that is a matrix of these rows and columns."""
    return {A: (rows, 16, columns), B: (16, columns, rows), C: (rows, columns, 16)}[use]
