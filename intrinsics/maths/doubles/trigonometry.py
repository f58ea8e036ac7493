"""Trigonometric functions of f64, in f64 arithmetic, within 1 unit of the last place; special cases
as in C.

Angles are reduced to [-pi/4, pi/4] as a pair of f64. Below 2**28, multiples of pi/2 are subtracted
in three parts (W. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980); above, the
instruction `v_trig_preop_f64` yields the bits of 2/pi that matter (M. Payne, R. Hanek, "Radian
reduction for trigonometric functions", SIGNUM Newsletter 18, 1983). The pair has at least 40 bits
beyond f64 in either way, because no f64 is closer than 2**-61 quarter turns to a multiple of one.
Special cases: C23, F.10.1.
"""

from __future__ import annotations

import math

import numpy as np

from amdjit.declarations import LlvmCall, device_function, intrinsic
from amdjit.intrinsics.maths.doubles.pairs import double_quotient_pair, double_sum
from amdjit.intrinsics.maths.float_evaluation import bitcast, exponent_of, polynomial
from amdjit.intrinsics.maths.native_math import copysign, isfinite, ldexp, rcp, rint, rsq
from amdjit.intrinsics.numbers.floats import fma
from amdjit.types import f64, i32, i64, u32, u64

__all__ = ["acos", "asin", "atan", "atan2", "cos", "sin", "sincos", "tan"]

_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
_SIGN = 1 << 63
_LARGE = 2.0**28
_TINY = 2.0**-30
_SCALED = 2.0**945  # From here on v_trig_preop_f64 yields 2**128 times the bits.
_ROUNDING = 1.5 * 2.0**52
# Polynomials in the square: tests/intrinsics/fit_polynomials.py
_SINE = (
    1.589684976272107e-10, -2.505075904301473e-08, 2.7557313697792283e-06, -0.00019841269829824559,
    0.008333333333322434, -0.16666666666666632,
)  # fmt: skip
_COSINE = (
    -1.1358536425348956e-11, 2.0875700870631964e-09, -2.7557314179768193e-07,
    2.4801587288854326e-05, -0.0013888888888873062, 0.041666666666666595,
)  # fmt: skip
_TANGENT = (
    0.0003288471358802502, 0.0005590404279556011, 0.0014615737817305272, 0.003591495050540843,
    0.008863278282847449, 0.02186948679798534, 0.05396825400814947, 0.13333333333288494,
    0.3333333333333351,
)  # fmt: skip
_ARCSINE = (
    0.03267476643105722, -0.02107396743678887, 0.021761185921528703, 0.003683986101272021,
    0.010786277675705502, 0.011397821912047468, 0.013980955562420098, 0.017351600623510346,
    0.02237221562707361, 0.030381942684993356, 0.04464285717508621, 0.07499999999970307,
    0.16666666666666763,
)  # fmt: skip
_ARCTANGENT = (
    -0.01628531958363642, 0.036530932878453985, -0.04976843277908583, 0.058335596175165816,
    -0.06661071175846991, 0.07691875971319083, -0.09090887115615605, 0.11111110404617705,
    -0.14285714272480243, 0.1999999999987616, -0.3333333333333293,
)  # fmt: skip

# From which tangent on, the tangent c of which angle (a pair) is subtracted: to atan((x - c) / (1 +
# c * x)) the angle is added.
_STEPS = (
    (7 / 16, 0.5, 0.4636476090008061, 2.2698777452961687e-17),
    (11 / 16, 1.0, 0.7853981633974483, 3.061616997868383e-17),
    (19 / 16, 1.5, 0.982793723247329, 1.3903311031230998e-17),
)
_STEEP = 39 / 16
# a, pi/2 - a, pi - a, pi/2 + a as pairs for a = 0, atan(1/2), pi/4
_ANGLES = (
    ((0.0, 0.0), _HALF_PI[:2], (3.141592653589793, 1.2246467991473532e-16), _HALF_PI[:2]),
    (
        (0.4636476090008061, 2.2698777452961687e-17), (1.1071487177940904, 9.40447137356638e-17),
        (2.677945044588987, 1.5527705369303147e-16), (2.0344439357957027, 2.841996617907152e-17),
    ),
    (
        (0.7853981633974483, 3.061616997868383e-17), (0.7853981633974483, 3.061616997868383e-17),
        (2.356194490192345, 9.184850993605148e-17), (2.356194490192345, 9.184850993605148e-17),
    ),
)  # fmt: skip


@intrinsic(LlvmCall("llvm.amdgcn.trig.preop.f64"), isa="v_trig_preop_f64")
def _two_over_pi(x: f64, segment: i32) -> f64:
    """Return 53 bits of 2/pi, from those on whose product with x is less than 4 turns of a quarter
    (`llvm.amdgcn.trig.preop`)."""
    return np.nan


@device_function
def sin(x):
    """Return the sine of x radians."""
    r, rest, quadrant = _reduced(abs(x))
    value = _sine_or_cosine(r, rest, quadrant & 1 == 1)
    return _with_sign(value, (u64(u32(quadrant)) << 62) ^ bitcast(x, u64))


@device_function
def cos(x):
    """Return the cosine of x radians."""
    r, rest, quadrant = _reduced(abs(x))
    value = _sine_or_cosine(r, rest, quadrant & 1 == 0)
    return _with_sign(value, u64(u32(quadrant + 1)) << 62)


@device_function
def sincos(x):
    """Return the sine and the cosine of x radians."""
    r, rest, quadrant = _reduced(abs(x))
    sine, cosine = _sine_or_cosine(r, rest, False), _sine_or_cosine(r, rest, True)
    is_odd = quadrant & 1 == 1
    of_sine, of_cosine = cosine if is_odd else sine, sine if is_odd else cosine
    return (
        _with_sign(of_sine, (u64(u32(quadrant)) << 62) ^ bitcast(x, u64)),
        _with_sign(of_cosine, u64(u32(quadrant + 1)) << 62),
    )


@device_function
def tan(x):
    """Return the tangent of x radians."""
    r, rest, quadrant = _reduced(abs(x))
    # Of half the angle, as a pair; then 2t / (1 - t * t), or what it is the reciprocal of.
    half = 0.5 * r
    square = half * half
    small = half * square * polynomial(square, _TANGENT)
    t = half + small
    low = (half - t) + fma(0.5 * rest, fma(t, t, f64(1)), small)
    numerator, numerator_low = t + t, low + low
    denominator = fma(-t, t, f64(1))
    denominator_low = fma(-t, numerator_low, fma(-t, t, 1 - denominator))
    if quadrant & 1:
        numerator, denominator = -denominator, numerator
        numerator_low, denominator_low = -denominator_low, numerator_low
    guess = rcp(denominator)
    guess = fma(fma(-denominator, guess, f64(1)), guess, guess)
    value = numerator * guess
    missed = fma(-value, denominator_low, fma(-value, denominator, numerator) + numerator_low)
    tangent = fma(missed, guess, value)
    if abs(x) < _TINY:
        tangent = abs(x)  # Half of it might not be an f64.
    return _with_sign(tangent, bitcast(x, u64))


@device_function
def _with_sign(value, sign):
    """Return `value`, its sign changed where the upmost bit of `sign` is 1."""
    return bitcast(bitcast(value, u64) ^ (sign & _SIGN), f64)


@device_function
def _sine_or_cosine(r, rest, is_cosine):
    """Return the sine or the cosine of r + rest by one polynomial, whose coefficients are chosen:
    moves are far quicker than arithmetic of f64."""
    square = r * r
    coefficients = [
        f64(of_cosine) if is_cosine else f64(of_sine)
        for of_sine, of_cosine in zip(_SINE, _COSINE, strict=True)
    ]
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = fma(value, square, coefficient)
    half = 0.5 * square
    high = 1 - half
    of_cosine = fma(-r, rest, (1 - high) - half)
    of_sine = fma(-half, rest, rest)
    factor = square * (square if is_cosine else r)
    first = high if is_cosine else r
    return first + fma(factor, value, of_cosine if is_cosine else of_sine)


@device_function
def _reduced(x):
    """Return an angle in [-pi/4, pi/4] as a pair, and how many quarter turns x >= 0 is beyond
    it."""
    if not x < _LARGE:
        return _reduced_large(x)
    moved = fma(x, f64(2 / math.pi), f64(_ROUNDING))
    quarters = moved - _ROUNDING
    # Exact: a multiple of the last place of pi/2, below 1.
    high = fma(quarters, -_HALF_PI[0], x)
    # The first difference is exact and a multiple of the second product's last place; so is the
    # remainder of the second.
    middle = quarters * _HALF_PI[1]
    r = high - middle
    rest = ((high - r) - middle) - fma(quarters, _HALF_PI[1], -middle)
    return r, fma(quarters, -_HALF_PI[2], rest), i32(u32(bitcast(moved, u64) & 0xFFFFFFFF))


@device_function
def _reduced_large(x):
    """Return the same for any x, NaN where it is not finite."""
    first, second, third, fourth = [_two_over_pi(x, segment) for segment in range(4)]
    scaled = ldexp(x, -128) if x >= _SCALED else x
    # Products in quarter turns, as pairs; multiples of four are dropped from the first.
    product = scaled * first
    low = fma(scaled, first, -product)
    product = fma(rint(product * 0.25), f64(-4), product)
    middle = scaled * second
    middle_low = fma(scaled, second, -middle)
    small = scaled * third
    small_low = fma(scaled, fourth, fma(scaled, third, -small))
    # Numbers of like size are added, and what the sums miss to those of the next size.
    middle, middle_missed = double_sum(low, middle)
    small, small_missed = double_sum(middle_low, small)
    small, missed = double_sum(small, middle_missed)
    small_low += small_missed + missed
    total, missed = double_sum(product, middle)
    quarters = rint(total)
    small, small_missed = double_sum(small, missed)
    high, low = double_sum(total - quarters, small)
    low += small_missed + small_low
    r = high * _HALF_PI[0]
    rest = fma(high, _HALF_PI[0], -r) + fma(high, _HALF_PI[1], low * _HALF_PI[0])
    return r if isfinite(x) else f64(math.nan), rest, i32(quarters)


@device_function
def asin(x):
    """Return the angle in [-pi/2, pi/2] whose sine is x, NaN beyond -1 and 1."""
    magnitude = abs(x)
    is_small = magnitude < 0.5
    base, base_low, beyond = _arcsine_parts(magnitude, is_small)
    double = base + base
    steep = _HALF_PI[0] - double
    steep += ((_HALF_PI[0] - steep) - double) - fma(beyond + base_low, f64(2), -_HALF_PI[1])
    if magnitude > 1:
        steep = f64(math.nan)
    return copysign(base + beyond if is_small else steep, x)


@device_function
def acos(x):
    """Return the angle in [0, pi] whose cosine is x, NaN beyond -1 and 1."""
    magnitude = abs(x)
    is_small = magnitude < 0.5
    base, base_low, beyond = _arcsine_parts(magnitude, is_small)
    beyond += base_low
    # pi/2 - asin(x), pi - 2 asin(sqrt((1 + x) / 2)), or 2 asin(sqrt((1 - x) / 2))
    is_negative = x < 0
    factor = f64(1) if is_small else f64(2)
    factor = factor if is_small == is_negative else -factor
    is_middle = is_small or is_negative
    first = f64(_HALF_PI[0]) if is_small else f64(2 * _HALF_PI[0])
    last = f64(_HALF_PI[1]) if is_small else f64(2 * _HALF_PI[1])
    first, last = first if is_middle else f64(0), last if is_middle else f64(0)
    angle = base * factor
    high = first + angle
    low = ((first - high) + angle) + fma(beyond, factor, last)
    return f64(math.nan) if magnitude > 1 else high + low


@device_function
def _arcsine_parts(magnitude, is_small):
    """Return b, its error and c with asin(b) = b + c, where b is the magnitude or the root of (1 -
    magnitude) / 2."""
    square = magnitude * magnitude if is_small else fma(magnitude, f64(-0.5), f64(0.5))
    root, low = _root(square)
    base = magnitude if is_small else root
    return base, f64(0) if is_small else low, base * square * polynomial(square, _ARCSINE)


@device_function
def _root(x):
    """Return sqrt(x), within 0.51 units, and its error, for x in [0, 1/4] that is 0 or not
    small."""
    guess = rsq(max(x, f64(2.0**-100)))
    root, half = x * guess, 0.5 * guess
    lacking = fma(-half, root, f64(0.5))
    root, half = fma(root, lacking, root), fma(half, lacking, half)
    root = fma(fma(-root, root, x), half, root)
    return root, fma(-root, root, x) * half


@device_function
def atan(x):
    """Return the angle in [-pi/2, pi/2] whose tangent is x."""
    magnitude = min(abs(x), f64(2.0**64))
    numerator, denominator = magnitude, f64(1)
    high, low = f64(0), f64(0)
    for bound, tangent, angle, rest in _STEPS:
        if magnitude >= bound:
            numerator, denominator = magnitude - tangent, fma(magnitude, f64(tangent), f64(1))
            high, low = f64(angle), f64(rest)
    if magnitude >= _STEEP:
        numerator, denominator = f64(-1), magnitude
        high, low = f64(_HALF_PI[0]), f64(_HALF_PI[1])
    t = magnitude if magnitude < _STEPS[0][0] else double_quotient_pair(numerator, denominator)[0]
    square = t * t
    return copysign(high + (t + fma(t * square, polynomial(square, _ARCTANGENT), low)), x)


@device_function
def atan2(y, x):
    """Return the angle in [-pi, pi] of the point (x, y), special cases as in C."""
    a, b = abs(y), abs(x)
    low, high = min(a, b), max(a, b)
    # Both are scaled so that neither the quotient's numbers nor its error underflow.
    exponent = 100 - exponent_of(high)
    near, far = ldexp(low, exponent), ldexp(high, exponent)
    is_middle, is_near_1 = near >= _STEPS[0][0] * far, near >= _STEPS[1][0] * far
    numerator = near - far if is_near_1 else fma(near, f64(2), -far)
    denominator = near + far if is_near_1 else fma(far, f64(2), near)
    t, rest = double_quotient_pair(
        numerator if is_middle else near, denominator if is_middle else far
    )
    if low == high or high == math.inf or high == 0:
        t, rest = f64(0), f64(0)
        is_middle = is_near_1 = low == high and high != 0
    # Which multiple of pi/2 the angle is counted from, and which way.
    is_up, is_left = a > b, bitcast(x, i64) < 0
    first, last = [_added(part, is_up, is_left, is_middle, is_near_1) for part in range(2)]
    sign = f64(1) if is_up == is_left else f64(-1)
    square = t * t
    beyond = fma(t * square, polynomial(square, _ARCTANGENT), rest)
    return copysign(first + fma(t, sign, fma(beyond, sign, last)), y)


@device_function
def _added(part, is_up, is_left, is_middle, is_near_1):
    """Return the first or second part of one of _ANGLES."""
    rows = [
        (f64(around[part]) if is_left else f64(up[part]))
        if is_up
        else (f64(left[part]) if is_left else f64(right[part]))
        for right, up, left, around in _ANGLES
    ]
    return (rows[2] if is_near_1 else rows[1]) if is_middle else rows[0]
