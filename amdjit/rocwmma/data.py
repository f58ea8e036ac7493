"""rocWMMA's matrices, and its rule of how far a result may be from the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.rocwmma.cases import ALPHA, BETA, Case, Layout
from amdjit.types import Scalar

__all__ = ["Problem", "largest_error", "problem_of", "tolerance", "unwritten"]

Matrix = np.ndarray[Any, Any]
# Of the types that results have.
_EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
# Patterns that no result has: signalling NaN, or bytes that the data lack.
_UNWRITTEN = {
    "f16": 0x7D01, "bf16": 0x7F81, "f32": 0x7F800001, "f64": 0x7FF0000000000001,
    "i8": 0x5A, "i32": 0x5A5A5A5A,
}  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """Matrices of a case as they lie in memory, flat, and their leading dimensions. expected: D as
    a matrix of float64."""

    a: Matrix
    b: Matrix
    c: Matrix
    ld_a: int
    ld_b: int
    ld_c: int
    expected: Matrix


def problem_of(case: Case) -> Problem:
    """Return rocWMMA's data of a case, and its reference: sums of the exact product, converted to
    the type of the sums and then to the result's."""
    m, n, k = case.size
    a, b, c = _pattern(m, k), _pattern(k, n), _pattern(m, n)
    of_sums, of_result = case.types.compute.dtype, case.types.output.dtype
    total = (a @ b).astype(of_sums)
    scaled = of_sums.type(ALPHA) * total + of_sums.type(BETA) * c.astype(of_sums)
    expected = scaled.astype(of_sums).astype(of_result).astype(np.float64)
    of_a, of_b, of_c = case.layouts
    return Problem(
        _flat(a, of_a, case.types.stored),
        _flat(b, of_b, case.types.stored),
        _flat(c, of_c, case.types.output),
        k if of_a is Layout.ROWS else m,
        n if of_b is Layout.ROWS else k,
        n if of_c is Layout.ROWS else m,
        expected,
    )


def _pattern(rows: int, columns: int) -> Matrix:
    """Return v = t % 5 of the element's number t, negated if v % 3 != 0: 0, -1, -2, 3, -4. Products
    of such matrices are exact in float64."""
    v = np.arange(rows * columns, dtype=np.float64) % 5
    return np.where(v % 3 != 0, -v, v).reshape(rows, columns)


def _flat(values: Matrix, layout: Layout, dtype: Scalar) -> Matrix:
    lying = values if layout is Layout.ROWS else values.T
    return np.ascontiguousarray(lying).astype(dtype.dtype).reshape(-1)


def unwritten(case: Case) -> Matrix:
    """Return memory for D that nobody has written."""
    m, n, _ = case.size
    dtype = case.types.output
    return np.full(m * n, _UNWRITTEN[dtype.name], f"u{dtype.nbytes}").view(dtype.dtype)


def largest_error(case: Case, problem: Problem, found: Matrix) -> float:
    """Return rocWMMA's error: the largest |a - b| / (|a| + |b| + 1); infinity where something is no
    number. found: D as it lies in memory."""
    m, n, _ = case.size
    d = found.reshape(m, n) if case.layouts[2] is Layout.ROWS else found.reshape(n, m).T
    with np.errstate(invalid="ignore"):  # signalling NaN where nothing was written
        values = d.astype(np.float64)
    if not np.isfinite(values).all():
        return float("inf")
    difference = np.abs(values - problem.expected)
    return float((difference / (np.abs(values) + np.abs(problem.expected) + 1)).max())


def tolerance(case: Case) -> float:
    """Return how large the error may be: 10 epsilon of the result's type, 100 for sums of 16 bits,
    none for integers."""
    output, compute = case.types.output, case.types.compute
    if not output.is_float:
        return 0.0
    return _EPSILON[output.name] * (100 if compute.bits < 32 else 10)
