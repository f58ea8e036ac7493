"""The functions of real numbers in f32, f16 and bf16, run on the emulator, against float64."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import bitcast, f32, f64, i32
from amdjit.intrinsics import math as real
from amdjit.intrinsics.maths import roots_and_remainders

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import math_accuracy as accuracy
import math_sources

from tests.intrinsics import fit_polynomials

SMALLEST_NORMAL = 2.0**-126
LARGEST_ERROR = dict.fromkeys(accuracy.REFERENCES | accuracy.REFERENCES_OF_TWO, 2.0) | {
    "tgamma": 4.0,
    "lgamma": 4.0,
}
"""In units of the last place."""


@pytest.mark.sample(18)
@pytest.mark.parametrize("name", accuracy.REFERENCES)
def test_functions_of_one_number_are_right_for_every_exponent(name: str) -> None:
    rng = np.random.default_rng(7)
    near = (rng.normal(size=4096) * rng.choice([0.1, 1, 10], 4096)).astype(np.float32)
    numbers = np.concatenate([accuracy.stratified(1 << 14), near])
    errors = accuracy.errors_in_ulps(
        accuracy.computed(name, numbers), accuracy.expected(name, numbers)
    )
    worst = int(np.argmax(errors))
    assert errors[worst] <= LARGEST_ERROR[name], f"{name}({numbers[worst]!r})"


@pytest.mark.parametrize("name", accuracy.REFERENCES_OF_TWO)
def test_functions_of_two_numbers_are_right_for_every_pair_of_special_ones(name: str) -> None:
    pairs = np.array(list(itertools.product(accuracy.SPECIAL, repeat=2)), np.float32)
    rng = np.random.default_rng(8)
    numbers = accuracy.stratified(1 << 13)
    near = (rng.normal(size=(4096, 2)) * 20).astype(np.float32)
    first = np.concatenate([pairs[:, 0], numbers, near[:, 0]])
    second = np.concatenate([pairs[:, 1], rng.permutation(numbers), near[:, 1]])
    errors = accuracy.errors_in_ulps(
        accuracy.computed(name, first, second), accuracy.expected(name, first, second)
    )
    worst = int(np.argmax(errors))
    assert errors[worst] <= LARGEST_ERROR[name], f"{name}({first[worst]!r}, {second[worst]!r})"


@amdjit.kernel
def parts(x, mantissa, exponent, fraction, whole):
    i = amdjit.grid(1)
    if i < x.size:
        mantissa[i], exponent[i] = math.frexp(x[i])
        fraction[i], whole[i] = math.modf(x[i])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_are_taken_apart_as_numpy_does(dtype: type) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = accuracy.stratified(1 << 12).astype(dtype)
    found = [np.zeros_like(numbers) for _ in range(3)]
    exponents = np.zeros(numbers.size, np.int32)
    parts[16, 256](numbers, found[0], exponents, *found[1:])
    with np.errstate(invalid="ignore"):
        mantissas, wanted = np.frexp(numbers)
        fractions, wholes = np.modf(numbers)
    finite = np.isfinite(numbers)
    np.testing.assert_array_equal(exponents, np.where(finite, wanted, 0))
    for ours, theirs in zip(found, (mantissas, fractions, wholes), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(np.signbit(ours)[finite], np.signbit(theirs)[finite])


@pytest.mark.sample(17)
@pytest.mark.parametrize(
    ("dtype", "name"),
    [(np.float16, name) for name in accuracy.REFERENCES]
    + [(ml_dtypes.bfloat16, name) for name in ("sin", "exp", "log", "tanh", "erfc", "tgamma")],
)
def test_every_16_bit_float_has_the_true_result_rounded_once(dtype: type, name: str) -> None:
    numbers = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    found = np.zeros_like(numbers)
    accuracy.kernel_of(name)[256, 256](numbers, found)
    wanted = accuracy.expected(name, numbers.astype(np.float32)).astype(dtype)
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
    is_zero = found == 0
    np.testing.assert_array_equal(np.signbit(found)[is_zero], np.signbit(wanted)[is_zero])


@amdjit.kernel
def gammas(x, out, logarithm):
    i = amdjit.grid(1)
    if i < x.size:
        out[i] = math.gamma(x[i])
        logarithm[i] = math.lgamma(x[i])


def test_gamma_functions_are_right_beside_their_zeros_and_poles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AMDJIT_DEVICE_LIBS", str(tmp_path))  # where no OCML is
    zeros = [
        1,
        2,
        -2.4570247,
        -2.7476826,
        -3.1435809,
        -3.9552943,
        -4.0393618,
        -4.9915446,
        -5.0082182,
        -5.9986075,
    ]
    zeros += [-6.0013853, -6.9998015, -7.0001983, -7.9999752, -8.0000248, -8.9999972, -9.0000028]
    beside = np.array(
        [*zeros, *range(-44, 37), -8388607.5, 0.7, 2.3, 3, 35.040092], np.float32
    ).view(np.int32)
    x = (beside[:, None] + np.arange(-6, 7, dtype=np.int32)).view(np.float32).ravel()
    found = np.zeros_like(x), np.zeros_like(x)
    gammas[16, 256](x, *found)
    for ours, name in zip(found, ("tgamma", "lgamma"), strict=True):
        error = accuracy.errors_in_ulps(ours, accuracy.expected(name, x))
        worst = int(np.argmax(error))
        # The host's lgamma itself is exact in absolute terms only, near its zeros.
        assert error[worst] <= 4, f"{name}({x[worst]!r})"


@amdjit.kernel
def neighbours(x, y, out):
    i = amdjit.grid(1)
    out[i] = math.nextafter(x[i], y[i])


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_neighbours_of_halves_and_doubles_are_numpys(dtype: type) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        x = accuracy.stratified(1 << 12).astype(dtype)
        y = np.random.default_rng(1).permutation(x)
    out = np.empty_like(x)
    neighbours[16, 256](x, y, out)
    np.testing.assert_array_equal(out, np.nextafter(x, y))


@amdjit.kernel
def of_integers(x, out):
    out[0] = math.sin(x[0])
    out[1] = np.arctan2(x[1], x[0])
    out[2] = real.hypot(x[1], 4)
    out[3] = math.fmod(x[1], 2.5)
    out[4], out[5] = real.sincos(x[1])


def test_integers_and_literals_are_taken_as_f32() -> None:
    out = np.zeros(6, np.float32)
    of_integers[1, 1](np.array([2, 3], np.int32), out)
    wanted = [math.sin(2), math.atan2(3, 2), 5, 0.5, math.sin(3), math.cos(3)]
    np.testing.assert_allclose(out, wanted, rtol=1e-7)


@amdjit.kernel
def of_numpys_operators(x, k, out, whole):
    out[0] = np.maximum(np.add(x[0], x[1]), np.multiply(x[0], x[1]))
    out[1] = np.minimum(np.divide(x[0], x[1]), np.power(x[1], 3))
    out[2] = np.absolute(np.negative(x[0]))
    out[3] = np.subtract(np.remainder(x[0], x[1]), np.rint(x[0]))
    whole[0] = np.bitwise_and(k[0], np.left_shift(k[1], 1))
    whole[1] = np.floor_divide(k[0], k[1])
    whole[2] = np.logical_xor(k[0], k[1]) or (np.less_equal(k[1], k[0]) and np.logical_not(k[2]))
    whole[3] = np.invert(k[0])
    whole[4] = np.logical_and(k[0], k[2]) or np.logical_or(k[1], k[2])


def test_numpys_operators_give_numpys_results() -> None:
    x, k = np.array([7.5, -2.25], np.float32), np.array([13, 3, 0], np.int32)
    out, wanted = (np.zeros(4, np.float32) for _ in range(2))
    whole, wanted_whole = (np.zeros(5, np.int32) for _ in range(2))
    of_numpys_operators[1, 1](x, k, out, whole)
    of_numpys_operators.function(x, k, wanted, wanted_whole)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(whole, wanted_whole)


def test_the_rows_of_the_table_are_of_what_is_evaluated_today() -> None:
    stale = accuracy.stale(json.loads(accuracy.RESULT.read_text()))
    assert not stale, f"run benchmarks/math_accuracy.py --stale: {stale}"


def test_the_errors_of_the_table_are_those_that_are_promised() -> None:
    for name, row in json.loads(accuracy.RESULT.read_text()).items():
        assert row["ulp"] <= LARGEST_ERROR[name], name
        assert row["inputs"] == 2**32 or name in accuracy.REFERENCES_OF_TWO


FACTOR = 2.0


@amdjit.device_function
def scaled(x: f32) -> Any:
    """Return a multiple."""
    if isinstance(x, f64):
        return x
    return x * FACTOR


@amdjit.device_function
def more(x):
    return scaled(x) + 1  # a comment


def test_a_fingerprint_differs_where_the_evaluation_in_f32_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = math_sources.fingerprint(more)
    assert "isinstance" not in str(math_sources.parts_of(more))
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.0)
    second = math_sources.fingerprint(more)
    monkeypatch.setattr(sys.modules[__name__], "scaled", real.sin)
    assert len({first, second, math_sources.fingerprint(more)}) == 3


APPROXIMATED = {
    "exp2": "v_exp_f32",
    "log": "v_log_f32",
    "log2": "v_log_f32",
    "log10": "v_log_f32",
    "sqrt": "v_sqrt_f32",
}
UNCHANGED = ("exp", "log1p", "sin", "asinh", "atanh", "erfc", "atan2", "power")
NOT_OF_BITS = [
    name for name in accuracy.REFERENCES | accuracy.REFERENCES_OF_TWO if name != "nextafter"
]


@pytest.mark.sample(9)
@pytest.mark.parametrize(
    ("name", "options"),
    [(name, {"denormals": "flush"}) for name in NOT_OF_BITS]
    + [(name, {"fastmath": True}) for name in (*APPROXIMATED, *UNCHANGED)],
)
def test_modes_of_arithmetic_leave_functions_as_exact(name: str, options: dict[str, Any]) -> None:
    numbers = accuracy.stratified(1 << 13)
    arguments = (
        (numbers,)
        if name in accuracy.REFERENCES
        else (numbers, np.random.default_rng(1).permutation(numbers))
    )
    found = np.empty_like(numbers)
    amdjit.kernel(**options)(accuracy.kernel_of(name).function)[32, 256](*arguments, found)
    true = accuracy.expected(name, *arguments)
    errors = accuracy.errors_in_ulps(found, true)
    is_usual = np.abs(true) >= SMALLEST_NORMAL
    for argument in arguments:
        is_usual &= (argument == 0) | (np.abs(argument) >= SMALLEST_NORMAL) | np.isnan(argument)
    if "fastmath" in options:
        is_usual &= np.isfinite(sum(arguments)) & (np.abs(true) < 3e38)
    else:
        np.testing.assert_array_equal(found[is_usual & (true == 0)], 0)
    worst = int(np.argmax(np.where(is_usual, errors, 0)))
    assert errors[worst] <= 4 or not is_usual[worst], (
        f"{name}({[float(x[worst]) for x in arguments]})"
    )


@pytest.mark.parametrize("name", APPROXIMATED)
def test_approximate_functions_are_the_instruction_and_at_most_a_product(name: str) -> None:
    options = {"fastmath": {"afn"}}
    text = amdjit.kernel(**options)(accuracy.kernel_of(name).function).compile(f32[:], f32[:]).asm
    assert text.count(APPROXIMATED[name]) == 1
    assert not re.search("v_cndmask|v_ldexp|v_fma", text)
    assert text.count("v_mul_f32") == (name in ("log", "log10"))


HARD_ROOTS = np.array([0x3F4D142A, 0x3F5AE03B, 0x3F6E9372, 0x3FFC114A], np.uint32).view(np.float32)
"""Roots so close to a tie that one step of Newton's from a guess with an error of 1 unit rounds
them wrongly."""


@amdjit.kernel
def roots(x, offset, out):
    i = amdjit.grid(1)
    guess = bitcast(real.rsq(x[i]), i32) + offset
    out[i] = roots_and_remainders._root(x[i], bitcast(guess, f32))


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
def test_roots_are_correctly_rounded_whatever_the_guess_lacks(offset: int) -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(1, 4, (1 << 14) - 4).astype(np.float32), HARD_ROOTS])
    found = np.empty_like(x)
    roots[x.size // 256, 256](x, np.int32(offset), found)
    np.testing.assert_array_equal(found, np.sqrt(x))


def fast_results(name: str, *arguments: Any) -> Any:
    function = getattr(real, name)

    @amdjit.kernel
    def of_one(x, y, out):
        i = amdjit.grid(1)
        out[i] = function(x[i])

    @amdjit.kernel
    def of_two(x, y, out):
        i = amdjit.grid(1)
        out[i] = function(x[i], y[i])

    out = np.empty_like(arguments[0])
    kernel = of_one if len(arguments) == 1 else of_two
    kernel[out.size // 256, 256](arguments[0], arguments[-1], out)
    return out.astype(np.float64)


def test_fast_functions_are_as_exact_as_documented() -> None:
    rng = np.random.default_rng(2)
    angles, powers = (
        rng.uniform(-limit, limit, 1 << 14).astype(np.float32) for limit in (1000, 37)
    )
    positive = np.exp(powers)
    for name in ("sin", "cos"):
        error = np.abs(fast_results(f"fast_{name}", angles) - accuracy.expected(name, angles))
        assert np.all(error <= 3e-7 + 1.2e-7 * np.abs(angles)), name
    size, order = np.abs(powers.astype(np.float64)), np.abs(np.log2(positive.astype(np.float64)))
    bounds = {
        "exp": 3 + 1.3 * size,
        "exp10": 3 + 3.2 * size,
        "exp2": 1,
        "log": 4,
        "log10": 4,
        "log2": 1,
        "sqrt": 1,
    }
    for name, bound in bounds.items():
        x = positive if name in ("log", "log10", "log2", "sqrt") else powers
        found = fast_results(f"fast_{name}", x).astype(np.float32)
        assert np.all(accuracy.errors_in_ulps(found, accuracy.expected(name, x)) <= bound), name
    exponents = rng.uniform(-2, 2, 1 << 14).astype(np.float32)
    found = fast_results("fast_power", positive, exponents).astype(np.float32)
    errors = accuracy.errors_in_ulps(found, accuracy.expected("power", positive, exponents))
    assert np.all(errors <= 3 + 2 * np.abs(exponents) * order)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", accuracy.REFERENCES)
def test_functions_of_one_number_are_right_for_all_inputs(name: str) -> None:
    assert accuracy.measure(name, True, accuracy.Loops())["ulp"] <= LARGEST_ERROR[name]


def constant(name: str) -> tuple[float, ...]:
    module, _, of_module = name.partition(".")
    return getattr(importlib.import_module(f"amdjit.intrinsics.maths.{module}"), of_module)


@pytest.mark.parametrize("name", fit_polynomials.POLYNOMIALS)
def test_the_polynomials_of_f64_are_those_that_the_script_finds(name: str) -> None:
    function, low, high, degree = fit_polynomials.POLYNOMIALS[name]
    found = fit_polynomials.fitted(function, low, high, degree)
    error = fit_polynomials.largest_error(tuple(found), function, low, high)
    assert len(constant(name)) == degree + 1
    assert (
        fit_polynomials.largest_error(constant(name), function, low, high) <= 1.01 * error < 3e-10
    )


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", fit_polynomials.SINGLES)
def test_the_polynomials_of_f32_are_those_that_the_script_finds(name: str) -> None:
    found, error = fit_polynomials.fitted_singles(name)
    assert len(constant(name)) == len(found)
    assert fit_polynomials.error_of_singles(constant(name), name) <= 1.05 * error + 1e-15 < 2**-25
