"""Python's complex numbers as arguments and in print: all digits arrive."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.language.complex_types import COMPLEX64

DEVICE = "emulator:gfx1201"


def run(kernel: Any, *arguments: Any) -> None:
    with amdjit.use(DEVICE):
        kernel[1, 1](*arguments)


def test_complex_numbers_of_python_lose_nothing_beside_complex128() -> None:
    @amdjit.kernel
    def complexes(out, z, n):
        out[0] = z * z + 1j * 0.1
        out[1] = complex(0.1, z.real)
        out[2] = abs(z)
        w = z
        for _ in range(n):
            w = w * z + 0.1
        out[3] = w

    z = 0.3 + 0.1j
    w = z
    for _ in range(5):
        w = w * z + 0.1
    out = np.zeros(4, np.complex128)
    run(complexes, out, z, 5)
    np.testing.assert_allclose(out, [z * z + 0.1j, complex(0.1, z.real), abs(z), w], rtol=1e-15)
    narrow = complexes.compile(amdjit.complex64[:], COMPLEX64, int, target="gfx1201")
    assert re.search(r"\bf64\b", narrow.typed_tree) is None


def test_printing_a_number_shows_all_its_digits(capsys: pytest.CaptureFixture[str]) -> None:
    @amdjit.kernel
    def show(x, a, n):
        print(a, n + 1, x[0] * a)

    run(show, np.ones(1, np.float32), 0.1, 2**31 - 1)
    assert capsys.readouterr().out.startswith("0.1 2147483648 0.1")


def test_numbers_with_a_known_part_are_true_as_in_python() -> None:
    def truths(x, t):
        real, imaginary, product = complex(x[t], 0.0), complex(0.0, x[t]), x[t] * 1j
        found = (1 if real else 0) + (2 if not imaginary else 0) + (4 if product and real else 0)
        found += (8 if complex(0, 0) else 0) + (16 if bool(real) else 0)
        return found + (32 if complex(x[t], 1) else 0)

    @amdjit.kernel
    def kernel(x, out):
        t = amdjit.threadIdx.x
        out[t] = truths(x, t)

    x, out = np.array([0, 1, -0.0, np.nan], np.float32), np.zeros(4, np.int32)
    kernel[1, 4](x, out)
    assert out.tolist() == [truths(x.tolist(), t) for t in range(4)]
