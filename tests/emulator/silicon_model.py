"""What a gfx1201 computes in dot products and matrix products, in Python's integers, one element at
a time.

Measured on a Radeon AI PRO R9700 and published with ROCm/rocm-systems issue 12056; `tests/hardware`
holds the values that tests replay. The 8-bit floats are a published model that nobody has measured.
A number is an integer times 2**grid; `>>` of Python's integers is the floor that the hardware
takes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

FACTOR_NAN, INVALID, INFINITY, QUIET = 0xFFC00A3D, 0xFFC00000, 0x7F800000, 0x00400000


@dataclass(frozen=True)
class Format:
    """A float format by the widths of its fields; `finite`: E4M3 has no infinity and one NaN of
    each sign."""

    exponent_bits: int
    fraction_bits: int
    finite: bool = False

    @property
    def bias(self) -> int:
        return (1 << self.exponent_bits - 1) - 1

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits


FORMATS = {
    "f16": Format(5, 10),
    "bf16": Format(8, 7),
    "fp8": Format(4, 3, finite=True),
    "bf8": Format(5, 2),
    "f32": Format(8, 23),
}


@dataclass(frozen=True)
class Number:
    """A float taken apart; the exponent is that of the field, the smallest normal number's for
    subnormal ones."""

    negative: bool
    significand: int
    exponent: int
    is_nan: bool
    is_infinite: bool
    is_finite: bool


@functools.lru_cache(1 << 17)
def taken_apart(bits: int, kind: str) -> Number:
    """Return the parts of an encoding."""
    form = FORMATS[kind]
    fraction = bits & (1 << form.fraction_bits) - 1
    field = bits >> form.fraction_bits & (1 << form.exponent_bits) - 1
    special = field == (1 << form.exponent_bits) - 1
    if form.finite:
        special = special and fraction == (1 << form.fraction_bits) - 1
    significand = fraction | (1 << form.fraction_bits if field else 0)
    negative = bool(bits >> form.bits - 1 & 1)
    is_nan = special and (fraction != 0 or form.finite)
    is_infinite = special and not is_nan
    exponent = max(field, 1) - form.bias
    return Number(negative, significand, exponent, is_nan, is_infinite, not special)


def _shifted(value: int, amount: int) -> int:
    return value << amount if amount >= 0 else value >> -amount


def rounded(units: int, grid: int, kind: str, clamps: bool = False) -> int:
    """Return units * 2**grid in a format, to nearest even; what becomes zero is +0. `clamps`: never
    infinite."""
    form = FORMATS[kind]
    if not units:
        return 0
    magnitude = abs(units)
    lowest = 1 - form.bias - form.fraction_bits
    place = max(magnitude.bit_length() - 1 + grid - form.fraction_bits, lowest)
    shift = place - grid
    significand = _shifted(magnitude, -shift)
    if shift > 0:
        twice_tail = 2 * (magnitude - (significand << shift))
        significand += twice_tail > 1 << shift or (twice_tail == 1 << shift and significand & 1)
    # A carry out of the significand goes on into the exponent.
    code = significand + (place - lowest << form.fraction_bits)
    largest = ((1 << form.exponent_bits) - 1 << form.fraction_bits) - 1
    if code > largest:
        code = largest if clamps else largest + 1
    return code | (1 << form.bits - 1 if units < 0 and code else 0)


def dot_step(
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    kinds: tuple[str, str],
    result: str = "f32",
    clamps: bool = False,
) -> int:
    """Return c + the products of one step, of 2 or 4 factors; c and the result are encodings of
    `result`."""
    eighth = FORMATS[kinds[0]].bits == 8
    left, right = (
        [taken_apart(bits, kind) for bits in factor]
        for factor, kind in zip((a, b), kinds, strict=True)
    )
    addend = taken_apart(c, result)
    if not (addend.is_finite and all([number.is_finite for number in (*left, *right)])):
        found = _special(left, right, addend, c, result, eighth)
        if found is not None:
            return found
    units, grids = [], []
    for x, y in zip(left, right, strict=True):
        product = x.significand * y.significand
        units.append(-product if x.negative != y.negative else product)
        grids.append(x.exponent + y.exponent - 24 if product else -10000)
    fraction_bits = sum(FORMATS[kind].fraction_bits for kind in kinds)
    floor = -14 if result == "f16" else -126
    places = FORMATS[result].fraction_bits
    # The exponent of C's leading bit: of a subnormal number it is below `floor`.
    grid = max(*grids, max(floor, addend.exponent if addend.significand else floor) - 26)
    total = _addend_units(addend, addend.exponent - places - grid, grid > floor)
    size = 4 if eighth else 2
    for first in range(0, len(units), size):
        together = grids[first : first + size]
        aligned = [
            _shifted(unit, own + 24 - fraction_bits - max(together)) if unit else 0
            for unit, own in zip(units[first : first + size], together, strict=True)
        ]
        total += _shifted(sum(aligned), max(together) - grid)
    if result == "bf16":
        return rounded(total, grid, "f32") >> 16
    return rounded(total, grid, result, clamps)


def _addend_units(addend: Number, shift: int, drops: bool) -> int:
    magnitude = _shifted(addend.significand, shift)
    if not addend.negative:
        return magnitude
    return 0 if drops and not magnitude else _shifted(-addend.significand, shift)


def _special(
    left: list[Number], right: list[Number], addend: Number, c: int, result: str, eighth: bool
) -> int | None:
    pairs = list(zip(left, right, strict=True))
    if any(x.is_nan or y.is_nan for x, y in pairs):
        return {"f32": FACTOR_NAN, "f16": 0xFE3D, "bf16": 0xFFFD}[result]
    invalid = FACTOR_NAN if eighth else INVALID
    narrow = {"f32": 0, "f16": 16, "bf16": 16}[result]
    infinite = [x.negative != y.negative for x, y in pairs if x.is_infinite or y.is_infinite]
    nothing = any(
        (x.is_infinite or y.is_infinite) and not (x.significand and y.significand) for x, y in pairs
    )
    if nothing or len(set(infinite)) == 2:
        return {"f32": invalid, "f16": 0xFE00, "bf16": 0xFFC0}[result]
    form = FORMATS[result]
    if addend.is_nan:
        return c | 1 << form.fraction_bits - 1
    if addend.is_infinite:
        infinite.append(addend.negative)
    if len(set(infinite)) == 2:
        return invalid >> narrow if result != "f16" else 0xFE00
    if infinite:
        magnitude = (1 << form.exponent_bits) - 1 << form.fraction_bits
        return magnitude | (1 << form.bits - 1 if infinite[0] else 0)
    return None


def dot(
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    kinds: tuple[str, str],
    result: str = "f32",
    clamps: bool = False,
) -> int:
    """Return one element of a matrix product: steps of four products in the order of k."""
    for first in range(0, len(a), 4):
        c = dot_step(a[first : first + 4], b[first : first + 4], c, kinds, result, clamps)
    return c


def integer_dot(
    a: Sequence[int], b: Sequence[int], c: int, lower: Sequence[bool], clamp: bool
) -> int:
    """Return c + the products, as bits; `lower`: which products lanes 0 to 15 hold. `clamp`
    saturates after those, too.

    a, b, c: numbers, c signed.
    """
    total = c
    for lanes in (True, False):
        total += sum(x * y for x, y, low in zip(a, b, lower, strict=True) if low is lanes)
        total = min(max(total, -(1 << 31)), (1 << 31) - 1) if clamp else total
    return total & 0xFFFFFFFF
