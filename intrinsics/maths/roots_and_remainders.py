"""Roots, lengths, remainders and parts of real numbers, special cases as in C.

Sources: C23, F.10.4 and F.10.7; LLVM AMDGPU guide, `llvm.amdgcn.frexp`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from amdjit.declarations import LlvmCall, device_function, intrinsic
from amdjit.intrinsics.maths import device_library as library
from amdjit.intrinsics.maths import double_functions as double
from amdjit.intrinsics.maths.float_evaluation import (
    DOUBLES,
    SMALL_FLOATS,
    approximates,
    bitcast,
    double_sqrt,
    exponent_of,
    prefers_library,
    rounded,
    single,
)
from amdjit.intrinsics.maths.float_evaluation import (
    mantissa_of as _mantissa,
)
from amdjit.intrinsics.maths.native_math import (
    copysign,
    fast_sqrt,
    isinf,
    ldexp,
    rcp,
    rint,
    rsq,
    trunc,
)
from amdjit.intrinsics.maths.single_evaluation import nearest, root_of_normal, rounds_reliably
from amdjit.intrinsics.numbers.floats import fma
from amdjit.intrinsics.numbers.integers import mul24
from amdjit.late import late
from amdjit.types import boolean, f16, f32, f64, i16, i32, i64, u32

if TYPE_CHECKING:
    from amdjit.intrinsics.maths.doubles import roots as double_remainders
    from amdjit.intrinsics.maths.doubles import roots as doubles
else:
    double_remainders = late("amdjit.intrinsics.maths.doubles.roots")
    doubles = late("amdjit.intrinsics.maths.doubles.roots")

__all__ = [
    "cbrt",
    "dist",
    "fmod",
    "frexp",
    "hypot",
    "modf",
    "nextafter",
    "remainder",
    "rsqrt",
    "sqrt",
    "sumprod",
]


# Two thirds of the exponent's bias, less a correction that balances the error of the guess on both
# sides.
_GUESS = int((127 - 127 / 3 - 0.0331) * 2**23)
_SMALLEST_NORMAL = 2.0**-126
_HALF: Any = f16
_STEP = 20  # bits of a quotient that one step of a division finds
# The test mask of llvm.is.fpclass: LLVM language reference, "llvm.is.fpclass".
_ZERO_OR_INFINITY = 0x260


@intrinsic(LlvmCall("llvm.is.fpclass.{x}", ("x", _ZERO_OR_INFINITY)), isa="v_cmp_class_f32")
def _is_own_root(x: f32) -> boolean:
    """Return whether x is a zero or plus infinity (`llvm.is.fpclass`)."""
    return (x == np.inf) | (x == 0)


@device_function
def sqrt(x):
    """Return the square root, correctly rounded: NaN below 0, -0 of -0."""
    if isinstance(x, DOUBLES):
        return double_sqrt(f64(x))
    if isinstance(x, _HALF):
        # The root of an 11-bit number is never so close to a tie that 1 unit of f32 decides.
        return f16(fast_sqrt(f32(x)))
    root = fast_sqrt(single(x)) if approximates() else _sqrt(single(x))
    return _of_type(root, x)


@device_function
def fmod(x, y):
    """Return x - n * y exactly, where n is the quotient rounded toward zero; the result has the
    sign of x."""
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        return double_remainders.fmod(f64(x), f64(y))
    return _of_type(_fmod(single(x), single(y)), x + y)


@device_function
def rsqrt(x):
    """Return 1 / sqrt(x): the instruction `rsq`, corrected for denormals."""
    if isinstance(x, DOUBLES):
        return library.rsqrt(f64(x)) if prefers_library() else doubles.rsqrt(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_rsqrt(f32(x)), x, double.rsqrt)
    return _rsqrt(single(x))


@device_function
def cbrt(x):
    """Return the cube root, also of negative numbers."""
    if isinstance(x, DOUBLES):
        return library.cbrt(f64(x)) if prefers_library() else doubles.cbrt(f64(x))
    if isinstance(x, SMALL_FLOATS):
        return nearest(_cbrt(f32(x)), x, double.cbrt)
    return _cbrt(single(x))


@device_function
def _sqrt(x):
    is_small = x < 2.0**-96
    moved = x * (f32(2.0**32) if is_small else f32(1))
    root = _root(moved, rsq(moved)) * (f32(2.0**-16) if is_small else f32(1))
    return moved if _is_own_root(moved) else root


@device_function
def _root(x, guess):
    """Return sqrt(x), correctly rounded for x above 2**-96 and a guess within 2 units of its
    reciprocal.

    P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990:
    the root and half of the reciprocal are refined in step, then the root once more, with an exact
    difference by `fma`.
    """
    root, half = x * guess, 0.5 * guess
    lacking = fma(-half, root, f32(0.5))
    root, half = fma(root, lacking, root), fma(half, lacking, half)
    return fma(fma(-root, root, x), half, root)


@device_function
def _fmod(x, y):
    """Return C's `fmod` by long division: quotients of 20 bits, as many as the exponents'
    difference takes.

    Mantissas are multiples of 2**-24 below 1, so each remainder, which is less than the divisor, is
    exact.
    """
    rest, divisor = abs(x), abs(y)
    if not rest < divisor:
        exponent = exponent_of(divisor)
        bits = exponent_of(rest) - exponent
        rest, divisor = _mantissa(rest), _mantissa(divisor)
        inverse = rcp(divisor)
        while True:
            # The quotient is off by less than 1, so the remainder may be negative.
            rest = ldexp(rest, min(bits, _STEP))
            rest = fma(-rint(rest * inverse), divisor, rest)
            bits -= _STEP
            if bits <= 0:
                break
        rest = ldexp(rest + divisor if rest < 0 else rest, exponent)
    return copysign(rest, x)


@device_function
def _rsqrt(x):
    is_small = x < _SMALLEST_NORMAL
    return rsq(x * 2.0**24 if is_small else x) * (f32(2.0**12) if is_small else f32(1))


@device_function
def _cbrt(x):
    third = mul24(exponent_of(x), 171) >> 9
    magnitude = ldexp(abs(x), third * -3)
    root = bitcast(bitcast(magnitude, u32) // 3 + _GUESS, f32)
    # One step of Halley's iteration, from 4 correct bits to 15, and one of Newton's with an exact
    # difference.
    cube = root * root * root
    root = root * fma(magnitude, f32(2), cube) * rcp(fma(cube, f32(2), magnitude))
    square = root * root
    beyond = fma(fma(root, root, -square), root, fma(square, root, -magnitude))
    root = fma(-beyond, rcp(3 * square), root)
    result, unchanged = copysign(ldexp(root, third), x), x + x
    return unchanged if x == unchanged else result


@device_function
def remainder(x, y):
    """Return x - n * y exactly, where n is the whole number nearest to the quotient, ties to
    even."""
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        both = f64(x), f64(y)
        return library.remainder(*both) if prefers_library() else double_remainders.remainder(*both)
    a, b = single(x), abs(single(y))
    # The remainder by 2 * b, so that even multiples of b drop out. Where b + b is infinite, a is
    # less than that.
    rest = fmod(abs(a), b + b)
    # This is 2 * rest > b, whose left side could be infinite; b - rest is exact where the two are
    # close.
    if rest > b - rest:
        rest -= b
        if rest >= b - rest:
            rest -= b
    return _of_type(-rest if bitcast(a, i32) < 0 else rest, x + y)


@device_function
def _of_type(value, x):
    return type(x)(value) if isinstance(x, SMALL_FLOATS) else value


@device_function
def nextafter(x, y):
    """Return the float next to x in the direction of y; y if they are equal."""
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        return _next(f64(x), f64(y), i64)
    if isinstance(x + y, SMALL_FLOATS):
        return _next(type(x + y)(x), type(x + y)(y), i16)
    return _next(single(x), single(y), i32)


@device_function
def _next(x, y, integer):
    away = (y > x) == (x > 0)
    result = bitcast(integer(bitcast(x, integer) + (1 if away else -1)), type(x))
    if x == 0:
        result = copysign(bitcast(integer(1), type(x)), y)
    if x == y:
        result = y
    return x + y if x != x or y != y else result


@device_function
def frexp(x):
    """Return m in [0.5, 1) and an i32 e with x = m * 2**e; (x, 0) where x is 0, infinite or NaN."""
    mantissa = _mantissa(x)
    return type(x)(mantissa) if isinstance(x, SMALL_FLOATS) else mantissa, exponent_of(x)


@device_function
def modf(x):
    """Return the fractional and the whole part of x, both with its sign."""
    whole = trunc(x)
    return copysign(type(whole)(0) if isinf(x) else x - whole, x), whole


# Lengths of vectors and distances between points, without intermediate overflow; infinite where a
# component is, even if another is NaN.


@device_function
def hypot(x, y=None, z=None, w=None):
    """Return sqrt(x * x + y * y), for one to four numbers."""
    if y is None:
        return abs(x)
    if z is None:
        return _hypot_of_two(x, y)
    return _length((x, y, z) if w is None else (x, y, z, w))


@device_function
def dist(p, q):
    """Return the distance between two points, each a tuple of one or more numbers."""
    parts = tuple(a - b for a, b in zip(p, q, strict=True))
    if len(parts) <= 2:
        return hypot(*parts)
    return _length(parts)


@device_function
def sumprod(p, q):
    """Return the sum of the products of two tuples' items."""
    return sum(a * b for a, b in zip(p, q, strict=True))


@device_function
def _hypot_of_two(x, y):
    if isinstance(x, DOUBLES) or isinstance(y, DOUBLES):
        if prefers_library():
            return library.hypot(f64(x), f64(y))
        return doubles.hypot(f64(x), f64(y))
    length = _length_of_singles((single(x), single(y)))
    if isinstance(x + y, SMALL_FLOATS):
        both = x + y
        return (
            type(both)(length)
            if rounds_reliably(length, both)
            else rounded(double.hypot(f64(x), f64(y)), both)
        )
    return length


@device_function
def _length(parts):
    total = sum(parts)
    if isinstance(total, DOUBLES):
        return doubles.length(tuple(f64(part) for part in parts))
    length = _length_of_singles(tuple(single(part) for part in parts))
    return type(total)(length) if isinstance(total, SMALL_FLOATS) else length


@device_function
def _length_of_singles(parts):
    square, exponent = _square(parts)
    root, _ = root_of_normal(square)
    return f32(math.inf) if any(isinf(part) for part in parts) else ldexp(root, exponent)


@device_function
def _square(parts):
    """Return the sum of the squares, scaled to 0 or close to 1, and the exponent of its root."""
    greatest = abs(parts[0])
    for part in parts[1:]:
        greatest = max(greatest, abs(part))
    exponent = exponent_of(greatest)
    last = ldexp(abs(parts[-1]), -exponent)
    square = last * last
    for part in parts[:-1]:
        scaled = ldexp(abs(part), -exponent)
        square = fma(scaled, scaled, square)
    return square, exponent
