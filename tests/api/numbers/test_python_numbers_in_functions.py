"""Python's numbers among the arguments, passed to functions of the library and to inline
assembly."""

from __future__ import annotations

import math

import numpy as np

import amdjit

DEVICE = "emulator:gfx1201"


def test_what_the_launch_computes_has_a_name_that_assemblers_take() -> None:
    """`//` begins a comment in assembly, through which kernels with checks of indices go."""

    @amdjit.kernel(bounds_check=True, warnings=False)
    def quotient(out, a, b):
        i = amdjit.grid(1)
        out[i] = out[i] + (a // b)

    out = np.ones(8, np.float32)
    with amdjit.use(DEVICE):
        quotient[1, 8](out, 7.5, 2.0)
    assert out.tolist() == [4.0] * 8


def test_an_integer_beside_floats_stays_one_in_functions_of_the_library() -> None:
    @amdjit.kernel(warnings=False)
    def digits(x, n, out):
        out[0] = round(x[0], n)
        out[1] = math.ldexp(x[0], n)
        out[2] = math.hypot(x[0], n)
        out[3] = math.fmod(x[0], n)

    x = 2.718281828459045
    for n in (5, -2):
        out = np.zeros(4)
        with amdjit.use(DEVICE):
            digits[1, 1](np.array([x]), n, out)
        assert out.tolist() == [round(x, n), math.ldexp(x, n), math.hypot(x, n), math.fmod(x, n)]
