"""Find the polynomials of intrinsics/trigonometry.py and error_functions.py: run this file.

Least squares of the relative error at Chebyshev's nodes, which is close to the smallest largest error. The functions
are Python's own, exact to float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev, polynomial

NODES = 400


def arctangent(square: float) -> float:
    """Return atan(x) / x for x * x."""
    return math.atan(math.sqrt(square)) / math.sqrt(square)


def error_function(square: float) -> float:
    """Return erf(x) / x for x * x."""
    return math.erf(math.sqrt(square)) / math.sqrt(square)


def scaled_complement(t: float) -> float:
    """Return (1 + 2x) exp(x * x) erfc(x) for t = (x - 4) / (x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * math.exp(x * x) * math.erfc(x)


POLYNOMIALS = {
    "_ARCTANGENT": (arctangent, 1e-12, math.tan(math.pi / 8) ** 2, 6),
    "_ERROR": (error_function, 1e-12, 1.0, 7),
    "_COMPLEMENT": (scaled_complement, -3 / 5, 6.1 / 14.1, 10),
}
"""By the constant's name: the function, the ends of the interval, the degree."""


def fitted(function: Callable[[float], float], low: float, high: float, degree: int) -> list[float]:
    """Return the coefficients from the highest power down."""
    nodes = np.cos((2 * np.arange(NODES) + 1) * np.pi / (2 * NODES))
    values = np.array([function(low + (node + 1) * (high - low) / 2) for node in nodes])
    weighted = chebyshev.chebvander(nodes, degree) / values[:, None]
    in_nodes = chebyshev.cheb2poly(np.linalg.lstsq(weighted, np.ones(NODES), rcond=None)[0])
    line = np.array([-(high + low) / (high - low), 2 / (high - low)])
    result = np.zeros(1)
    for coefficient in in_nodes[::-1]:
        result = polynomial.polyadd(polynomial.polymul(result, line), [coefficient])
    return [float(coefficient) for coefficient in result[::-1]]


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
