"""Python's `cmath` and powers of complex numbers in kernels, against Python."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import f64

TYPES = pytest.mark.parametrize("kind", [np.complex64, np.complex128])
EDGES = [0.0, 1.0, 1.5, 3.5, math.pi, 0.5, 1e-8, 5e-324, 1e-300, 30.0, 720.5, 1e300, math.inf]
EDGES = [*EDGES, *(-edge for edge in EDGES), math.nan]
RANDOM = np.random.default_rng(3)
NUMBERS = np.concatenate(
    [
        [complex(*parts) for parts in itertools.product(EDGES, repeat=2)],
        RANDOM.normal(size=(500, 2)) @ [1, 1j] * RANDOM.choice([0.1, 1, 10], 500),
    ]
)
NAMES = (
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
SOME = [(name, np.complex128) for name in ("exp", "log", "sqrt", "tan", "acos", "atanh")]
SOME += [("sinh", np.complex64), ("asin", np.complex64)]
WORST = 4
"""In units of the last place of the result's magnitude."""


def computed(function: Any, *arguments: NDArray[Any], out: Any = None) -> NDArray[Any]:
    """Return what the function gives for each element, or pair of them."""
    result = np.zeros(arguments[0].size, out or arguments[0].dtype)

    @amdjit.kernel
    def of_one(x, result):
        i = amdjit.grid(1)
        if i < x.size:
            result[i] = function(x[i])

    @amdjit.kernel
    def of_two(x, y, result):
        i = amdjit.grid(1)
        if i < x.size:
            result[i] = function(x[i], y[i])

    kernel = of_one if len(arguments) == 1 else of_two
    kernel[-(-result.size // 64), 64](*arguments, result)
    return result


def expected(function: Callable[..., complex], *values: complex) -> complex | None:
    """Return Python's result; None where it raises."""
    try:
        return function(*values)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def is_alike(found: float, wanted: float) -> bool:
    """Whether two parts are of one kind: NaN, infinite, or finite."""
    return math.isnan(found) == math.isnan(wanted) and math.isinf(found) == math.isinf(wanted)


def check(found: complex, wanted: complex, kind: Any, what: str) -> None:
    found, unit = complex(found), float(np.finfo(kind).eps)
    with np.errstate(over="ignore"):
        wanted = complex(kind(wanted))
    assert is_alike(found.real, wanted.real), f"{what}: {found}, not {wanted}"
    assert is_alike(found.imag, wanted.imag), f"{what}: {found}, not {wanted}"
    if cmath.isnan(wanted) or "nan" in what:
        return  # The signs of the other part are not defined.
    for ours, theirs in ((found.real, wanted.real), (found.imag, wanted.imag)):
        if theirs == 0 or math.isinf(theirs):
            assert math.copysign(1, ours) == math.copysign(1, theirs), f"{what}: {found}, {wanted}"
    if cmath.isfinite(wanted):
        least = float(np.finfo(kind).smallest_subnormal)
        assert abs(found - wanted) <= WORST * max(unit * abs(wanted), least), f"{what}: {found}"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if (name, kind) in SOME else pytest.mark.exhaustive)
        for name in NAMES
        for kind in (np.complex64, np.complex128)
    ],
)
def test_functions_are_pythons_on_both_sides_of_branch_cuts(name: str, kind: Any) -> None:
    function = getattr(cmath, name)
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = NUMBERS.astype(kind)
    for value, found in zip(numbers.tolist(), computed(function, numbers), strict=True):
        wanted = expected(function, value)
        if wanted is not None:
            check(found, wanted, kind, f"{name}({value})")


@pytest.mark.sample(1)
@TYPES
def test_powers_are_pythons(kind: Any) -> None:
    bases = np.array([0, 1, -1, 1j, 2, 0.5 + 1j, -3.5 + 2j, 1e-3j, 40 + 1j], kind)
    exponents = np.array([0, 1, 2, -1, -3, 0.5, -0.5, 2.5, 1j, 1 + 2j, -1 - 0.5j, -7, 9], kind)
    x, y = np.repeat(bases, exponents.size), np.tile(exponents, bases.size)
    found = computed(lambda a, b: a**b, x, y)
    for a, b, ours in zip(x.tolist(), y.tolist(), found, strict=True):
        wanted = expected(lambda a, b: a**b, a, b)
        if wanted is None:
            assert cmath.isnan(complex(ours)), f"{a} ** {b}"
        else:
            error = abs(complex(ours) - wanted)
            assert error <= 16 * float(np.finfo(kind).eps) * abs(wanted), f"{a} ** {b}: {ours}"


@amdjit.kernel
def mixed(z, x, n, out):
    i = amdjit.grid(1)
    out[0, i] = z[i] ** n[i]
    out[1, i] = z[i] ** x[i]
    out[2, i] = x[i] ** z[i]
    out[3, i] = z[i] ** -2
    out[4, i] = 2.0 ** z[i]
    out[5, i] = cmath.log(z[i], 3.0)
    out[6, i] = cmath.log(z[i], z[i] + 2)
    out[7, i] = cmath.sqrt(x[i])
    out[8, i] = cmath.rect(*cmath.polar(z[i]))
    out[9, i] = cmath.phase(z[i]) * cmath.pi + cmath.infj.imag * 0 if i < 0 else cmath.phase(z[i])
    out[10, i] = np.exp(z[i]) + np.arcsin(z[i])
    out[11, i] = abs(z[i])
    out[12, i] = cmath.exp(1j)


def test_real_operands_bases_and_numpys_names() -> None:
    z = RANDOM.normal(size=(64, 2)) @ [1, 1j]
    x, n = np.linspace(-3, 3, 64), np.arange(-32, 32, dtype=np.int32) // 4
    out = np.zeros((13, 64), complex)
    mixed[1, 64](z, x, n, out)
    rows = zip(z.tolist(), x.tolist(), n.tolist(), strict=True)
    for i, (a, b, k) in enumerate(rows):
        wanted = [
            a**k, a**b, complex(b) ** a, a**-2, 2**a, cmath.log(a, 3), cmath.log(a, a + 2),
            cmath.sqrt(b), a, cmath.phase(a), np.exp(a) + np.arcsin(a), abs(a), cmath.exp(1j),
        ]  # fmt: skip
        np.testing.assert_allclose(out[:, i], wanted, rtol=1e-14)


@TYPES
def test_tests_of_special_values_and_distances(kind: Any) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = NUMBERS.astype(kind)
    for name in ("isnan", "isinf", "isfinite"):
        found = computed(getattr(cmath, name), numbers, out=np.bool_)
        assert found.tolist() == [getattr(cmath, name)(value) for value in numbers.tolist()]
    with np.errstate(all="ignore"):
        beside = (numbers * kind(1 + 2e-3)).astype(kind)
    found = computed(lambda a, b: cmath.isclose(a, b, rel_tol=1e-3), numbers, beside, out=np.bool_)
    assert found.tolist() == [
        cmath.isclose(a, b, rel_tol=1e-3)
        for a, b in zip(numbers.tolist(), beside.tolist(), strict=True)
    ]


def test_magnitudes_neither_overflow_nor_lose_bits() -> None:
    numbers = np.array([3e300 + 4e300j, 3e-320 + 4e-320j, 1e308 + 1e308j, math.inf + math.nan * 1j])
    with np.errstate(all="ignore"):
        found = computed(abs, numbers, out=f64.dtype)
        np.testing.assert_allclose(found, np.abs(numbers), rtol=3e-16)
