"""Find the polynomials of the functions of f64: run this file, with names for some of them.

The smallest largest error (E. Remez, 1934), in 160 bits, with the coefficients rounded to f64.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
from mpmath import mpf

__all__ = ["POLYNOMIALS", "Fit", "error_of", "fitted", "stored"]

mpmath.mp.prec = 160
Real = Any
_GRID = 12
"""Places looked at between two neighbouring zeros of the error, roughly."""

_TURNS = 10


@dataclass(frozen=True)
class Fit:
    """What a polynomial approximates over an interval, and what an error of it counts.

    given: coefficients that are fixed, from the lowest power up.
    """

    function: Callable[[Real], Real]
    counts: Callable[[Real], Real]
    low: float
    high: float
    degree: int
    given: tuple[float, ...] = ()


def tail(function: Callable[[Real], Real], terms: tuple[Real, ...], power: int) -> Any:
    """Return (f(x) - its first terms) / x**power; `terms` start at the constant one."""

    def of(x: Real) -> Real:
        x = mpf(x) if x else mpf(2) ** -50
        with mpmath.workprec(800):
            return (function(x) - sum(t * x**n for n, t in enumerate(terms))) / x**power

    return of


def in_square(function: Callable[[Real], Real], power: int) -> Callable[[Real], Real]:
    """Return what an odd function has beyond x, over x**power, for x * x."""

    def of(square: Real) -> Real:
        with mpmath.workprec(800):
            x = mpmath.sqrt(square) if square else mpf(2) ** -50
            return (function(x) - x) / x**power

    return of


def beyond_logarithm(square: Real) -> Real:
    """Return (log((1 + s) / (1 - s)) - 2s) / s**3 for s * s."""
    with mpmath.workprec(800):
        s = mpmath.sqrt(square) if square else mpf(2) ** -50
        return (2 * mpmath.atanh(s) - 2 * s) / s**3


def beyond_cubic(square: Real) -> Real:
    """Return what log((1 + w / 2) / (1 - w / 2)) has beyond w + w**3 / 12, over w**5, for w * w."""
    with mpmath.workprec(800):
        w = mpmath.sqrt(square) if square else mpf(2) ** -50
        return (2 * mpmath.atanh(w / 2) - w - w**3 / 12) / w**5


def quotient_of_odd(function: Callable[[Real], Real]) -> Callable[[Real], Real]:
    """Return f(x) / x - 1 for x * x."""

    def of(square: Real) -> Real:
        with mpmath.workprec(800):
            x = mpmath.sqrt(square) if square else mpf(2) ** -50
            return function(x) / x - 1

    return of


def beyond_cosine(square: Real) -> Real:
    """Return (cos(x) - 1 + x * x / 2) / x**4 for x * x."""
    with mpmath.workprec(800):
        square = mpf(square) if square else mpf(2) ** -100
        return (mpmath.cos(mpmath.sqrt(square)) - 1 + square / 2) / square**2


def beyond_stirling(square: Real) -> Real:
    """Return what Stirling's formula lacks of log(gamma(z)), times z, for 1 / (z * z)."""
    with mpmath.workprec(300):
        z = 1 / mpmath.sqrt(square) if square else mpf(2) ** 50
        formula = (z - 0.5) * mpmath.log(z) - z + mpmath.log(2 * mpmath.pi) / 2
        return (mpmath.loggamma(z) - formula) * z


def between_zeros(t: Real) -> Real:
    """Return log(gamma(x)) / ((x - 1) * (x - 2)) for t = x - 1.5."""
    with mpmath.workprec(300):
        x = t + mpf(1.5)
        return mpmath.loggamma(x) / ((x - 1) * (x - 2))


def scaled_complement(t: Real) -> Real:
    """Return (1 + 2x) exp(x * x) erfc(x) for t = (x - 4) / (x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * mpmath.exp(x * x) * mpmath.erfc(x)


def sine_of_half_turns(r: Real) -> Real:
    """Return sin(pi * r) / pi."""
    return mpmath.sin(mpmath.pi * r) / mpmath.pi


HALF_LN2 = 0.34657359028
EIGHTH_TURN = 0.78543  # and a little more
POLYNOMIALS: dict[str, Fit] = {
    "exponentials._EXPONENTIAL": Fit(
        tail(mpmath.exp, (1, 1), 2),
        lambda r: r * r * mpmath.exp(-r),
        -HALF_LN2,
        HALF_LN2,
        9,
        (0.5,),
    ),
    "exponentials._CUBIC": Fit(
        tail(mpmath.exp, (1, 1, 0.5), 3), lambda r: abs(r) ** 3, -HALF_LN2, HALF_LN2, 9
    ),
    "logarithms._LOGARITHM": Fit(beyond_logarithm, lambda z: z / 2, 0, 0.02944, 6),
    "hyperbolic._ASINH": Fit(in_square(mpmath.asinh, 3), lambda square: square, 0, 0.25, 11),
    "power._SERIES": Fit(beyond_cubic, lambda square: square**2, 0, 0.0409, 5),
    "trigonometry._SINE": Fit(in_square(mpmath.sin, 3), abs, 0, EIGHTH_TURN**2, 5),
    "trigonometry._COSINE": Fit(
        beyond_cosine, lambda z: z * z / mpmath.cos(mpmath.sqrt(z)), 0, EIGHTH_TURN**2, 5
    ),
    "trigonometry._TANGENT": Fit(in_square(mpmath.tan, 3), abs, 0, EIGHTH_TURN**2 / 4, 8),
    "trigonometry._ARCSINE": Fit(in_square(mpmath.asin, 3), abs, 0, 0.25, 12),
    "trigonometry._ARCTANGENT": Fit(in_square(mpmath.atan, 3), abs, 0, 0.4375**2, 10),
    "error_and_gamma._ERROR": Fit(
        quotient_of_odd(mpmath.erf), lambda z: mpmath.sqrt(z) / mpmath.erf(mpmath.sqrt(z)), 0, 1, 13
    ),
    "error_and_gamma._COMPLEMENT": Fit(scaled_complement, lambda t: 0.9, -0.6, 0.75, 19),
    "error_and_gamma._STIRLING": Fit(beyond_stirling, mpmath.sqrt, 0, 2.2**-2 * 1.001, 14),
    "error_and_gamma._BETWEEN": Fit(between_zeros, lambda t: 1.8, -0.7, 0.7, 25),
    "error_and_gamma._SINE": Fit(in_square(sine_of_half_turns, 3), abs, 0, 0.25, 7),
    "pairs._ARTANH": Fit(in_square(mpmath.atanh, 3), abs, 0, 0.02944, 7),
}
"""By the module of `doubles` and the constant's name."""


def fitted(name: str) -> tuple[list[float], float]:
    """Return the coefficients in f64 from the highest power down, and the largest error."""
    fit = POLYNOMIALS[name]
    first = len(fit.given)
    rest = Fit(
        lambda x: (fit.function(x) - sum(c * x**n for n, c in enumerate(fit.given))) / x**first,
        lambda x: fit.counts(x) * abs(x) ** first,
        fit.low,
        fit.high,
        fit.degree - first,
    )
    found = [*fit.given, *map(float, _smallest_largest(rest))][::-1]
    return found, error_of(tuple(found), name)


def stored(name: str) -> tuple[float, ...]:
    """Return the coefficients that the module has."""
    module, _, constant = name.partition(".")
    found = importlib.import_module(f"amdjit.intrinsics.maths.doubles.{module}")
    return tuple(getattr(found, constant))


def error_of(coefficients: tuple[float, ...], name: str) -> float:
    """Return the largest error that coefficients have."""
    fit = POLYNOMIALS[name]

    def error(x: Real) -> Real:
        return abs((mpmath.polyval(coefficients, x) - fit.function(x)) * fit.counts(x))

    return float(max(error(x) for x in _nodes(fit, 200)))


def _nodes(fit: Fit, count: int) -> list[Real]:
    middle, half = (mpf(fit.low) + mpf(fit.high)) / 2, (mpf(fit.high) - mpf(fit.low)) / 2
    return [middle - half * mpmath.cos(mpmath.pi * (n + 0.5) / count) for n in range(count)]


def _smallest_largest(fit: Fit) -> list[Real]:
    """Return the coefficients from the lowest power up."""
    count = fit.degree + 1
    values = [(x, fit.function(x), fit.counts(x)) for x in _nodes(fit, _GRID * (count + 1))]
    places = values[_GRID // 2 :: _GRID]
    coefficients: list[Real] = []
    for _ in range(_TURNS):
        rows = [
            [x**n for n in range(count)] + [(-1) ** i / weight]
            for i, (x, _, weight) in enumerate(places)
        ]
        solution = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([v for _, v, _ in places]))
        coefficients = list(solution)[:count]
        errors = [
            (mpmath.polyval(coefficients[::-1], x) - value) * weight for x, value, weight in values
        ]
        found = _extremes(errors, count + 1)
        if found is None or [values[i] for i in found] == places:
            break
        places = [values[i] for i in found]
    return coefficients


def _extremes(errors: list[Real], count: int) -> list[int] | None:
    """Return where the error is largest between its changes of sign, `count` of them."""
    changes = [i + 1 for i, (a, b) in enumerate(pairwise(errors)) if (a > 0) != (b > 0)]
    parts = list(pairwise([0, *changes, len(errors)]))
    peaks = [max(range(*part), key=lambda i: abs(errors[i])) for part in parts]
    while len(peaks) > count:
        del peaks[0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1]
    return peaks if len(peaks) == count else None


if __name__ == "__main__":
    for name in sys.argv[1:] or POLYNOMIALS:
        found, error = fitted(name)
        print(f"{name} = ({', '.join(map(repr, found))})  # 2**{float(mpmath.log(error, 2)):.2f}")
