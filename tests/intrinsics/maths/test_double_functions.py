"""The functions of real numbers in f64, run on the emulator, against mpmath."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import amdjit
from amdjit import f64
from amdjit.diagnostics import CompileError
from amdjit.frontend import type_kernel
from amdjit.intrinsics import math as real
from amdjit.intrinsics.maths import doubles
from amdjit.intrinsics.maths.doubles import exponentials, hyperbolic, logarithms, power
from amdjit.intrinsics.maths.native_math import rcp, rsq
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.options import CompileOptions, named_target

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import double_accuracy as accuracy
from double_references import REFERENCES

from tests.intrinsics import fit_doubles


def check(name: str, arguments: tuple[np.ndarray, ...]) -> None:
    errors = accuracy.exact_errors(name, accuracy.computed(name, *arguments), *arguments)
    worst = int(np.argmax(errors))
    shown = ", ".join(repr(float(each[worst])) for each in arguments)
    assert errors[worst] <= REFERENCES[name].bound, f"{name}({shown}): {errors[worst]} units"


EXACTLY_KNOWN = [name for name, reference in REFERENCES.items() if reference.exact is not None]


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", EXACTLY_KNOWN)
def test_functions_are_right_at_edges_and_for_every_exponent(name: str) -> None:
    edges = accuracy.edge_inputs(name, 400)
    random = accuracy.inputs(name, 300, 1)
    check(name, tuple(np.concatenate(both) for both in zip(edges, random, strict=True)))


NUMPYS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
}
ZEROS = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -2, 5e-324, -5e-324, 1e-300, 1e300])


@amdjit.kernel
def at_special_numbers(x, out):
    i = amdjit.grid(1)
    if i < x.size:
        for row, function in enumerate(OWN):
            out[row, i] = function(x[i])


OWN = tuple(getattr(real, name) for name in NUMPYS)


def test_special_numbers_give_what_numpy_gives_with_the_signs_of_zeros() -> None:
    out = np.empty((len(OWN), ZEROS.size))
    at_special_numbers[1, 32](ZEROS, out)
    for (name, function), found in zip(NUMPYS.items(), out, strict=True):
        with np.errstate(all="ignore"):
            wanted = function(ZEROS)
        np.testing.assert_allclose(found, wanted, rtol=1e-15, err_msg=name)
        is_zero = wanted == 0
        np.testing.assert_array_equal(np.signbit(found[is_zero]), np.signbit(wanted[is_zero]), name)


@amdjit.kernel
def powers(x, y, out):
    i = amdjit.grid(1)
    out[i] = x[i] ** y[i]


def test_powers_of_special_numbers_are_those_of_c() -> None:
    sides = np.concatenate([ZEROS, [3, -3, 0.5, -0.5, 1e-17]])
    x, y = (each.ravel() for each in np.meshgrid(sides, sides))
    out = np.empty_like(x)
    powers[x.size // 4, 4](x, y, out)
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    np.testing.assert_allclose(out, wanted, rtol=1e-15)
    is_zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(out[is_zero]), np.signbit(wanted[is_zero]))


@amdjit.kernel
def lengths(x, out):
    i = amdjit.grid(1)
    out[0, i] = math.hypot(x[0, i], x[1, i], x[2, i])
    out[1, i] = math.hypot(x[0, i], x[1, i], x[2, i], x[3, i])
    out[2, i] = math.dist((x[0, i], x[1, i], x[2, i]), (0.0, 0.0, 0.0))


def test_lengths_of_several_numbers_are_nearly_the_nearest() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 512)) * 2.0 ** rng.integers(-6, 6, (4, 512))
    x[:, 256:] *= 2.0 ** rng.integers(-1050, 1000, 256)
    x[:, :5] = [
        [0, -0.0, np.inf, np.nan, 0],
        [0, 0, 1, 1, 3],
        [0, 0, np.nan, 1, 4],
        [0, 0, 1, 1, 12],
    ]
    out = np.empty((3, 512))
    lengths[2, 256](x, out)
    np.testing.assert_array_equal(out[2], out[0])
    for found, columns in ((out[0], x[:3].T), (out[1], x.T)):
        for ours, column in zip(found.tolist(), columns.tolist(), strict=True):
            true = math.hypot(*column)  # within 1 unit itself
            exact = mpmath.sqrt(mpmath.fsum(mpmath.mpf(each) ** 2 for each in column))
            if math.isfinite(true):
                assert abs(ours - exact) <= 0.6 * math.ulp(ours), column
            else:
                np.testing.assert_equal(ours, true)


FUNCTIONS = tuple(getattr(real, name) for name, each in REFERENCES.items() if each.arguments == 1)
FUNCTIONS_OF_TWO = tuple(
    getattr(real, name) for name, each in REFERENCES.items() if each.arguments == 2
)


def every_function(x, out):
    for function in FUNCTIONS:
        out[0] += function(x[0])
    for function in FUNCTIONS_OF_TWO:
        out[0] += function(x[0], x[1])


def test_no_function_needs_a_library() -> None:
    options = CompileOptions(named_target("gfx1201"))
    typed = type_kernel(every_function, (f64[:], f64[:]), Compilation(options), PYTHON_FUNCTIONS)
    assert typed.libraries == ()
    chosen = replace(options, f64_math="ocml")
    with pytest.raises(CompileError, match="AJ0405"):
        type_kernel(every_function, (f64[:], f64[:]), Compilation(chosen), PYTHON_FUNCTIONS)


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [{"fastmath": True}, {"denormals": "flush"}])
def test_modes_of_arithmetic_leave_functions_of_doubles_as_they_are(
    options: dict[str, Any],
) -> None:
    x = np.random.default_rng(4).uniform(0.01, 0.99, 1024)
    usual, other = (np.empty((len(OWN), x.size)) for _ in range(2))
    at_special_numbers[4, 256](x, usual)
    amdjit.kernel(**options)(at_special_numbers.function)[4, 256](x, other)
    np.testing.assert_array_equal(other, usual)


def pair(value: Any, bits: int = 53) -> tuple[float, float]:
    first = mpmath.nint(value * 2**bits) / 2**bits if bits < 53 else float(value)
    return float(first), float(value - first)


def test_constants_are_exact_to_twice_the_bits() -> None:
    with mpmath.workprec(200):
        ln2, ln10 = mpmath.log(2), mpmath.log(10)
        assert pair(ln2) == exponentials._LN2
        assert pair(ln10) == exponentials._LN10
        assert float(ln2 / ln10) == exponentials._LOG10_2
        lacking = float((ln2 / ln10 - mpmath.mpf(exponentials._LOG10_2)) * ln10)
        assert lacking == exponentials._LACKING
        assert pair(ln2, 42) == logarithms._LN2 == power._LN2
        assert pair(ln2 / ln10, 42) == logarithms._LOG10_2
        assert pair(1 / ln2) == logarithms._LOG2_E
        assert pair(1 / ln10) == logarithms._LOG10_E
        assert pair(mpmath.log(1.5), 42) == power._LN_3_2
        assert pair(mpmath.mpf(1) / 12) == power._TWELFTH
        assert pair(ln2)[1] == power._LN2_LOW == hyperbolic._LN2_LOW


def test_the_rows_of_the_table_are_of_what_is_evaluated_today() -> None:
    stale = accuracy.stale(json.loads(accuracy.RESULT.read_text()))
    assert not stale, f"run benchmarks/double_accuracy.py --stale: {stale}"


def test_the_errors_of_the_table_are_those_that_are_promised() -> None:
    for name, row in json.loads(accuracy.RESULT.read_text()).items():
        assert row["ulp"] <= REFERENCES[name].bound, name
        assert row["inputs"] > 10**7, name


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", fit_doubles.POLYNOMIALS)
def test_the_polynomials_are_those_that_the_script_finds(name: str) -> None:
    found, error = fit_doubles.fitted(name)
    stored = fit_doubles.stored(name)
    assert len(stored) == len(found)
    assert fit_doubles.error_of(stored, name) <= 1.05 * error < 2**-52


@amdjit.device_function
def rough_rcp(x):
    """Return a reciprocal as far off as hardware may be."""
    return rcp(x) * (1 + ROUGHNESS)


@amdjit.device_function
def rough_rsq(x):
    """Return a reciprocal root likewise."""
    return rsq(x) * (1 - ROUGHNESS)


ROUGHNESS = 2.0**-22
GUESSING = {"rcp": rough_rcp, "rsq": rough_rsq}


def guess_roughly(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in pkgutil.iter_modules(doubles.__path__):
        module = importlib.import_module(f"{doubles.__name__}.{each.name}")
        for name, rough in GUESSING.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, rough)


@pytest.mark.parametrize("name", ["log1p", "tanh", "hypot"])
def test_bounds_hold_however_good_the_instructions_guesses_are(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guess_roughly(monkeypatch)
    check(name, accuracy.inputs(name, 2000, 2))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", EXACTLY_KNOWN)
def test_bounds_hold_for_rough_guesses_and_many_inputs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guess_roughly(monkeypatch)
    loops = accuracy.Loops()
    for arguments in accuracy.batches(name, 1 << 20):
        found = accuracy.computed(name, *arguments)
        assert loops.measure(name, found, *arguments)[0] <= REFERENCES[name].bound
