"""Which results count as the same, and which candidate decides what is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from amdjit.options import OptionError
from amdjit.tuning.candidates import State
from amdjit.tuning.checking import Checker, reference_results
from amdjit.tuning.comparing import Tolerance, difference
from amdjit.tuning.tasks import Outcome

DTYPES = [np.int32, np.uint8, np.bool_, np.float16, np.float32, np.float64, np.complex64]
same = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(max_dims=3, max_side=4))
)


@given(same)
def test_an_array_is_the_same_as_itself_also_with_nan_and_infinity(array: Any) -> None:
    assert difference({"out": array}, {"out": array.copy()}, Tolerance()) == ""


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=20), st.data(), st.integers(1, 100))
def test_one_changed_integer_is_found_at_its_place(
    numbers: list[int], data: Any, change: int
) -> None:
    place = data.draw(st.integers(0, len(numbers) - 1))
    found = np.array(numbers, np.int64)
    found[place] += change
    text = difference({"out": found}, {"out": np.array(numbers, np.int64)}, Tolerance())
    assert text == (
        f"out[{place}] is {numbers[place] + change}, not {numbers[place]}; 1 of {len(numbers)} "
        "elements differ"
    )


@pytest.mark.parametrize(
    ("dtype", "inside", "outside"),
    [
        (np.float64, 1e-11, 1e-7),
        (np.float32, 1e-6, 1e-2),
        (np.float16, 2e-3, 5e-2),
        (ml_dtypes.bfloat16, 1e-2, 0.25),
        (ml_dtypes.float8_e4m3fn, 0.1, 2.0),
    ],
)
def test_floats_may_be_rounded_another_way_by_their_type(
    dtype: Any, inside: float, outside: float
) -> None:
    expected = np.array([1.0, 2.0], dtype)
    for change, is_same in ((inside, True), (outside, False)):
        found = (expected.astype(np.float64) * (1 + change)).astype(dtype)
        text = difference({"x": found}, {"x": expected}, Tolerance())
        assert (text == "") is is_same, (change, text)


def test_sums_that_cancel_are_judged_by_the_largest_one_and_given_tolerances_hold() -> None:
    expected = np.array([1000.0, 0.0], np.float32)
    found = np.array([1000.0, 0.01], np.float32)
    assert difference({"x": found}, {"x": expected}, Tolerance()) == ""
    assert "x[1] is 0.01" in difference({"x": found}, {"x": expected}, Tolerance(atol=1e-3))
    assert "x[1]" in difference({"x": found}, {"x": expected}, Tolerance(rtol=1e-6))


def test_nan_infinity_shapes_and_missing_arrays_are_different() -> None:
    one = np.ones((2, 2), np.float32)
    broken = np.array([[1, np.nan], [1, np.inf]], np.float32)
    assert "x[0, 1] is nan, not 1.0; 2 of 4" in difference({"x": broken}, {"x": one}, Tolerance())
    assert "x[0, 1] is 1.0, not nan" in difference({"x": one}, {"x": broken}, Tolerance())
    assert "the shape (2, 2), the reference (4,)" in difference(
        {"x": one}, {"x": one.ravel()}, Tolerance()
    )
    assert difference({}, {"x": one}, Tolerance()) == "it has no array x"


def kept(contents: bytes) -> bytes | Path:
    return contents


def result(number: float) -> Outcome:
    return Outcome(State.FINE, results={"x": np.array([number], np.float32)})


@given(st.permutations(range(5)), st.sets(st.integers(0, 4)))
def test_the_first_that_runs_decides_in_whatever_order_they_come(
    order: list[int], failing: set[int]
) -> None:
    values = {0: 1.0, 1: 2.0, 2: 1.0, 3: 2.0, 4: 1.0}
    checker = Checker(range(5), Tolerance(), None, kept)
    found: dict[int, Outcome] = {}
    for number in order:
        failed = Outcome(State.LOST, "died")
        found |= checker.offer(number, failed if number in failing else result(values[number]))
    found |= checker.finish()
    assert set(found) == set(range(5))
    ran = [number for number in range(5) if number not in failing]
    for number in ran:
        is_same = values[number] == values[ran[0]]
        assert found[number].state is (State.FINE if is_same else State.WRONG)
        assert found[number].results is None


def test_a_reference_is_arrays_or_a_function_of_the_arguments() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    wide = np.zeros((2, 2), np.float32)
    found = reference_results(lambda a: {"out": a.x + 1}, {"x": x, "out": out})
    assert found is not None
    assert (found["out"] == x + 1).all()
    alone = reference_results(wide + 3, {"x": x, "wide": wide})
    assert alone is not None
    assert list(alone) == ["wide"]
    with pytest.raises(OptionError, match="may be x or out"):
        reference_results(x, {"x": x, "out": out})
    with pytest.raises(OptionError, match="'y' is not an argument"):
        reference_results({"y": x}, {"x": x})
