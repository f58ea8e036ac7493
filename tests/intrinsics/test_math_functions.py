"""The functions of real numbers in f32, f16 and bf16, run on the emulator, against float64."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import math as real

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import fit_polynomials
import math_accuracy as accuracy

LARGEST_ERROR = 2.0
LARGEST_ERROR_OF_TWO = {"power": 4.0}
"""In units of the last place."""


@pytest.mark.parametrize("name", accuracy.REFERENCES)
def test_functions_of_one_number_are_right_for_every_exponent(name: str) -> None:
    rng = np.random.default_rng(7)
    near = (rng.normal(size=4096) * rng.choice([0.1, 1, 10], 4096)).astype(np.float32)
    numbers = np.concatenate([accuracy.stratified(1 << 14), near])
    errors = accuracy.errors_in_ulps(accuracy.computed(name, numbers), accuracy.expected(name, numbers))
    worst = int(np.argmax(errors))
    assert errors[worst] <= LARGEST_ERROR, f"{name}({numbers[worst]!r})"


@pytest.mark.parametrize("name", accuracy.REFERENCES_OF_TWO)
def test_functions_of_two_numbers_are_right_for_every_pair_of_special_ones(name: str) -> None:
    pairs = np.array(list(itertools.product(accuracy.SPECIAL, repeat=2)), np.float32)
    rng = np.random.default_rng(8)
    numbers = accuracy.stratified(1 << 13)
    near = (rng.normal(size=(4096, 2)) * 20).astype(np.float32)
    first = np.concatenate([pairs[:, 0], numbers, near[:, 0]])
    second = np.concatenate([pairs[:, 1], rng.permutation(numbers), near[:, 1]])
    errors = accuracy.errors_in_ulps(accuracy.computed(name, first, second), accuracy.expected(name, first, second))
    worst = int(np.argmax(errors))
    assert errors[worst] <= LARGEST_ERROR_OF_TWO.get(name, LARGEST_ERROR), (
        f"{name}({first[worst]!r}, {second[worst]!r})"
    )


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


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(np.float16, name) for name in accuracy.REFERENCES]
    + [(ml_dtypes.bfloat16, name) for name in ("sin", "exp", "log", "tanh", "erfc", "cbrt")],
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", accuracy.REFERENCES)
def test_functions_of_one_number_are_right_for_all_inputs(name: str) -> None:
    assert accuracy.measure(name, True, accuracy.Loops())["ulp"] <= LARGEST_ERROR


def constant(name: str) -> tuple[float, ...]:
    module, _, of_module = name.partition(".")
    return getattr(importlib.import_module(f"amdjit.intrinsics.{module}"), of_module)


@pytest.mark.parametrize("name", fit_polynomials.POLYNOMIALS)
def test_the_polynomials_of_f64_are_those_that_the_script_finds(name: str) -> None:
    function, low, high, degree = fit_polynomials.POLYNOMIALS[name]
    found = fit_polynomials.fitted(function, low, high, degree)
    error = fit_polynomials.largest_error(tuple(found), function, low, high)
    assert len(constant(name)) == degree + 1
    assert fit_polynomials.largest_error(constant(name), function, low, high) <= 1.01 * error < 3e-10


@pytest.mark.parametrize("name", fit_polynomials.SINGLES)
def test_the_polynomials_of_f32_are_those_that_the_script_finds(name: str) -> None:
    found, error = fit_polynomials.fitted_singles(name)
    assert len(constant(name)) == len(found)
    assert fit_polynomials.error_of_singles(constant(name), name) <= 1.05 * error < 2**-25
