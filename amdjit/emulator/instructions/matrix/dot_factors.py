"""Factors of dot products as integers: significands and exponents of the narrow float formats."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.emulator.host.builder import Builder, Value, lanes_of, vector
from amdjit.isa.matrix_rounding import FORMATS, FloatFormat, GridRule
from amdjit.late_methods import dataclass

# Exponents of factors that have none. They are so large that sums with them stay away from other
# sums; a special factor's stays away even if the other factor is 0.
ZERO_EXPONENT, SPECIAL_EXPONENT = -4096, 16384


@dataclass(frozen=True, slots=True)
class Factor:
    """Lanes of factors: significands with their signs, scaled by a power of two, and exponents.

    Exponents are biased; those of zeros include ZERO_EXPONENT, those of infinities and NaNs
    SPECIAL_EXPONENT. sign: i32 lanes whose highest bits are the signs, also of zeros, if a rule
    needs them.
    """

    significand: Value
    exponent: Value
    sign: Value | None = None


def take_apart(b: Builder, lanes: Value, form: FloatFormat, scale: int, offset: int) -> Factor:
    """Return the factors in the low bits of integers whose other bits are 0. Significands are
    shifted left by `scale`.

    offset: what to add to exponents. Subnormal numbers are kept.
    """
    magnitude = b.mask(lanes, form.bits - 1)
    hidden = 1 << form.fraction_bits
    is_small = b.compare("ult", magnitude, b.const(lanes, hidden))
    normal = b.or_(b.mask(magnitude, form.fraction_bits), b.const(lanes, hidden))
    significand = b.shift("shl", b.select(is_small, magnitude, normal), scale)
    is_negative = b.compare(
        "ne", b.and_(lanes, b.const(lanes, 1 << (form.bits - 1))), b.const(lanes, 0)
    )
    significand = b.select(is_negative, b.sub(b.const(lanes, 0), significand), significand)
    field = b.intrinsic("umax", b.shift("lshr", magnitude, form.fraction_bits), b.const(lanes, 1))
    exponent = b.add(field, b.const(lanes, offset))
    is_zero = b.compare("eq", magnitude, b.const(lanes, 0))
    exponent = b.select(is_zero, b.const(lanes, ZERO_EXPONENT), exponent)
    is_special = b.compare("uge", magnitude, b.const(lanes, form.first_special))
    return Factor(significand, b.select(is_special, b.const(lanes, SPECIAL_EXPONENT), exponent))


@dataclass(frozen=True, slots=True)
class FactorPair:
    """The formats of A and B. Their significands and exponents are scaled so that those of the
    products match f32.

    The unit of a product of significands is the grid that the rule has for it. The sum of the
    exponents is the exponent field of an f32 accumulator with the same grid.
    """

    a: str
    b: str
    rule: GridRule

    @property
    def scales(self) -> tuple[int, int]:
        """How far to shift the significands of A and B."""
        fractions = FORMATS[self.a].counted_bits + FORMATS[self.b].counted_bits
        total = self.rule.product_bits - fractions
        return total - total // 2, total // 2

    @property
    def offset(self) -> int:
        """What to add to the exponents of B: the grids of a product and of an accumulator are not
        as far below their exponents."""
        above = self.rule.c_sum_bits - self.rule.product_bits
        return 127 + above - FORMATS[self.a].bias - FORMATS[self.b].bias

    def left(self, builder: Builder, lanes: Value) -> Factor:
        """Return the factors of A in the low bits of integers."""
        return take_apart(builder, lanes, FORMATS[self.a], self.scales[0], 0)

    def right(self, builder: Builder, lanes: Value) -> Factor:
        """Return the factors of B in the low bits of integers."""
        return take_apart(builder, lanes, FORMATS[self.b], self.scales[1], self.offset)

    def infinity(self, which: str) -> int | None:
        """Return the significand of an infinite factor of A or B, None if the format has no
        infinity."""
        form = FORMATS[self.a if which == "a" else self.b]
        scale = self.scales[0 if which == "a" else 1]
        return None if form.infinity is None else 1 << form.fraction_bits + scale


def parted(b: Builder, pairs: Factor) -> Iterator[Factor]:
    """Yield the even and the odd factors of 16 bits, widened to 32."""
    lanes = lanes_of(pairs.significand.type)
    assert lanes is not None
    halves = [
        b.cast("bitcast", value, vector("i32", lanes // 2))
        for value in (pairs.significand, pairs.exponent)
    ]
    yield Factor(*(b.shift("ashr", b.shift("shl", half, 16), 16) for half in halves))
    yield Factor(*(b.shift("ashr", half, 16) for half in halves))
