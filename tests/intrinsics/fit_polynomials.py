"""Find the polynomials of the functions of real numbers: run this file.

Those of f64: least squares of the relative error at Chebyshev's nodes, which is close to the
smallest largest error. Those of f32: the smallest largest error (C. Lawson's weights), one
coefficient after the other rounded to f32 and the rest fitted again to what that leaves. The
functions are Python's own, exact to float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import exp, log, sqrt

import numpy as np
from numpy.polynomial import chebyshev, polynomial

NODES = 400
HALF_LN2 = 0.5 * log(2) * 1.003


def arctangent(square: float) -> float:
    """Return atan(x) / x for x * x."""
    return math.atan(math.sqrt(square)) / math.sqrt(square)


def error_function(square: float) -> float:
    """Return erf(x) / x for x * x."""
    return math.erf(math.sqrt(square)) / math.sqrt(square)


def scaled_complement(t: float, middle: float = 4) -> float:
    """Return (1 + 2x) exp(x * x) erfc(x) for t = (x - middle) / (x + middle)."""
    x = middle * (1 + t) / (1 - t)
    return (1 + 2 * x) * math.exp(x * x) * math.erfc(x)


POLYNOMIALS = {
    "double_functions._ARCTANGENT": (arctangent, 1e-12, math.tan(math.pi / 8) ** 2, 6),
    "double_functions._ERROR": (error_function, 1e-12, 1.0, 7),
    "double_functions._COMPLEMENT": (scaled_complement, -3 / 5, 6.1 / 14.1, 10),
}
"""By the module and the constant's name: the function, the ends of the interval, the degree."""


def beyond_linear(
    function: Callable[[float], float], limit: float
) -> tuple[Callable[[float], float], ...]:
    """Return (f(x) / x - 1) / x**2 over x * x, `limit` close to 0, and what its error counts in
    f(x) / x."""

    def of_square(square: float) -> float:
        return (function(sqrt(square)) / sqrt(square) - 1) / square if square > 1e-4 else limit

    return of_square, lambda square: square


def beyond_cosine(square: float) -> float:
    """Return (cos(x) - 1 + x * x / 2) / x**4 for x * x."""
    if square < 1e-2:
        return 1 / 24 - square / 720 + square**2 / 40320 - square**3 / 3628800
    return (math.cos(sqrt(square)) - 1 + square / 2) / square**2


def beyond_logarithm(f: float) -> float:
    """Return (log(1 + f) - f + f * f / 2) / f**3."""
    return (
        1 / 3 - f / 4 + f**2 / 5 - f**3 / 6
        if abs(f) < 1e-3
        else (math.log1p(f) - f + f * f / 2) / f**3
    )


def less_1(r: float) -> float:
    """Return (exp(r) - 1 - r) / (r * r)."""
    return 0.5 + r / 6 + r * r / 24 if abs(r) < 1e-3 else (math.expm1(r) - r) / (r * r)


def hyperbolic_angle(t: float) -> float:
    """Return (acosh(1 + t) / sqrt(2t) - 1) / t."""
    if t < 1e-2:
        return -1 / 12 + 3 * t / 160 - 5 * t * t / 896
    return (math.acosh(1 + t) / sqrt(2 * t) - 1) / t


def logarithmic_series(square: float) -> float:
    """Return what log2((1 + s) / (1 - s)) has beyond the cubic term, over s**5, for s * s."""
    return sum(2 / log(2) * square ** (n - 2) / (2 * n + 1) for n in range(2, 40))


def log_gamma(x: np.longdouble) -> np.longdouble:
    """Return lgamma(x) for x above 0 by Stirling's formula 40 further."""
    far = x + 40
    square = 1 / (far * far)
    series = 1 / np.longdouble(12) - square / 360 + square**2 / 1260 - square**3 / 1680
    stirling = (far - np.longdouble(0.5)) * np.log(far) - far + HALF_LOG_2PI + series / far
    return stirling - sum(np.log(x + n) for n in range(40))


def beyond_stirling(square: float) -> float:
    """Return what Stirling's formula lacks of lgamma(z), times z, for 1 / (z * z)."""
    z = 1 / np.sqrt(np.longdouble(square))
    return float((log_gamma(z) - ((z - np.longdouble(0.5)) * np.log(z) - z + HALF_LOG_2PI)) * z)


def between_zeros(t: float) -> float:
    """Return lgamma(x) / ((x - 1) * (x - 2)) for t = x - 1.5."""
    x = np.longdouble(1.5) + np.longdouble(t)
    if x in (1, 2):
        return (between_zeros(t - 1e-4) + between_zeros(t + 1e-4)) / 2
    return float(log_gamma(x) / ((x - 1) * (x - 2)))


def sine_of_half_turns(r: float) -> float:
    """Return sin(pi * r) / pi."""
    return math.sin(math.pi * r) / math.pi


HALF_LOG_2PI = np.longdouble("0.918938533204672741780329736405617639861")
IN_F64 = ("double_functions._STIRLING", "double_functions._BETWEEN")
"""Of `SINGLES`: whose coefficients stay f64."""

SINGLES: dict[str,
    tuple[Callable[[float], float], Callable[[float], float], float, float, int,
        tuple[float, ...]]] = {
    "single_evaluation._EXPONENTIAL": (exp, lambda r: exp(-r), -HALF_LN2, HALF_LN2, 6, (1.0, 1.0)),
    "single_evaluation._LOGARITHM": (
        beyond_logarithm, lambda f: f**3 / math.log1p(f), sqrt(0.5) - 1, sqrt(2) - 1, 7, (),
    ),
    "exponentials._POWER_OF_10": (
        lambda r: 10**r, lambda r: 10**-r, -HALF_LN2 / log(10), HALF_LN2 / log(10), 6, (1.0,),
    ),
    "hyperbolic._LESS_1": (less_1, lambda r: r * r / math.expm1(r) if r else 0, -HALF_LN2, HALF_LN2,
    4, (0.5,)),
    "hyperbolic._TANH": (*beyond_linear(math.tanh, -1 / 3), 0, 0.625**2, 5, ()),
    "hyperbolic._SINH": (*beyond_linear(math.sinh, 1 / 6), 0, 1, 3, ()),
    "hyperbolic._ASINH": (*beyond_linear(math.asinh, -1 / 6), 0, 0.25, 5, ()),
    "hyperbolic._ATANH": (*beyond_linear(math.atanh, 1 / 3), 0, 0.25, 5, ()),
    "hyperbolic._ACOSH": (hyperbolic_angle, lambda t: t, 0, 0.5, 4, ()),
    "trigonometry._SINE": (*beyond_linear(math.sin, -1 / 6), 0, 0.64, 3, ()),
    "trigonometry._COSINE": (beyond_cosine, lambda square: square**2 / 0.7, 0, 0.64, 2, ()),
    "trigonometry._TANGENT": (*beyond_linear(math.tan, 1 / 3), 0, 0.64, 6, ()),
    "trigonometry._ARCSINE": (*beyond_linear(math.asin, 1 / 6), 0, 0.2501, 5, ()),
    "trigonometry._ARCTANGENT": (*beyond_linear(math.atan, -1 / 3), 0, 1, 7, ()),
    "error_and_gamma._ERROR": (lambda square: error_function(square) - 1, lambda square: 1, 0, 1, 6,
    ()),
    "error_and_gamma._ORDERS": (
        lambda x: math.log2(math.erfc(x)), lambda x: math.erfc(x) / math.erf(x) * log(2), 1, 3.95,
        6, (),
    ),
    "error_and_gamma._COMPLEMENT": (
        lambda t: scaled_complement(t, 2.875), lambda t: 1 / scaled_complement(t, 2.875),
        (0.79 - 2.875) / (0.79 + 2.875), (10.1 - 2.875) / (10.1 + 2.875), 8, (),
    ),
    "double_functions._STIRLING": (
        beyond_stirling, lambda square: sqrt(abs(square)), 1e-4, 1 / 9, 8, (),
    ),
    "double_functions._BETWEEN": (between_zeros, lambda t: 1 / between_zeros(t), -0.8, 0.8, 15, ()),
    "error_and_gamma._STIRLING": (
        lambda square: beyond_stirling(square) / log(2), lambda square: sqrt(abs(square)) * log(2),
        1e-5, 1 / 2.19**2, 3, (),
    ),
    "error_and_gamma._SINE": (*beyond_linear(sine_of_half_turns, -(math.pi**2) / 6), 0, 0.25, 4,
    ()),
    "error_and_gamma._BETWEEN": (
        lambda t: between_zeros(t - 0.015625), lambda t: 1 / between_zeros(t - 0.015625), -0.684375,
        0.715625, 11, (),
    ),
    "power._SERIES": (logarithmic_series, lambda square: square**2 * log(2) / 2, 0, 0.1717**2, 2,
    ()),
    "power.POWER_OF_2": (lambda r: 2**r, lambda r: 2**-r, -0.501, 0.501, 6, (1.0,)),
}  # fmt: skip
"""Likewise in f32: the function, what an error counts, the ends of the interval, the degree, given
coefficients."""


def nodes_of(
    low: float, high: float, count: int = NODES
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return Chebyshev's nodes in an interval."""
    return low + (np.cos((2 * np.arange(count) + 1) * np.pi / (2 * count)) + 1) * (high - low) / 2


def fitted(function: Callable[[float], float], low: float, high: float, degree: int) -> list[float]:
    """Return the coefficients from the highest power down."""
    values = np.array([function(node) for node in nodes_of(low, high)])
    weighted = chebyshev.chebvander(nodes_of(-1, 1), degree) / values[:, None]
    in_nodes = chebyshev.cheb2poly(np.linalg.lstsq(weighted, np.ones(NODES), rcond=None)[0])
    line = np.array([-(high + low) / (high - low), 2 / (high - low)])
    result = np.zeros(1)
    for coefficient in in_nodes[::-1]:
        result = polynomial.polyadd(polynomial.polymul(result, line), [coefficient])
    return [float(coefficient) for coefficient in result[::-1]]


def fitted_singles(name: str) -> tuple[list[float], float]:
    """Return the coefficients in f32 from the highest power down, and the largest weighted
    error."""
    function, weight, low, high, degree, given = SINGLES[name]
    nodes, unit = nodes_of(low, high, 240), max(abs(low), abs(high))
    rest, weights = (np.array([of(node) for node in nodes]) for of in (function, weight))
    powers = (nodes[:, None] / unit) ** np.arange(degree + 1)
    found: list[float] = []
    for power in range(degree + 1):
        best = smallest_largest_error(powers[:, power:], rest, weights)[0] / unit**power
        found.append(
            given[power]
            if power < len(given)
            else float(best if name in IN_F64 else np.float32(best))
        )
        rest = rest - found[-1] * nodes**power
    return found[::-1], error_of_singles(tuple(found[::-1]), name)


def smallest_largest_error(
    matrix: np.ndarray, values: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the coefficients of the columns."""
    lawson, best, least = np.ones(len(values)), np.zeros(matrix.shape[1]), math.inf
    for _ in range(30):
        scale = np.sqrt(lawson) * weights
        found = np.linalg.lstsq(matrix * scale[:, None], values * scale, rcond=None)[0]
        errors = np.abs((matrix @ found - values) * weights)
        if errors.max() < least:
            least, best = errors.max(), found
        lawson = lawson * (errors / errors.max() + 1e-9)
        lawson /= lawson.max()
    return best


def error_of_singles(coefficients: tuple[float, ...], name: str) -> float:
    """Return the largest weighted error of coefficients rounded to f32."""
    function, weight, low, high, _, _ = SINGLES[name]
    places = np.linspace(low, high, 2001)[1:-1]
    stored = np.array(coefficients, np.float64 if name in IN_F64 else np.float32)
    found = np.polyval(stored.astype(np.float64), places)
    true, counted = (np.array([of(place) for place in places]) for of in (function, weight))
    return float(np.max(np.abs((found - true) * counted)))


def largest_error(
    coefficients: tuple[float, ...], function: Callable[[float], float], low: float, high: float
) -> float:
    """Return the largest relative error over the interval."""
    places = np.linspace(low, high, 5001)
    values = np.array([function(place) for place in places])
    return float(np.max(np.abs(np.polyval(coefficients, places) / values - 1)))


if __name__ == "__main__":
    for name, (function, low, high, degree) in POLYNOMIALS.items():
        found = fitted(function, low, high, degree)
        print(f"{name} = {found}  # {largest_error(tuple(found), function, low, high):.2g}")
    for name in SINGLES:
        found, error = fitted_singles(name)
        kind = np.float64 if name in IN_F64 else np.float32
        shortest = ", ".join(np.format_float_scientific(kind(number), trim="0") for number in found)
        print(f"{name} = ({shortest})  # 2**{math.log2(error):.2f}")
