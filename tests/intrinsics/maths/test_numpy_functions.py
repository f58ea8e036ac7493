"""Functions of single numbers under Python's and NumPy's names, other than real analysis, against
the host's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.errors import CompileError
from amdjit.frontend.calls.callables import REMEDIES
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from tests.intrinsics.numpy_results import FLOATS, quiet, results

SPECIAL = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.75, 1e-7, 100.0, 6e4, math.inf)


def numbers(dtype: Any) -> np.ndarray[Any, Any]:
    """Return special numbers of both signs, NaN, and others of many exponents; no denormals."""
    rng = np.random.default_rng(3)
    some = rng.normal(size=200) * 2.0 ** rng.integers(-12, 12, 200)
    return np.array(
        [*SPECIAL, *(-x for x in SPECIAL), math.nan, np.finfo(np.float16).max, *some]
    ).astype(dtype)


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


@pytest.mark.sample(2)
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


@pytest.mark.sample(2)
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


@pytest.mark.covering(1)
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


@pytest.mark.sample(2)
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


@pytest.mark.parametrize("function", [math.gcd, math.lcm, math.isqrt], ids=lambda f: f.__name__)
def test_functions_of_integers_refuse_floats(function: Any) -> None:
    def kernel(x, out):
        out[0] = function(x[0]) if function is math.isqrt else function(x[0], 4)

    with pytest.raises(CompileError, match=r"of f32(.|\n)*give integers"):
        amdjit.kernel(kernel).compile(amdjit.f32[:], amdjit.f32[:])


def test_functions_of_python_that_kernels_lack_name_what_to_write() -> None:
    def kernel(x, out):
        out[0] = math.fsum(x[0])

    with pytest.raises(CompileError, match=r"cannot be called in a kernel(.|\n)*help: add in f64"):
        amdjit.kernel(kernel).compile(amdjit.i32[:], amdjit.f32[:])


@pytest.mark.parametrize("function", [np.dot, np.matmul, np.sum, np.interp, np.cross, np.i0])
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
