"""What v_rcp, v_rsq, v_sqrt, v_exp, v_log, v_sin and v_cos return, bit for bit.

The rules are those that results of a gfx1201 and a gfx1100 follow (ROCm/rocm-systems,
emulation/rocjitsu, MIT, (c) 2026 Advanced Micro Devices, Inc.). All seven share a datapath: the top
bits of the reduced argument choose a segment with four coefficients, and the rest t gives

- a linear term, the coefficient times t, kept to 24 significant bits and to 1/32 ulp of the result;
- the quadratic and cubic coefficients with t, rounded to 24 bits ("inner");
- the square of the top 17 bits of t, cut to 24 bits; its product with the inner value, kept to 24.

Their sum with the constant is rounded once: to nearest even, or cut by logarithm, sine and cosine.

A rule is written once for several readers: `Reader` says what numbers are. `WholeNumbers` computes
with NumPy arrays; the emulator's reader writes host code. Numbers are signed integers of 64 bits. A
float is its bits, without sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from amdjit.isa.approximation_tables import (
    EXP,
    LOG,
    LOG_ABOVE_ONE,
    LOG_BELOW_ONE,
    RCP,
    RSQ,
    SINE_AND_COSINE,
    SQRT,
    Rows,
)

# Integers, one for each lane, with Python's operators; shifts to the right keep the sign.
Number = Any
# What comparisons of them give.
Condition = Any

_QUIET, _NAN, _INFINITY, _ONE, _SIGN = 0x400000, 0xFFC00000, 0x7F800000, 0x3F800000, 0x80000000
_SMALLEST_NORMAL = 0x00800000
# Not the nearest float to 2 pi.
_TWO_PI = 0x40C90FD5


class Reader(Protocol):
    """What rules need beyond operators."""

    def where(self, condition: Condition, yes: Number, no: Number) -> Number:
        """Choose for each lane."""
        ...

    def row(self, table: Rows, index: Number) -> tuple[Number, Number, Number, Number]:
        """Return a row of a table for each lane."""
        ...

    def width(self, x: Number) -> Number:
        """Return how many bits a positive number has."""
        ...

    def limited(self, x: Number, low: int, high: int) -> Number:
        """Return the number of [low, high] that is nearest to x."""
        ...

    def power(self, exponent: Number) -> Number:
        """Return 2**exponent."""
        ...

    def product(self, x: Number, factor: int) -> Number:
        """Multiply a float by a constant one, to nearest even, and keep subnormal results."""
        ...


class WholeNumbers:
    """Arrays of int64."""

    def where(self, condition: Condition, yes: Number, no: Number) -> Number:
        """Choose for each element."""
        return np.where(condition, yes, no)

    def row(self, table: Rows, index: Number) -> tuple[Number, Number, Number, Number]:
        """Return four arrays."""
        c0, c1, c2, c3 = np.array(table, np.int64).T
        return c0[index], c1[index], c2[index], c3[index]

    def width(self, x: Number) -> Number:
        """Return the number of bits; x is below 2**53, and so a float64 without rounding."""
        return np.frexp(x.astype(np.float64))[1].astype(np.int64)

    def limited(self, x: Number, low: int, high: int) -> Number:
        """Clip."""
        return np.clip(x, low, high)

    def power(self, exponent: Number) -> Number:
        """Shift 1."""
        return np.int64(1) << exponent

    def product(self, x: Number, factor: int) -> Number:
        """Multiply as float32."""
        with np.errstate(all="ignore"):
            product = x.astype(np.uint32).view(np.float32) * np.uint32(factor).view(np.float32)
        return product.view(np.uint32).astype(np.int64)


def _to_even(x: Number, bits: int | Number, below_half: int | Number | None = None) -> Number:
    """Return x / 2**bits, to nearest, ties to even."""
    below_half = (1 << (bits - 1)) - 1 if below_half is None else below_half
    return (x + below_half + ((x >> bits) & 1)) >> bits


def _to_24_bits(r: Reader, x: Number) -> Number:
    """Round a product of two 24-bit numbers to 24 significant bits, in units of 2**23."""
    return r.where(x >= 1 << 47, _to_even(x, 24) << 1, _to_even(x, 23))


def _with_nans(r: Reader, x: Number, magnitude: Number, result: Number) -> Number:
    return r.where(magnitude > _INFINITY, x | _QUIET, result)


def reciprocal(r: Reader, x: Number) -> Number:
    """v_rcp_f32: subnormal operands are zeros, and results below 2**-126 become zeros."""
    magnitude, sign = x & 0x7FFFFFFF, x & _SIGN
    mantissa = x & 0x7FFFFF
    c0, c1, c2, c3 = r.row(RCP, mantissa >> 18)
    t = mantissa & 0x3FFFF
    p = c1 * t
    linear = r.where(p >= 1 << 38, _to_even(p, 15), (_to_even(p, 14) + 1) >> 1)
    inner = ((c2 << 20) - c3 * (4 * t + 1) + 2048) >> 12
    square = ((t >> 1) * (t >> 1)) >> 10
    total = (c0 << 9) - (linear << 6) + _to_24_bits(r, inner * square)
    value = 0x3E800000 + _to_even(total, 11)
    exponent = (value >> 23) + 127 - (magnitude >> 23)
    result = r.where(exponent <= 0, sign, sign | (exponent << 23) | (value & 0x7FFFFF))
    result = r.where(magnitude < _SMALLEST_NORMAL, sign | _INFINITY, result)
    return _with_nans(r, x, magnitude, r.where(magnitude == _INFINITY, sign, result))


def _as_square(x: Number) -> tuple[Number, Number]:
    """Return an even exponent, and the rest of the float in [1, 4): its exponent and mantissa."""
    exponent = ((x & 0x7FFFFFFF) >> 23) - 127
    odd = exponent & 1
    return exponent - odd, (odd << 23) | (x & 0x7FFFFF)


def reciprocal_root(r: Reader, x: Number) -> Number:
    """v_rsq_f32: subnormal operands are zeros."""
    magnitude, sign = x & 0x7FFFFFFF, x & _SIGN
    exponent, rest = _as_square(x)
    c0, c1, c2, c3 = r.row(RSQ, rest >> 18)
    t = rest & 0x3FFFF
    p = c1 * t
    linear = r.where(p >= 1 << 37, (_to_even(p, 14) + 1) >> 1, (_to_even(p, 13) + 3) >> 2)
    inner = ((c2 << 20) - c3 * (4 * t + 1) + 1024) >> 11
    square = ((t >> 1) * (t >> 1)) >> 10
    total = (c0 << 10) - (linear << 7) + _to_24_bits(r, inner * square)
    value = 0x3E800000 + _to_even(total, 12)
    result = (((value >> 23) - (exponent >> 1)) << 23) | (value & 0x7FFFFF)
    result = r.where(sign != 0, _NAN, r.where(magnitude == _INFINITY, 0, result))
    result = r.where(magnitude < _SMALLEST_NORMAL, sign | _INFINITY, result)
    return _with_nans(r, x, magnitude, result)


def square_root(r: Reader, x: Number) -> Number:
    """v_sqrt_f32: subnormal operands are zeros."""
    magnitude, sign = x & 0x7FFFFFFF, x & _SIGN
    exponent, rest = _as_square(x)
    c0, c1, c2, c3 = r.row(SQRT, rest >> 19)
    t = rest & 0x7FFFF
    p = c1 * t
    linear = (p + r.where(p >= 1 << 40, 1 << 16, 1 << 15)) >> 17
    inner = ((c2 << 19) - c3 * (2 * t + 1) + 1024) >> 11
    square = ((t >> 2) * (t >> 2)) >> 10
    total = (c0 << 10) + (linear << 7) - _to_24_bits(r, inner * square)
    result = (((exponent >> 1) + 126) << 23) + _to_even(total, 12)
    result = r.where(sign != 0, _NAN, r.where(magnitude == _INFINITY, _INFINITY, result))
    result = r.where(magnitude < _SMALLEST_NORMAL, sign, result)
    return _with_nans(r, x, magnitude, result)


def _fixed_point(r: Reader, magnitude: Number, bits: int) -> Number:
    """Return a float in fixed point with `bits` fraction bits, rounded towards zero."""
    significand = (magnitude & 0x7FFFFF) | 0x800000
    shift = (magnitude >> 23) - (150 - bits)
    return (significand << r.limited(shift, 0, 38)) >> r.limited(0 - shift, 0, 40)


def _power_of_two(r: Reader, x: Number) -> tuple[Number, Number]:
    """Return the exponent and the significand of 2**x, in units of 2**-36, for |x| < 2**9."""
    negative = (x & _SIGN) != 0
    fixed = _fixed_point(r, x & 0x7FFFFFFF, 29)
    whole, fraction = fixed >> 29, fixed & 0x1FFFFFFF
    # The ones' complement: negative integers are approached from below.
    exponent = r.where(negative, -1 - whole, whole)
    fraction = r.where(negative, 0x1FFFFFFF - fraction, fraction)
    c0, c1, c2, c3 = r.row(EXP, fraction >> 24)
    t = fraction & 0xFFFFFF
    p = c1 * t
    linear = r.where(p >= 1 << 47, _to_even(p, 24), _to_even(p, 23) >> 1)
    inner = _to_even((c2 << 7) + c3 * (t >> 6), 7)
    square = ((t >> 6) * (t >> 6)) >> 12
    return exponent, ((c0 + linear) << 8) + _to_24_bits(r, inner * square)


def power_of_two(r: Reader, x: Number) -> Number:
    """v_exp_f32: results below 2**-126 become 0."""
    magnitude, negative = x & 0x7FFFFFFF, (x & _SIGN) != 0
    exponent, significand = _power_of_two(r, x)
    result = ((exponent + 126) << 23) + _to_even(significand, 13)
    result = r.where(result >= _INFINITY, _INFINITY, result)
    result = r.where(result < _SMALLEST_NORMAL, 0, result)
    # From 128 on, and below 2**-24.
    result = r.where(magnitude >= 0x43000000, r.where(negative, 0, _INFINITY), result)
    return _with_nans(r, x, magnitude, r.where(magnitude < 0x33800000, _ONE, result))


def power_of_two_half(r: Reader, x: Number) -> Number:
    """v_exp_f16 of a half as float: the significand is rounded once, to a half."""
    magnitude, negative = x & 0x7FFFFFFF, (x & _SIGN) != 0
    exponent, significand = _power_of_two(r, x)
    subnormal = r.limited(-14 - exponent, 0, 12)
    shift = 26 + subnormal
    rounded = _to_even(significand, shift, (r.power(shift) >> 1) - 1)
    result = (r.limited(exponent + 14, 0, 31) << 10) + rounded
    result = r.where(result > 0x7C00, 0x7C00, result)
    result = r.where(magnitude >= 0x42000000, r.where(negative, 0, 0x7C00), result)
    result = r.where(magnitude < 0x33800000, 0x3C00, result)
    nan = ((x >> 16) & 0x8000) | 0x7E00 | ((x >> 13) & 0x3FF)
    return r.where(magnitude > _INFINITY, nan, result)


def _float(r: Reader, x: Number, fraction: int | Number, upwards: bool | Condition) -> Number:
    """Return a positive fixed-point number as a float, rounded down or up.

    fraction: its fraction bits.
    """
    width = r.width(x)
    beyond = r.limited(width - 24, 0, 40)
    if upwards is not False:
        x = x + (
            r.power(beyond) - 1 if upwards is True else r.where(upwards, r.power(beyond) - 1, 0)
        )
    significand = (x >> beyond) << r.limited(24 - width, 0, 23)
    return ((width + 125 - fraction) << 23) + significand


def logarithm(r: Reader, x: Number) -> Number:
    """v_log_f32, to base 2: subnormal operands are zeros."""
    magnitude, sign = x & 0x7FFFFFFF, x & _SIGN
    above, below = x - _ONE, _ONE - x
    is_above, is_below = (above > 0) & (above < 1 << 18), (below > 0) & (below <= 1 << 18)
    result = _logarithm_elsewhere(r, x)
    result = r.where(is_above, _logarithm_above_one(r, r.where(is_above, above, 1)), result)
    result = r.where(is_below, _logarithm_below_one(r, r.where(is_below, below, 1)), result)
    result = r.where(magnitude == _INFINITY, _INFINITY, r.where(x == _ONE, 0, result))
    result = r.where(sign != 0, _NAN, result)
    result = r.where(magnitude < _SMALLEST_NORMAL, _SIGN | _INFINITY, result)
    return _with_nans(r, x, magnitude, result)


def _logarithm_elsewhere(r: Reader, x: Number) -> Number:
    t, segment = x & 0x3FFFF, (x >> 18) & 31
    c0, c1, c2, c3 = r.row(LOG, r.where((segment == 1) & (t >= 0x20000), 32, segment))
    linear = (c1 * t) >> 16
    inner = _to_even((c2 << 22) - c3 * (2 * t + 1), 22)
    quadratic = _to_24_bits(r, inner * ((t * t) >> 12))
    exponent = ((x & 0x7FFFFFFF) >> 23) - 127
    value = (exponent << 35) + ((c0 + linear) << 5) - quadratic
    # Towards minus infinity.
    negative = value < 0
    value = r.where(negative, 0 - value, r.where(value == 0, 1, value))
    return _float(r, value, 35, negative) | r.where(negative, _SIGN, 0)


def _logarithm_above_one(r: Reader, n: Number) -> Number:
    """n: units of 2**-23 above 1, fewer than 2**18."""
    row = r.where(n < 1 << 16, 0, r.where(n < 1 << 17, 1, 2))
    c0, c1, c2, c3 = r.row(LOG_ABOVE_ONE, row)
    zeros = r.where(row == 0, ((18 - r.width(n)) >> 2) << 2, 0)
    scaled = n << zeros
    linear = ((c1 * scaled) >> 13) << 2
    inner = _to_even((c2 << 22) - c3 * (2 * n + 1), 22)
    value = c0 + linear - _to_24_bits(r, inner * ((scaled * n) >> 12))
    return _float(r, value, 35 + zeros, False) + 1


def _logarithm_below_one(r: Reader, k: Number) -> Number:
    """k: units of 2**-24 below 1, at most 2**18."""
    c0, c1, c2, c3 = r.row(LOG_BELOW_ONE, r.where(k >= 1 << 17, 1, 0))
    zeros = r.limited(((18 - r.width(k)) >> 2) << 2, 0, 16)
    low = r.limited(14 - zeros, 0, 14)
    linear = ((2 * c1 * k) >> low) << low
    low = r.limited(12 - zeros, 0, 12)
    square = ((k * k) >> low) << low
    inner = _to_even((c2 << 22) + c3 * (k - 1), 22)
    shift = 38 - zeros
    quadratic = (inner * square + r.power(shift) - 1) >> shift
    value = 4 * linear + (quadratic << (16 - zeros)) + (c0 << 16)
    return _float(r, value, 50, True) | _SIGN


@dataclass(frozen=True, slots=True)
class _Angle:
    """An angle reduced to an eighth of a turn."""

    # The quarter of a turn that it lies in.
    quadrant: Number
    # 1 in the second half of the quarter, from whose end it is measured then.
    mirrored: Number
    # Units of 2**-31 turns from there.
    distance: Number
    # The segment that it lies in, and how far.
    segment: Number
    rest: Number
    # Whether its value is that of the cosine of this distance.
    is_cosine: Condition


def _angle(r: Reader, magnitude: Number, cosine: bool) -> _Angle:
    phase = _fixed_point(r, magnitude, 31) & 0x7FFFFFFF
    quadrant, within = phase >> 29, phase & 0x1FFFFFFF
    mirrored = r.where(within >= 1 << 28, 1, 0)
    distance = r.where(mirrored != 0, (1 << 29) - within, within)
    is_cosine = ((quadrant & 1) ^ mirrored) != int(cosine)
    segment = r.limited((distance - mirrored) >> 24, 0, 15)
    return _Angle(quadrant, mirrored, distance, segment, distance - (segment << 24), is_cosine)


def sine_or_cosine(cosine: bool, r: Reader, x: Number) -> Number:
    """v_sin_f32 and v_cos_f32 of x turns; subnormal operands and results are kept."""
    magnitude, sign = x & 0x7FFFFFFF, x & _SIGN
    at_zero = _ONE if cosine else 0
    angle = _angle(r, magnitude, cosine)
    negative = (angle.quadrant >> 1) ^ ((angle.quadrant & 1) if cosine else sign >> 31)
    result = _sine_of(r, angle) | r.where(negative != 0, _SIGN, 0)
    result = r.where(angle.is_cosine | (angle.distance != 0), result, 0)
    # From 2**23 on, all are whole turns.
    result = r.where(magnitude >= 0x4B000000, at_zero, result)
    if not cosine:
        result = r.where(magnitude < 0x39C00000, r.product(x, _TWO_PI), result)
    result = r.where(magnitude == 0, at_zero | (0 if cosine else sign), result)
    return _with_nans(r, x, magnitude, r.where(magnitude == _INFINITY, _NAN, result))


def _sine_of(r: Reader, angle: _Angle) -> Number:
    """Return the sine or cosine of a distance, without sign."""
    c0, c1, c2, c3 = r.row(SINE_AND_COSINE, angle.segment + r.where(angle.is_cosine, 16, 0))
    within = angle.rest - angle.mirrored
    # With a cubic coefficient above 0, the segment is measured from its end.
    rises = c3 > 0
    k = r.where(rises, (1 << 24) - 1 - within, within) & ~63
    start = r.where(rises, c2 + c3, c2) << 24
    inner = _to_even(r.where(rises, c3 * k, 0 - c3 * k) - start, 17)
    top = within >> 7
    coarse = _coarse(r, (c0, c1), inner * ((top * top) >> 10), within)
    fine = _fine(r, (c0, c1), inner, angle)
    result = r.where(angle.is_cosine | (angle.segment > 1), coarse, fine)
    near_one = angle.is_cosine & (angle.distance - angle.mirrored < 46592)
    return r.where(near_one, _ONE, result)


def _coarse(r: Reader, first: tuple[Number, Number], product: Number, within: Number) -> Number:
    c0, c1 = first
    place = r.limited((within + 8) >> 4, 0, (1 << 20) - 1) << 4
    p = r.where(c1 < 0, 0 - c1, c1) * place
    linear = r.where(p >= 1 << 45, _to_even(p, 22) << 1, _to_even(p, 21))
    linear = r.where(c1 < 0, 0 - linear, linear)
    bias = r.where(product >= 1 << 47, 1 << 23, 1 << 22)
    quadratic = r.where(product <= bias, 0, (product - bias + (1 << 29) - 1) >> 29)
    value = (c0 << 3) + linear - 2 * quadratic
    return _float(r, r.where(value > 0, value, 1), 29, False)


def _fine(r: Reader, coefficients: tuple[Number, Number], inner: Number, angle: _Angle) -> Number:
    """Return the sine in its first two segments, with more bits the smaller it is."""
    c0, c1 = coefficients
    is_first, rest = angle.segment == 0, angle.rest
    within = rest - angle.mirrored
    width = r.width(r.where(rest > 0, rest, 1))
    zeros = r.where(is_first, r.limited(((24 - width) >> 2) << 2, 0, 20), 0)
    scale = r.where(is_first, r.limited(((25 - width) >> 2) << 2, 0, 24), 0)
    at_step = (angle.mirrored != 0) & (((rest << zeros) & 0xFFFFF) == 0)
    place = (rest << scale) - r.where(at_step, 1, 0)
    second = r.limited((within + 2) >> 2, 0, (1 << 22) - 1) << 2
    linear = r.where(is_first, (c1 * place) >> (18 + scale - zeros), ((c1 * second) >> 20) << 2)
    low = r.limited(10 - zeros, 0, 10)
    top = within >> 7
    shift = 33 - zeros - low
    quadratic = _to_even(inner * ((top * top) >> low), shift, (r.power(shift) >> 1) - 1)
    value = (c0 << (8 + zeros)) + (linear << 2) - quadratic
    return _float(r, r.where(value > 0, value, 1), 34 + zeros, False)


def sine(r: Reader, x: Number) -> Number:
    """v_sin_f32."""
    return sine_or_cosine(False, r, x)


def cosine(r: Reader, x: Number) -> Number:
    """v_cos_f32."""
    return sine_or_cosine(True, r, x)


Rule = Callable[[Reader, Number], Number]

SINGLE_RULES: Mapping[str, Rule] = {
    "rcp": reciprocal,
    "rsq": reciprocal_root,
    "sqrt": square_root,
    "exp": power_of_two,
    "log": logarithm,
    "sin": sine,
    "cos": cosine,
}
"""The instructions `v_*_f32`, from bits to bits."""
