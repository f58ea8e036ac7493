"""The steps of a division and the modifiers of results on bit patterns, as gfx1201 does them
(../../hardware).

Patterns are Python's integers. What NaN comes out is part of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """A binary format; scale, far: of V_DIV_SCALE."""

    width: int
    mantissa: int
    bias: int
    scale: int = 0
    far: int = 0

    @property
    def sign(self) -> int:
        return 1 << self.width - 1

    @property
    def infinity(self) -> int:
        return (2 * self.bias + 1) << self.mantissa

    @property
    def invalid(self) -> int:
        """The NaN that numbers make."""
        return self.sign | self.infinity | 1 << self.mantissa - 1

    def size(self, bits: int) -> int:
        return bits & self.sign - 1

    def is_nan(self, bits: int) -> bool:
        return self.size(bits) > self.infinity

    def quieted(self, bits: int) -> int:
        return bits | 1 << self.mantissa - 1

    def exponent(self, bits: int) -> int:
        return self.size(bits) >> self.mantissa

    def value(self, bits: int) -> Fraction:
        """The number of a finite pattern."""
        exponent, fraction = self.exponent(bits), bits & (1 << self.mantissa) - 1
        whole = fraction | (1 << self.mantissa if exponent else 0)
        size = Fraction(whole) * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa)
        return -size if bits & self.sign else size

    def rounded(self, size: Fraction, unbounded: bool = False) -> int:
        """A positive number as a pattern; unbounded: what is below the normal numbers then is 0."""
        if not size:
            return 0
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        lowest = exponent if unbounded else max(exponent, 1 - self.bias)
        count = round(size / Fraction(2) ** (lowest - self.mantissa))
        if count >> self.mantissa + 1:
            count, lowest = count >> 1, lowest + 1
        if lowest > self.bias:
            return self.infinity
        if lowest < 1 - self.bias:
            return 0
        return (
            count + (lowest + self.bias - 1 << self.mantissa) if count >> self.mantissa else count
        )

    def scaled(self, bits: int, power: int) -> int:
        if self.is_nan(bits):
            return self.quieted(bits)
        if self.size(bits) == self.infinity:
            return bits
        return bits & self.sign | self.rounded(abs(self.value(bits)) * Fraction(2) ** power)


FORMATS = {
    "f16": Format(16, 10, 15),
    "f32": Format(32, 23, 127, 64, 96),
    "f64": Format(64, 52, 1023, 128, 768),
}


def modified(form: Format, bits: int, negate: bool, absolute: bool) -> int:
    """A source's pattern under `neg` and `abs`."""
    return (form.size(bits) if absolute else bits) ^ (form.sign if negate else 0)


def output(form: Format, bits: int, omod: int, clamp: bool, overflow: int | None = None) -> int:
    """A result's pattern under `omod` and `clamp`; overflow: what is too large for the format."""
    sign, exponent = bits & form.sign, form.exponent(bits)
    if omod and not exponent:
        bits = 0
    elif omod and form.size(bits) < form.infinity:
        exponent += (0, 1, 2, -1)[omod]
        largest = form.infinity if overflow is None else overflow
        kept = bits & (1 << form.mantissa) - 1
        scaled = sign | exponent << form.mantissa | kept
        bits = sign if exponent <= 0 else sign | largest if exponent > 2 * form.bias else scaled
    if not clamp:
        return bits
    return 0 if bits & form.sign or form.is_nan(bits) else min(bits, form.bias << form.mantissa)


def first_nan(form: Format, operands: Sequence[int]) -> int:
    """The NaN of an operation: the first operand's, made quiet."""
    return next((form.quieted(x) for x in operands if form.is_nan(x)), form.invalid)


def div_scale(form: Format, x: int, below: int, above: int) -> tuple[int, bool]:
    """V_DIV_SCALE: S0 scaled, and whether the quotient has to be scaled back; S0 is S1, below, or
    S2, above."""
    e1, e2 = form.exponent(below), form.exponent(above)
    is_denominator = x == below
    up, down = form.scale, -form.scale
    if e2 - e1 >= form.far:
        power, back = up if is_denominator else 0, True
    elif e1 == 0:
        power, back = up, False
    elif e1 >= 2 * form.bias - 1:
        back = e2 - e1 <= -form.far
        power = 0 if back and not is_denominator else down
    elif e2 - e1 <= -form.far:
        power, back = 0 if is_denominator else up, True
    else:
        power, back = up if e2 <= form.mantissa + 1 else 0, False
    if not form.size(below) or not form.size(above):
        return form.invalid, back
    return form.scaled(x, power), back


def fused_special(form: Format, x: int, y: int, z: int) -> int | None:
    """x * y + z where an operand is infinite or NaN, else None."""
    sizes = [form.size(bits) for bits in (x, y, z)]
    if form.is_nan(x) or form.is_nan(y):
        return first_nan(form, (x, y))
    endless = form.infinity in sizes[:2]
    negative = (x ^ y) & form.sign
    opposed = sizes[2] == form.infinity and (z & form.sign) != negative
    if endless and (0 in sizes[:2] or opposed):
        return form.invalid
    if form.is_nan(z):
        return form.quieted(z)
    return negative | form.infinity if endless else z if sizes[2] == form.infinity else None


def div_fmas(form: Format, x: int, y: int, z: int, scales: bool, omod: int = 0) -> int:
    """V_DIV_FMAS without its output modifiers: a multiply-add times a power of two, rounded
    once."""
    special = fused_special(form, x, y, z)
    if special is not None:
        return special
    total = form.value(x) * form.value(y) + form.value(z)
    product_sign = (x ^ y) & form.sign
    if not total:
        zeros = not form.value(x) * form.value(y)
        return product_sign & z if zeros else 0
    power = (form.scale if form.exponent(z) > form.bias else -form.scale) if scales else 0
    size = form.rounded(abs(total) * Fraction(2) ** power, bool(omod))
    return size | (form.sign if total < 0 and (size or not omod) else 0)


def div_fixup(
    form: Format, quotient: int, below: int, above: int, overflow: int | None = None
) -> int:
    """V_DIV_FIXUP: the quotient S0 of S2 / S1, with the special cases put right."""
    if form.is_nan(above) or form.is_nan(below):
        return first_nan(form, (above, below))
    sizes = form.size(below), form.size(above)
    sign = (below ^ above) & form.sign
    if sizes in ((0, 0), (form.infinity, form.infinity)):
        return form.invalid
    if sizes[0] == 0 or sizes[1] == form.infinity:
        return sign | form.infinity
    difference = form.exponent(above) - form.exponent(below)
    under = form.width != 16 and difference < -(form.bias + form.mantissa)
    if under or sizes[1] == 0 or sizes[0] == form.infinity:
        return sign
    largest = form.infinity if overflow is None else overflow
    return sign | (largest if form.size(quotient) >= form.infinity else form.size(quotient))
