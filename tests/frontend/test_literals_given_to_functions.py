"""A literal that a function gets is an f64 where the result meets one."""

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
