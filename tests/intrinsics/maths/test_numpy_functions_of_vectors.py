"""Functions of single numbers under Python's and NumPy's names on tuples, complex numbers and
vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.errors import CompileError
from amdjit.intrinsics import arithmetic
from tests.intrinsics.numpy_results import FLOATS, results


@amdjit.kernel
def of_tuples(x, out):
    a, b, c, d = x[0], x[1], x[2], x[3]
    out[0] = math.hypot(a, b, c)
    out[1] = math.hypot(a, b, c, d)
    out[2] = math.dist((a, b, c), (d, c, a))
    out[3] = math.dist((a, b), (c, d))
    out[4] = math.prod((a, b, 3), start=2)
    out[5] = math.hypot(a)
    out[6] = math.log(abs(b), 3)
    out[7] = (
        math.prod((2, 3, 7))
        + math.comb(5, 2)
        + math.factorial(4)
        + math.gcd(12, 18)
        + math.isqrt(50)
    )


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        (dtype, scale)
        for dtype in FLOATS
        for scale in (1.0, 1e18, 1e-20)
        if dtype is not np.float16 or scale == 1
    ],
)
def test_lengths_and_products_of_tuples_are_pythons(dtype: Any, scale: float) -> None:
    x = (np.array([3.5, -7.25, 0.5, 11.0]) * scale).astype(dtype)
    a, b, c, d = x.tolist()
    out = np.zeros(8, dtype)
    of_tuples[1, 1](x, out)
    wanted = [
        math.hypot(a, b, c),
        math.hypot(a, b, c, d),
        math.dist((a, b, c), (d, c, a)),
        math.dist((a, b), (c, d)),
    ]
    wanted += [a * b * 6, abs(a), math.log(abs(b), 3), 42 + 10 + 24 + 6 + 7]
    wanted[4] = (
        float(dtype(wanted[4])) if abs(wanted[4]) < 3e38 or dtype is np.float64 else -math.inf
    )
    np.testing.assert_allclose(out.astype(np.float64), wanted, rtol=3 * float(np.finfo(dtype).eps))


def test_lengths_with_an_infinite_part_are_infinite() -> None:
    x = np.array([math.nan, -math.inf, 1.0, math.nan], np.float32)
    out = np.zeros(8, np.float32)
    of_tuples[1, 1](x, out)
    assert out[0] == out[1] == math.inf


@amdjit.kernel
def of_complex(x, out):
    z = complex(x[0], x[1])
    out[0] = np.real(z)
    out[1] = np.imag(z)
    out[2] = np.conj(z).imag
    out[3] = np.angle(z)
    out[4] = np.angle(x[1])


def test_parts_of_complex_numbers_are_numpys() -> None:
    out = np.zeros(5, np.float32)
    of_complex[1, 1](np.array([3, -4], np.float32), out)
    np.testing.assert_allclose(out, [3, -4, 4, np.angle(3 - 4j), math.pi], rtol=1e-6)


OF_ELEMENTS: tuple[Callable[..., Any], ...] = (math.exp, math.sqrt, np.floor, np.sign, math.fabs)


@pytest.mark.covering(1)
@pytest.mark.parametrize(("dtype", "length"), [(np.float32, 4), (np.float16, 2)])
@pytest.mark.parametrize("function", OF_ELEMENTS, ids=lambda f: f.__name__)
def test_functions_of_numbers_are_computed_for_each_element_of_a_vector(
    function: Callable[..., Any], dtype: Any, length: int
) -> None:
    @amdjit.kernel
    def of_vectors(x, out):
        i = amdjit.grid(1) * length
        out.store(i, function(x.load(i, length)))

    x = (np.arange(12 * length) + 1).astype(dtype)
    found = np.zeros_like(x)
    of_vectors[1, 12](x, found)
    np.testing.assert_array_equal(found, results(function, dtype, x))


@amdjit.kernel
def of_integers(x, root, sign):
    root.store(0, math.sqrt(x.load(0, 4)))
    sign.store(0, np.sign(x.load(0, 4)))


def test_vectors_of_integers_become_floats_where_numbers_do() -> None:
    x, root, sign = (
        np.array([1, 4, 9, 16], np.int32),
        np.zeros(4, np.float32),
        np.zeros(4, np.int32),
    )
    of_integers[1, 1](x, root, sign)
    assert root.tolist() == [1, 2, 3, 4]
    assert sign.tolist() == [1, 1, 1, 1]


@amdjit.kernel
def of_two_vectors(x, y, out):
    i = amdjit.grid(1) * 4
    v, w = x.load(i, 4), y.load(i, 4)
    out.store(i, math.pow(v, w) + math.fmod(v, 2.5) + math.atan2(1.0, w) + arithmetic.fma(v, w, v))


def test_numbers_beside_vectors_are_the_same_for_all_elements() -> None:
    x, y = np.random.default_rng(8).uniform(0.1, 9, (2, 64)).astype(np.float32)
    out = np.zeros_like(x)
    of_two_vectors[1, 16](x, y, out)
    wide = x.astype(np.float64), y.astype(np.float64)
    wanted = (
        wide[0] ** wide[1]
        + np.fmod(wide[0], 2.5)
        + np.arctan2(1, wide[1])
        + wide[0] * wide[1]
        + wide[0]
    )
    np.testing.assert_allclose(out, wanted, rtol=4e-7)


def test_vectors_of_different_lengths_and_questions_about_vectors_are_refused() -> None:
    def unequal(x):
        x.store(0, math.fmod(x.load(0, 4), x.load(0, 2)))

    def question(x):
        x.store(0, math.isnan(x.load(0, 4)))

    for function, text in ((unequal, "vectors of one length"), (question, "is a number")):
        with pytest.raises(CompileError, match=text):
            amdjit.kernel(function).compile(amdjit.f32[:])
