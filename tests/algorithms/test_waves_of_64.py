"""Whole-array functions on processors whose waves have 64 lanes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit


def numbers(dtype: Any) -> tuple[Any, Any]:
    """Return numbers, some of them several times, and which of them are chosen."""
    random = np.random.default_rng(5)
    x = random.integers(-4000, 4000, 9_000).astype(dtype)
    return x, random.random(x.size) < 0.3


# A kernel has the same waves on both processors.
ON = [("gfx90a", np.float32), ("gfx942", np.int64)]
MORE = [pytest.param(*each, marks=pytest.mark.exhaustive) for each in ON]


@pytest.mark.parametrize(("processor", "dtype"), [ON[0], MORE[1]])
def test_elements_are_sorted_and_scanned(processor: str, dtype: Any) -> None:
    x, _ = numbers(dtype)
    with amdjit.use(f"emulator:{processor}"):
        d = amdjit.to_device(x)
        np.testing.assert_array_equal(amdjit.sort(d).copy_to_host(), np.sort(x))
        sums = amdjit.inclusive_scan(max, d).copy_to_host()
        np.testing.assert_array_equal(sums, np.maximum.accumulate(x))


@pytest.mark.parametrize(("processor", "dtype"), [MORE[0], ON[1]])
def test_elements_are_ordered_selected_and_combined(processor: str, dtype: Any) -> None:
    x, flags = numbers(dtype)
    with amdjit.use(f"emulator:{processor}"):
        d = amdjit.to_device(x)
        found = amdjit.argsort(d).copy_to_host()
        np.testing.assert_array_equal(found, np.argsort(x, kind="stable"))
        np.testing.assert_array_equal(amdjit.unique(d).copy_to_host(), np.unique(x))
        found = amdjit.compact(d, amdjit.to_device(flags)).copy_to_host()
        np.testing.assert_array_equal(found, x[flags])
        assert amdjit.reduce(min, d).copy_to_host() == x.min()
