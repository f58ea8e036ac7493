"""The steps of `grid_step` for ordinary operands, in f32: about half of its operations.

On gfx12, a row of a step is looked at afterwards: where the quick form is wrong, the exact one
follows. Products are integers as there; C and the grid are f32.

On gfx11, the product of two factors is exact in f32, and so is its quotient by the grid, which has
the sign of C where the product's is another: the conversion to an integer cuts it, and its sign bit
is the unit by which a one's complement differs. Sums stay in the sign of C up to the product with
the grid, which gets that sign.

Operands are ordinary if no step of a product meets an infinity, a NaN, an overflow, or numbers so
small that f32 does not hold the grid or its reciprocal. This is known from the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.matrix.dot_factors import SPECIAL_EXPONENT, ZERO_EXPONENT
from amdjit.emulator.instructions.matrix.grid_step import (
    BIAS,
    FRACTION,
    INFINITY,
    GridStep,
    Sums,
    half_bits,
    largest_of,
    total_of,
)
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.isa.matrix_rounding import FORMATS
from amdjit.late_methods import dataclass

# The range of exponent fields, of the accumulator or of products, in which f32 holds all powers of
# two that the quick forms need, and in which a small negative accumulator of gfx12 counts as 0:
# from the grid -125 to that of the largest finite accumulator.
_FIRST_FIELD, _LAST_FIELD = 28, 254
# How far exponents of bf16, of xf32 and of factors with scales may be from that of 1 so that sums
# of products stay within this range.
FAR = 37
_SIGN = 0x80000000
# Fields of zeros: with any ordinary factor, the sum is below that of the lowest grid, and no sum of
# two leaves 32 bits.
ZEROS = {"a": -110, "b": -145}
# Of f16 results: factors below 2**5 and accumulators below 2**14 make sums below 2**15.
_FAR_OF_HALVES, _LAST_ADDEND = 5, BIAS + 14 << 23


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lanes of the largest magnitude that was seen, and of the smallest that is not 0, less 1."""

    largest: Value
    least: Value

    @classmethod
    def of(cls, b: Builder, values: Sequence[Value]) -> Bounds:
        """Return those of lanes of f32, or of their bits."""
        magnitudes = [b.mask(b.bitcast(each, "i32"), 31) for each in values]
        before = [b.sub(each, b.const(each, 1)) for each in magnitudes]
        return cls(
            reduce(lambda x, y: b.intrinsic("umax", x, y), magnitudes),
            reduce(lambda x, y: b.intrinsic("umin", x, y), before),
        )

    def exceed(self, b: Builder, lowest: int | None, end: int | None) -> Value:
        """Return the lanes where a number is not 0 and below 2**lowest, or 2**end and more. None:
        only infinities and NaN are too large, and nothing is too small."""
        limit = INFINITY if end is None else BIAS + end << FRACTION
        found = b.compare("uge", self.largest, b.const(self.largest, limit))
        if lowest is None:
            return found
        first = (BIAS + lowest << FRACTION) - 1
        return b.or_(found, b.compare("ult", self.least, b.const(self.least, first)))


def is_extreme_addend(b: Builder, rows: Sequence[Value]) -> Value:
    """Return the lanes where some accumulator is special, close to overflow, or tiny but not 0."""
    return Bounds.of(b, rows).exceed(b, _FIRST_FIELD - BIAS, _LAST_FIELD - 8 - BIAS)


@dataclass(frozen=True, slots=True)
class QuickFloors:
    """The quick form of gfx12."""

    step: GridStep

    def result(self, b: Builder, sums: Sums, addend: Value) -> tuple[Value, Value]:
        """Return the result, and the lanes where it is wrong: those with special numbers, overflow
        or extreme exponents."""
        own = b.shift("lshr", b.mask(addend, 31), 23)
        found = b.intrinsic("smax", sums.field, own)
        lowest = self.step.lowest if self.step.result == "f16" else _FIRST_FIELD
        field = b.intrinsic("smax", found, b.const(addend, lowest))
        scale, inverse = self._scales(b, field)
        total = b.add(total_of(b, sums, field), self._quick_addend(b, addend, field, inverse))
        wrong = b.compare("sgt", found, b.const(found, _LAST_FIELD))
        if self.step.result == "f16":
            # Infinities and NaNs have no integer; their result is inspected, so it must not be
            # poison.
            bits = half_bits(b, b.emit(total.type, f"freeze {total.type} {total.text}"), scale)
            infinite = b.compare("eq", b.mask(bits, 31), b.const(bits, INFINITY))
            return bits, b.or_(wrong, infinite)
        value = b.binary("fmul", b.convert("sitofp", total, "float"), scale)
        return self.step.kept(b, b.bitcast(value, "i32")), b.or_(
            wrong, self._is_tiny(b, sums, addend, found)
        )

    def is_extreme(self, b: Builder, which: str, exponents: Sequence[Value]) -> Value:
        """Return the lanes where some factor of A or B is special or, in bf16, so far from 1 that
        products may leave the range."""
        is_brain = self.step.factors.a == "bf16"
        middle = BIAS + (self.step.factors.offset if which == "b" else 0)
        last = middle + FAR if is_brain else SPECIAL_EXPONENT // 2
        largest = largest_of(b, exponents)
        extreme = b.compare("sgt", largest, b.const(largest, last))
        if not is_brain:
            return extreme
        # As an unsigned number, the exponent of a zero is large.
        own = [b.sub(exponent, b.const(exponent, middle - BIAS)) for exponent in exponents]
        least = reduce(lambda x, y: b.intrinsic("umin", x, y), own)
        return b.or_(extreme, b.compare("ult", least, b.const(least, BIAS - FAR)))

    def _quick_addend(self, b: Builder, addend: Value, field: Value, scale: Value) -> Value:
        """Return C in units of the grid, rounded towards minus infinity, except that a negative one
        below the unit becomes 0."""
        units = b.binary("fmul", b.bitcast(addend, "float"), scale)
        stays = b.compare("ole", units, b.const(units, -1.0))
        if self.step.result == "f16":
            stays = b.or_(stays, b.compare("sle", field, b.const(field, self.step.finest)))
        return b.convert("fptosi", b.select(stays, b.intrinsic("floor", units), units), "i32")

    def _is_tiny(self, b: Builder, sums: Sums, addend: Value, found: Value) -> Value:
        """Return the lanes where a number is below the grids of the quick form."""
        low = b.compare("slt", found, b.const(found, _FIRST_FIELD))
        something = b.compare("ne", b.mask(addend, 31), b.const(addend, 0))
        if self.step.factors.a == "bf16":
            product = b.compare("sgt", sums.field, b.const(sums.field, ZERO_EXPONENT // 2))
            something = b.or_(something, product)
        return b.and_(low, something)

    def _scales(self, b: Builder, field: Value) -> tuple[Value, Value]:
        """Return the grid of an exponent field as f32, and its reciprocal."""
        inverse = b.sub(b.const(field, self.step.grid_bias + BIAS << 23), b.shift("shl", field, 23))
        return b.bitcast(b.sub(b.const(field, 254 << 23), inverse), "float"), b.bitcast(
            inverse, "float"
        )


@dataclass(frozen=True, slots=True)
class QuickFactor:
    """Factors as lanes of f32, and their exponents as i32 lanes, where f32 has its exponent."""

    number: Value
    field: Value


@dataclass(frozen=True, slots=True)
class QuickComplements:
    """The quick form of gfx11."""

    step: GridStep

    def factors(self, b: Builder, which: str, dwords: Value) -> Iterator[QuickFactor]:
        """Yield the even and the odd ones of pairs of factors."""
        halves = self.step.flushed(b, dwords)
        exponents = self.step.pairs(b, which, dwords)[0]
        held = b.intrinsic("smax", exponents, b.const(exponents, ZEROS[which]))
        numbers = b.cast("bitcast", halves, dwords.type)
        fields = b.cast("bitcast", held, dwords.type)
        upper = b.and_(fields, b.const(fields, 0xFFFF0000))
        element = ELEMENTS[self.step.factors.a]
        for own, field in (
            (numbers, b.shift("shl", fields, 23)),
            (b.shift("lshr", numbers, 16), b.shift("shl", upper, 7)),
        ):
            yield QuickFactor(element.widen(b, own), field)

    def are_extreme(self, b: Builder, dwords: Sequence[Value]) -> Value:
        """Return the i16 lanes where some factor of A or B is not ordinary."""
        halves = [self.step.flushed(b, each) for each in dwords]
        magnitudes = [b.mask(each, 15) for each in halves]
        largest = reduce(lambda x, y: b.intrinsic("umax", x, y), magnitudes)
        form = FORMATS[self.step.factors.a]
        if self.step.factors.a == "f16":
            end = form.bias + _FAR_OF_HALVES if self.step.result == "f16" else 31
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
        if self.step.result != "f16":
            return is_extreme_addend(b, rows)
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
        bits = self.step.rule.c_sum_bits
        lowest = self.step.lowest if self.step.result == "f16" else bits
        fields = [b.add(x.field, y.field) for x, y in zip(left, right, strict=True)]
        found = [b.mask(addend, 31), *fields, b.const(addend, lowest << 23)]
        largest = reduce(lambda x, y: b.intrinsic("smax", x, y), found)
        field = b.and_(largest, b.const(largest, INFINITY))
        signed = b.or_(field, b.and_(addend, b.const(addend, _SIGN)))
        grid = b.bitcast(b.sub(signed, b.const(signed, bits << 23)), "float")
        units = b.bitcast(b.sub(b.const(signed, self.step.grid_bias + BIAS << 23), signed), "float")
        total = b.convert("fptosi", b.binary("fmul", b.bitcast(addend, "float"), units), "i32")
        for x, y in zip(left, right, strict=True):
            product = b.binary("fmul", b.binary("fmul", x.number, y.number), units)
            total = b.add(total, b.convert("fptosi", product, "i32"))
            total = b.add(total, b.shift("ashr", b.bitcast(product, "i32"), 31))
        if self.step.result == "f16":
            return half_bits(b, total, grid)
        rounded = b.convert("sitofp", total, "float")
        # No sum is -0.
        sums = b.intrinsic("fma", rounded, grid, b.const(grid, 0.0))
        return self.step.kept(b, b.bitcast(sums, "i32"))
