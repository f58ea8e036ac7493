"""`sort` and `argsort` against NumPy's stable sort: types, special values, axes, keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from tests.algorithms.whole_array_cases import (
    BF8,
    BF16,
    BORDERS,
    FLOATS,
    FP8,
    INTEGERS,
    numbers,
    on_device,
    same,
    views,
)

EVERY = [*INTEGERS, *FLOATS, FP8, BF8, np.bool_]


def any_bits(n: int, dtype: Any, seed: int = 1) -> Any:
    """Return numbers of random bits: NaN of both signs, infinities, subnormals, both zeros."""
    random = np.random.default_rng(seed)
    if dtype == np.bool_:
        return random.integers(0, 2, n).astype(np.bool_)
    found = random.integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    found[::5] = 0
    if np.dtype(dtype).kind not in "iu":
        found[1::7] = -0.0
        found[2::11] = np.nan
    return found


def order(array: Any) -> Any:
    """Return NumPy's stable order. Types that NumPy sorts without NaN in mind go through f32."""
    wide = array.astype(np.float32) if array.dtype in (BF16, FP8, BF8) else array
    return np.argsort(wide, kind="stable")


def check_sort(array: Any) -> None:
    """Values are compared by their bits: which zero, and which NaN, stands where."""
    expected = array[order(array)]
    assert amdjit.sort(array).tobytes() == expected.tobytes()
    same(amdjit.argsort(array), order(array))


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [np.float32, FP8])
def test_numbers_of_any_bits_come_in_numpys_order(dtype: Any) -> None:
    check_sort(any_bits(200, dtype))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("n", BORDERS[1:])
def test_numbers_of_any_bits_at_every_border(dtype: Any, n: int) -> None:
    check_sort(any_bits(n, dtype, n))


@settings(max_examples=15)
@given(st.sampled_from([0, 1, 31, 33, 511, 512, 4097, 9001]), st.integers(0, 3))
def test_sizes_at_the_borders_of_waves_and_tiles(n: int, seed: int) -> None:
    check_sort(any_bits(n, np.int8, seed))


@settings(max_examples=8)
@given(views(np.int8, least_axes=1), st.data())
def test_all_axes_of_all_views_are_sorted(array: Any, data: st.DataObject) -> None:
    axis = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
    device = on_device(array)
    same(amdjit.sort(device, axis), np.sort(array, axis))
    same(amdjit.argsort(device, axis), np.argsort(array, axis, kind="stable"))


def test_long_rows_are_sorted_each_by_itself() -> None:
    rows = any_bits(3 * 4500, np.int8).reshape(3, 4500)
    same(amdjit.argsort(rows), np.argsort(rows, kind="stable"))
    same(amdjit.sort(rows.T, 0), np.sort(rows.T, 0))


@settings(max_examples=8)
@given(st.sampled_from([1, 40, 256]), st.booleans())
def test_descending_keeps_the_order_of_equal_elements(n: int, is_sorted: bool) -> None:
    x = numbers(n, np.int8)
    same(amdjit.argsort(x, descending=True), np.argsort(-x, kind="stable"))
    same(amdjit.sort(x, descending=True), x[np.argsort(-x, kind="stable")])


def test_descending_floats_begin_with_nan() -> None:
    x = np.array([1, np.nan, -0.0, 0.0, np.inf, -np.inf], np.float32)
    found = amdjit.sort(x, descending=True)
    assert found.tobytes() == x[[1, 4, 0, 2, 3, 5]].tobytes()


def test_complex_numbers_and_records_are_compared_part_by_part() -> None:
    random = np.random.default_rng(3)
    parts = random.choice([0.0, -0.0, 1.0, -1.0, np.nan, np.inf], (2, 300))
    x = np.empty(300, np.complex64)
    x.real, x.imag = parts
    assert amdjit.sort(x).tobytes() == np.sort(x, kind="stable").tobytes()
    packed = np.zeros(300, [("a", "i1"), ("b", "f4")])
    for name in packed.dtype.names or ():
        packed[name] = random.integers(0, 4, 300)
    assert amdjit.sort(packed).tobytes() == np.sort(packed, kind="stable").tobytes()
    same(amdjit.argsort(packed), np.argsort(packed, kind="stable"))


def test_a_key_decides_the_order() -> None:
    x = numbers(200, np.int32)
    same(amdjit.sort(x, key=abs), x[np.argsort(abs(x), kind="stable")])
    pairs = amdjit.argsort(x, key=lambda v: (v % 3, -v))
    same(pairs, np.lexsort((-x, x % 3)))


def test_out_and_streams() -> None:
    x = any_bits(60, np.int8).reshape(6, 10)
    device = amdjit.to_device(x)
    assert amdjit.sort(device, 0, out=device, stream=amdjit.Stream()) is device
    same(device, np.sort(x, 0))
    out = np.zeros((6, 10), np.float64)
    amdjit.sort(x, out=out)
    same(out, np.sort(x).astype(np.float64))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: amdjit.sort(x, 1), ValueError, "axis 1 is not there"),
        (lambda x: amdjit.sort(x, out=np.zeros(2)), ValueError, "out has shape"),
        (lambda x: amdjit.sort(np.array(["a"])), TypeError, "no type for elements"),
        (
            lambda x: amdjit.sort(x.astype(">i4")),
            TypeError,
            r"of >i4: convert them, .astype\('i4'\)",
        ),
        (lambda x: amdjit.sort(x.astype("M8[s]")), TypeError, r"numbers, .view\(numpy.int64\)"),
        (lambda x: amdjit.sort(x, key=lambda v: None), TypeError, "returns nothing"),
        (lambda x: amdjit.sort(np.float32(1)), ValueError, "axis -1 is not there"),
    ],
)
def test_mistakes_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(np.arange(3, dtype=np.int8))
