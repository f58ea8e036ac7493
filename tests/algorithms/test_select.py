"""`compact`, `unique` and `histogram` against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from tests.algorithms.whole_array_cases import (
    BORDERS,
    FLOATS,
    FP8,
    INTEGERS,
    PAIR,
    borders,
    numbers,
    on_device,
    same,
    views,
)

EVERY_RESULT = {"return_index": True, "return_inverse": True, "return_counts": True}


def positive(value):
    return value > 0


@settings(max_examples=20)
@given(borders, st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 9))
def test_a_mask_chooses_elements_in_their_order(n: int, share: float, seed: int) -> None:
    x = np.arange(n, dtype=np.int32)
    mask = np.random.default_rng(seed).random(n) < share
    same(amdjit.compact(x, mask), x[mask])


@settings(max_examples=6)
@given(views(np.float32))
def test_a_predicate_chooses_elements_of_any_view(array: Any) -> None:
    same(amdjit.compact(on_device(array), positive), np.atleast_1d(array)[np.atleast_1d(array) > 0])


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [np.bool_, np.complex64])
def test_elements_of_every_type_are_chosen(dtype: Any) -> None:
    x = numbers((20, 30), dtype)
    mask = np.random.default_rng(1).random((20, 30)) < 0.5
    same(amdjit.compact(x, mask), x[mask])


def test_records_are_chosen_into_out() -> None:
    records = numbers(500, np.int32).astype(PAIR)
    out = np.zeros(500, PAIR)
    found = amdjit.compact(records, lambda record: record.a > 1, out=out)
    assert found.base is out
    assert found.tolist() == records[records["a"] > 1].tolist()
    device = amdjit.zeros(500, np.float64)
    numbers_in = amdjit.to_device(np.arange(500))
    part = amdjit.compact(numbers_in, np.arange(500) % 2 == 0, out=device)
    same(part, np.arange(0, 500, 2, dtype=np.float64))
    same(device[:250], np.arange(0, 500, 2, dtype=np.float64))


@pytest.mark.sample(2)
@pytest.mark.parametrize("shift", [0, 1, 30_000])
def test_out_may_be_the_array_itself_or_overlap_it(shift: int) -> None:
    rng = np.random.default_rng(shift)
    x, mask = rng.integers(0, 1000, 60_000), rng.random(60_000) < 0.99
    memory = amdjit.to_device(np.concatenate([x, x]))
    same(amdjit.compact(memory[:60_000], mask, out=memory[shift:]), x[mask])
    flags = amdjit.to_device(mask)
    same(amdjit.compact(flags, flags, out=flags), mask[mask])


@settings(max_examples=12)
@given(st.sampled_from([0, 1, 31, 33, 511, 512, 4097, 9001]), st.integers(0, 3))
def test_unique_elements_are_numpys(n: int, seed: int) -> None:
    x = numbers(n, np.int8, seed)
    for found, expected in zip(
        amdjit.unique(x, **EVERY_RESULT), np.unique(x, **EVERY_RESULT), strict=True
    ):
        same(found, expected)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, FP8, np.bool_])
@pytest.mark.parametrize("n", BORDERS)
def test_unique_elements_of_every_type(dtype: Any, n: int) -> None:
    x = numbers(n, dtype)
    expected = np.unique(x.astype(np.float64), **EVERY_RESULT)
    found = amdjit.unique(x, **EVERY_RESULT)
    same(found[0], expected[0].astype(dtype))
    for one, other in zip(found[1:], expected[1:], strict=True):
        same(one, other)


def test_storage_types_are_unique_too() -> None:
    x = numbers(100, FP8)
    same(amdjit.unique(x), np.unique(x.astype(np.float32)).astype(FP8))


def test_nan_counts_once_and_inverse_has_the_shape() -> None:
    x = np.array([[np.nan, 1.0, -0.0], [0.0, np.nan, 1.0]], np.float32)
    values, inverse, counts = amdjit.unique(
        amdjit.to_device(x), return_inverse=True, return_counts=True
    )
    same(values, np.array([-0.0, 1, np.nan], np.float32))
    same(inverse, np.array([[2, 1, 0], [0, 2, 1]]))
    same(counts, np.array([2, 2, 2]))


def check_histogram(x: Any, bins: Any = 10, ends: Any = None) -> None:
    found, expected = amdjit.histogram(x, bins, ends), np.histogram(x, bins, ends)
    same(found[0], expected[0])
    same(found[1], expected[1])


@settings(max_examples=15)
@given(borders, st.sampled_from([1, 7, 5000]), st.sampled_from([None, (-1, 2.5), (0, 7)]))
def test_uniform_bins_are_numpys(n: int, bins: int, ends: Any) -> None:
    x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    check_histogram(x, bins, ends)


@settings(max_examples=10)
@given(st.lists(st.floats(-4, 4, width=32), min_size=2, max_size=9).map(sorted))
def test_given_edges_are_numpys(edges: list[float]) -> None:
    check_histogram(numbers(500, np.float32), np.array(edges, np.float32))


@pytest.mark.parametrize("dtype", [np.int16])
def test_integers_are_counted_one_by_one(dtype: Any) -> None:
    x = numbers((30, 40), dtype)
    check_histogram(x, 5, (0, 5))  # the last bin holds 4 and 5
    check_histogram(x, 8, (-2, 6))
    check_histogram(x)
    same(amdjit.histogram(x, 6, (0, 6))[0], np.bincount(x[x >= 0].ravel(), minlength=6))


def test_values_on_edges_are_in_the_bin_that_begins_there() -> None:
    edges = np.linspace(0, 1, 101, dtype=np.float32)
    beside = [np.nextafter(edges, np.float32(2)), np.nextafter(edges, np.float32(-2))]
    x = np.concatenate([edges, *beside, [np.float32(np.nan)]])
    found, _ = amdjit.histogram(x, 100, (0, 1))
    inside = x[(x >= 0) & (x <= 1)]
    bins = np.minimum(np.searchsorted(edges, inside, side="right") - 1, 99)
    same(found, np.bincount(bins, minlength=100))


def test_arrays_of_the_device_stay_there() -> None:
    device = amdjit.to_device(np.arange(10, dtype=np.int32))
    results = [
        amdjit.compact(device, positive),
        amdjit.unique(device),
        *amdjit.histogram(device, stream=amdjit.Stream()),
    ]
    assert all(isinstance(result, amdjit.DeviceArray) for result in results)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: amdjit.compact(x, x), TypeError, "mask holds int32: give booleans"),
        (lambda x: amdjit.compact(x, x[:2] > 0), ValueError, r"mask has shape \(2,\)"),
        (lambda x: amdjit.compact(x, x >= 0, out=x[:1].copy()), ValueError, "3 elements are to"),
        (lambda x: amdjit.unique(x + 1j), TypeError, "unique takes numbers"),
        (lambda x: amdjit.histogram(x, 0), ValueError, "at least one bin"),
        (lambda x: amdjit.histogram(x, "auto"), TypeError, "give an integer, or an array of edges"),
        (lambda x: amdjit.histogram(x, [2, 1]), ValueError, "that increase"),
        (lambda x: amdjit.histogram(x, 3, (2, 1)), ValueError, "max must be larger than min"),
        (lambda x: amdjit.histogram(x / 0), ValueError, "not finite"),
        (lambda x: amdjit.histogram(x + 1j), TypeError, "takes real numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_mistakes_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(np.arange(3, dtype=np.int32))
