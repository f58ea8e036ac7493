"""`inclusive_scan` and `exclusive_scan` against NumPy: axes, types, order, sizes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit.algorithms import scan
from amdjit.algorithms.elements import kind_of
from amdjit.algorithms.kernels.scanning import look_back
from tests.algorithms.whole_array_cases import (
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

PAIR_KIND = kind_of(PAIR).constructor


def composed(f, g):
    """The affine map f, then g: associative and not commutative."""
    return f.a * g.a, f.b * g.a + g.b


def exclusive(total: Any, first: Any) -> Any:
    """Return the exclusive scan that belongs to an inclusive one along the last axis."""
    return np.concatenate([np.full_like(total[..., :1], first), total[..., :-1]], -1)


@settings(max_examples=8)
@given(views(np.int32, least_axes=1), st.data())
def test_all_axes_of_all_views_are_scanned_as_numpy_does(array: Any, data: st.DataObject) -> None:
    axis = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
    expected = array.cumsum(axis, dtype=np.int32)
    same(amdjit.inclusive_scan(operator.add, on_device(array), axis), expected)


@settings(max_examples=12)
@given(borders, st.integers(0, 3))
def test_sizes_at_the_borders_of_waves_workgroups_and_tiles(n: int, seed: int) -> None:
    x = numbers(n, np.int32, seed)
    total = x.cumsum(dtype=np.int32)
    same(amdjit.inclusive_scan(operator.add, x), total)
    same(amdjit.exclusive_scan(operator.add, x), exclusive(total, 0)[:n])
    same(amdjit.exclusive_scan(operator.add, x, init=7), exclusive(total + 7, 7)[:n])


def test_the_order_of_elements_is_kept() -> None:
    maps = numbers(9001, np.int32).astype(PAIR)
    maps["a"] = numbers(9001, np.int32, 2) * 2 + 1
    found = amdjit.inclusive_scan(composed, maps, init=(1, 2))
    shifted = amdjit.exclusive_scan(composed, maps, init=(1, 2))
    a, b = np.int32(1), np.int32(2)
    with np.errstate(over="ignore"):
        for each, inclusive, before in zip(maps, found, shifted, strict=True):
            assert tuple(before) == (a, b)
            a, b = a * each["a"], b * each["a"] + each["b"]
            assert tuple(inclusive) == (a, b)


def test_long_segments_beside_each_other() -> None:
    x = numbers((3, 5000), np.int32)
    same(amdjit.inclusive_scan(operator.add, x, 1), x.cumsum(1, dtype=np.int32))
    wide = numbers((40, 2100), np.int32)
    total = wide.cumsum(0, dtype=np.int32)
    same(amdjit.inclusive_scan(operator.add, wide, 0), total)
    same(amdjit.exclusive_scan(operator.add, wide.T, 1), exclusive(total.T, 0))


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [np.float16, np.complex128])
def test_elements_of_every_type_are_scanned(dtype: Any) -> None:
    check_scans(numbers(600, dtype))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX, FP8, np.bool_])
@pytest.mark.parametrize("n", BORDERS[1:])
def test_elements_of_every_type_are_scanned_at_every_border(dtype: Any, n: int) -> None:
    check_scans(numbers(n, dtype))


def check_scans(array: Any) -> None:
    result_type = np.int32 if array.dtype == np.bool_ else array.dtype
    wide = array.astype(np.float32) if array.dtype in (*FLOATS[:3], BF16, FP8) else array
    total = wide.cumsum(dtype=np.float32 if wide is not array else result_type)
    same(amdjit.inclusive_scan(operator.add, array), total.astype(result_type))
    if array.dtype.kind in "iuf":
        same(amdjit.inclusive_scan(max, array), np.maximum.accumulate(array))


@settings(max_examples=10)
@given(borders.filter(bool), st.integers(0, 9))
def test_float_scans_are_as_close_as_documented(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
    found = amdjit.inclusive_scan(operator.add, x).astype(np.float64)
    bound = 60 * np.finfo(np.float32).eps / 2 * np.abs(x).astype(np.float64).cumsum()
    assert (abs(found - x.astype(np.float64).cumsum()) <= bound).all()


def test_equal_calls_give_equal_bits() -> None:
    x = amdjit.to_device(np.random.default_rng(2).standard_normal(30_000).astype(np.float32))
    found = {np.asarray(amdjit.inclusive_scan(operator.add, x)).tobytes() for _ in range(5)}
    assert len(found) == 1


def test_out_and_streams() -> None:
    x = np.arange(600, dtype=np.int32)
    device = amdjit.to_device(x)
    stream = amdjit.Stream()
    assert amdjit.inclusive_scan(operator.add, device, out=device, stream=stream) is device
    same(device, x.cumsum(dtype=np.int32))
    out = np.zeros((600, 2), np.float64)
    amdjit.inclusive_scan(operator.add, x, out=out[:, 0])
    same(out[:, 0], x.cumsum().astype(np.float64))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: amdjit.exclusive_scan(max, x), ValueError, "exclusive_scan with max needs init"),
        (lambda x: amdjit.inclusive_scan(max, x, 1), ValueError, "axis 1 is not there"),
        (lambda x: amdjit.inclusive_scan(max, x, (0,)), TypeError, "give an integer"),
        (lambda x: amdjit.inclusive_scan(max, x, out=np.zeros(2)), ValueError, "out has shape"),
        (lambda x: amdjit.inclusive_scan(max, np.array(["a"])), TypeError, "no type for elements"),
    ],
)
def test_mistakes_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(np.arange(3, dtype=np.int32))


@amdjit.kernel(block=(32,))
def combine_before(flags, totals, ends, tile, spare, out):
    found = look_back(composed, PAIR_KIND, flags, totals, ends, 0, tile, PAIR_KIND(spare, spare))
    if amdjit.threadIdx.x == 0:
        out[0] = found


@settings(max_examples=25)
@given(st.integers(1, 100), st.data())
def test_looking_back_combines_totals_behind_the_nearest_end(
    tile: int, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, tile - 1))
    maps = numbers(tile, np.int32, tile).astype(PAIR)
    maps["a"] = numbers(tile, np.int32, tile + 1) * 2 + 1
    # Before the nearest end anything is possible; values that are not known yet are wrong on
    # purpose.
    before = data.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=end, max_size=end))
    flags = np.array([*before, 2, *[1] * (tile - end - 1)], np.int32)
    totals, ends = (
        np.full(tile, 77, np.int32).astype(PAIR),
        np.full(tile, 88, np.int32).astype(PAIR),
    )
    totals[end + 1 :] = maps[end + 1 :]
    ends[end] = maps[end]
    out = np.zeros(1, PAIR)
    combine_before[1, 32](flags, totals, ends, np.int32(tile), np.int32(99), out)
    assert tuple(out[0]) == in_order(maps[end:])


def in_order(maps: Any) -> tuple[int, int]:
    a, b = np.int32(1), np.int32(0)
    with np.errstate(over="ignore"):
        for each in maps:
            a, b = a * each["a"], b * each["a"] + each["b"]
    return a, b


@amdjit.kernel(block=(32,))
def wait_and_publish(flags, totals, ends, out):
    if amdjit.blockIdx.x == 0:
        found = look_back(operator.add, amdjit.i32, flags, totals, ends, 0, 3, 0)
        if amdjit.threadIdx.x == 0:
            out[0] = found
    elif amdjit.threadIdx.x == 0:
        place = 3 - amdjit.blockIdx.x
        totals[place] = 10 * place
        ends[place] = 5
        amdjit.atomic.store(flags, place, 1 if place > 0 else 2, order="release", scope="agent")


def test_looking_back_waits_for_workgroups_that_come_later() -> None:
    flags, out = np.zeros(3, np.int32), np.zeros(1, np.int32)
    wait_and_publish[4, 32](flags, np.zeros(3, np.int32), np.zeros(3, np.int32), out)
    assert out[0] == 5 + 10 + 20


def test_one_pass_gives_the_same_as_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for shape in [(3, 5000), (1, 40_000)]:
        x = numbers(shape, np.int32).astype(PAIR)
        results = []
        for tiles in [1, 10**9]:
            monkeypatch.setattr(scan, "LOOK_BACK_TILES", tiles)
            before = amdjit.exclusive_scan(composed, x, 1, init=(3, 4))
            results.append((amdjit.inclusive_scan(composed, x, 1), before))
        same(results[0][0], results[1][0])
        same(results[0][1], results[1][1])


def test_long_scans_of_exact_operations_take_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    one_pass = scan._looking_back

    def noted(operation: Any, *arguments: Any, **keywords: Any) -> None:
        taken.append((operation.name, operation.kind.dtype))
        one_pass(operation, *arguments, **keywords)

    monkeypatch.setattr(scan, "_looking_back", noted)
    for op, dtype in [(operator.add, np.int32), (max, np.float32), (operator.add, np.float32)]:
        amdjit.inclusive_scan(op, np.zeros(70_000, dtype))
    assert taken == [("add", np.int32), ("max", np.float32)]
