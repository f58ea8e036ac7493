"""A literal in a function, a choice or a name is an f64 where the result meets one, also beside
integers."""

from __future__ import annotations

import math

import numpy as np

import amdjit


@amdjit.kernel
def compute(x, n, out):
    i = amdjit.grid(1)
    out[0, i] = np.where(n[i] > 2, 0.2, 0.1) * x[i]
    out[1, i] = np.where(n[i] > 2, 0.2, 1)
    out[2, i] = math.ldexp(0.1, n[i]) * x[i]
    out[3, i] = math.copysign(0.1, n[i]) + x[i]
    out[4, i] = math.hypot(0.1, n[i])


def test_a_literal_keeps_its_digits_beside_an_f64() -> None:
    x, n = np.linspace(-1, 1, 9), np.arange(-3, 6, dtype=np.int32)
    out = np.zeros((5, 9))
    compute[1, 9](x, n, out)
    expected = [
        np.where(n > 2, 0.2, 0.1) * x,
        np.where(n > 2, 0.2, 1),
        np.ldexp(0.1, n) * x,
        np.copysign(0.1, n) + x,
        np.hypot(0.1, n),
    ]
    np.testing.assert_allclose(out, expected, rtol=4e-16)


@amdjit.kernel
def choose(x, n, out):
    i = amdjit.grid(1)
    out[0, i] = n[i] if x[i] > 0 else 0.1
    out[1, i] = (n[i] if x[i] > 0 else 0.1) * x[i]
    out[2, i] = (n[i], 1.7)[i % 2]
    out[3, i] = float(n[i] - 0.3)
    out[4, i] = float(0.1 if x[i] > 0 else 0.2)
    if n[i] > 1:  # noqa: SIM108  (a name, not a choice)
        some = 0.1
    else:
        some = n[i]
    out[5, i] = some


def test_a_literal_beside_an_integer_keeps_its_digits_in_choices() -> None:
    x, n = np.linspace(-1, 1, 9), np.arange(-3, 6, dtype=np.int32) * 10_000_001
    out = np.zeros((6, 9))
    choose[1, 9](x, n, out)
    expected = [
        np.where(x > 0, n, 0.1),
        np.where(x > 0, n, 0.1) * x,
        np.where(np.arange(9) % 2, 1.7, n),
        n - 0.3,
        np.where(x > 0, 0.1, 0.2),
        np.where(n > 1, 0.1, n),
    ]
    np.testing.assert_allclose(out, expected, rtol=4e-16)
