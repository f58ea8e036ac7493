"""`reduce` against NumPy: shapes, axes, types, order, bounds of rounding, mistakes."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit import f32
from amdjit.algorithms import views as algorithm_views
from tests.algorithms.whole_array_cases import (
    BF8,
    BF16,
    BORDERS,
    COMPLEX,
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


def composed(f, g):
    """The affine map f, then g: associative and not commutative."""
    return f.a * g.a, f.b * g.a + g.b


def spanning(f, g):
    """Neighbouring spans as one, which only neighbours become."""
    return f.a, g.b


def in_python(maps: Any) -> tuple[int, int]:
    with np.errstate(over="ignore"):
        return functools.reduce(
            lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), [(m["a"], m["b"]) for m in maps]
        )


def affine_maps(n: int) -> Any:
    maps = numbers(n, np.int32).astype(PAIR)
    maps["a"] = numbers(n, np.int32, 2) * 2 + 1
    return maps


@settings(max_examples=8)
@given(views(np.int32), st.data())
def test_all_axes_of_all_views_are_reduced_as_numpy_does(array: Any, data: st.DataObject) -> None:
    axes = st.lists(st.sampled_from(range(-array.ndim, array.ndim)), max_size=3)
    axis = data.draw(st.none() | axes.map(tuple) if array.ndim else st.none())
    if axis is not None and len({each % array.ndim for each in axis}) < len(axis):
        return
    keepdims = data.draw(st.booleans())
    expected = array.sum(axis, dtype=np.int32, keepdims=keepdims)
    same(amdjit.reduce(operator.add, on_device(array), axis, keepdims=keepdims), expected)


@settings(max_examples=15)
@given(borders, st.integers(1, 3))
def test_the_order_of_elements_is_kept(n: int, rows: int) -> None:
    maps = affine_maps(n * rows).reshape(rows, n)
    found = amdjit.reduce(composed, maps, 1, init=(3, 4))
    for row, result in zip(maps, found, strict=True):
        first = np.array([(3, 4)], PAIR)
        assert in_python(np.concatenate([first, row])) == tuple(result)


def test_the_order_is_kept_between_parts_and_along_the_first_axis() -> None:
    maps = affine_maps(20_000)
    assert tuple(amdjit.reduce(composed, maps)) == in_python(maps)
    columns = maps.reshape(500, 40)
    found = amdjit.reduce(composed, columns, 0)
    assert [tuple(each) for each in found] == [in_python(column) for column in columns.T]
    ends = np.zeros((40, 3, 50), PAIR)
    ends["a"] = ends["b"] = np.arange(6000).reshape(ends.shape)
    # Several axes: in C order.
    found = amdjit.reduce(spanning, ends, (0, 2))
    assert found.tolist() == [(0, 5899), (50, 5949), (100, 5999)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [BF16, np.complex64, FP8, np.bool_])
def test_elements_of_every_type_are_combined(dtype: Any) -> None:
    check_sum_and_extremes(numbers(700, dtype))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX, FP8, BF8, np.bool_])
@pytest.mark.parametrize("n", BORDERS[1:])
def test_elements_of_every_type_are_combined_at_every_border(dtype: Any, n: int) -> None:
    check_sum_and_extremes(numbers(n, dtype))


def check_sum_and_extremes(array: Any) -> None:
    total = amdjit.reduce(operator.add, array)
    wide = array.astype(np.float32) if array.dtype in (*FLOATS, FP8, BF8) else array
    result_type = np.int32 if array.dtype == np.bool_ else array.dtype
    same(total, wide.sum(dtype=result_type if wide is array else np.float32).astype(result_type))
    if array.dtype.kind != "c":
        wide = array.astype(np.float64)
        assert amdjit.reduce(max, array).astype(np.float64) == wide.max()


@settings(max_examples=15)
@given(borders.filter(bool), st.integers(0, 9))
def test_float_sums_are_as_close_as_documented(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
    found = amdjit.reduce(operator.add, x)
    # As docs/algorithms.md says.
    steps = 50
    bound = steps * np.finfo(np.float32).eps / 2 * np.abs(x).astype(np.float64).sum()
    assert abs(float(found) - x.astype(np.float64).sum()) <= bound


def test_equal_calls_give_equal_bits() -> None:
    x = amdjit.to_device(np.random.default_rng(2).standard_normal(30_000).astype(np.float32))
    found = {np.asarray(amdjit.reduce(operator.add, x)).tobytes() for _ in range(5)}
    assert len(found) == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_narrow_floats_are_added_in_f32_and_rounded_once(dtype: Any) -> None:
    # Multiples of 1/8 below 8: their sums are exact in f32, and far from exact in 11 bits.
    rows = (np.random.default_rng(4).integers(0, 64, (40, 400)) / 8).astype(dtype)
    axis = 0 if dtype is BF16 else 1
    exact = rows.astype(np.float32).sum(axis).astype(dtype)
    same(amdjit.reduce(operator.add, rows, axis), exact)
    each_rounded = amdjit.reduce(lambda a, b: a + b, rows, axis)
    assert (each_rounded != exact).any()


@pytest.mark.filterwarnings("ignore::amdjit.CompileWarning")
def test_arrays_beyond_2_gib_are_indexed_with_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    # The same code for small arrays, as if they were large.
    monkeypatch.setattr(algorithm_views, "_SMALL", 1)
    x = numbers((3, 40), np.int32)
    same(amdjit.reduce(operator.add, x), x.sum(dtype=np.int32))
    same(amdjit.reduce(operator.add, x, 0), x.sum(0, dtype=np.int32))
    same(amdjit.inclusive_scan(operator.add, x, 1), x.cumsum(1, dtype=np.int32))
    same(amdjit.argsort(x), np.argsort(x, kind="stable"))
    same(amdjit.compact(x, x > 0), x[x > 0])
    same(amdjit.histogram(x, 4)[0], np.histogram(x, 4)[0])
    same(amdjit.vectorize(lambda a, b: a + b)(x, x[0]), x + x[0])


def test_nan_and_signed_zeros_are_as_the_language_has_them() -> None:
    x = np.ones(600, np.float32)
    x[300] = np.nan
    assert np.isnan(amdjit.reduce(min, x))
    assert np.isnan(amdjit.reduce(np.maximum, x))
    zeros = np.zeros(600, np.float32)
    zeros[77] = -0.0
    assert np.signbit(amdjit.reduce(min, zeros))


def test_init_dtype_and_empty_arrays() -> None:
    x = np.arange(100, dtype=np.int8)
    same(amdjit.reduce(operator.add, x, dtype=np.int64), x.sum())
    same(amdjit.reduce(operator.add, x, init=5, dtype=np.int32), np.int32(x.sum() + 5))
    same(amdjit.reduce(operator.mul, x[:0]), np.int8(1))
    same(amdjit.reduce(operator.and_, x[:0]), np.int8(-1))
    same(amdjit.reduce(min, x[:0], init=3), np.int8(3))
    same(amdjit.reduce(operator.add, np.zeros((3, 0)), 1), np.zeros(3))
    same(amdjit.reduce(operator.add, np.zeros((0, 3)), 1), np.zeros(0))
    same(amdjit.reduce(operator.add, np.float32(4)), np.float32(4))


def test_out_and_streams() -> None:
    x = np.arange(60, dtype=np.int32).reshape(5, 12)
    out = np.zeros((12, 2), np.float64)
    assert amdjit.reduce(operator.add, x, 0, out=out[:, 1]).base is out
    same(out[:, 1], x.sum(0).astype(np.float64))
    device = amdjit.zeros(5, np.int32)
    assert amdjit.reduce(max, amdjit.to_device(x), 1, out=device, stream=amdjit.Stream()) is device
    same(device, x.max(1))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: amdjit.reduce(min, x[:0]), ValueError, "needs init="),
        (lambda x: amdjit.reduce(min, x, 2), ValueError, "axis 2 is not there: the array has 1"),
        (lambda x: amdjit.reduce(min, x, (0, -1)), ValueError, "names an axis twice"),
        (lambda x: amdjit.reduce(min, x, 0.5), TypeError, "give an integer"),
        (lambda x: amdjit.reduce(min, x, out=np.zeros(2)), ValueError, r"out has shape \(2,\)"),
        (lambda x: amdjit.reduce(lambda a, b: (a, b), x), TypeError, "returns 2 values"),
        (lambda x: amdjit.reduce(lambda a, b: a < b, x), TypeError, "makes bool of two int32"),
        (lambda x: amdjit.reduce(max, x, init=[1]), ValueError, "give one value, not an array"),
        (lambda x: amdjit.reduce([], x), TypeError, "cannot be hashed"),
        (lambda x: amdjit.reduce(operator.add, x + 1j, dtype=f32.dtype), TypeError, "their parts"),
    ],
)
def test_mistakes_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(np.arange(3, dtype=np.int32))
