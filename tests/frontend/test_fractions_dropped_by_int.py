"""`int(x)` drops the fraction whatever it meets: f64, f32, or a name that becomes wide."""

from __future__ import annotations

import linecache
import math
from typing import Any

import numpy as np
import pytest

import amdjit

EXPRESSIONS = [
    "x - int(x)",
    "int(x) / 3",
    "int(x) * 0.5",
    "x * int(y)",
    "y - int(y)",
    "float(int(x)) * x",
    "np.float64(int(y)) / 3",
    "(int(x) if x > 1 else 0.5) * x",
    "(int(x), 0.5)[0] / 3 + x",
    "-int(x) / 3 + int(y) // 2 * x",
    "int(x * 0.7) * 0.1 + x",
    "max(int(x), x) + math.sqrt(abs(int(x)))",
]
NUMBERS = [0.1, 0.7, 1.25, 2.9, -0.4, 5.5, -3.3, 100.25, 2.0**40 + 0.5, -0.0]


def kernel_of(expressions: list[str]) -> Any:
    """Make a kernel that stores each expression of an f64 and an f32 in a column of its own."""
    lines = ["def fractions(a, b, out):", "    i = amdjit.grid(1)", "    x, y = a[i], b[i]"]
    lines += [f"    out[i, {k}] = {text}" for k, text in enumerate(expressions)]
    source = "\n".join(lines) + "\n"
    file = "<fractions that int drops>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names: dict[str, Any] = {"amdjit": amdjit, "math": math, "np": np}
    exec(compile(source, file, "exec"), names)
    return amdjit.kernel(names["fractions"])


@pytest.mark.parametrize("narrow", [np.float32, np.float16])
def test_a_fraction_stays_dropped_beside_wider_numbers(narrow: type) -> None:
    x, y = np.array(NUMBERS), np.array(NUMBERS).clip(-100, 100).astype(narrow)
    out = np.zeros((len(NUMBERS), len(EXPRESSIONS)))
    kernel_of(EXPRESSIONS)[1, len(NUMBERS)](x, y, out)
    for i, (wide, number) in enumerate(zip(x, y, strict=True)):
        names = {"x": float(wide), "y": float(number), "math": math, "np": np}
        expected = [eval(text, names) for text in EXPRESSIONS]
        np.testing.assert_allclose(out[i], expected, rtol=1e-15)


WIDE = [
    "round(x) + 1",
    "math.floor(x) * 2",
    "math.ceil(x / 3)",
    "math.trunc(x)",
    "int(x) * 3 // 7",
    "int(x) > 10**10",
    "10**10 <= int(x) < 10**13",
    "int(x) in (10**10, 3)",
    "int(x) != -10**11",
]


def test_whole_numbers_are_exact_where_they_meet_64_bits() -> None:
    x = np.array([1e10, -3.7e12, 2.5, -0.5, 7.9e15, 123456789.75, -1e9, 0, -1e11])
    out = np.zeros((len(x), len(WIDE)), np.int64)
    kernel_of(WIDE)[1, len(x)](x, x, out)
    expected = [[eval(text, {"x": float(number), "math": math}) for text in WIDE] for number in x]
    assert out.tolist() == expected


@amdjit.kernel
def doublings(out):
    value, count = 1, 0
    while value < 10**10 and count < 40:
        value *= 2
        count += 1
    out[0] = count


def test_a_name_that_is_compared_with_a_wide_literal_is_wide() -> None:
    out = np.zeros(1, np.int32)
    doublings[1, 1](out)
    assert out[0] == 34
