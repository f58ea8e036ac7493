"""NumPy's functions of single numbers that are not real analysis: signs, neighbours, limits,
comparisons, choices.

Numbers keep their type, f16 and bf16 too. Where NumPy converts integers to f64, these functions
convert them to f32 (64-bit integers to f64).
"""

from __future__ import annotations

import math
from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.exponentials import exp, exp2
from amdjit.intrinsics.maths.float_evaluation import DOUBLES, SMALL_FLOATS, bitcast, single
from amdjit.intrinsics.maths.hyperbolic import log1p
from amdjit.intrinsics.maths.native_math import isfinite, isinf, rint
from amdjit.intrinsics.maths.trigonometry import atan2, sin
from amdjit.intrinsics.numbers.integers import popcount
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import bf16, f16, f32, f64, i16, i32, i64, u8, u16, u32, u64

__all__ = [
    "angle",
    "bit_count",
    "clip",
    "conjugate",
    "divmod",
    "heaviside",
    "imag",
    "isclose",
    "isneginf",
    "isposinf",
    "logaddexp",
    "logaddexp2",
    "nan_to_num",
    "numpy_isclose",
    "real",
    "reciprocal",
    "sign",
    "signbit",
    "sinc",
    "spacing",
    "square",
    "ulp",
    "where",
]

_FLOATS: Any = (f16, bf16, f32, f64)
_SINGLE: Any = f32
_DOUBLE: Any = f64
_UNSIGNED: Any = (u8, u16, u32, u64)
_LIMITS = {f16: (16, 11), bf16: (128, 8), f32: (128, 24), f64: (1024, 53)}
"""For each float type: the power of 2 that all its numbers are below, and the bits of its
mantissa."""


@compile_time
def _largest(compilation: Compilation, x: Any) -> float:
    exponent, bits = _LIMITS[x]
    return math.ldexp(2 - 2.0 ** (1 - bits), exponent - 1)


@compile_time
def _largest_spacing(compilation: Compilation, x: Any) -> float:
    exponent, bits = _LIMITS[x]
    return 2.0 ** (exponent - bits)


@device_function
def as_float(x):
    """Return a float as it is, a 64-bit integer as f64, any other as f32."""
    if isinstance(x, _FLOATS):
        return x
    return f64(x) if isinstance(x, DOUBLES) else single(x)


@device_function
def sign(x):
    """Return -1, 0 or 1 in x's type; NaN for NaN, 0 for both zeros."""
    zero, one = type(x)(0), type(x)(1)
    if isinstance(x, _UNSIGNED):
        return one if x > zero else zero
    result = one if x > zero else (-one if x < zero else zero)
    return x if x != x else result


@device_function
def signbit(x):
    """Return whether the sign is minus, including that of -0.0 and of a NaN."""
    if isinstance(x, SMALL_FLOATS):
        return bitcast(x, i16) < 0
    if isinstance(x, _SINGLE):
        return bitcast(x, i32) < 0
    if isinstance(x, _DOUBLE):
        return bitcast(x, i64) < 0
    return x < 0


@device_function
def _following(x):
    """Return the next float above x, which is not negative; infinity after the largest."""
    if isinstance(x, SMALL_FLOATS):
        return bitcast(i16(bitcast(x, i16) + 1), type(x))
    if isinstance(x, _DOUBLE):
        return bitcast(bitcast(x, i64) + 1, f64)
    return bitcast(bitcast(x, i32) + 1, f32)


@device_function
def spacing(x):
    """Return the distance from x to the next float away from 0, negative where x is."""
    value = as_float(x)
    magnitude = abs(value)
    distance = _following(magnitude) - magnitude if isfinite(value) else type(value)(math.nan)
    return -distance if value < 0 else distance


@device_function
def ulp(x):
    """Return the value of the last place of x, never negative; infinite for infinities, as in
    Python."""
    value = abs(as_float(x))
    distance = min(_following(value) - value, type(value)(_largest_spacing(value)))
    return distance if isfinite(value) else value


@device_function
def square(x):
    """Return x * x."""
    return x * x


@device_function
def reciprocal(x):
    """Return 1 / x; of an integer, as a float."""
    return 1 / x


@device_function
def heaviside(x, at_0):
    """Return 0 below 0, `at_0` at 0 and 1 above; NaN for NaN."""
    both = as_float(x + at_0)
    result = type(both)(1) if x > 0 else (type(both)(0) if x < 0 else type(both)(at_0))
    return type(both)(x) if x != x else result


@device_function
def clip(x, a_min=None, a_max=None):
    """Return x limited to a_min..a_max; NaN stays."""
    bounded = x if a_min is None else max(x, a_min)
    return bounded if a_max is None else min(bounded, a_max)


@device_function
def where(condition, x, y):
    """Return x where the condition holds, else y; both are evaluated."""
    return x if condition else y


@device_function
def isposinf(x):
    """Return whether x is plus infinity."""
    return isinf(x) and x > 0


@device_function
def isneginf(x):
    """Return whether x is minus infinity."""
    return isinf(x) and x < 0


@device_function
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Return x, with `nan` for NaN and the largest numbers, or the given ones, for infinities."""
    if not isinstance(x, _FLOATS):
        return x
    above = type(x)(_largest(x) if posinf is None else posinf)
    below = type(x)(-_largest(x) if neginf is None else neginf)
    result = (above if x > 0 else below) if isinf(x) else x
    return type(x)(nan) if x != x else result


@device_function
def isclose(a, b, rel_tol=1e-9, abs_tol=0.0):
    """Return whether a and b differ by at most `abs_tol`, or `rel_tol` times the greater, like
    Python's `math.isclose`.

    In f32 the default `rel_tol` of 1e-9 means equality: numbers are 6e-8 to 1.2e-7 apart.
    """
    left, right = (
        single(a) if isinstance(a, SMALL_FLOATS) else a,
        single(b) if isinstance(b, SMALL_FLOATS) else b,
    )
    greatest = max(abs(left), abs(right))
    is_near = abs(left - right) <= max(rel_tol * greatest, abs_tol) and isfinite(greatest)
    return a == b or is_near


@device_function
def numpy_isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Return whether a and b differ by at most atol + rtol * abs(b), like `numpy.isclose`."""
    is_near = abs(a - b) <= atol + rtol * abs(b) and isfinite(b)
    is_same = a == b or (equal_nan and a != a and b != b)
    return is_near or is_same


@device_function
def divmod(x, y):
    """Return x // y and x % y."""
    return x // y, x % y


@device_function
def bit_count(x):
    """Return the number of 1 bits in the magnitude."""
    return popcount(x) if isinstance(x, _UNSIGNED) else popcount(abs(x))


@device_function
def sinc(x):
    """Return sin(pi * x) / (pi * x), 1 at 0: exactly 0 at all other whole numbers, within 4 units
    of the last place."""
    if isinstance(x, SMALL_FLOATS):
        return type(x)(_sinc(f32(x)))
    return _sinc(as_float(x))


@device_function
def _sinc(x):
    # The distance to the nearest whole number is exact, unlike pi * x.
    whole = rint(x)
    distance = x - whole
    wave = sin(distance * math.pi)
    is_odd = rint(0.5 * whole) != 0.5 * whole
    result = (-wave if is_odd else wave) / (x * math.pi)
    if isinf(x):
        result = type(x)(0)
    return type(x)(1) if x == 0 else result


@device_function
def logaddexp(x, y):
    """Return log(exp(x) + exp(y)) without intermediate overflow."""
    return _log_of_sum(x, y, exp, 1.0)


@device_function
def logaddexp2(x, y):
    """Return log2(exp2(x) + exp2(y)) without intermediate overflow."""
    return _log_of_sum(x, y, exp2, 1 / math.log(2))


@device_function
def _log_of_sum(x, y, power, unit):
    both = as_float(x + y)
    if isinstance(both, SMALL_FLOATS):
        return type(both)(_log_of_sum_of_floats(f32(x), f32(y), power, unit))
    return _log_of_sum_of_floats(type(both)(x), type(both)(y), power, unit)


@device_function
def _log_of_sum_of_floats(x, y, power, unit):
    high, low = max(x, y), min(x, y)
    # Two equal infinities have no difference.
    difference = type(high)(0) if x == y else low - high
    return high + log1p(power(difference)) * unit


@device_function
def real(z):
    """Return the real part; a real number itself."""
    return z.real if isinstance(z, complex) else z


@device_function
def imag(z):
    """Return the imaginary part, 0 of a real number."""
    return z.imag if isinstance(z, complex) else type(z)(0)


@device_function
def conjugate(z):
    """Return the complex conjugate; a real number itself."""
    return z.conjugate() if isinstance(z, complex) else z


@device_function
def angle(z):
    """Return the angle of a complex number in radians; 0 or pi of a real one."""
    if isinstance(z, complex):
        return atan2(z.imag, z.real)
    return atan2(type(as_float(z))(0), as_float(z))
