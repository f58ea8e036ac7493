"""Functions, complex numbers and new arrays with `typing="numba"`: where a literal or an integer
meets an f32, Numba computes in f64, as Python does."""

from __future__ import annotations

import cmath
import linecache
import math
from typing import Any

import numpy as np
import pytest

import amdjit

EXPRESSIONS = [
    "math.atan2(x, 0.1)",
    "math.hypot(x, 0.1)",
    "math.fmod(x, 0.3)",
    "math.copysign(0.1, x)",
    "math.frexp(n)[0]",
    "math.degrees(n)",
    "divmod(x, 0.3)[1] + divmod(n, 7)[0] * 10**10",
    "cmath.sqrt(n)",
    "cmath.phase(n + 1j)",
    "cmath.rect(x, 1.0)",
    "x * 0.1j",
    "n * 0.1j + 2",
    "complex(x, n)",
    "abs(complex(n, 0.1))",
    "np.linspace(0, 1, 7)[n % 7]",
    "np.full(2, 0.1)[0] + np.ones(2)[1] / 3",
    "np.eye(3)[1, n % 3] / 3 + np.zeros(2)[0]",
    "np.arange(5)[n % 5] * 10**12",
    "np.array([0.1, x])[0] + x",
]
INTEGERS = [3, 5, 2**31 - 1, 7, 12]


def kernel_of(expressions: list[str], **options: Any) -> Any:
    """Make a kernel that stores each expression of an f32 and an i32 in a column of its own."""
    lines = ["def functions(a, b, out):", "    i = amdjit.grid(1)", "    x, n = a[i], b[i]"]
    lines += [f"    out[i, {k}] = {text}" for k, text in enumerate(expressions)]
    source = "\n".join(lines) + "\n"
    file = f"<functions {options}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names: dict[str, Any] = {"amdjit": amdjit, "cmath": cmath, "math": math, "np": np}
    exec(compile(source, file, "exec"), names)
    return amdjit.kernel(**options)(names["functions"])


def test_an_f32_beside_a_literal_or_an_integer_is_an_f64() -> None:
    x, n = np.float32([0.5, -1.5, 3.25, -0.75, 100]), np.int32(INTEGERS)
    out = np.zeros((len(x), len(EXPRESSIONS)), np.complex128)
    kernel_of(EXPRESSIONS, typing="numba")[1, len(x)](x, n, out)
    for i, row in enumerate(out):
        names = {"x": float(x[i]), "n": int(n[i]), "cmath": cmath, "math": math, "np": np}
        np.testing.assert_allclose(row, [eval(text, names) for text in EXPRESSIONS], rtol=1e-15)


def test_a_literal_beside_an_f64_is_one_in_cmath_too() -> None:
    x, n = np.array([0.5, -1.5, 3.25]), np.zeros(3, np.int32)
    out = np.zeros((3, 2), np.complex128)
    kernel_of(["cmath.rect(x, 0.1)", "cmath.rect(0.1, x)"])[1, 3](x, n, out)
    expected = [[cmath.rect(number, 0.1), cmath.rect(0.1, number)] for number in x.tolist()]
    np.testing.assert_allclose(out, expected, rtol=1e-15)


@amdjit.kernel(typing="numba")
def extremes(x, y, out):
    i = amdjit.grid(1)
    out[0, i], out[1, i] = min(x[i], y[i]), max(x[i], y[i])
    out[2, i], out[3, i] = np.minimum(x[i], y[i]), np.maximum(x[i], y[i])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_min_and_max_are_cudas_fmin_and_fmax(kind: type) -> None:
    x = np.array([1, np.nan, 3, np.nan, -np.inf], kind)
    y = np.array([2, 5, np.nan, np.nan, 1], kind)
    out = np.zeros((4, 5), kind)
    extremes[1, 5](x, y, out)
    expected = [np.fmin(x, y), np.fmax(x, y), np.minimum(x, y), np.maximum(x, y)]
    np.testing.assert_array_equal(out, expected)


@amdjit.kernel(typing="numba", warnings=False)
def to_digits(x, digits, out):
    i = amdjit.grid(1)
    out[0, i], out[1, i] = round(x[i], 3), round(x[i], digits)


def test_an_f32_is_rounded_to_digits_by_way_of_f64() -> None:
    x = np.float32([0.3425, 1.6435, -1.3365, -6.8045, 3.5985, 2.5, 1e20])
    out = np.zeros((2, len(x)), np.float32)
    to_digits[1, len(x)](x, 3, out)
    expected = np.float32([round(float(number), 3) for number in x])
    np.testing.assert_array_equal(out, [expected, expected])
