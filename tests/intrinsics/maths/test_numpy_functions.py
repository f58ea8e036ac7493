"""Functions of single numbers under Python's and NumPy's names that are not real analysis, against
the host's."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.errors import CompileError
from amdjit.frontend.source.unsupported_functions import REMEDIES
from amdjit.intrinsics import arithmetic
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS

FLOATS = (np.float16, np.float32, np.float64)
SPECIAL = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.75, 1e-7, 100.0, 6e4, math.inf)


def numbers(dtype: Any) -> np.ndarray[Any, Any]:
    """Return special numbers of both signs, NaN, and others of many exponents; no denormals."""
    rng = np.random.default_rng(3)
    some = rng.normal(size=200) * 2.0 ** rng.integers(-12, 12, 200)
    return np.array(
        [*SPECIAL, *(-x for x in SPECIAL), math.nan, np.finfo(np.float16).max, *some]
    ).astype(dtype)


def results(
    function: Callable[..., Any], dtype: Any, *arguments: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Return what a function of one or two numbers gives in a kernel."""

    def of_one(x, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i])

    def of_two(x, y, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i], y[i])

    out = np.zeros(arguments[0].size, dtype)
    amdjit.kernel(of_one if len(arguments) == 1 else of_two)[-(-out.size // 64), 64](
        *arguments, out
    )
    return out


def quiet(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the host gives, without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


EXACT_OF_ONE: tuple[Callable[..., Any], ...] = (
    np.sign, np.square, np.fix, np.round, np.nan_to_num, np.real, np.imag, np.conjugate,
)  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("function", EXACT_OF_ONE, ids=lambda f: f.__name__)
def test_functions_of_one_number_give_numpys_bits(function: Callable[..., Any], dtype: Any) -> None:
    x = numbers(dtype)
    found, wanted = results(function, dtype, x), quiet(function, x)
    np.testing.assert_array_equal(found, wanted)
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "function", [np.signbit, np.isposinf, np.isneginf], ids=lambda f: f.__name__
)
def test_questions_about_numbers_are_answered_as_numpy_does(
    function: Callable[..., Any], dtype: Any
) -> None:
    x = numbers(dtype)
    np.testing.assert_array_equal(results(function, np.bool_, x), quiet(function, x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_spacings_and_reciprocals_are_numpys(dtype: Any) -> None:
    x = numbers(dtype)
    # NumPy's spacing of negative halves is that on the other side of a power of 2.
    wanted = np.copysign(quiet(np.spacing, np.abs(x)), x)
    wanted[x == 0] = np.abs(wanted[x == 0])
    np.testing.assert_array_equal(results(np.spacing, dtype, x), wanted)
    np.testing.assert_array_max_ulp(
        results(np.reciprocal, dtype, x)[~np.isnan(x)], quiet(np.reciprocal, x[~np.isnan(x)]), 1
    )


@pytest.mark.parametrize("dtype", [*FLOATS, ml_dtypes.bfloat16])
def test_last_places_are_pythons(dtype: Any) -> None:
    x = numbers(np.float32).astype(dtype)
    largest = ml_dtypes.finfo(dtype).max
    x = np.concatenate([x, np.array([largest, -largest, largest / 2], dtype)])
    found = results(math.ulp, dtype, x)
    if dtype is np.float64:
        np.testing.assert_array_equal(found, [math.ulp(value) for value in x])
    with np.errstate(invalid="ignore"):
        _, exponents = np.frexp(np.abs(x.astype(np.float64)))
    wanted = np.maximum(
        np.ldexp(1.0, exponents - ml_dtypes.finfo(dtype).nmant - 1),
        ml_dtypes.finfo(dtype).smallest_subnormal,
    )
    wanted = np.where(
        x == 0,
        float(ml_dtypes.finfo(dtype).smallest_subnormal),
        np.where(np.isfinite(x), wanted, np.abs(x)),
    )
    np.testing.assert_array_equal(found.astype(np.float64), wanted)


PAIRS = np.array(list(itertools.product([*SPECIAL, *(-x for x in SPECIAL), math.nan], repeat=2)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "function", [np.heaviside, np.maximum, np.minimum, np.fmax, np.fmin], ids=lambda f: f.__name__
)
def test_functions_of_two_numbers_give_numpys_results(
    function: Callable[..., Any], dtype: Any
) -> None:
    x, y = PAIRS.astype(dtype).T.copy()
    np.testing.assert_array_equal(results(function, dtype, x, y), quiet(function, x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_close_numbers_are_those_that_numpy_and_python_hold_for_close(dtype: Any) -> None:
    x, y = PAIRS.astype(dtype).T.copy()
    near = np.nextafter(x, dtype(1))
    for function in (np.isclose, lambda a, b: np.isclose(a, b, rtol=0.3, atol=0.1, equal_nan=True)):
        for other in (y, near):
            np.testing.assert_array_equal(
                results(function, np.bool_, x, other), quiet(function, x, other)
            )
    for tolerances in ({}, {"rel_tol": 0.3}, {"rel_tol": 0.0, "abs_tol": 0.25}):

        def of_python(a, b, tolerances=tolerances):
            return [
                math.isclose(*pair, **tolerances)
                for pair in zip(a.tolist(), b.tolist(), strict=True)
            ]

        relative, absolute = tolerances.get("rel_tol", 1e-9), tolerances.get("abs_tol", 0.0)
        close = amdjit.device_function(
            lambda a, b, r=relative, d=absolute: math.isclose(a, b, rel_tol=r, abs_tol=d)
        )
        np.testing.assert_array_equal(results(close, np.bool_, x, y), of_python(x, y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2], ids=lambda f: f.__name__)
def test_logarithms_of_sums_are_numpys(function: Callable[..., Any], dtype: Any) -> None:
    x, y = PAIRS.astype(dtype).T.copy()
    wanted = quiet(function, x.astype(np.float64), y.astype(np.float64))
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(results(function, dtype, x, y), wanted, rtol=2 * eps, atol=3 * eps)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sinc_is_exact_to_4_units(dtype: Any) -> None:
    x = numbers(dtype)
    exact = np.array(
        [
            1.0 if v == 0 else 0.0 if math.isinf(v) else _sine_of_turns(v) / (math.pi * v)
            for v in x.tolist()
        ]
    )
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(
        results(np.sinc, dtype, x), exact, rtol=4 * eps, atol=float(np.finfo(dtype).tiny)
    )


def _sine_of_turns(x: float) -> float:
    whole = round(x) if math.isfinite(x) else 0
    return (-1) ** (whole % 2) * math.sin(math.pi * (x - whole))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("decimals", [-2, -1, 1, 3])
def test_rounding_to_decimals_is_numpys(dtype: Any, decimals: int) -> None:
    x = numbers(dtype)
    x = x[np.abs(x) < 50]
    np.testing.assert_array_equal(
        results(lambda v: np.round(v, decimals), dtype, x), np.round(x, decimals)
    )
    np.testing.assert_array_equal(
        results(lambda v: round(v, decimals), dtype, x), np.round(x, decimals)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_clipping_choosing_and_dividing_are_numpys(dtype: Any) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(-40, 40, (2, 200)).astype(dtype)
    y[y == 0] = 7
    # fmt: off
    cases: tuple[Callable[..., Any], ...] = (
        lambda a, b: np.clip(a, -3, b),
        lambda a, b: np.clip(a, None, 5),
        lambda a, b: np.clip(a, -2, None),
        lambda a, b: np.where(a > b, a, b),
        lambda a, b: np.divmod(a, b)[0] * 100 + np.divmod(a, b)[1],
    )
    # fmt: on
    for function in cases:
        np.testing.assert_array_equal(results(function, dtype, x, y), function(x, y))
    found = results(lambda a, b: divmod(a, b)[0] * 100 + divmod(a, b)[1], dtype, x, y)
    np.testing.assert_array_equal(found, x // y * 100 + x % y)


INTEGERS = (np.int32, np.uint32, np.int64, np.uint64)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisors_multiples_and_whole_roots_are_pythons(dtype: Any) -> None:
    rng = np.random.default_rng(6)
    limits = np.iinfo(dtype)
    small = rng.integers(max(-500, int(limits.min)), 500, 300).astype(dtype)
    large = rng.integers(limits.min, limits.max, 300, dtype=dtype, endpoint=True)
    x, y = (
        np.concatenate([small, large, [0, 0, 6]]).astype(dtype),
        np.concatenate([small[::-1], large[::-1], [0, 4, 0]]).astype(dtype),
    )
    np.testing.assert_array_equal(results(math.gcd, dtype, x, y), np.gcd(x, y))
    np.testing.assert_array_equal(
        results(math.lcm, dtype, x[:300], y[:300]), np.lcm(x[:300], y[:300])
    )
    found = results(lambda a, b: math.gcd(a * 6, b * 4, 10, 15), dtype, x[:300], y[:300])
    np.testing.assert_array_equal(
        found,
        [math.gcd(6 * int(a), 4 * int(b), 10, 15) for a, b in zip(x[:300], y[:300], strict=True)],
    )
    roots = np.array([math.isqrt(int(limits.max)) - n for n in range(50)], dtype)
    n = np.concatenate([roots**2, roots**2 - 1, roots**2 + 1, np.arange(70), [limits.max]]).astype(
        dtype
    )
    np.testing.assert_array_equal(
        results(math.isqrt, dtype, n), [math.isqrt(int(value)) for value in n]
    )


@pytest.mark.skipif(not hasattr(np, "bitwise_count"), reason="new in NumPy 2")
def test_bits_are_counted_as_numpy_does() -> None:
    for dtype in (np.int32, np.uint32, np.int64):
        x = (
            np.random.default_rng(1)
            .integers(-1000 if dtype != np.uint32 else 0, 1000, 100)
            .astype(dtype)
        )
        np.testing.assert_array_equal(results(np.bitwise_count, np.int32, x), np.bitwise_count(x))


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


@pytest.mark.parametrize("function", [math.gcd, math.lcm, math.isqrt], ids=lambda f: f.__name__)
def test_functions_of_integers_refuse_floats(function: Any) -> None:
    def kernel(x, out):
        out[0] = function(x[0]) if function is math.isqrt else function(x[0], 4)

    with pytest.raises(CompileError, match=r"of f32(.|\n)*give integers"):
        amdjit.kernel(kernel).compile(amdjit.f32[:], amdjit.f32[:])


@pytest.mark.parametrize("name", ["comb", "perm", "factorial", "fsum"])
def test_functions_of_python_that_kernels_lack_name_what_to_write(name: str) -> None:
    function = getattr(math, name)

    def kernel(x, out):
        out[0] = function(x[0])

    with pytest.raises(
        CompileError, match=r"cannot be called in a kernel(.|\n)*help: (take floats|add in f64)"
    ):
        amdjit.kernel(kernel).compile(amdjit.i32[:], amdjit.f32[:])


@pytest.mark.parametrize(
    "function", [np.dot, np.matmul, np.sum, np.interp, np.isnat, np.cross, np.i0]
)
def test_functions_of_numpy_that_kernels_lack_name_what_to_write(function: Any) -> None:
    def kernel(x, out):
        out[0] = function(x, x)

    with pytest.raises(CompileError) as caught:
        amdjit.kernel(kernel).compile(amdjit.f32[:], amdjit.f32[:])
    assert "call an amdjit intrinsic" not in str(caught.value)


def test_every_function_of_pythons_math_is_there_or_refused_with_what_to_write() -> None:
    functions = {
        name: value
        for name, value in vars(math).items()
        if callable(value) and not name.startswith("_")
    }
    # `math.prod` is of tuples, in the front end.
    missing = [
        name
        for name, value in functions.items()
        if value not in PYTHON_FUNCTIONS | REMEDIES and name != "prod"
    ]
    assert not missing
