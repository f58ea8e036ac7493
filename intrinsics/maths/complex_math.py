"""Functions of complex numbers, those of Python's `cmath`.

The methods are Python's (`Modules/cmathmodule.c`), special cases and branch cuts included; where
Python raises an error, results are C's (C23, annex G.6). Parts are computed in the type of the
argument's parts.
"""

from __future__ import annotations

import math
from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.maths import elementwise
from amdjit.intrinsics.maths.trigonometry import sincos
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i32

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "divide",
    "exp",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "magnitude",
    "phase",
    "polar",
    "power",
    "rect",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


_DOUBLE: Any = f64
_LN2 = math.log(2)


@device_function
def _parts(z):
    """Return the real and the imaginary part of any number."""
    if isinstance(z, complex):
        return z.real, z.imag
    x = elementwise.as_float(z)
    return x, type(x)(0)


@device_function
def _chosen(x, double, single):
    """Return the first number for an f64 x, else the second, in x's type."""
    return type(x)(double if isinstance(x, _DOUBLE) else single)


@device_function
def phase(z):
    """Return the angle of z in [-pi, pi]."""
    x, y = _parts(z)
    return math.atan2(y, x)


@device_function
def polar(z):
    """Return the magnitude and the angle of z."""
    x, y = _parts(z)
    return math.hypot(x, y), math.atan2(y, x)


@device_function
def rect(r, phi):
    """Return the complex number of magnitude r and angle phi."""
    kind = type(elementwise.as_float(r + phi))  # of both: a literal is an f64 beside one
    r, phi = kind(r), kind(phi)
    sine, cosine = sincos(phi)
    x, y = r * cosine, r * sine
    if phi == 0:
        y = phi if r != r else math.copysign(type(y)(0), r) * math.copysign(type(y)(1), phi)
    if phi - phi != 0 and r == 0:
        x, y = type(x)(0), type(y)(0)
    if phi - phi != 0 and math.isinf(r):
        x = type(x)(math.inf)
    return complex(x, y)


@device_function
def isnan(z):
    """Return whether a part is NaN."""
    x, y = _parts(z)
    return math.isnan(x) or math.isnan(y)


@device_function
def isinf(z):
    """Return whether a part is infinite."""
    x, y = _parts(z)
    return math.isinf(x) or math.isinf(y)


@device_function
def isfinite(z):
    """Return whether both parts are finite."""
    x, y = _parts(z)
    return math.isfinite(x) and math.isfinite(y)


@device_function
def isclose(a, b, rel_tol=1e-9, abs_tol=0.0):
    """Return whether the distance of a and b is at most `abs_tol`, or `rel_tol` times the greater
    magnitude."""
    a_real, a_imag = _parts(a)
    b_real, b_imag = _parts(b)
    greatest = max(math.hypot(a_real, a_imag), math.hypot(b_real, b_imag))
    distance = math.hypot(a_real - b_real, a_imag - b_imag)
    is_near = distance <= max(rel_tol * greatest, abs_tol) and math.isfinite(greatest)
    return (a_real == b_real and a_imag == b_imag) or is_near


@device_function
def exp(z):
    """Return e to the power z."""
    x, y = _parts(z)
    sine, cosine = sincos(y)
    # Beyond this number exp(x) may be infinite where its product with the cosine is not.
    is_large = x > _chosen(x, 709.0, 88.0)
    grown = math.exp(x - 1 if is_large else x)
    more = type(x)(math.e) if is_large else type(x)(1)
    real, imaginary = grown * cosine * more, grown * sine * more
    if y - y != 0:
        if x < 0 and math.isinf(x):
            real, imaginary = type(x)(0), type(x)(0)
        if x > 0 and math.isinf(x):
            real = x
    return complex(real, y if y == 0 else imaginary)


@device_function
def _hyperbolic(x, y):
    """Return cosh(x) cos(y), sinh(x) sin(y), sinh(x) cos(y) and cosh(x) sin(y)."""
    sine, cosine = sincos(y)
    is_large = abs(x) > _chosen(x, 709.0, 88.0)
    moved = x - math.copysign(type(x)(1), x) if is_large else x
    more = type(x)(math.e) if is_large else type(x)(1)
    even, odd = math.cosh(moved), math.sinh(moved)
    first, second = even * cosine * more, odd * sine * more
    third, fourth = odd * cosine * more, even * sine * more
    if y - y != 0:
        if math.isinf(x):
            first, third = abs(x), x
        if x == 0:
            second, third = x, x
    if y == 0:
        second, fourth = y * math.copysign(type(x)(1), x), y
    return first, second, third, fourth


@device_function
def cosh(z):
    """Return the hyperbolic cosine."""
    x, y = _parts(z)
    real, imaginary, _, _ = _hyperbolic(x, y)
    return complex(real, imaginary)


@device_function
def sinh(z):
    """Return the hyperbolic sine."""
    x, y = _parts(z)
    _, _, real, imaginary = _hyperbolic(x, y)
    return complex(real, imaginary)


@device_function
def cos(z):
    """Return the cosine."""
    x, y = _parts(z)
    real, imaginary, _, _ = _hyperbolic(-y, x)
    return complex(real, imaginary)


@device_function
def sin(z):
    """Return the sine."""
    x, y = _parts(z)
    _, _, imaginary, real = _hyperbolic(-y, x)
    return complex(real, -imaginary)


@device_function
def _tanh(x, y):
    """Return both parts of the hyperbolic tangent."""
    slope, straight = math.tan(y), math.tanh(x)
    inverse = 1 / math.cosh(x)
    product = straight * slope
    divisor = 1 + product * product
    real = straight * ((1 + slope * slope) / divisor)
    imaginary = slope / divisor * inverse * inverse
    if y - y != 0 and math.isinf(x):
        real, imaginary = straight, type(x)(0)
    return real, y if y == 0 else imaginary


@device_function
def tanh(z):
    """Return the hyperbolic tangent."""
    x, y = _parts(z)
    real, imaginary = _tanh(x, y)
    return complex(real, imaginary)


@device_function
def tan(z):
    """Return the tangent."""
    x, y = _parts(z)
    imaginary, real = _tanh(-y, x)
    return complex(real, -imaginary)


@device_function
def _logarithm(x, y):
    """Return the natural logarithm of the magnitude of (x, y)."""
    a, b = abs(x), abs(y)
    high, low = max(a, b), min(a, b)
    # Scaled where the length would be infinite, or round to a few bits.
    is_large = high > _chosen(x, 2.0**1022, 2.0**126)
    is_tiny = high < _chosen(x, 2.0**-960, 2.0**-96)
    count = type(x)(-2) if is_large else (type(x)(64) if is_tiny else type(x)(0))
    factor = type(x)(2.0**-2) if is_large else (type(x)(2.0**64) if is_tiny else type(x)(1))
    length = math.hypot(x * factor, y * factor)
    result = math.log(length) - count * _LN2
    if length > 0.71 and length < 1.73:
        result = 0.5 * math.log1p(fma(low, low, (high - 1) * (high + 1)))
    return result


@device_function
def log(z, base=None):
    """Return the natural logarithm, or that to another base, with a branch cut along the negative
    real numbers."""
    value = _natural_logarithm(z)
    if base is None:
        return value
    if isinstance(base, complex):
        return value / _natural_logarithm(base)
    return value / _natural_logarithm(base + type(value.real)(0))


@device_function
def _natural_logarithm(z):
    x, y = _parts(z)
    return complex(_logarithm(x, y), math.atan2(y, x))


@device_function
def log10(z):
    """Return the logarithm to base 10, with a branch cut along the negative real numbers."""
    x, y = _parts(z)
    inverse = type(x)(1 / math.log(10))
    return complex(_logarithm(x, y) * inverse, math.atan2(y, x) * inverse)


@device_function
def _sqrt(x, y):
    """Return both parts of the square root."""
    a, b = abs(x), abs(y)
    is_tiny = max(a, b) < _chosen(x, 2.0**-1021, 2.0**-125)
    factor = _chosen(x, 2.0**53, 2.0**25) if is_tiny else type(x)(0.125)
    back = _chosen(x, 2.0**-27, 2.0**-13) if is_tiny else type(x)(2)
    length = a * factor + math.hypot(a * factor, b * factor)
    long = math.sqrt(length) * back
    short = b / (2 * long)
    if x == 0 and y == 0:
        short = type(x)(0)
    real, imaginary = (long, short) if x >= 0 else (short, long)
    if math.isinf(x):
        real, imaginary = (a, y - y) if x > 0 else (y - y, a)
    if math.isinf(y):
        real, imaginary = b, b
    if x != x and not math.isinf(y):
        imaginary = x
    return real, math.copysign(imaginary, y)


@device_function
def sqrt(z):
    """Return the square root whose real part is not negative, with a branch cut along the negative
    real numbers."""
    x, y = _parts(z)
    real, imaginary = _sqrt(x, y)
    return complex(real, imaginary)


@device_function
def _is_large(x, y):
    """Return whether a part is too large to be squared, or infinite."""
    return max(abs(x), abs(y)) > _chosen(x, 2.0**1021, 2.0**125) or math.isinf(x) or math.isinf(y)


@device_function
def _large_logarithm(x, y):
    """Return log(2 * |z|) where that would overflow."""
    return math.log(math.hypot(x * 0.25, y * 0.25)) + type(x)(3 * _LN2)


@device_function
def _asinh(x, y):
    """Return both parts of the number whose hyperbolic sine is (x, y)."""
    if _is_large(x, y):
        return math.copysign(_large_logarithm(x, y), x), math.atan2(y, abs(x))
    a, b = _sqrt(1 + y, -x)
    c, d = _sqrt(1 - y, x)
    real, imaginary = math.asinh(a * d - c * b), math.atan2(y, a * c - b * d)
    return real, y if y == 0 else imaginary


@device_function
def asinh(z):
    """Return the number whose hyperbolic sine is z, with branch cuts along the imaginary axis
    beyond 1j and -1j."""
    x, y = _parts(z)
    real, imaginary = _asinh(x, y)
    return complex(real, imaginary)


@device_function
def asin(z):
    """Return the number whose sine is z, with branch cuts along the real axis beyond 1 and -1."""
    x, y = _parts(z)
    imaginary, real = _asinh(-y, x)
    return complex(real, -imaginary)


@device_function
def acosh(z):
    """Return the number whose hyperbolic cosine is z, with a branch cut along the real axis below
    1."""
    x, y = _parts(z)
    if _is_large(x, y):
        real, imaginary = _large_logarithm(x, y), math.atan2(y, x)
    else:
        a, b = _sqrt(x - 1, y)
        c, d = _sqrt(x + 1, y)
        real, imaginary = math.asinh(a * c + b * d), 2 * math.atan2(b, c)
    return complex(real, imaginary)


@device_function
def acos(z):
    """Return the number whose cosine is z, with branch cuts along the real axis beyond 1 and
    -1."""
    x, y = _parts(z)
    if _is_large(x, y):
        real = math.atan2(abs(y), x)
        imaginary = math.copysign(_large_logarithm(x, y), -y)
    else:
        a, b = _sqrt(1 - x, -y)
        c, d = _sqrt(1 + x, y)
        real, imaginary = 2 * math.atan2(a, c), math.asinh(c * b - d * a)
        if x == 0 and y != y:
            real = type(x)(math.pi / 2)
    return complex(real, imaginary)


@device_function
def _atanh(x, y):
    """Return both parts of the number whose hyperbolic tangent is (x, y)."""
    sign = math.copysign(type(x)(1), x)
    a, b = abs(x), sign * y
    height = abs(b)
    limit = _chosen(x, 2.0**510, 2.0**62)
    real, imaginary = type(x)(0), type(x)(0)
    if a > limit or height > limit:
        length = math.hypot(a * 0.5, b * 0.5)
        real = a / 4 / length / length if math.isfinite(length) else type(x)(0)
        imaginary = math.copysign(type(x)(math.pi / 2), b)
        if b != b:
            imaginary = b
    elif a == 1 and height < 1 / limit:
        # The real part is -log(sqrt(height) / sqrt(hypot(height, 2))).
        root = math.sqrt(math.hypot(height, type(x)(2)))
        real = type(x)(math.inf) if height == 0 else -math.log(math.sqrt(height) / root)
        imaginary = math.copysign(math.atan2(type(x)(2), -height) * 0.5, b)
        if height == 0:
            imaginary = b
    else:
        rest = 1 - a
        real = math.log1p(4 * a / (rest * rest + b * b)) * 0.25
        imaginary = -math.atan2(-2 * b, rest * (1 + a) - height * height) * 0.5
    if (a != a and not math.isinf(b)) or (b != b and not math.isinf(a)):
        real, imaginary = type(x)(0) if a == 0 else type(x)(math.nan), type(x)(math.nan)
    return sign * real, sign * imaginary


@device_function
def atanh(z):
    """Return the number whose hyperbolic tangent is z, with branch cuts along the real axis beyond
    1 and -1."""
    x, y = _parts(z)
    real, imaginary = _atanh(x, y)
    return complex(real, imaginary)


@device_function
def atan(z):
    """Return the number whose tangent is z, with branch cuts along the imaginary axis beyond 1j and
    -1j."""
    x, y = _parts(z)
    imaginary, real = _atanh(-y, x)
    return complex(real, -imaginary)


# Complex numbers as pairs of floats: division and magnitude, as NumPy computes them.


def divide(a, b, c, d):
    """Return (a + bi) / (c + di) by Smith's method, in NumPy's order of operations (its
    `nc_quot`)."""
    if abs(c) >= abs(d):
        if c == 0 and d == 0:
            return a / abs(c), b / abs(c)
        ratio = d / c
        scale = 1 / (c + d * ratio)
        return (a + b * ratio) * scale, (b - a * ratio) * scale
    ratio = c / d
    scale = 1 / (d + c * ratio)
    return (a * ratio + b) * scale, (b * ratio - a) * scale


def magnitude(a, b):
    """Return sqrt(a * a + b * b) without intermediate overflow; infinite if either part is, even if
    the other is NaN."""
    return math.hypot(a, b)


# Powers of complex numbers, `z ** w`, as Python computes them (`Objects/complexobject.c`).


@device_function
def power(a, b, c, d):
    """Return (a + bi) to the power (c + di): by products for whole exponents of up to 100, as in
    Python; NaN where Python raises, for powers of 0 that are negative or not real."""
    if a == 0 and b == 0:
        none = type(a)(math.nan)
        whole = c == 0 and d == 0
        return (
            (type(a)(1) if whole else type(a)(0) if c > 0 and d == 0 else none),
            (type(a)(0) if d == 0 and c >= 0 else none),
        )
    if d == 0 and abs(c) <= 100 and math.trunc(abs(c)) == abs(c):
        return _whole_power(a, b, c)
    length, angle = math.hypot(a, b), math.atan2(b, a)
    grown, turned = math.pow(length, c), angle * c
    if d != 0:
        grown *= math.exp(-angle * d)
        turned += d * math.log(length)
    sine, cosine = sincos(turned)
    return grown * cosine, grown * sine


@device_function
def _whole_power(a, b, c):
    """Return (a + bi) to the whole power c, by squares."""
    n = i32(abs(c))
    result, square = complex(type(a)(1), type(a)(0)), complex(a, b)
    while n > 0:
        if n & 1:
            result *= square
        square *= square
        n >>= 1
    if c < 0:
        result = 1 / result
    return result.real, result.imag
