"""`x ** y` with exponents that are known at run time only, against NumPy in f64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from numpy.typing import NDArray

import amdjit
from amdjit import f32
from tests.api.lanes import DEVICE

EDGES = [
    0.0,
    -0.0,
    1,
    -1,
    2,
    -2,
    3,
    0.5,
    -0.5,
    math.inf,
    -math.inf,
    math.nan,
    1e-45,
    -3e-39,
    3e38,
    -3e38,
    16777217,
    1e9,
]


@amdjit.kernel
def powers(x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] ** y[i]


def on_the_device(x: NDArray[Any], y: NDArray[Any], dtype: Any) -> NDArray[Any]:
    out = np.zeros(len(x), dtype)
    with amdjit.use(DEVICE):
        powers[(len(x) + 255) // 256, 256](x, y, out)
    return out


def in_f64(x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return np.power(x.astype(np.float64), y.astype(np.float64))


def units_off(found: NDArray[np.float32], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances in units of the last place of f32 at the exact values."""
    with np.errstate(all="ignore"):
        place = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
        return np.abs(found.astype(np.float64) - exact) / place


def test_special_cases_are_cs() -> None:
    x, y = (np.ravel(side).astype(np.float32) for side in np.meshgrid(EDGES, EDGES))
    found = on_the_device(x, y, np.float32)
    with np.errstate(all="ignore"):
        expected = in_f64(x, y).astype(np.float32)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    clean = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[clean]), np.signbit(expected[clean]))
    np.testing.assert_allclose(found[clean], expected[clean], rtol=1.2e-7, atol=1.5e-45)


def samples(count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return bases of every size and near 1, with exponents whose powers f32 holds."""
    random = np.random.default_rng(8)
    x = np.exp2(random.uniform(-140, 127, count)).astype(np.float32)
    x[::3] = random.uniform(0.9, 1.1, len(x[::3]))
    limit = 126 / np.maximum(np.abs(np.log2(x.astype(np.float64))), 1e-3)
    y = (random.uniform(-1, 1, count) * np.minimum(limit, 1e5)).astype(np.float32)
    return x, y


@pytest.mark.parametrize("count", [20_000, pytest.param(2_000_000, marks=pytest.mark.exhaustive)])
def test_powers_are_the_nearest_number_or_beside_it(count: int) -> None:
    x, y = samples(count)
    exact = in_f64(x, y)
    off = units_off(on_the_device(x, y, np.float32), exact)
    assert off[np.isfinite(off) & (exact > 1e-38) & (exact < 3e38)].max() <= 0.9


@pytest.mark.parametrize("dtype", [np.float16, bfloat16])
def test_small_floats_are_computed_in_f32(dtype: Any) -> None:
    random = np.random.default_rng(9)
    x, y = random.uniform(0.1, 9, 2000).astype(dtype), random.uniform(-4, 4, 2000).astype(dtype)
    found = on_the_device(x, y, dtype)
    expected = in_f64(x, y).astype(np.float32).astype(dtype)
    assert (found.view(np.int16) - expected.view(np.int16) != 0).mean() < 0.001


@amdjit.kernel
def mixed(x, n, out):
    i = amdjit.grid(1)
    out[0, i] = x[i] ** n[i]
    out[1, i] = x[i] ** 0.5
    out[2, i] = x[i] ** -2
    out[3, i] = 2 ** x[i]
    out[4, i] = math.pow(x[i], f32(n[i]))
    out[5, i] = 2.5 ** x[i]


def test_integers_and_constants_beside_floats() -> None:
    x, n = np.linspace(0.5, 8, 32, dtype=np.float32), np.arange(-16, 16, dtype=np.int32)
    out = np.zeros((6, 32), np.float32)
    with amdjit.use(DEVICE):
        mixed[1, 32](x, n, out)
    wide = x.astype(np.float64)
    for row, exact in zip(
        out, (wide**n, wide**0.5, wide**-2.0, 2**wide, wide**n, 2.5**wide), strict=True
    ):
        assert units_off(row, exact).max() <= 0.9
