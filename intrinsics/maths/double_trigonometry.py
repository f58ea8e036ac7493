"""Trigonometric functions of 16-bit floats given as f64, good to about 1e-11: see
double_functions.py.

Angles are reduced to [-pi/4, pi/4]. Below 2**24, multiples of pi/2 are subtracted in f64, which is
exact enough because f32 angles stay 1e-9 away from these multiples; above, the reduction takes as
many bits of 2/pi as the angle reaches.
"""

from __future__ import annotations

import math

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.float_evaluation import bitcast, double_sqrt, polynomial
from amdjit.intrinsics.maths.native_math import copysign, isfinite, isinf, rint
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f32, f64, i32, i64, u32, u64

__all__ = ["acos", "asin", "atan", "atan2", "cos", "sin", "tan"]

_HALF_PI = 1.5707963267948966
_HALF_PI_REST = 6.123233995736766e-17
_LARGE = 2.0**24
# 32 zeros, then the bits of 2/pi after the point.
_TWO_OVER_PI = (
    0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
)  # fmt: skip
_SINE = tuple((-1) ** n / math.factorial(2 * n + 1) for n in range(6, -1, -1))
_COSINE = tuple((-1) ** n / math.factorial(2 * n) for n in range(6, -1, -1))
_TAN_PI_8 = math.sqrt(2) - 1
# atan(x) / x over x * x in [0, tan(pi/8) ** 2], relative error 2.2e-11:
# tests/intrinsics/fit_polynomials.py
_ARCTANGENT = (
    0.04708685297876085, -0.084568840768983, 0.11040623337228912, -0.14281600781836967,
    0.19999884343566351, -0.3333333210485324, 0.9999999999785736,
)  # fmt: skip


@device_function
def sin(x):
    """Return the sine of x radians."""
    sine, _ = _sine_and_cosine(f32(x))
    return x if x == 0 else sine


@device_function
def cos(x):
    """Return the cosine of x radians."""
    _, cosine = _sine_and_cosine(f32(x))
    return cosine


@device_function
def tan(x):
    """Return the tangent of x radians."""
    sine, cosine = _sine_and_cosine(f32(x))
    return x if x == 0 else sine / cosine


@device_function
def asin(x):
    """Return the angle in [-pi/2, pi/2] whose sine is x, NaN beyond -1 and 1."""
    return copysign(_angle(abs(x), double_sqrt((1 - x) * (1 + x))), x)


@device_function
def acos(x):
    """Return the angle in [0, pi] whose cosine is x, NaN beyond -1 and 1."""
    angle = _angle(double_sqrt((1 - x) * (1 + x)), abs(x))
    return math.pi - angle if x < 0 else angle


@device_function
def atan(x):
    """Return the angle in [-pi/2, pi/2] whose tangent is x."""
    return copysign(_angle(abs(x), f64(1)), x)


@device_function
def atan2(y, x):
    """Return the angle in [-pi, pi] of the point (x, y), special cases as in C."""
    angle = _angle(abs(y), abs(x))
    if copysign(f64(1), x) < 0:
        angle = math.pi - angle
    return copysign(angle, y)


@device_function
def _sine_and_cosine(x: f32):
    r, quadrant = _reduced(x)
    square = r * r
    sine = r * polynomial(square, _SINE)
    cosine = polynomial(square, _COSINE)
    if quadrant & 1:
        sine, cosine = cosine, -sine
    if quadrant & 2:
        sine, cosine = -sine, -cosine
    return sine, cosine


@device_function
def _reduced(x: f32):
    """Return an angle in [-pi/4, pi/4] in f64 and how many quarter turns x is beyond it; NaN where
    x is not finite."""
    if abs(x) >= _LARGE:
        return _reduced_large(x)
    quarters = rint(f64(x) * (2 / math.pi))
    r = fma(quarters, -_HALF_PI, f64(x))
    return fma(quarters, -_HALF_PI_REST, r), i32(quarters)


@device_function
def _reduced_large(x: f32):
    # x is a mantissa times 2 to the power `exponent`. In its product with 2/pi, bits above weight 2
    # are whole turns and bits below weight 2**-62 are less than f32 can represent: 96 bits of 2/pi
    # reach from one to the other.
    bits = bitcast(x, u32)
    exponent = i32(bits >> 23 & 0xFF) - 150
    mantissa = u64(bits & 0x7FFFFF | 0x800000)
    high, middle, low = _window(exponent + 30)
    product = (mantissa * u64(high) << 32) + mantissa * u64(middle) + (mantissa * u64(low) >> 32)
    quadrant = (product + (1 << 61)) >> 62
    r = f64(i64(product - (quadrant << 62))) * (math.pi / 2 / 2**62)
    if not isfinite(x):
        r = f64(math.nan)
    if x < 0:
        return -r, -i32(quadrant)
    return r, i32(quadrant)


@device_function
def _window(position):
    """Return the 96 bits of the table from a bit on, as three words."""
    first, shift = position >> 5, u32(position & 31)
    a, b, c, d = u32(0), u32(0), u32(0), u32(0)
    for i, word in enumerate(_TWO_OVER_PI[:5]):
        if first == i:
            a, b, c, d = (
                u32(word),
                u32(_TWO_OVER_PI[i + 1]),
                u32(_TWO_OVER_PI[i + 2]),
                u32(_TWO_OVER_PI[i + 3]),
            )
    return _shifted(a, b, shift), _shifted(b, c, shift), _shifted(c, d, shift)


@device_function
def _shifted(high, low, shift):
    return u32((u64(high) << 32 | u64(low)) >> u64(32 - shift))


@device_function
def _angle(y, x):
    """Return the angle in [0, pi/2] of a point with nonnegative f64 coordinates."""
    low, high = min(y, x), max(y, x)
    is_steep = low > _TAN_PI_8 * high
    t = (high - low) / (high + low) if is_steep else low / high
    if high == 0:
        t = f64(0)
    if isinf(low):
        t = f64(0)
        is_steep = True
    below = t * polynomial(t * t, _ARCTANGENT)
    angle = math.pi / 4 - below if is_steep else below
    if y > x:
        angle = math.pi / 2 - angle
    return y + x if y != y or x != x else angle
