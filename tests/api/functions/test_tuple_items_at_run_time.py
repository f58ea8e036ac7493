"""Tuples indexed and compared at run time, against Python's own tuples."""

from __future__ import annotations

import operator
from collections import namedtuple
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import amdjit

Point = namedtuple("Point", "x y")
LANES = 32


@amdjit.kernel
def item_of(items: amdjit.Const, positions, out):
    i = amdjit.grid(1)
    out[i] = items[positions[i]]


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint16, np.uint64])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 40])
def test_every_item_of_a_table_is_found(size: int, kind: Any) -> None:
    random = Random(size)
    items = tuple(random.randint(-(10**6), 10**6) for _ in range(size))
    low = 0 if np.dtype(kind).kind == "u" else -size
    positions = np.array([random.randint(low, size - 1) for _ in range(LANES)], kind)
    out = np.zeros(LANES, np.int64)
    item_of[1, LANES](items, positions, out)
    assert out.tolist() == [items[position] for position in positions]


@pytest.mark.parametrize("position", [3, -4, 2**31 - 1, -(2**31)])
def test_an_index_outside_is_an_index_error(position: int) -> None:
    out = np.zeros(1, np.int32)
    with pytest.raises(IndexError, match="tuple index out of range") as caught:
        item_of[1, 1]((1, 2, 3), np.array([position], np.int32), out)
    assert isinstance(caught.value, amdjit.KernelFault)
    assert caught.value.args == ("tuple index out of range",)


def choices(t: Any, n: Any, out: Any, i: Any) -> None:
    pairs = ((n, i), (i, n), (n + i, 7))
    a, b = pairs[i % 3]
    out[0] = a * 100 + b
    rows = (t, t[::-1])
    out[1] = rows[i & 1][i % 4]
    out[2] = (Point(1, i), Point(i, 2))[i % 2].y
    out[3] = Point(i, n)[-1 - (i & 1)]
    out[4] = (1, 2.5, True)[i % 3] * 2
    total = 0
    for k in range(len(t)):
        total = total * 3 + t[k]
    out[5] = total
    out[6] = (i > 3, i % 2 == 0)[i > 4]
    out[7] = (t, t)[i & 1] == (3, 1, 4, 1)


def test_items_of_any_type_mean_what_python_means() -> None:
    @amdjit.kernel
    def every(t, n, out):
        i = amdjit.grid(1)
        choices(t, n, out[i], i)

    out, expected = (np.zeros((LANES, 8), np.float64) for _ in range(2))
    every[1, LANES]((3, 1, 4, 1), 5, out)
    for i in range(LANES):
        choices((3, 1, 4, 1), 5, expected[i], i)
    assert np.array_equal(out, expected)


def test_the_only_item_is_what_it_is() -> None:
    """Complex numbers and records keep their operators and methods, literals have no width."""

    @amdjit.kernel
    def only(x, n, out, wide):
        i = amdjit.grid(1)
        z = -(complex(x[i], 1.0),)[i % 1] + (complex(1.0, x[i]),)[n[i]]
        out[i] = z.real * (2.0 * (Point(x[i], 3.0),)[n[i]].x) + (Point(x[i], 3.0),)[n[i]].y
        wide[i] = (0.1,)[n[i]]

    x = np.arange(LANES, dtype=np.float32)
    n, out, wide = np.zeros(LANES, np.int32), np.zeros(LANES, np.float32), np.zeros(LANES)
    only[1, LANES](x, n, out, wide)
    np.testing.assert_array_equal(out, (1 - x) * 2 * x + 3)
    np.testing.assert_array_equal(wide, 0.1)


def test_items_may_be_arrays_that_are_written() -> None:
    @amdjit.kernel
    def scatter(rows, out):
        i = amdjit.grid(1)
        rows[i % len(rows)][i] = i
        out[i] = rows[(i + 1) % 3].shape[0]

    rows = tuple(np.full(n, -1, np.int32) for n in (32, 33, 34))
    out = np.zeros(LANES, np.int32)
    scatter[1, LANES](rows, out)
    for k, row in enumerate(rows):
        assert row.tolist() == [i if i % 3 == k and i < 32 else -1 for i in range(len(row))]
    assert out.tolist() == [(33, 34, 32)[i % 3] for i in range(LANES)]


ORDERS: list[Callable[[Any, Any], Any]] = [operator.lt, operator.le, operator.gt, operator.ge]


@amdjit.kernel
def ordered(order: amdjit.Const, sizes: amdjit.Const, x, out):
    i = amdjit.grid(1)
    left = tuple(x[i, 0, k] for k in range(sizes[0]))
    right = tuple(x[i, 1, k] for k in range(sizes[1]))
    out[i, 0] = order(left, right)
    out[i, 1] = order((1, left), (1, right))
    out[i, 2] = order((left, 2.0), (right, 1))


@pytest.mark.sample(8)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sizes", [(1, 1), (3, 3), (2, 3), (3, 1)])
def test_tuples_are_ordered_as_pythons(order: Callable[[Any, Any], Any], sizes: Any) -> None:
    random = np.random.default_rng(7)
    x = random.integers(0, 2, (LANES, 2, 3)).astype(np.float32)
    x[random.random(x.shape) < 0.1] = np.nan
    out = np.zeros((LANES, 3), np.bool_)
    ordered[1, LANES](order, sizes, x, out)
    for i in range(LANES):
        left, right = tuple(x[i, 0, : sizes[0]]), tuple(x[i, 1, : sizes[1]])
        expected = [order(left, right), order((1, left), (1, right))]
        assert out[i].tolist() == [*expected, order((left, 2.0), (right, 1))]


def test_a_call_in_a_comparison_is_made_once() -> None:
    def counted(a):
        a[0] += 1
        return a[0]

    @amdjit.kernel
    def compares(a, out):
        out[0] = (counted(a), 3) < (5, counted(a))

    a, out = np.zeros(1, np.int32), np.zeros(1, np.bool_)
    compares[1, 1](a, out)
    assert (a[0], out[0]) == (2, True)


def of_text(i, out):
    out[i] = ("a", "b")[i] == "a"


def of_mixed(i, out):
    out[i] = ((1, 2), 3)[i]


def of_nothing(i, out):
    out[i] = ()[i]


def by_float(i, out):
    out[i] = (1, 2)[i * 0.5]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (of_text, "must be known when compiling"),
        (of_mixed, "an item"),
        (of_nothing, "must be known when compiling"),
        (by_float, "an index must be an integer"),
    ],
)
def test_tuples_without_a_common_type_are_refused(function: Any, message: str) -> None:
    @amdjit.kernel
    def kernel(out):
        function(amdjit.grid(1), out)

    with pytest.raises(amdjit.CompileError, match=message):
        kernel[1, 1](np.zeros(1, np.float32))


def test_an_index_that_is_inside_by_its_form_costs_no_test() -> None:
    @amdjit.kernel
    def inside(out: amdjit.i32[:]):
        i = amdjit.grid(1)
        out[i] = (1, 2, 3)[i % 3] + (4, 5)[i & 1] + (6, 7)[i > 2]

    @amdjit.kernel
    def maybe(out: amdjit.i32[:]):
        i = amdjit.grid(1)
        out[i] = (1, 2, 3)[i % 4]

    assert inside.compile().program.reports is None
    assert maybe.compile().program.reports is not None
