"""Trigonometric functions of f32, in f32 arithmetic, within 2 units of the last place; special
cases as in C.

Angles are reduced to [-pi/4, pi/4] as a pair of f32. Below 2**17, multiples of pi/2 are subtracted
in three parts (W. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980); above, the
reduction takes as many bits of 2/pi as the angle reaches (M. Payne, R. Hanek, "Radian reduction for
trigonometric functions", SIGNUM Newsletter 18, 1983). Special cases: C23, F.10.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amdjit.declarations import device_function
from amdjit.intrinsics.maths import device_library as library
from amdjit.intrinsics.maths import double_functions as double
from amdjit.intrinsics.maths.float_evaluation import (
    DOUBLES,
    SMALL_FLOATS,
    bitcast,
    prefers_library,
    rounded,
    single,
)
from amdjit.intrinsics.maths.native_math import copysign, isinf, ldexp, rcp
from amdjit.intrinsics.maths.single_evaluation import (
    horner,
    nearest,
    nearest_multiple,
    root_of_normal,
    rounds_reliably,
)
from amdjit.intrinsics.numbers.floats import fma
from amdjit.intrinsics.numbers.integers import clz, funnel_shift_right
from amdjit.late import late
from amdjit.types import f32, f64, i32, i64, u32, u64

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import trigonometry as doubles
else:
    doubles = late("amdjit.intrinsics.maths.doubles.trigonometry")

__all__ = ["acos", "asin", "atan", "atan2", "cos", "sin", "sincos", "tan"]

_HALF_PI = (1.5707964, -4.371139e-08, -1.7151245e-15)
_PI_LOW = -8.742278e-08  # pi minus the nearest f32
_SIGN = 1 << 31
_LARGE = 2.0**17
# 32 zeros, then the bits of 2/pi after the point.
_TWO_OVER_PI = (
    0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
)  # fmt: skip
# Polynomials in the square: tests/intrinsics/fit_polynomials.py
_SINE = (2.8247202e-06, -1.9852484e-04, 8.3333785e-03, -1.6666667e-01)
_COSINE = (2.4428646e-05, -1.3887291e-03, 4.1666646e-02)
_TANGENT = (
    4.628202e-03,
    -4.2569294e-04,
    1.1246348e-02,
    2.1121921e-02,
    5.4091405e-02,
    1.333238e-01,
    3.3333358e-01,
)
_ARCSINE = (3.7604723e-02, 1.4371532e-02, 3.182688e-02, 4.4514436e-02, 7.500519e-02, 1.666666e-01)
_ARCTANGENT = (
    2.975537e-03, -1.6585084e-02, 4.356009e-02, -7.581154e-02, 1.0679223e-01, -1.4214285e-01,
    1.9994147e-01, -3.3333167e-01,
)  # fmt: skip


@device_function
def sin(x):
    """Return the sine of x radians."""
    if isinstance(x, DOUBLES):
        return library.sin(f64(x)) if prefers_library() else doubles.sin(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_sine_and_cosine(f32(x))[0], x, double.sin)
    return _sine_and_cosine(single(x))[0]


@device_function
def cos(x):
    """Return the cosine of x radians."""
    if isinstance(x, DOUBLES):
        return library.cos(f64(x)) if prefers_library() else doubles.cos(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_sine_and_cosine(f32(x))[1], x, double.cos)
    return _sine_and_cosine(single(x))[1]


@device_function
def sincos(x):
    """Return the sine and the cosine of x radians."""
    if isinstance(x, DOUBLES):
        if prefers_library():
            return library.sin(f64(x)), library.cos(f64(x))
        return doubles.sincos(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return sin(x), cos(x)
    return _sine_and_cosine(single(x))


@device_function
def tan(x):
    """Return the tangent of x radians."""
    if isinstance(x, DOUBLES):
        return library.tan(f64(x)) if prefers_library() else doubles.tan(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_tan(f32(x)), x, double.tan)
    return _tan(single(x))


@device_function
def asin(x):
    """Return the angle in [-pi/2, pi/2] whose sine is x, NaN beyond -1 and 1."""
    if isinstance(x, DOUBLES):
        return library.asin(f64(x)) if prefers_library() else doubles.asin(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_asin(f32(x)), x, double.asin)
    return _asin(single(x))


@device_function
def acos(x):
    """Return the angle in [0, pi] whose cosine is x, NaN beyond -1 and 1."""
    if isinstance(x, DOUBLES):
        return library.acos(f64(x)) if prefers_library() else doubles.acos(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_acos(f32(x)), x, double.acos)
    return _acos(single(x))


@device_function
def atan(x):
    """Return the angle in [-pi/2, pi/2] whose tangent is x."""
    if isinstance(x, DOUBLES):
        return library.atan(f64(x)) if prefers_library() else doubles.atan(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_atan(f32(x)), x, double.atan)
    return _atan(single(x))


@device_function
def atan2(y, x):
    """Return the angle in [-pi, pi] of the point (x, y), special cases as in C."""
    if isinstance(y, DOUBLES) or isinstance(x, DOUBLES):
        both = f64(y), f64(x)
        return library.atan2(*both) if prefers_library() else doubles.atan2(*both)
    angle = _atan2(single(y), single(x))
    if isinstance(y + x, SMALL_FLOATS):
        return (
            type(y + x)(angle)
            if rounds_reliably(angle, y + x)
            else rounded(double.atan2(f64(y), f64(x)), y + x)
        )
    return angle


@device_function
def _sine_and_cosine(x):
    r, rest, quadrant = _reduced(abs(x))
    square = r * r
    sine = r + fma(r * square, horner(square, _SINE), rest)
    cosine = 1 + fma(-r, rest, fma(square * square, horner(square, _COSINE), -0.5 * square))
    is_odd = quadrant & 1 == 1
    of_sine = (
        bitcast(cosine if is_odd else sine, u32)
        ^ (u32(quadrant) << 30 & _SIGN)
        ^ (bitcast(x, u32) & _SIGN)
    )
    of_cosine = bitcast(sine if is_odd else cosine, u32) ^ (u32(quadrant + 1) << 30 & _SIGN)
    return bitcast(of_sine, f32), bitcast(of_cosine, f32)


@device_function
def _tan(x):
    r, rest, quadrant = _reduced(abs(x))
    square = r * r
    # The tangent's derivative is about 1 + r * r here.
    small = fma(r * square, horner(square, _TANGENT), fma(square, rest, rest))
    tangent = r + small
    if quadrant & 1:
        # One Newton step against the tangent as a pair: the error of rounding it matters here.
        guess = rcp(tangent)
        missed = fma(tangent - r - small, guess, fma(-tangent, guess, f32(1)))
        tangent = -fma(missed, guess, guess)
    return bitcast(bitcast(tangent, u32) ^ (bitcast(x, u32) & _SIGN), f32)


@device_function
def _reduced(x):
    """Return an angle in [-pi/4, pi/4] as a pair of f32, and how many quarter turns x >= 0 is
    beyond it."""
    if x >= _LARGE:
        return _reduced_large(x)
    quarters, quadrant = nearest_multiple(x, f32(2 / math.pi))
    high = fma(quarters, -_HALF_PI[0], x)
    # The first difference is exact and a multiple of the second product's last place; so is the
    # remainder of the second.
    middle = quarters * _HALF_PI[1]
    r = high - middle
    rest = ((high - r) - middle) - fma(quarters, _HALF_PI[1], -middle)
    return r, fma(quarters, -_HALF_PI[2], rest), quadrant


@device_function
def _reduced_large(x):
    # x is a mantissa times 2 to the power `exponent`. In its product with 2/pi, bits above weight 2
    # are whole turns and bits below weight 2**-62 are less than f32 can represent: 96 bits of 2/pi
    # reach from one to the other.
    bits = bitcast(x, u32)
    mantissa = u64(bits & 0x7FFFFF | 0x800000)
    high, middle, low = _window(i32(bits >> 23) - 120)
    product = (mantissa * u64(high) << 32) + mantissa * u64(middle) + (mantissa * u64(low) >> 32)
    quadrant = i32((product + (1 << 61)) >> 62)
    distance = i64(product << 2)
    magnitude = u64(-distance if distance < 0 else distance)
    shift = i32(clz(magnitude))
    magnitude = magnitude << u64(shift)
    top = ldexp(f32(u32(magnitude >> 32) & 0xFFFFFF00), -32 - shift)
    low_part = ldexp(f32(u32(magnitude >> 8)), -56 - shift)
    scale = f32(-_HALF_PI[0] if distance < 0 else _HALF_PI[0])
    r = top * scale
    rest = fma(top, scale, -r) + fma(
        low_part, scale, top * (_HALF_PI[1] if distance >= 0 else -_HALF_PI[1])
    )
    return f32(math.nan) if isinf(x) else r, rest, quadrant


@device_function
def _window(position):
    """Return the 96 bits of the table from a bit on, which is not the first, as three words."""
    before = position - 1
    by_4, by_2, by_1 = before & 128 != 0, before & 64 != 0, before & 32 != 0
    a, b, c, d = [u32(_TWO_OVER_PI[i + 4]) if by_4 else u32(_TWO_OVER_PI[i]) for i in range(4)]
    e, f, g = [u32(_TWO_OVER_PI[i]) for i in range(4, 7)]
    a, b, c, d, e = [
        late if by_2 else early
        for early, late in zip((a, b, c, d, e), (c, d, e, f, g), strict=True)
    ]
    a, b, c, d = [
        late if by_1 else early for early, late in zip((a, b, c, d), (b, c, d, e), strict=True)
    ]
    shift = u32(-position)
    return (
        funnel_shift_right(a, b, shift),
        funnel_shift_right(b, c, shift),
        funnel_shift_right(c, d, shift),
    )


@device_function
def _asin(x):
    magnitude = abs(x)
    is_small = magnitude < 0.5
    square = magnitude * magnitude if is_small else fma(magnitude, f32(-0.5), f32(0.5))
    root, half = root_of_normal(square)
    base = magnitude if is_small else root
    beyond = base * square * horner(square, _ARCSINE)
    # The error of the root counts twice.
    beyond = beyond if is_small else fma(fma(-root, root, square), half, beyond)
    steep = fma(root, f32(-2), _HALF_PI[0]) - fma(beyond, f32(2), -_HALF_PI[1])
    if magnitude > 1:
        steep = f32(math.nan)
    return copysign(base + beyond if is_small else steep, x)


@device_function
def _acos(x):
    magnitude = abs(x)
    is_small = magnitude < 0.5
    square = magnitude * magnitude if is_small else fma(magnitude, f32(-0.5), f32(0.5))
    root, _ = root_of_normal(square)
    base = x if is_small else root
    beyond = base * square * horner(square, _ARCSINE)
    middle = (_HALF_PI[0] - x) - (beyond - _HALF_PI[1])
    near_0 = 2 * (root + beyond)
    near_pi = fma(root, f32(-2), 2 * _HALF_PI[0]) - fma(beyond, f32(2), -_PI_LOW)
    steep = near_pi if x < 0 else near_0
    if magnitude > 1:
        steep = f32(math.nan)
    return middle if is_small else steep


@device_function
def _atan(x):
    magnitude = abs(x)
    is_steep = magnitude > 1
    t = rcp(magnitude) if is_steep else magnitude
    square = t * t
    angle = fma(t * square, horner(square, _ARCTANGENT), t)
    return copysign((_HALF_PI[0] - angle) + _HALF_PI[1] if is_steep else angle, x)


@device_function
def _atan2(y, x):
    a, b = abs(y), abs(x)
    low, high = min(a, b), max(a, b)
    # With `fastmath`, LLVM multiplies by v_rcp_f32, which returns 0 for a subnormal 1 / high.
    scale = f32(2.0**-32) if high > 2.0**96 else f32(1)
    t = (low * scale) / (high * scale)
    if low == high:
        t = f32(0) if high == 0 else f32(1)
    square = t * t
    angle = fma(t * square, horner(square, _ARCTANGENT), t)
    if a > b:
        angle = _HALF_PI[0] - (angle - _HALF_PI[1])
    if bitcast(x, i32) < 0:
        angle = 2 * _HALF_PI[0] - (angle - _PI_LOW)
    return copysign(angle, y)
