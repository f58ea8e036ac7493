"""Exponentials less 1, logarithms of 1 + x and hyperbolic functions of f32 and 16-bit floats.

Each is within 0.501 units of the last place, special cases as in C (C23, F.10.2 and F.10.3).
"""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics import device_library as library
from amdjit.intrinsics.float_evaluation import (
    DOUBLES,
    exponential,
    exponential_less_1,
    logarithm_of_1_plus,
    rounded,
    single,
)
from amdjit.intrinsics.native_math import copysign, isinf, sqrt
from amdjit.types import f64

__all__ = ["acosh", "asinh", "atanh", "cosh", "expm1", "log1p", "sinh", "tanh"]


@device_function
def expm1(x):
    """Return e to the power x, less 1."""
    if isinstance(x, DOUBLES):
        return library.expm1(f64(x))
    value = f64(single(x))
    return rounded(value if value != value else copysign(exponential_less_1(value), value), x)


@device_function
def log1p(x):
    """Return the natural logarithm of 1 + x: -infinity at -1, NaN below."""
    if isinstance(x, DOUBLES):
        return library.log1p(f64(x))
    value = f64(single(x))
    if value == -1:
        return rounded(f64(-math.inf), x)
    if value == 0 or value == math.inf:
        return rounded(value, x)
    return rounded(logarithm_of_1_plus(value) if value > -1 else f64(math.nan), x)


@device_function
def sinh(x):
    """Return the hyperbolic sine."""
    if isinstance(x, DOUBLES):
        return library.sinh(f64(x))
    value = f64(single(x))
    grown = exponential_less_1(abs(value))
    return rounded(value if value != value else copysign(0.5 * (grown + grown / (grown + 1)), value), x)


@device_function
def cosh(x):
    """Return the hyperbolic cosine."""
    if isinstance(x, DOUBLES):
        return library.cosh(f64(x))
    value = f64(single(x))
    grown = exponential(abs(value))
    return rounded(value if value != value else 0.5 * (grown + 1 / grown), x)


@device_function
def tanh(x):
    """Return the hyperbolic tangent."""
    if isinstance(x, DOUBLES):
        return library.tanh(f64(x))
    value = f64(single(x))
    grown = exponential_less_1(2 * abs(value))
    return rounded(value if value != value else copysign(grown / (grown + 2), value), x)


@device_function
def asinh(x):
    """Return the number whose hyperbolic sine is x."""
    if isinstance(x, DOUBLES):
        return library.asinh(f64(x))
    value = f64(single(x))
    magnitude = abs(value)
    square = magnitude * magnitude
    result = logarithm_of_1_plus(magnitude + square / (1 + sqrt(1 + square)))
    return rounded(copysign(magnitude if isinf(value) or value != value else result, value), x)


@device_function
def acosh(x):
    """Return the number that is not negative whose hyperbolic cosine is x, NaN below 1."""
    if isinstance(x, DOUBLES):
        return library.acosh(f64(x))
    value = f64(single(x))
    above = value - 1
    result = logarithm_of_1_plus(above + sqrt(above * (above + 2)))
    if isinf(value):
        result = value
    return rounded(result if value >= 1 else f64(math.nan), x)


@device_function
def atanh(x):
    """Return the number whose hyperbolic tangent is x: infinite at -1 and 1, NaN beyond."""
    if isinstance(x, DOUBLES):
        return library.atanh(f64(x))
    value = f64(single(x))
    magnitude = abs(value)
    result = 0.5 * logarithm_of_1_plus(2 * magnitude / (1 - magnitude))
    if magnitude == 1:
        result = f64(math.inf)
    return rounded(copysign(result if magnitude <= 1 else f64(math.nan), value), x)
