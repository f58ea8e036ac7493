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
