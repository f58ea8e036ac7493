"""Powers of Python's own numbers are computed by the host, as Python does."""

from __future__ import annotations

import itertools
import linecache
import math
import operator
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i64

COUNTER = itertools.count()
POWERS = [
    ("a ** b", {"a": 2, "b": 40}), ("pow(a, b)", {"a": 2, "b": 40}), ("2 ** b", {"b": 40}),
    ("operator.pow(a, b)", {"a": 2, "b": 40}), ("a ** b % 1000", {"a": 3, "b": 100}),
    ("pow(a, b, 1000)", {"a": 3, "b": 100}), ("a ** 100 % 7", {"a": 10}), ("a ** 2", {"a": 10**5}),
    ("pow(a, b, m)", {"a": 3, "b": 100, "m": 10**9 + 7}), ("(1 << b) >> 190", {"b": 200}),
    ("(a ** b) >> 190", {"a": 2, "b": 200}), ("a ** b", {"a": 1, "b": 10**8}),
    ("1 << a", {"a": 40}),
    ("a ** b", {"a": 0, "b": 0}), ("a << b", {"a": 3, "b": 40}), ("a ** b", {"a": True, "b": 3}),
    ("a ** b > 2 ** 39", {"a": 2, "b": 40}), ("2 ** 40 <= a * b", {"a": 2**30, "b": 2**20}),
    ("a * b in (2 ** 50, 3)", {"a": 2**30, "b": 2**20}), ("2 ** i64(a)", {"a": 40}),
    ("1 if a ** b == 2 ** 40 else 0", {"a": 2, "b": 40}), ("i64(a ** b)", {"a": 2, "b": 40}),
    ("a ** i64(b)", {"a": 2, "b": 40}), ("max(a ** b, 1)", {"a": 2, "b": 40}),
    ("(a ** b).bit_length()", {"a": 2, "b": 40}), ("abs((-a) ** b)", {"a": 2, "b": 41}),
]  # fmt: skip
FLOATS = [
    ("2 ** -a", {"a": 3}), ("a ** b", {"a": 2, "b": -3}), ("a ** -2 * 8", {"a": 2}),
    ("(a ** b) * 8", {"a": 2, "b": -3}), ("(a ** b) ** 2", {"a": 2, "b": -3}),
    ("a ** 0.5", {"a": 2}), ("a ** b", {"a": 1.1, "b": 3}), ("2.0 ** b", {"b": -3}),
    ("math.pow(a, b)", {"a": 2, "b": 40}), ("a ** b > 0", {"a": 2, "b": -3}),
]  # fmt: skip
IN_LOOPS = [
    ("s = 1", "s *= 2", "s ** b", {"b": 40}, 2**40), ("s = 0", "s += 40", "2 ** s", {}, 2**40),
    ("s = 0", "s += 40", "a ** s", {"a": 2}, 2**40),
    ("s = 0.0", "s += 0.1", "s ** 0.5", {}, 0.1**0.5),
    ("s = 0.0", "s += 0.1", "2.0 ** s", {}, 2**0.1),
    ("s = 0.0", "s += 0.1", "s ** b", {"b": 40}, 0.1**40),
]  # fmt: skip


def result(lines: list[str], arguments: dict[str, Any], dtype: Any) -> Any:
    source = f"def k({', '.join([*arguments, 'o'])}):\n" + "".join(
        f"    {each}\n" for each in lines
    )
    name = f"<powers {next(COUNTER)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope: dict[str, Any] = {"math": math, "operator": operator, "i64": i64}
    exec(compile(source, name, "exec"), scope)
    o = np.zeros(1, dtype)
    amdjit.kernel(scope["k"], warnings=False)[1, 1](*arguments.values(), o)
    return o[0]


def of_python(expression: str, arguments: dict[str, Any]) -> Any:
    return eval(expression, {"math": math, "operator": operator, "i64": int, **arguments})


@pytest.mark.sample(30)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
@pytest.mark.parametrize(("expression", "arguments"), POWERS)
def test_integers_have_no_bounds(expression: str, arguments: dict[str, Any], dtype: Any) -> None:
    assert result([f"o[0] = {expression}"], arguments, dtype) == of_python(expression, arguments)


@pytest.mark.parametrize(("expression", "arguments"), FLOATS)
def test_floats_are_pythons(expression: str, arguments: dict[str, Any]) -> None:
    assert result([f"o[0] = {expression}"], arguments, np.float64) == of_python(
        expression, arguments
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize(("start", "update", "power", "arguments", "expected"), IN_LOOPS)
def test_powers_without_a_width_adopt_one(
    start: str, update: str, power: str, arguments: dict[str, Any], expected: float
) -> None:
    lines = [start, f"for i in range(1): {update}", f"o[0] = {power}"]
    dtype = np.int64 if isinstance(expected, int) else np.float64
    np.testing.assert_allclose(result(lines, arguments, dtype), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("expression", "arguments"),
    [("a ** b", {"a": 2, "b": -3}), ("(a ** b) << 1", {"a": 2, "b": -3}),
     ("a ** b", {"a": 3, "b": 10**8}), ("1 << a", {"a": 10**9}), ("a ** b", {"a": 3, "b": 41})],
)  # fmt: skip
def test_what_no_integer_holds_is_refused(expression: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(amdjit.LaunchError):
        result([f"o[0] = {expression}"], arguments, np.int64)
