"""Matrices for sparse products."""

from __future__ import annotations

from typing import Any

import numpy as np

Matrix = np.ndarray[Any, Any]


def two_of_four(random: np.random.Generator, dense: Matrix) -> Matrix:
    """Keep two random ones of each four in a row, at times one or none."""
    order = np.argsort(random.random((len(dense), dense.shape[1] // 4, 4)), axis=2)
    return np.where(order.reshape(dense.shape) < 2, dense, 0)


def distinct_places(random: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    """Return an index whose pairs are two of 0 to 3 in any order."""
    pairs: Matrix = np.argsort(random.random((shape[0], shape[1] // 2, 4)), axis=2)[..., :2]
    return pairs.reshape(shape)
