"""What v_rcp, v_rsq, v_sqrt, v_exp, v_log, v_sin and v_cos return, bit for bit.

The rules are those that results of a gfx1201 and a gfx1100 follow (ROCm/rocm-systems,
emulation/rocjitsu, MIT, (c) 2026 Advanced Micro Devices, Inc.). All seven share a datapath: the top
bits of the reduced argument choose a segment with four coefficients, and the rest t gives

- a linear term, the coefficient times t, kept to 24 significant bits and to 1/32 ulp of the result;
- the quadratic and cubic coefficients with t, rounded to 24 bits ("inner");
- the square of the top 17 bits of t, cut to 24 bits; its product with the inner value, kept to 24.

Their sum with the constant is rounded once: to nearest even, or cut by logarithm, sine and cosine.

A rule is written once for several readers: `Reader` says what numbers are. `WholeNumbers` computes
with NumPy arrays; the emulator's reader writes host code. Numbers are signed integers of 32 bits: a
float is its bits. Wider products exist only within `cut`, `kept` and `square`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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
from amdjit.late_methods import dataclass

# Integers, one for each lane, with Python's operators; shifts to the right keep the sign.
Number = Any
# What comparisons of them give.
Condition = Any

_QUIET, _INFINITY, _ONE, _SIGN = 0x400000, 0x7F800000, 0x3F800000, -0x80000000
_NAN = _SIGN | _INFINITY | _QUIET
_SMALLEST_NORMAL = 0x00800000
# Not the nearest float to 2 pi.
_TWO_PI = 0x40C90FD5


class Reader(Protocol):
    """What rules need beyond operators."""

    def where(self, condition: Condition, yes: Number, no: Number) -> Number:
        """Choose for each lane."""
        ...

    def rarely(self, condition: Condition, number: Number, other: Callable[[], Number]) -> Number:
        """Choose the other number where a condition holds, which is seldom."""
        ...

    def row(self, table: Rows, index: Number) -> tuple[Number, Number, Number, Number]:
        """Return a row of a table for each lane."""
        ...

    def factors(self, table: Rows, index: Number) -> tuple[Number, Number, Number, Number]:
        """Return a row whose last three numbers are only operands of `kept` and `inner`."""
        ...

    def inner(self, c2: Number, c3: Number, t: Number, times: int, bits: int) -> Number:
        """Return c2 - c3 * (times * t + 1) / 2**bits, to nearest; no ties are known to matter. c2
        and t have 24 bits at most, c3 has 12; times is a power of two."""
        ...

    def width(self, x: Number) -> Number:
        """Return how many bits a positive number has."""
        ...

    def at_least(self, x: Number, low: int) -> Number:
        """Return the greater of two."""
        ...

    def at_most(self, x: Number, high: int) -> Number:
        """Return the smaller of two."""
        ...

    def cut(self, x: Number, y: Number, bits: Number | int, plus: int = 0) -> Number:
        """Return (x * y + plus) >> bits of numbers that are not negative."""
        ...

    def kept(self, x: Number, y: Number, bits: int) -> Number:
        """Return x * y in units of 2**bits, kept to 24 significant bits, to nearest even: whole
        units below 2**24 of them, even numbers from there on. x and y have 24 bits at most."""
        ...

    def square(self, x: Number, bits: int) -> Number:
        """Return x * x >> bits of a number of 17 bits, for 2 bits or more."""
        ...

    def parts(self, x: Number, bits: int) -> tuple[Number, Number]:
        """Return the whole part of a positive float, and the rest in units of 2**-bits, cut."""
        ...

    def product(self, x: Number, factor: int) -> Number:
        """Multiply a float by a constant one, to nearest even, and keep subnormal results."""
        ...


class WholeNumbers:
    """Arrays of int32."""

    def where(self, condition: Condition, yes: Number, no: Number) -> Number:
        """Choose for each element."""
        return np.where(condition, yes, no)

    def rarely(self, condition: Condition, number: Number, other: Callable[[], Number]) -> Number:
        """Choose for each element."""
        return np.where(condition, other(), number) if np.any(condition) else number

    def row(self, table: Rows, index: Number) -> tuple[Number, Number, Number, Number]:
        """Return four arrays."""
        size = 1 << (len(table) - 1).bit_length()
        c0, c1, c2, c3 = np.array(table, np.int32)[index & (size - 1)].T
        return c0, c1, c2, c3

    factors = row

    def inner(self, c2: Number, c3: Number, t: Number, times: int, bits: int) -> Number:
        """Round halves down."""
        return c2 - ((c3 * (times * t + 1) + (1 << bits - 1) - 1) >> bits)

    def width(self, x: Number) -> Number:
        """Return the number of bits; x is a float64 without rounding."""
        return np.frexp(x.astype(np.float64))[1].astype(np.int32)

    def at_least(self, x: Number, low: int) -> Number:
        """Compare."""
        return np.maximum(x, low)

    def at_most(self, x: Number, high: int) -> Number:
        """Compare."""
        return np.minimum(x, high)

    def cut(self, x: Number, y: Number, bits: Number | int, plus: int = 0) -> Number:
        """Multiply in 64 bits."""
        return ((x.astype(np.int64) * y + plus) >> bits).astype(np.int32)

    def kept(self, x: Number, y: Number, bits: int) -> Number:
        """Multiply in 64 bits."""
        product = x.astype(np.int64) * y
        is_large = product >= 1 << (bits + 24)
        kept = np.where(is_large, _to_even(product, bits + 1) << 1, _to_even(product, bits))
        return kept.astype(np.int32)

    def square(self, x: Number, bits: int) -> Number:
        """Multiply in 64 bits."""
        return self.cut(x, x, bits)

    def parts(self, x: Number, bits: int) -> tuple[Number, Number]:
        """Subtract the whole part as float64, which rounds nothing; what is no number has no
        parts."""
        with np.errstate(all="ignore"):
            number = x.view(np.float32).astype(np.float64)
        number = np.where((number >= 0) & (number < 1 << 31), number, 0.0)
        whole = np.floor(number)
        return whole.astype(np.int32), np.floor((number - whole) * 2.0**bits).astype(np.int32)

    def product(self, x: Number, factor: int) -> Number:
        """Multiply as float32."""
        with np.errstate(all="ignore"):
            return (x.view(np.float32) * np.int32(factor).view(np.float32)).view(np.int32)


def of_bits(rule: Rule, bits: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return what a rule makes of the bits of floats."""
    x = np.ascontiguousarray(bits, np.uint32).view(np.int32)
    return np.asarray(rule(WholeNumbers(), x)).astype(np.int32).view(np.uint32)


def _to_even(x: Number, bits: int | Number) -> Number:
    """Return x / 2**bits, to nearest, ties to even; bits > 0."""
    return (x + ((1 << (bits - 1)) - 1) + ((x >> bits) & 1)) >> bits


def _sum_to_even(r: Reader, high: Number, low: Number, unit: int, bits: int | Number) -> Number:
    """Return (high * 2**unit + low) / 2**bits, to nearest, ties to even; bits > unit."""
    rest = bits - unit
    return _raised_to_even(r, high + ((1 << (rest - 1)) - 1), low, unit, bits)


def _raised_to_even(r: Reader, high: Number, low: Number, unit: int, bits: int | Number) -> Number:
    """Return the same for a `high` to which almost half of the last place has been added, which
    changes no last bit in a tie."""
    total, dropped = high + (low >> unit), low & ((1 << unit) - 1)
    rest = bits - unit
    up = r.where(dropped != 0, 1, (total >> rest) & 1)
    return (total + up) >> rest


def _with_nans(r: Reader, x: Number, result: Number) -> Number:
    return r.where((x & 0x7FFFFFFF) > _INFINITY, x | _QUIET, result)


def _scaled(table: Rows, constant: int, quadratic: int, plus: int = 0) -> Rows:
    """Return coefficients in other units: times powers of two. plus: is added to constants."""
    return tuple(((c0 << constant) + plus, c1, c2 << quadratic, c3) for c0, c1, c2, c3 in table)


_RCP, _RSQ, _SQRT, _EXP = (
    _scaled(RCP, 3, 8, plus=15),
    _scaled(RSQ, 3, 9, plus=15),
    _scaled(SQRT, 3, 8, plus=15),
    _scaled(EXP, 0, 7),
)


def reciprocal(r: Reader, x: Number) -> Number:
    """v_rcp_f32: subnormal operands are zeros, and results below 2**-126 become zeros."""
    magnitude, sign = x & 0x7FFFFFFF, x & _SIGN
    c0, c1, c2, c3 = r.factors(_RCP, x >> 18)
    t = x & 0x3FFFF
    inner = r.inner(c2, c3, t, times=4, bits=12)
    quadratic = r.kept(inner, r.square(t >> 1, 10), 23)
    # The linear term is halved, and rounded up.
    high = ((c0 << 1) - r.kept(c1, t, 14)) >> 1
    significand = _raised_to_even(r, high, quadratic, 6, 11)
    # A sign that is subtracted is one that is added.
    result = significand + (0x3E800000 + 0x3F800000) - (x & -0x800000)

    def special() -> Number:
        found = r.where((result ^ sign) < _SMALLEST_NORMAL, sign, result)
        found = r.where(magnitude < _SMALLEST_NORMAL, sign | _INFINITY, found)
        return _with_nans(r, x, r.where(magnitude == _INFINITY, sign, found))

    # Results from 0x7E800000 on may be subnormal.
    is_special = (magnitude < _SMALLEST_NORMAL) | (magnitude >= 0x7E800000)
    return r.rarely(is_special, result, special)


def _as_square(x: Number) -> tuple[Number, Number]:
    """Return half of an even exponent, and the rest of the float in [1, 4): whether its exponent is
    odd, and its mantissa."""
    return (x - _ONE) >> 24, (x & 0xFFFFFF) ^ 0x800000


def _root(r: Reader, x: Number, root: Number, infinite: int, at_zero: int) -> Number:
    """Return the root of a positive normal number, or what it is of others."""

    def special() -> Number:
        found = r.where(x < 0, _NAN, infinite)
        found = r.where((x & 0x7FFFFFFF) < _SMALLEST_NORMAL, (x & _SIGN) | at_zero, found)
        return _with_nans(r, x, found)

    return r.rarely((x < _SMALLEST_NORMAL) | (x >= _INFINITY), root, special)


def reciprocal_root(r: Reader, x: Number) -> Number:
    """v_rsq_f32: subnormal operands are zeros."""
    exponent, rest = _as_square(x)
    c0, c1, c2, c3 = r.factors(_RSQ, rest >> 18)
    t = x & 0x3FFFF
    linear = (r.kept(c1, t, 13) + 3) >> 2
    inner = r.inner(c2, c3, t, times=4, bits=11)
    quadratic = r.kept(inner, r.square(t >> 1, 10), 23)
    significand = _raised_to_even(r, c0 - linear, quadratic, 7, 12)
    root = 0x3E800000 + significand - (exponent << 23)
    return _root(r, x, root, 0, _INFINITY)


def square_root(r: Reader, x: Number) -> Number:
    """v_sqrt_f32: subnormal operands are zeros."""
    exponent, rest = _as_square(x)
    c0, c1, c2, c3 = r.factors(_SQRT, rest >> 19)
    t = x & 0x7FFFF
    linear = r.kept(c1, t, 16) >> 1
    inner = r.inner(c2, c3, t, times=2, bits=11)
    quadratic = r.kept(inner, r.square(t >> 2, 10), 23)
    significand = _raised_to_even(r, c0 + linear, 0 - quadratic, 7, 12)
    return _root(r, x, ((exponent + 126) << 23) + significand, _INFINITY, 0)


def _power_of_two(r: Reader, x: Number) -> tuple[Number, Number, Number]:
    """Return the exponent of 2**x, and its significand in two parts, of which the first is in units
    of 2**-28 and the second, to be added, in units of 2**-36; for |x| < 2**9."""
    whole, fraction = r.parts(x & 0x7FFFFFFF, 29)
    # The ones' complement: negative integers are approached from below.
    ones = x >> 31
    fraction = fraction ^ (ones & 0x1FFFFFFF)
    c0, c1, c2, c3 = r.row(_EXP, fraction >> 24)
    t = fraction & 0xFFFFFF
    linear = r.kept(c1, t, 23) >> 1
    inner = _to_even(c2 + c3 * (t >> 6), 7)
    quadratic = r.kept(inner, r.cut(t >> 6, t >> 6, 12), 23)
    return whole ^ ones, c0 + linear, quadratic


def power_of_two(r: Reader, x: Number) -> Number:
    """v_exp_f32: results below 2**-126 become 0."""
    magnitude = x & 0x7FFFFFFF
    exponent, high, low = _power_of_two(r, x)
    result = ((exponent + 126) << 23) + _sum_to_even(r, high, low, 8, 13)

    def special() -> Number:
        found = r.where(result < _SMALLEST_NORMAL, 0, result)
        found = r.where(magnitude >= 0x43000000, r.where(x < 0, 0, _INFINITY), found)
        return _with_nans(r, x, r.where(magnitude < 0x33800000, _ONE, found))

    # Below 2**-24, and from 126 on.
    return r.rarely((magnitude < 0x33800000) | (magnitude >= 0x42FC0000), result, special)


def power_of_two_half(r: Reader, x: Number) -> Number:
    """v_exp_f16 of a half as float: the significand is rounded once, to a half."""
    magnitude = x & 0x7FFFFFFF
    exponent, high, low = _power_of_two(r, x)
    rounded = _sum_to_even(r, high, low, 8, 26 + r.at_least(r.at_most(-14 - exponent, 12), 0))
    result = (r.at_least(r.at_most(exponent + 14, 31), 0) << 10) + rounded

    def special() -> Number:
        found = r.where(result > 0x7C00, 0x7C00, result)
        found = r.where(magnitude >= 0x42000000, r.where(x < 0, 0, 0x7C00), found)
        found = r.where(magnitude < 0x33800000, 0x3C00, found)
        nan = ((x >> 16) & 0x8000) | 0x7E00 | ((x >> 13) & 0x3FF)
        return r.where(magnitude > _INFINITY, nan, found)

    return r.rarely((magnitude < 0x33800000) | (magnitude >= 0x41700000), result, special)


def _float(r: Reader, x: Number, fraction: int | Number, upwards: bool | Condition) -> Number:
    """Return a positive fixed-point number of 24 bits or more as a float, rounded down or up.

    fraction: its fraction bits.
    """
    width = r.width(x)
    beyond = width - 24
    if upwards is not False:
        x = x + r.where(upwards, (1 << beyond) - 1, 0)
    return ((width + (125 - fraction)) << 23) + (x >> beyond)


def logarithm(r: Reader, x: Number) -> Number:
    """v_log_f32, to base 2: subnormal operands are zeros."""
    # From 1 - 2**-6 to 1 + 2**-5.
    near = r.rarely(
        (x >= 0x3F7C0000) & (x < 0x3F840000),
        _logarithm_elsewhere(r, x),
        lambda: _logarithm_near_one(r, x),
    )

    def special() -> Number:
        found = r.where(x < 0, _NAN, _INFINITY)
        found = r.where((x & 0x7FFFFFFF) < _SMALLEST_NORMAL, _SIGN | _INFINITY, found)
        return _with_nans(r, x, found)

    return r.rarely((x < _SMALLEST_NORMAL) | (x >= _INFINITY), near, special)


def _logarithm_elsewhere(r: Reader, x: Number) -> Number:
    t, segment = x & 0x3FFFF, (x >> 18) & 31
    row = r.where((x & 0x7E0000) == 0x60000, 32, segment)
    c0, c1, c2, c3 = r.row(LOG, row)
    inner = c2 - r.cut(c3, 2 * t + 1, 22, 1 << 21)
    quadratic = r.kept(inner, r.cut(t, t, 12), 23)
    # 30 fraction bits, cut, as the result is.
    fraction = c0 + r.cut(c1, t, 16) - ((quadratic + 31) >> 5)
    exponent = (x >> 23) - 127
    # The magnitude, in two parts: towards minus infinity, that of negative numbers is rounded up.
    is_negative = exponent < 0
    whole = exponent ^ (exponent >> 31)
    fraction = r.where(is_negative, (1 << 30) - fraction, fraction)
    is_large = whole > 0
    width = r.width(r.where(is_large, whole, fraction)) - r.where(is_large, 0, 30)
    dropped = width + 6
    upwards = r.where(is_negative, (1 << dropped) - 1, 0)
    significand = (whole << (24 - width)) + ((fraction + upwards) >> dropped)
    return (((width + 125) << 23) + significand) | (exponent & _SIGN)


def _logarithm_near_one(r: Reader, x: Number) -> Number:
    """Return the logarithm of 1 + n 2**-23 or 1 - k 2**-24, of up to 2**18 units."""
    is_below = x < _ONE
    distance = r.where(is_below, _ONE - x, x - _ONE)
    row = r.where(is_below, 3, r.where(distance < 1 << 16, 0, 1))
    c0, c1, c2, c3 = r.row(LOG_ABOVE_ONE + LOG_BELOW_ONE, row + r.where(distance >= 1 << 17, 1, 0))
    # The smaller the distance, the more bits.
    zeros = r.at_least(((18 - r.width(distance)) >> 2) << 2, 0)
    scaled = distance << zeros
    linear, square = r.cut(c1, scaled, 13), r.cut(scaled, distance, 12)
    step = r.cut(c3, r.where(is_below, distance - 1, 2 * distance + 1), 22, 1 << 21)
    above = c0 + (linear << 2) - r.kept(c2 - step, square, 23)
    # The sum is rounded up as its quadratic term is.
    below = linear + r.cut(c2 + step, square, 26, (1 << 26) - 1) + (c0 << zeros)
    result = _float(r, r.where(is_below, below, above), r.where(is_below, 34, 35) + zeros, is_below)
    result = r.where(is_below, result | _SIGN, result + 1)
    return r.where(x == _ONE, 0, result)


@dataclass(frozen=True, slots=True)
class _Angle:
    """An angle reduced to an eighth of a turn."""

    # The quarter of a turn that it lies in.
    quadrant: Number
    # 1 in the second half of the quarter, from whose end it is measured then.
    mirrored: Number
    # Units of 2**-31 turns from there, less 1 if it is mirrored.
    distance: Number
    # 16 if its value is that of the cosine of this distance, else 0.
    is_cosine: Number


def _angle(r: Reader, magnitude: Number, cosine: bool) -> _Angle:
    # Four times the float: its whole part counts quarters.
    quadrant, within = r.parts(magnitude + (2 << 23), 29)
    mirrored = within >> 28
    distance = within ^ ((0 - mirrored) & 0x1FFFFFFF)
    is_cosine = ((quadrant ^ mirrored ^ int(cosine)) & 1) << 4
    return _Angle(quadrant, mirrored, distance, is_cosine)


def sine_or_cosine(cosine: bool, r: Reader, x: Number) -> Number:
    """v_sin_f32 and v_cos_f32 of x turns; subnormal operands and results are kept."""
    magnitude = x & 0x7FFFFFFF
    angle = _angle(r, magnitude, cosine)
    sign = ((angle.quadrant << 30) ^ ((angle.quadrant << 31) if cosine else x)) & _SIGN
    result = _sine_of(r, angle) | sign

    def special() -> Number:
        at_zero = _ONE if cosine else 0
        found = r.where((angle.is_cosine != 0) & (angle.distance < 46592), _ONE | sign, result)
        is_zero = (angle.is_cosine == 0) & (angle.distance + angle.mirrored == 0)
        # From 2**23 on, all are whole turns.
        found = r.where(is_zero, 0, r.where(magnitude >= 0x4B000000, at_zero, found))
        if not cosine:
            found = r.where(magnitude < 0x39C00000, r.product(x, _TWO_PI), found)
        found = r.where(magnitude == 0, at_zero if cosine else x, found)
        return _with_nans(r, x, r.where(magnitude == _INFINITY, _NAN, found))

    is_special = (magnitude >= 0x4B000000) | (
        angle.distance < r.where(angle.is_cosine != 0, 46592, 1)
    )
    if not cosine:
        is_special = is_special | (magnitude < 0x39C00000)
    return r.rarely(is_special, result, special)


# Slopes and cubic terms without sign, which only cosines have. Their segments are measured from the
# end: a step of the cubic coefficient belongs to the quadratic one.
_SINE_AND_COSINE = tuple(
    (c0 << 3, abs(c1), (0 - c2 - max(c3, 0)) << 7, abs(c3)) for c0, c1, c2, c3 in SINE_AND_COSINE
)


def _sine_of(r: Reader, angle: _Angle) -> Number:
    """Return the sine or cosine of a distance, without sign."""
    row, within = (angle.distance >> 24) + angle.is_cosine, angle.distance & 0xFFFFFF
    c0, c1, c2, c3 = r.row(_SINE_AND_COSINE, row)
    falls = angle.is_cosine != 0
    k = r.where(falls, within ^ 0xFFFFFF, within) >> 6
    inner = _to_even(c3 * k, 11) + c2
    quadratic = r.kept(inner, r.square(within >> 7, 10), 23)
    linear = r.kept(c1, r.at_most((within + 8) >> 4, (1 << 20) - 1) << 4, 21)
    value = c0 + r.where(falls, 0 - linear, linear) - (((quadratic + 63) >> 6) << 1)
    coarse = _float(r, value, 29, False)
    return r.rarely(row < 2, coarse, lambda: _fine(r, (c0, c1), inner, row == 0, angle))


def _fine(
    r: Reader, first: tuple[Number, Number], inner: Number, is_first: Condition, angle: _Angle
) -> Number:
    """Return the sine in its first two segments, with more bits the smaller it is."""
    c0, c1 = first
    within = angle.distance & 0xFFFFFF
    rest = within + angle.mirrored
    width = r.width(rest)
    zeros = r.where(is_first, r.at_least(24 - width, 0) & ~3, 0)
    scaled = rest << zeros
    step = r.where(scaled < 1 << 21, angle.mirrored, angle.mirrored << 4)
    first = (scaled << 4) - r.where((scaled & 0xFFFFF) == 0, step, 0)
    second = r.at_most((within + 2) >> 2, (1 << 22) - 1) << 4
    linear = r.cut(c1, r.where(is_first, first, second), 22)
    quadratic = r.kept(inner, r.square((within >> 7) << (zeros >> 1), 10), 23)
    # Of the first segment the constant is 0.
    value = (c0 << 5) + (linear << r.where(is_first, 2, 4)) - quadratic
    return _float(r, value, 34 + zeros, False)


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
