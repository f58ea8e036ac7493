"""One step of a dot product as gfx11 computes it: an accumulator and two products, rounded once.

Measured on a Radeon Pro W7900 (ROCm/rocm-systems issue 12056). Magnitudes are cut to the grid of
the largest term, and added in the sign of the accumulator; a product of the other sign takes part
as its one's complement. All numbers are integers of 32 bits, and the one rounding is that of a
conversion to f32, or to f16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from amdjit.emulator.host.builder import Builder, Value, constant, lanes_of, vector
from amdjit.emulator.instructions.matrix.dot_factors import (
    ZERO_EXPONENT,
    Factor,
    FactorPair,
    parted,
)
from amdjit.emulator.instructions.matrix.dot_step import DotStep, rounded_half

# As in `dot_step`: the exponent of a grid is this far below the exponent field of an f32
# accumulator with that grid.
_GRID_BIAS = 127 + 26
_SIGN, _INFINITY, _QUIET = 0x80000000, 0x7F800000, 0x00400000


@dataclass(frozen=True, slots=True)
class SignedFactor:
    """Factors, and i32 lanes whose highest bits are their signs: zeros have signs, too."""

    factor: Factor
    sign: Value


@dataclass(frozen=True, slots=True)
class ComplementStep:
    """The arithmetic of a step. Accumulators and results are i32 lanes that hold f32, even if the
    result is f16 or bf16."""

    factors: FactorPair
    result: str

    def pairs(self, b: Builder, which: str, dwords: Value) -> tuple[Value, Iterator[SignedFactor]]:
        """Return the exponents in i32 lanes of two factors of A or B, and the even and the odd
        ones."""
        halves = self.flushed(b, dwords)
        take_apart = self.factors.left if which == "a" else self.factors.right
        whole = take_apart(b, halves)
        signs_of = (b.shift("shl", dwords, 16), dwords)
        both = zip(parted(b, whole), signs_of, strict=True)
        return whole.exponent, (SignedFactor(factor, sign) for factor, sign in both)

    def flushed(self, b: Builder, dwords: Value) -> Value:
        """Return pairs of factors in i32 lanes as i16 lanes, subnormal ones of bf16 as zeros."""
        lanes = lanes_of(dwords.type)
        assert lanes is not None
        halves = b.cast("bitcast", dwords, vector("i16", 2 * lanes))
        if self.factors.a == "bf16":
            is_small = b.compare("eq", b.and_(halves, b.const(halves, 0x7F80)), b.const(halves, 0))
            signs = b.and_(halves, b.const(halves, 0x8000))
            halves = b.select(is_small, signs, halves)
        return halves

    def finite(
        self,
        b: Builder,
        left: Sequence[SignedFactor],
        right: Sequence[SignedFactor],
        addend: Value,
        clamps: Value,
    ) -> Value:
        """Return the result for finite factors. `clamps`: an i1, whether f16 overflows to its
        largest number."""
        zero = b.const(addend, 0)
        own = b.shift("lshr", b.mask(addend, 31), 23)
        is_there = b.compare("ne", own, zero)
        significand = b.or_(b.mask(addend, 23), b.const(addend, 1 << 23))
        # The last bit of C is 23 below its exponent, the grid of a sum that it dominates 26 below.
        significand = b.select(is_there, b.shift("shl", significand, 3), zero)
        own_field = b.select(is_there, own, b.const(own, ZERO_EXPONENT))
        fields = [
            b.add(x.factor.exponent, y.factor.exponent) for x, y in zip(left, right, strict=True)
        ]
        lowest = [b.const(own, 127 - 14)] if self.result == "f16" else []
        field = reduce(lambda x, y: b.intrinsic("smax", x, y), [own_field, *fields, *lowest])
        total = _cut(b, significand, b.sub(field, own_field))
        for x, y, grid in zip(left, right, fields, strict=True):
            product = b.mul(x.factor.significand, y.factor.significand)
            size = b.intrinsic("abs", product, flags=[constant("i1", 0)])
            units = _cut(b, size, b.sub(field, grid))
            is_opposite = b.shift("ashr", b.xor(b.xor(x.sign, y.sign), addend), 31)
            total = b.add(total, b.xor(units, is_opposite))
        number = self._rounded(b, total, field, addend, clamps)
        is_nan = b.compare("ugt", b.mask(addend, 31), b.const(addend, _INFINITY))
        kept = b.select(is_nan, b.or_(addend, b.const(addend, _QUIET)), addend)
        return b.select(b.compare("eq", own, b.const(own, 255)), kept, number)

    def any(
        self,
        b: Builder,
        left: Sequence[SignedFactor],
        right: Sequence[SignedFactor],
        addend: Value,
        clamps: Value,
    ) -> Value:
        """Return the result for any factors."""
        number = self.finite(b, left, right, addend, clamps)
        specials = DotStep(self.factors, self.result).specials
        x, y = ([each.factor for each in side] for side in (left, right))
        return specials(b, x, y, addend, number)

    def _rounded(
        self, b: Builder, total: Value, field: Value, addend: Value, clamps: Value
    ) -> Value:
        """Return a sum in the sign of C, in units of a grid, rounded to the result."""
        if self.result == "f16":
            frame = b.shift("ashr", addend, 31)
            return rounded_half(b, b.sub(b.xor(total, frame), frame), field, clamps)
        zero = b.const(total, 0)
        single = b.bitcast(b.convert("sitofp", total, "float"), "i32")
        moved = b.sub(field, b.const(field, _GRID_BIAS))
        magnitude = b.mask(single, 31)
        exponent = b.add(b.shift("lshr", magnitude, 23), moved)
        # The conversion has rounded as if exponents had no end; only now is the exponent looked at.
        is_zero = b.or_(b.compare("eq", total, zero), b.compare("sle", exponent, zero))
        is_over = b.compare("sge", exponent, b.const(exponent, 255))
        size = b.add(magnitude, b.shift("shl", moved, 23))
        size = b.select(is_over, b.const(size, _INFINITY), size)
        sign = b.and_(b.xor(single, addend), b.const(single, _SIGN))
        bits = b.select(is_zero, zero, b.or_(size, sign))
        return b.and_(bits, b.const(bits, 0xFFFF0000)) if self.result == "bf16" else bits


def _cut(b: Builder, magnitude: Value, amount: Value) -> Value:
    """Shift right; by 31 or more, nothing is left of these numbers."""
    return b.binary("lshr", magnitude, b.intrinsic("umin", amount, b.const(amount, 31)))
