"""Data of rocWMMA's tests, and its rule of how far results may be from the reference."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from amdjit.intrinsics import matrix
from amdjit.intrinsics.matrix.operands.parameters import Nibble
from amdjit.types import Scalar, bf16, f16, u8
from tests.matrix.fragment_kernels import in_memory, limits, numpy_type

Matrix = np.ndarray[Any, Any]
ROW, COL = matrix.row_major, matrix.col_major
UNSIGNED = (u8, Nibble.U4)


def rocwmma_data(rows: int, columns: int, dtype: Any) -> Matrix:
    """Return v = t % 5 of the element's number t, negated if v % 3 != 0 and the type is signed: 0,
    -1, -2, 3, -4."""
    v = np.arange(rows * columns) % 5
    return (v if dtype in UNSIGNED else np.where(v % 3 != 0, -v, v)).reshape(rows, columns)


def random_data(rows: int, columns: int, dtype: Any) -> Matrix:
    """Return integers without any pattern, the same in each call: no order of rows, columns or k
    passes for another."""
    return np.random.default_rng(rows * 1000 + columns).integers(*limits(dtype), (rows, columns))


def ones(rows: int, columns: int, dtype: Any) -> Matrix:
    """Return what tells nothing apart."""
    return np.ones((rows, columns), int)


def signalling(count: int, dtype: Scalar) -> Matrix:
    """Return an array that nobody has written: NaN that signal, or for integers a pattern that the
    data lack."""
    patterns = {
        "fp8_fnuz": 0x80,
        "bf8_fnuz": 0x80,
        "f16": 0x7D01,
        "bf16": 0x7F81,
        "f32": 0x7F800001,
        "f64": 0x7FF0000000000001,
        "fp8": 0x7F,
        "bf8": 0x7D,
    }
    bits = patterns.get(dtype.name, 0x5A5A5A5A5A5A5A5A & (1 << dtype.bits) - 1)
    return np.full(count, bits, f"u{dtype.nbytes}").view(dtype.dtype)


def flat(values: Matrix, dtype: Any, layout: Any, padding: int) -> tuple[Matrix, int]:
    """Return a matrix as it lies in memory with a padded leading dimension, and that; padding is
    the largest value."""
    lying = in_memory(values, dtype, layout)
    ld = lying.shape[1] + padding
    kind = np.dtype(np.uint8) if isinstance(dtype, Nibble) else numpy_type(dtype)
    padded = np.full((len(lying), ld), largest(kind), kind)
    padded[:, : lying.shape[1]] = lying
    return padded.reshape(-1), ld


def largest(kind: np.dtype[Any]) -> Any:
    """Return a type's largest number."""
    return np.iinfo(kind).max if kind.kind in "iu" else ml_dtypes.finfo(kind).max


def exact_product(a: Matrix, b: Matrix) -> Matrix:
    """Return A B of integers; of float64 it is BLAS's, and sums below 2 to the 53 are exact."""
    product: Matrix = a.astype(np.float64) @ b.astype(np.float64)
    return product


def relative_error(found: Matrix, expected: Matrix) -> float:
    """Return rocWMMA's error: the largest |a - b| / (|a| + |b| + 1); infinity where something is no
    number."""
    with np.errstate(invalid="ignore"):
        a, b = found.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    return float((np.abs(a - b) / (np.abs(a) + np.abs(b) + 1)).max())


def tolerance(a: Matrix, b: Matrix, c: Matrix, out: Any, compute: Any) -> float:
    """Return how large that may be for 2 A B + 2 C: rocWMMA's 10 epsilon of the result's type, 100
    for 16-bit sums.

    None of integers, and none where each sum on the way is an integer that the types hold.
    """
    if not out.is_float:
        return 0.0
    largest_sum = 2 * exact_product(np.abs(a), np.abs(b)).max() + 2 * np.abs(c).max()
    exact = min(2 / float(ml_dtypes.finfo(type.dtype).eps) for type in (out, compute))
    if largest_sum <= exact:
        return 0.0
    return float(ml_dtypes.finfo(out.dtype).eps) * (100 if compute in (f16, bf16) else 10)
