"""Powers with exponents that are known at run time only, computed in f64: `x ** y` and `math.pow` of floats up to f32.

The scheme is the usual one: 2 to the power y * log2(x), the logarithm by the series of artanh over [sqrt(1/2),
sqrt(2)), the exponential by its Taylor series over [-1/2, 1/2] binary orders. In f64 both are good to 1e-11, so that
the result is rounded once: within 0.501 units of the last place of f32. Special cases are those of C (C23, F.10.4.5).
"""

from __future__ import annotations

import math

from amdjit.declarations import Form, SpecialForm, device_function
from amdjit.intrinsics import device_library as library
from amdjit.intrinsics.float_evaluation import DOUBLES, rounded, single
from amdjit.intrinsics.native_math import copysign, rint
from amdjit.types import f32, f64, i32, i64

__all__ = ["power"]

_bitcast = SpecialForm(Form.BITCAST, "the same bits read as another type")

_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52
_LARGEST = 200  # beyond it f32 has only 0 and infinity
_ARTANH = tuple(1 / n for n in (13, 11, 9, 7, 5, 3, 1))
_EXPONENTIAL = tuple(1 / math.factorial(n) for n in range(10, -1, -1))


@device_function
def power(x, y):
    """Return x to the power y: within 0.501 units of the last place, f64 by OCML; special cases as in C."""
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        return library.pow(f64(x), f64(y))
    return rounded(_power(single(x), single(y)), x + y)


@device_function
def _power(x: f32, y: f32):
    magnitude = _of_magnitude(abs(x), y)
    is_whole = rint(y) == y
    is_odd = is_whole and rint(y * 0.5) != y * 0.5
    if is_odd:
        return copysign(magnitude, x)
    if x < 0 and not is_whole and x != -math.inf:
        return f32(math.nan)
    return magnitude


@device_function
def _of_magnitude(x, y):
    """Return x to the power y for x that is not negative."""
    if y == 0 or x == 1:
        return f32(1.0)
    if x != x or y != y:
        return x + y
    if x == 0 or x == math.inf:
        return f32(math.inf) if (x == 0) == (y < 0) else f32(0.0)
    return f32(_exp2(min(max(f64(y) * _log2(f64(x)), -_LARGEST), _LARGEST)))


@device_function
def _log2(x):
    bits = _bitcast(x, i64)
    exponent = i32(bits >> 52) - 1023
    mantissa = _bitcast(bits & _MANTISSA | _ONE, f64)
    if mantissa > math.sqrt(2):
        mantissa = mantissa * 0.5
        exponent += 1
    s = (mantissa - 1) / (mantissa + 1)
    z = s * s
    series = f64(_ARTANH[0])
    for coefficient in _ARTANH[1:]:
        series = series * z + coefficient
    return exponent + s * series * (2 / math.log(2))


@device_function
def _exp2(t):
    whole = rint(t)
    r = (t - whole) * math.log(2)
    series = f64(_EXPONENTIAL[0])
    for coefficient in _EXPONENTIAL[1:]:
        series = series * r + coefficient
    return series * _bitcast((i64(whole) + 1023) << 52, f64)
