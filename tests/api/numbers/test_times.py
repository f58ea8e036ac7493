"""datetime64 and timedelta64 in kernels: NumPy's results, NaT included, for times of one unit."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import CompileError, LaunchError, TypeCheckError

pytestmark = pytest.mark.usefixtures("emulator")
LANES = 64
RANDOM = np.random.default_rng(8)
DAY = np.timedelta64(1, "D")
FIRST = np.datetime64("2005-02-05")
WEEKS = np.arange("2005-02-01", "2005-03-01", 7, dtype="M8[D]")


def times(kind: str) -> NDArray[Any]:
    """Return dates or durations near each other, with some NaT."""
    array = RANDOM.integers(-9, 9, LANES).view(kind)
    array[RANDOM.integers(0, LANES, 12)] = "NaT"
    return array


def run(function: Callable[..., Any], *arguments: Any) -> None:
    amdjit.kernel(function)[1, LANES](*arguments)


@pytest.mark.parametrize("unit", ["D", "25s"])
@pytest.mark.parametrize("left", "Mm")
@pytest.mark.parametrize("right", "Mm")
def test_sums_differences_and_comparisons_are_numpys(left: str, right: str, unit: str) -> None:
    x, y = times(f"{left}8[{unit}]"), times(f"{right}8[{unit}]")

    def compare(x, y, out):
        i = amdjit.grid(1)
        out[0, i], out[1, i], out[2, i] = x[i] == y[i], x[i] != y[i], x[i] < y[i]
        out[3, i], out[4, i], out[5, i] = x[i] <= y[i], x[i] > y[i], x[i] >= y[i]

    def add(x, y, out):
        i = amdjit.grid(1)
        out[i] = x[i] + y[i]

    def subtract(x, y, out):
        i = amdjit.grid(1)
        out[i] = x[i] - y[i]

    if left == right:
        names = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
        found = np.zeros((6, LANES), bool)
        run(compare, x, y, found)
        np.testing.assert_array_equal(found, [compute(x, y) for compute in names])
    for function, compute in ((add, operator.add), (subtract, operator.sub)):
        try:
            expected = compute(x, y)
        except TypeError:
            with pytest.raises(CompileError, match="does not work on"):
                run(function, x, y, x.copy())
            continue
        out = np.zeros_like(expected)
        run(function, x, y, out)
        np.testing.assert_array_equal(out, expected)
        assert np.isnat(expected).any()


def test_durations_are_multiplied_divided_and_negated() -> None:
    x, y, n = times("m8[s]"), times("m8[s]"), RANDOM.integers(-9, 9, LANES).astype(np.int16)
    y[y == np.timedelta64(0, "s")] = np.timedelta64(4, "s")

    def compute(x, y, n, out, ratio):
        i = amdjit.grid(1)
        out[0, i], out[1, i], out[2, i] = x[i] * n[i], 3 * x[i], -x[i]
        out[3, i] = abs(x[i]) if x[i] < y[i] else x[i] + y[i] * 2
        ratio[i] = x[i] / y[i]

    out, ratio = np.zeros((4, LANES), "m8[s]"), np.zeros(LANES)
    run(compute, x, y, n, out, ratio)
    expected = [x * n, 3 * x, -x, np.where(x < y, abs(x), x + y * 2)]
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(ratio, x / y)


def test_nat_is_found_and_constants_are_made() -> None:
    x, y = times("M8[D]"), times("m8[h]")

    def compute(x, y, missing, dates, lengths):
        i = amdjit.grid(1)
        missing[0, i], missing[1, i] = np.isnat(x[i]), np.isnat(y[i])
        missing[2, i] = np.isnat(np.datetime64("NaT", "D"))
        dates[i] = x[i] + np.timedelta64(3, "D")
        lengths[i] = y[i] - np.timedelta64(-7, "h")

    missing, dates, lengths = np.zeros((3, LANES), bool), x.copy(), y.copy()
    run(compute, x, y, missing, dates, lengths)
    np.testing.assert_array_equal(missing, [np.isnat(x), np.isnat(y), np.full(LANES, True)])
    np.testing.assert_array_equal(dates, x + np.timedelta64(3, "D"))
    np.testing.assert_array_equal(lengths, y - np.timedelta64(-7, "h"))

    def of_number(x, out):
        out[0] = np.isnat(x[0])

    with pytest.raises(CompileError, match=r"no date or duration(.|\n)*math.isnan"):
        run(of_number, np.zeros(1), np.zeros(1, bool))


def later(date, days):
    return date + days * DAY


@pytest.mark.parametrize("on_device", [False, True])
def test_they_are_arguments_constants_and_fields(on_device: bool) -> None:
    kind = np.dtype([("n", "i2"), ("day", "M8[D]"), ("length", "m8[D]", (2,))])
    dates, rows = FIRST + np.arange(LANES) * DAY, np.zeros(LANES, kind)
    out, matches = np.zeros_like(dates), np.zeros(LANES, bool)

    @amdjit.kernel
    def compute(dates, target, delta, out, matches, rows):
        i = amdjit.grid(1)
        matches[i] = dates[i] == target
        rows[i].day = later(WEEKS[i % 4], i)
        rows[i].length[1] = dates[i] - FIRST
        out[i] = dates[i] - delta if i % 2 else rows[i].day + rows[i]["length"][1]
        if i == 5:
            out[i] = FIRST

    arguments: list[Any] = [dates, out, matches, rows]
    if on_device:
        arguments = [amdjit.to_device(array) for array in arguments]
    given = arguments[0], dates[7], 2 * DAY, *arguments[1:]
    for _ in range(2):
        compute[1, LANES](*given)
    out, matches, rows = (np.asarray(array) for array in arguments[1:])
    i = np.arange(LANES)
    np.testing.assert_array_equal(rows["day"], WEEKS[i % 4] + i)
    np.testing.assert_array_equal(rows["length"][:, 1], dates - FIRST)
    expected = np.where(i % 2, dates - 2 * DAY, rows["day"] + rows["length"][:, 1])
    np.testing.assert_array_equal(out, np.where(i == 5, FIRST, expected))
    assert list(matches.nonzero()[0]) == [7]


def test_ticks_are_the_number_in_memory() -> None:
    def ticks(x, out):
        out[amdjit.grid(1)] = x[amdjit.grid(1)].ticks

    x, out = times("M8[D]"), np.zeros(LANES, np.int64)
    run(ticks, x, out)
    np.testing.assert_array_equal(out, x.view(np.int64))


def test_two_units_do_not_meet() -> None:
    def subtract(x, y, out):
        out[0] = x[0] - y[0]

    days, seconds = times("M8[D]"), times("M8[s]")
    with pytest.raises(CompileError, match=r"in the unit D meets one in the unit s") as caught:
        run(subtract, days, seconds, times("m8[s]"))
    assert "out[0] = x[0] - y[0]" in str(caught.value)
    assert "language/times.py" not in str(caught.value)
    with pytest.raises(CompileError, match=r"in the unit D is stored to an array of timedelta64"):
        run(subtract, days, days, times("m8[s]"))
    with pytest.raises(TypeCheckError, match=r"datetime64\[D\] is not converted to timedelta64"):
        amdjit.kernel(first)[1, 1](days, times("m8[D]"))


def first(x, out):
    out[0] = x[0]


def test_a_time_without_a_unit_is_refused() -> None:
    with pytest.raises(LaunchError, match="has no unit"):
        run(first, np.timedelta64(3), times("m8[D]"))
    with pytest.raises(LaunchError, match="language has no type"):
        run(first, times("m8[D]"), np.zeros(2, "m8"))
