"""NumPy's ufuncs of complex numbers that Python's `cmath` lacks, and of integers that stay
integers.

Complex numbers are ordered by their real parts, and by their imaginary parts where these are equal;
nothing is ordered beside a NaN. The formulas are NumPy's (`numpy/_core/src/umath`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, device_function
from amdjit.intrinsics.maths import complex_math
from amdjit.intrinsics.maths.native_math import rint
from amdjit.language.overloads import OfKind
from amdjit.types import boolean, u8, u16, u32, u64

__all__ = ["OVERLOADS"]

_UNSIGNED: Any = (u8, u16, u32, u64)
_BOOLEAN: Any = boolean


@device_function
def _parts(z):
    return (z.real, z.imag) if isinstance(z, complex) else (z, 0)


@device_function
def _is_nan(z):
    x, y = _parts(z)
    return x != x or y != y


@device_function
def greater(a, b):
    """Return whether a lies after b."""
    (x, y), (v, w) = _parts(a), _parts(b)
    return (x > v and y == y and w == w) or (x == v and y > w)


@device_function
def greater_equal(a, b):
    """Return whether a lies after b or equals it."""
    (x, y), (v, w) = _parts(a), _parts(b)
    return (x > v and y == y and w == w) or (x == v and y >= w)


@device_function
def less(a, b):
    """Return whether a lies before b."""
    return greater(b, a)


@device_function
def less_equal(a, b):
    """Return whether a lies before b or equals it."""
    return greater_equal(b, a)


@device_function
def maximum(a, b):
    """Return the later number; one that has a NaN if there is one."""
    return a if _is_nan(a) or greater_equal(a, b) else b


@device_function
def minimum(a, b):
    """Return the earlier number; one that has a NaN if there is one."""
    return a if _is_nan(a) or less_equal(a, b) else b


@device_function
def fmax(a, b):
    """Return the later number; the other one beside one that has a NaN."""
    return a if _is_nan(b) or greater_equal(a, b) else b


@device_function
def fmin(a, b):
    """Return the earlier number; the other one beside one that has a NaN."""
    return a if _is_nan(b) or less_equal(a, b) else b


@device_function
def power(a, b):
    """Return a to the power of b; 0 to a power with a positive real part is 0."""
    (x, y), (v, w) = _parts(a), _parts(b)
    result = a**b
    if x == 0 and y == 0 and not (v == 0 and w == 0):
        part = type(result.real)(0 if v > 0 else math.nan)
        result = complex(part, part)
    return result


@device_function
def exp2(z):
    """Return 2 to the power of z."""
    factor = type(z.real)(math.log(2))
    return complex_math.exp(complex(z.real * factor, z.imag * factor))


@device_function
def expm1(z):
    """Return exp(z) - 1, also exact near 0."""
    half = math.sin(z.imag * 0.5)
    real = math.expm1(z.real) * math.cos(z.imag) - 2 * half * half
    return complex(real, math.exp(z.real) * math.sin(z.imag))


@device_function
def log2(z):
    """Return the logarithm to base 2, with a branch cut along the negative real numbers."""
    value, factor = complex_math.log(z), type(z.real)(1 / math.log(2))
    return complex(value.real * factor, value.imag * factor)


@device_function
def log1p(z):
    """Return the natural logarithm of 1 + z."""
    real = z.real + 1
    return complex(math.log(math.hypot(real, z.imag)), math.atan2(z.imag, real))


@device_function
def rint_of_parts(z):
    """Return z with both parts rounded to whole numbers, ties to even ones."""
    return complex(rint(z.real), rint(z.imag))


@device_function
def sign(z):
    """Return z / abs(z), 0 for 0: what NumPy 2 returns."""
    x, y = z.real, z.imag
    zero, one, length = type(x)(0), type(x)(1), math.hypot(x, y)
    real = x / length if length != 0 else zero
    imaginary = y / length if length != 0 else zero
    if math.isinf(length) and not _is_nan(z):
        real = math.copysign(one, x) if math.isinf(x) else zero
        imaginary = math.copysign(one, y) if math.isinf(y) else zero
        if math.isinf(x) and math.isinf(y):
            real, imaginary = x - x, y - y
    return complex(real, imaginary)


@device_function
def itself(x):
    """Return x."""
    return x


@device_function
def remainder_of_integers(x, y):
    """Return x - n * y, where n is the quotient without its fraction; 0 for a y of 0."""
    rest = x % y
    if isinstance(x, _UNSIGNED):
        return rest
    return rest - y if rest != 0 and (x < 0) != (y < 0) else rest


@device_function
def magnitude(x):
    """Return the magnitude of an integer, a boolean as it is."""
    return x if isinstance(x, (*_UNSIGNED, _BOOLEAN)) else abs(x)


@device_function
def greater_integer(x, y):
    """Return the greater of two integers."""
    return max(x, y)


@device_function
def lesser_integer(x, y):
    """Return the lesser of two integers."""
    return min(x, y)


@device_function
def reciprocal_of_integer(x):
    """Return 1 / x without its fraction: x for 1 and -1, else 0, also of 0."""
    has_one = x == 1 if isinstance(x, _UNSIGNED) else x == 1 or x == -1
    return x if has_one else type(x)(0)


def _overloads() -> dict[OfKind, DeviceFunction]:
    complex_ones = {
        np.exp2: exp2,
        np.expm1: expm1,
        np.float_power: power,
        np.fmax: fmax,
        np.fmin: fmin,
        np.greater: greater,
        np.greater_equal: greater_equal,
        np.less: less,
        np.less_equal: less_equal,
        np.log1p: log1p,
        np.log2: log2,
        np.maximum: maximum,
        np.minimum: minimum,
        np.power: power,
        np.rint: rint_of_parts,
        np.sign: sign,
    }
    integer_ones = {
        np.absolute: magnitude,
        np.ceil: itself,
        np.floor: itself,
        np.fmax: greater_integer,
        np.fmin: lesser_integer,
        np.fmod: remainder_of_integers,
        np.reciprocal: reciprocal_of_integer,
        np.trunc: itself,
    }
    made = {OfKind(function, "complex"): ours for function, ours in complex_ones.items()}
    return made | {OfKind(function, "integer"): ours for function, ours in integer_ones.items()}


OVERLOADS: Mapping[OfKind, DeviceFunction] = MappingProxyType(_overloads())
"""The functions, each with the ufunc and the kind of numbers that it is for."""
