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
from amdjit.intrinsics.maths.native_math import copysign, isfinite, isinf, rcp, rint
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f32, f64, i32, i64, u32, u64

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "hypot",
    "lgamma",
    "lgamma_of_negative",
    "log",
    "log1p",
    "log2",
    "log10",
    "rsqrt",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "tgamma",
]


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


# Gamma functions in f64, for cases where f32 is too rough: 16-bit floats close to a tie, and
# `lgamma` below 0.
#
# Stirling's formula serves from 3 on; smaller numbers are moved there, negative ones reflected.
# `lgamma` has an absolute error of about 1e-14, because its zeros among the negative numbers are
# differences; at the f32 next to them it is 1e-7 and more.


_LN2 = (
    0.6931471803691238,
    1.9082149292705877e-10,
)  # the first has 32 bits, so that its multiples are exact
_GAMMA_LARGEST = 60.0  # beyond it the gamma function is infinite, or 0, in f32
_HALF_LN_2PI = 0.9189385332046728
_ARTANH = tuple(1 / n for n in range(21, 2, -2))
_GAMMA_SINE = tuple((-1) ** n / math.factorial(2 * n + 1) for n in range(10, -1, -1))
# Polynomials: tests/intrinsics/fit_polynomials.py.
# The correction to Stirling's formula, times z,
# over 1 / (z * z) for z above 3
_STIRLING = (
    1.4772634411177644e-02, -1.1457367721946578e-02, 4.889557986191583e-03, -1.8292724768879196e-03,
    8.384287285943276e-04, -5.9516217448575e-04, 7.936498444359221e-04, -2.7777777724593603e-03,
    8.33333333333252e-02,
)  # fmt: skip
# lgamma(x) / ((x - 1) * (x - 2)) over x - 1.5 in [-0.8, 0.8]
_BETWEEN = (
    -0.00022582254265715067, 0.00033083932018174454, 5.3454216026886375e-05, -1.610281039439163e-05,
    -0.0005857892711541682, 0.0008839483385182667, -0.001110706088251684, 0.0018678248991030506,
    -0.0032229262090682676, 0.005455828890625455, -0.009424472399230213, 0.01679632471834803,
    -0.03130854187550309, 0.06291142525002677, -0.14595989516705737, 0.483128950417659,
)  # fmt: skip


@device_function
def tgamma(x):
    """Return the gamma function."""
    z, product = _moved(min(abs(x), _GAMMA_LARGEST))
    grown = exponential(_stirling(z))
    numerator, denominator = grown, product
    if x < 0:
        numerator, denominator = -math.pi * product, -x * _sine_of_half_turns(-x) * grown
    result = numerator / denominator
    if x == 0:
        result = copysign(f64(math.inf), x)
    if x == rint(x):
        result = (
            f64(math.nan) if x < 0 else rint(result)
        )  # factorials, some of which are ties of 16-bit floats
    return x if x != x or x == math.inf else result


@device_function
def lgamma(x):
    """Return the natural logarithm of the gamma function's magnitude."""
    if x < 0:
        return lgamma_of_negative(x)
    z, product = _moved(x)
    result = _stirling(z) - _logarithm(product)
    if abs(x - 1.5) < 0.8:
        result = fma(
            (x - 1) * (x - 2), polynomial(x - 1.5, _BETWEEN), f64(0)
        )  # 0, not -0, at 1 and 2
    if isinf(x) or x == 0:
        result = f64(math.inf)
    return x if x != x else result


@device_function
def lgamma_of_negative(x):
    """Return `lgamma` of a number below 0."""
    z, product = _moved(-x)
    less = abs(_quotient(math.pi * product, x * _sine_of_half_turns(-x)))
    return f64(math.inf) if x == rint(x) else _logarithm(less) - _stirling(z)


@device_function
def _moved(x):
    """Return z >= 3, and p with gamma(x) = gamma(z) / p."""
    is_low = x < 3
    return x + 3 if is_low else x, x * (x + 1) * (x + 2) if is_low else f64(1)


@device_function
def _stirling(z):
    """Return lgamma(z) for z >= 3."""
    inverse = _inverse(z)
    rest = fma(inverse, polynomial(inverse * inverse, _STIRLING), _HALF_LN_2PI)
    return fma(z - 0.5, _logarithm(z), rest - z)


@device_function
def _sine_of_half_turns(x):
    """Return sin(pi * x) for nonnegative x."""
    turn = x - 2 * rint(0.5 * x)
    nearest = min(abs(turn), 1 - abs(turn)) * math.pi
    return copysign(nearest * polynomial(nearest * nearest, _GAMMA_SINE), turn)


@device_function
def _logarithm(x):
    """Return the natural logarithm of finite x above 0."""
    bits = bitcast(x, i64)
    exponent = i32(bits >> 52) - 1023
    mantissa = bitcast(bits & _MANTISSA | _ONE, f64)
    if mantissa > math.sqrt(2):
        mantissa = mantissa * 0.5
        exponent += 1
    s = _quotient(mantissa - 1, mantissa + 1)
    square = s * s
    small = fma(f64(exponent), _LN2[1], 2 * s * square * polynomial(square, _ARTANH))
    return fma(f64(exponent), _LN2[0], fma(f64(2), s, small))


@device_function
def _inverse(x):
    """Return 1 / x to about 1 unit, for x neither large nor small, in a third of the instructions
    of a division."""
    guess = rcp(x)
    return fma(fma(-x, guess, f64(1)), guess, guess)


@device_function
def _quotient(x, y):
    """Return x / y likewise."""
    inverse = _inverse(y)
    guess = x * inverse
    return fma(fma(-y, guess, x), inverse, guess)


# Trigonometric functions of 16-bit floats given as f64, good to about 1e-11: see
# double_functions.py.
#
# Angles are reduced to [-pi/4, pi/4]. Below 2**24, multiples of pi/2 are subtracted in f64, which
# is exact enough because f32 angles stay 1e-9 away from these multiples; above, the reduction takes
# as many bits of 2/pi as the angle reaches.


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
