"""The step of `complement_step` for ordinary operands, in f32: half of its operations.

The product of two factors is exact in f32, and so is its quotient by the grid, which has the sign
of C where the product's is another: the conversion to an integer cuts it, and its sign bit is the
unit by which a one's complement differs. Sums stay in the sign of C up to the product with the
grid, which gets that sign.

Operands are ordinary if no step of a product meets an infinity, a NaN, an overflow, or numbers so
small that f32 does not hold the grid or its reciprocal. This is known from the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from amdjit.emulator.expressions.elements import ELEMENTS
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.matrix.complement_step import ComplementStep
from amdjit.emulator.instructions.matrix.dot_factors import FORMATS
from amdjit.emulator.instructions.matrix.dot_step import FAR, DotStep, half_bits

# Of a grid, as in `complement_step`: the distance of its field from that of an accumulator with it.
_GRID = 26
_GRID_BIAS = 127 + _GRID
_SIGN, _EXPONENT = 0x80000000, 0x7F800000
# Fields of zeros: with any ordinary factor, the sum is no more than _GRID, the field of no number.
_ZEROS = {"a": -110, "b": -145}
# Of f16 results: factors below 2**5 and accumulators below 2**14 make sums below 2**15.
_FAR_OF_HALVES, _LAST_ADDEND = 5, 127 + 14 << 23


@dataclass(frozen=True, slots=True)
class QuickFactor:
    """Factors as lanes of f32, and their exponents as i32 lanes, where f32 has its exponent."""

    number: Value
    field: Value


@dataclass(frozen=True, slots=True)
class QuickStep:
    """The arithmetic of a step with ordinary operands."""

    rule: ComplementStep

    def factors(self, b: Builder, which: str, dwords: Value) -> Iterator[QuickFactor]:
        """Yield the even and the odd ones of pairs of factors."""
        halves = self.rule.flushed(b, dwords)
        exponents = self.rule.pairs(b, which, dwords)[0]
        held = b.intrinsic("smax", exponents, b.const(exponents, _ZEROS[which]))
        numbers = b.cast("bitcast", halves, dwords.type)
        fields = b.cast("bitcast", held, dwords.type)
        upper = b.and_(fields, b.const(fields, 0xFFFF0000))
        element = ELEMENTS[self.rule.factors.a]
        for own, field in (
            (numbers, b.shift("shl", fields, 23)),
            (b.shift("lshr", numbers, 16), b.shift("shl", upper, 7)),
        ):
            yield QuickFactor(element.widen(b, own), field)

    def are_extreme(self, b: Builder, dwords: Sequence[Value]) -> Value:
        """Return the i16 lanes where some factor of A or B is not ordinary."""
        halves = [self.rule.flushed(b, each) for each in dwords]
        magnitudes = [b.mask(each, 15) for each in halves]
        largest = reduce(lambda x, y: b.intrinsic("umax", x, y), magnitudes)
        form = FORMATS[self.rule.factors.a]
        if self.rule.factors.a == "f16":
            end = form.bias + _FAR_OF_HALVES if self.rule.result == "f16" else 31
            return b.compare("uge", largest, b.const(largest, end << form.fraction_bits))
        end, first = form.bias + FAR + 1, form.bias - FAR
        extreme = b.compare("uge", largest, b.const(largest, end << form.fraction_bits))
        # Zeros become the largest number.
        before = [b.sub(each, b.const(each, 1)) for each in magnitudes]
        least = reduce(lambda x, y: b.intrinsic("umin", x, y), before)
        small = b.const(least, (first << form.fraction_bits) - 1)
        return b.or_(extreme, b.compare("ult", least, small))

    def are_extreme_addends(self, b: Builder, rows: Sequence[Value]) -> Value:
        """Return the lanes where some accumulator is not ordinary."""
        if self.rule.result != "f16":
            rule = DotStep(self.rule.factors, self.rule.result)
            return rule.is_extreme_addend(b, rows)
        magnitudes = [b.mask(row, 31) for row in rows]
        largest = reduce(lambda x, y: b.intrinsic("umax", x, y), magnitudes)
        return b.compare("uge", largest, b.const(largest, _LAST_ADDEND))

    def result(
        self,
        b: Builder,
        left: Sequence[QuickFactor],
        right: Sequence[QuickFactor],
        addend: Value,
    ) -> Value:
        """Return the bits of f32 after a step, as i32 lanes."""
        lowest = 127 - 14 if self.rule.result == "f16" else _GRID
        fields = [b.add(x.field, y.field) for x, y in zip(left, right, strict=True)]
        found = [b.mask(addend, 31), *fields, b.const(addend, lowest << 23)]
        largest = reduce(lambda x, y: b.intrinsic("smax", x, y), found)
        field = b.and_(largest, b.const(largest, _EXPONENT))
        signed = b.or_(field, b.and_(addend, b.const(addend, _SIGN)))
        grid = b.bitcast(b.sub(signed, b.const(signed, _GRID << 23)), "float")
        units = b.bitcast(b.sub(b.const(signed, _GRID_BIAS + 127 << 23), signed), "float")
        total = b.convert("fptosi", b.binary("fmul", b.bitcast(addend, "float"), units), "i32")
        for x, y in zip(left, right, strict=True):
            product = b.binary("fmul", b.binary("fmul", x.number, y.number), units)
            total = b.add(total, b.convert("fptosi", product, "i32"))
            total = b.add(total, b.shift("ashr", b.bitcast(product, "i32"), 31))
        if self.rule.result == "f16":
            return half_bits(b, total, grid)
        rounded = b.convert("sitofp", total, "float")
        # No sum is -0.
        bits = b.bitcast(b.intrinsic("fma", rounded, grid, b.const(grid, 0.0)), "i32")
        is_short = self.rule.result == "bf16"
        return b.and_(bits, b.const(bits, 0xFFFF0000)) if is_short else bits
