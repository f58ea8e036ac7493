"""Functions of f64 good to about 1e-11. They decide results of 16-bit floats that are close to a
tie."""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.float_evaluation import (
    bitcast,
    double_sqrt,
    exponential,
    exponential_less_1,
    logarithm_of_1_plus,
    polynomial,
)
from amdjit.intrinsics.maths.native_math import copysign, isfinite, isinf
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i32, i64, u32, u64

__all__ = [
    "acosh", "asinh", "atanh", "cbrt", "cosh", "erf", "erfc", "exp", "exp2", "exp10", "expm1",
    "hypot", "log", "log1p", "log2", "log10", "rsqrt", "sinh", "tanh",
]  # fmt: skip

# erf(x) / x over x * x in [0, 1], relative error 3.4e-11: tests/intrinsics/fit_polynomials.py
_ERROR = (
    -9.634994925508068e-06, 0.00011254642103026775, -0.0008482507932061501, 0.005220923229716031,
    -0.026865392129445696, 0.11283781839175153, -0.37612638425960976, 1.1283791670570982,
)  # fmt: skip
# (1 + 2x) exp(x*x) erfc(x) over t = (x - 4) / (x + 4) for x in [1, 10.1], relative error 2.2e-10:
# the same script
_COMPLEMENT = (
    -0.00037777172713062264, 0.004986279901586373, -0.01636359112138462, 0.0371622987794519,
    -0.06630216771767079, 0.0937346278766768, -0.1010411182806742, 0.06809694268266972,
    0.015379706170359646, -0.1396211153264261, 1.2329951183923338,
)  # fmt: skip
_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52
_LARGEST = 10.1  # beyond it erfc is 0 in f32
# For a double's upper word: two thirds of the exponent's bias, less a correction that balances the
# error of the guess on both sides.
_GUESS = int((1023 - 1023 / 3 - 0.0331) * 2**20)


@device_function
def exp(x):
    """Return e to the power x."""
    return x if x != x else exponential(x)


@device_function
def exp2(x):
    """Return 2 to the power x."""
    return x if x != x else exponential(x * math.log(2))


@device_function
def exp10(x):
    """Return 10 to the power x."""
    return x if x != x else exponential(x * math.log(10))


@device_function
def expm1(x):
    """Return e to the power x, minus 1."""
    return x if x != x else copysign(exponential_less_1(x), x)


@device_function
def log(x):
    """Return the natural logarithm: -infinity at 0, NaN below."""
    bits = bitcast(x, i64)
    mantissa = bitcast(bits & _MANTISSA | _ONE, f64)
    result = fma(f64(i32(bits >> 52) - 1023), math.log(2), logarithm_of_1_plus(mantissa - 1))
    if x == 0:
        return f64(-math.inf)
    if x == math.inf:
        return x
    return result if x > 0 else f64(math.nan)


@device_function
def log2(x):
    """Return the logarithm to base 2."""
    return log(x) * (1 / math.log(2))


@device_function
def log10(x):
    """Return the logarithm to base 10."""
    return log(x) * (1 / math.log(10))


@device_function
def log1p(x):
    """Return the natural logarithm of 1 + x: -infinity at -1, NaN below."""
    if x == -1:
        return f64(-math.inf)
    if x == 0 or x == math.inf:
        return x
    return logarithm_of_1_plus(x) if x > -1 else f64(math.nan)


@device_function
def sinh(x):
    """Return the hyperbolic sine."""
    grown = exponential_less_1(abs(x))
    return x if x != x else copysign(0.5 * (grown + grown / (grown + 1)), x)


@device_function
def cosh(x):
    """Return the hyperbolic cosine."""
    grown = exponential(abs(x))
    return x if x != x else 0.5 * (grown + 1 / grown)


@device_function
def tanh(x):
    """Return the hyperbolic tangent."""
    grown = exponential_less_1(2 * abs(x))
    return x if x != x else copysign(grown / (grown + 2), x)


@device_function
def asinh(x):
    """Return the number whose hyperbolic sine is x."""
    magnitude = abs(x)
    square = magnitude * magnitude
    result = logarithm_of_1_plus(magnitude + square / (1 + double_sqrt(1 + square)))
    return copysign(magnitude if isinf(x) or x != x else result, x)


@device_function
def acosh(x):
    """Return the nonnegative number whose hyperbolic cosine is x; NaN below 1."""
    above = x - 1
    result = logarithm_of_1_plus(above + double_sqrt(above * (above + 2)))
    if isinf(x):
        result = x
    return result if x >= 1 else f64(math.nan)


@device_function
def atanh(x):
    """Return the number whose hyperbolic tangent is x: infinite at -1 and 1, NaN beyond."""
    magnitude = abs(x)
    result = 0.5 * logarithm_of_1_plus(2 * magnitude / (1 - magnitude))
    if magnitude == 1:
        result = f64(math.inf)
    return copysign(result if magnitude <= 1 else f64(math.nan), x)


@device_function
def erf(x):
    """Return the error function."""
    if abs(x) < 1:
        return x * polynomial(x * x, _ERROR)
    return x if x != x else copysign(1 - _complement(abs(x)), x)


@device_function
def erfc(x):
    """Return 1 minus the error function."""
    if abs(x) < 1:
        return 1 - x * polynomial(x * x, _ERROR)
    tail = _complement(abs(x))
    if x != x:
        tail = x
    return 2 - tail if x < 0 else tail


@device_function
def _complement(x):
    limited = min(x, _LARGEST)
    t = (limited - 4) / (limited + 4)
    falling = exponential(-limited * limited)
    return polynomial(t, _COMPLEMENT) * falling / (1 + 2 * limited) if x < _LARGEST else f64(0)


@device_function
def rsqrt(x):
    """Return 1 / sqrt(x)."""
    return 1 / double_sqrt(x)


@device_function
def cbrt(x):
    """Return the cube root, also of negative numbers."""
    magnitude = abs(x)
    guess = u32(bitcast(magnitude, u64) >> 32) // 3 + _GUESS
    root = bitcast(u64(guess) << 32, f64)
    # Halley's iteration: from 6 correct bits to 16, then to 46.
    for _ in range(2):
        cube = root * root * root
        root = root * (cube + 2 * magnitude) / (2 * cube + magnitude)
    if x == 0 or not isfinite(x):
        root = magnitude
    return copysign(root, x)


@device_function
def hypot(x, y):
    """Return sqrt(x * x + y * y); infinite if x or y is, even if the other is NaN."""
    return f64(math.inf) if isinf(x) or isinf(y) else double_sqrt(fma(x, x, y * y))
