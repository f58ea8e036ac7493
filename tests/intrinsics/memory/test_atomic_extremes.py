"""`atomic.max` and `atomic.min` of floats mean the same on every processor, in global memory and in
LDS: a NaN counts as missing, and -0.0 is less than 0.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f32, f64, shared

PROCESSORS = (
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1100",
    "gfx1150",
    "gfx1200",
    "gfx1201",
)
NAN, INFINITY = float("nan"), float("inf")
PAIRS = (
    (1.0, 2.0), (2.0, 1.0), (-1.0, -2.0), (NAN, 1.0), (1.0, NAN), (NAN, NAN), (-NAN, -1.0),
    (-0.0, 0.0), (0.0, -0.0), (0.0, 0.0), (-0.0, -0.0), (NAN, -INFINITY), (INFINITY, NAN),
    (NAN, -0.0), (0.0, -1.0), (-0.0, 1.0),
)  # fmt: skip
"""What is in memory, and the value."""


def extreme(is_maximum: bool, element: float, value: float) -> float:
    """Return what IEEE 754's maximumNumber or minimumNumber is."""
    if np.isnan(element) or np.isnan(value):
        return value if np.isnan(element) else element
    ordered = sorted((element, value), key=lambda x: (x, np.copysign(1, x)))
    return ordered[1] if is_maximum else ordered[0]


def kernel_of(element: Any, is_maximum: bool, scope: str, level: int) -> Any:
    operation = atomic.max if is_maximum else atomic.min

    @amdjit.kernel(opt_level=level, warnings=False)
    def kernel(x, in_lds, unused, value, old, old_of_lds):
        i = amdjit.grid(1)
        tile = shared.array(32, element)
        tile[i] = in_lds[i]
        old[i] = operation(x, i, value[i], scope=scope)
        old_of_lds[i] = operation(tile, i, value[i], scope=scope)
        in_lds[i] = tile[i]
        operation(unused, i, value[i], scope=scope)

    return kernel


def bits(values: Any, dtype: Any) -> list[int]:
    """Return the bits, with those of one NaN for all of them."""
    array = np.array(values, dtype)
    array[np.isnan(array)] = np.nan
    return list(array.view(f"u{array.itemsize}"))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("processor", "scope"),
    [
        pytest.param(
            processor,
            scope,
            marks=() if number % 2 == (scope == "system") else pytest.mark.exhaustive,
        )
        for number, processor in enumerate(PROCESSORS)
        for scope in ("agent", "system")
    ],
)
def test_extremes_mean_the_same_everywhere(processor: str, scope: str) -> None:
    level = 0 if scope == "system" else 3
    elements, values = zip(*PAIRS, strict=True)
    with amdjit.use(f"emulator:{processor}"):
        for element, is_maximum in ((f32, True), (f32, False), (f64, True), (f64, False)):
            dtype = element.dtype
            memory = [np.array(elements, dtype) for _ in range(3)]
            old = [np.zeros(len(PAIRS), dtype) for _ in range(2)]
            kernel = kernel_of(element, is_maximum, scope, level)
            kernel[1, len(PAIRS)](*memory, np.array(values, dtype), *old)
            expected = [extreme(is_maximum, *pair) for pair in PAIRS]
            for found in memory:
                assert bits(found, dtype) == bits(expected, dtype)
            for found in old:
                assert bits(found, dtype) == bits(elements, dtype)


@pytest.mark.sample(2)
@pytest.mark.parametrize("processor", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("element", [f32, f64])
def test_one_of_many_lanes_finds_the_nan(processor: str, element: Any) -> None:
    @amdjit.kernel
    def kernel(x, old, old_of_lds):
        i, t = amdjit.grid(1), amdjit.threadIdx.x
        tile = shared.array(1, element)
        if t == 0:
            tile[0] = x[1]
        amdjit.syncthreads()
        old[i] = atomic.max(x, 0, element(i % 37))
        old_of_lds[i] = atomic.max(tile, 0, element(i % 41))
        amdjit.syncthreads()
        if t == 0:
            x[2 + amdjit.blockIdx.x] = tile[0]

    with amdjit.use(f"emulator:{processor}"):
        x = np.full(6, np.nan, element.dtype)
        old, old_of_lds = np.zeros((2, 512), element.dtype)
        kernel[4, 128](x, old, old_of_lds)
    assert x[0] == 36
    assert list(x[2:]) == [40] * 4
    assert np.isnan(old).sum() == 1
    assert list(np.isnan(old_of_lds).reshape(4, 128).sum(axis=1)) == [1] * 4
