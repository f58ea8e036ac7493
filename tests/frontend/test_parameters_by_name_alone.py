"""Calls of functions with positional-only and keyword-only parameters."""

from __future__ import annotations

import numpy as np

import amdjit


@amdjit.device_function
def scaled(value, *, factor=2.0):
    return value * factor


@amdjit.device_function
def moved(value, /, distance=1.0):
    return value + distance


def test_one_argument_by_position_is_enough() -> None:
    @amdjit.kernel(block=32)
    def kernel(out):
        out[0] = scaled(out[0])
        out[1] = scaled(out[1], factor=3.0)
        out[2] = moved(out[2])
        out[3] = moved(out[3], distance=5.0)

    out = np.ones(4, np.float32)
    kernel[1, 32](out)
    np.testing.assert_array_equal(out, [2, 3, 2, 6])
