"""One step of a dot product as gfx12 computes it: an accumulator and 2 or 4 products, rounded once.

Measured on a Radeon AI PRO R9700 (ROCm/rocm-systems issue 12056); the step of 8-bit floats follows
a published model that nobody has measured. Products are added in pairs, then pairs and accumulator,
on the grid of the largest of them; each floor is an arithmetic shift. All numbers are integers of
32 bits, so the rounding mode of the host does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from amdjit.emulator.host.builder import Builder, Value, constant, like
from amdjit.emulator.instructions.matrix.dot_factors import (
    SPECIAL_EXPONENT,
    ZERO_EXPONENT,
    Factor,
    FactorPair,
)

# The exponent of a grid is this far below the exponent field of an f32 accumulator with that grid:
# the bias and 26 bits.
_GRID_BIAS = 127 + 26
# The range of exponent fields, of the accumulator or of products, in which f32 holds all powers of
# two that the quick form needs, and in which a small negative accumulator counts as 0: from the
# grid -125 to that of the largest finite accumulator.
_FIRST_FIELD, _LAST_FIELD = 28, 254
# How far exponents of bf16 factors may be from that of 1 so that sums of products stay within this
# range.
FAR = 37
_FACTOR_NAN = {"f32": 0xFFC00A3D, "f16": 0xFFC7A000, "bf16": 0xFFFD0000}
_INVALID, _INFINITY, _QUIET = 0xFFC00000, 0x7F800000, 0x00400000
# 65504.0
_LARGEST_HALF = 0x477FE000


@dataclass(frozen=True, slots=True)
class Sums:
    """Groups of products, each with the field of its grid, and the largest field."""

    groups: tuple[tuple[Value, Value], ...]
    field: Value


@dataclass(frozen=True, slots=True)
class DotStep:
    """The arithmetic of a step. Accumulators and results are i32 lanes that hold f32, even if the
    result is f16 or bf16."""

    factors: FactorPair
    result: str

    def sums(self, b: Builder, left: Sequence[Factor], right: Sequence[Factor]) -> Sums:
        """Return the sums of groups of products: pairs, or all products of 8-bit floats."""
        products = [b.mul(x.significand, y.significand) for x, y in zip(left, right, strict=True)]
        fields = [b.add(x.exponent, y.exponent) for x, y in zip(left, right, strict=True)]
        size = len(products) if self.factors.is_8_bit else 2
        groups = []
        for first in range(0, len(products), size):
            ours = fields[first : first + size]
            field = _largest(b, ours)
            aligned = [
                _floor(b, product, b.sub(field, own))
                for product, own in zip(products[first : first + size], ours, strict=True)
            ]
            groups.append((reduce(b.add, aligned), field))
        return Sums(tuple(groups), _largest(b, [field for _, field in groups]))

    def quick(self, b: Builder, sums: Sums, addend: Value) -> tuple[Value, Value]:
        """Return the result, and the lanes where it is wrong: those with special numbers, overflow
        or extreme exponents."""
        own = b.shift("lshr", b.mask(addend, 31), 23)
        found = b.intrinsic("smax", sums.field, own)
        lowest = 127 - 14 if self.result == "f16" else _FIRST_FIELD
        field = b.intrinsic("smax", found, b.const(addend, lowest))
        scale, inverse = _scales(b, field)
        total = b.add(_total(b, sums, field), self._quick_addend(b, addend, field, inverse))
        wrong = b.compare("sgt", found, b.const(found, _LAST_FIELD))
        if self.result == "f16":
            # Infinities and NaNs have no integer; their result is inspected, so it must not be
            # poison.
            bits = half_bits(b, b.emit(total.type, f"freeze {total.type} {total.text}"), scale)
            infinite = b.compare("eq", b.mask(bits, 31), b.const(bits, _INFINITY))
            return bits, b.or_(wrong, infinite)
        value = b.binary("fmul", b.convert("sitofp", total, "float"), scale)
        return self._kept(b, b.bitcast(value, "i32")), b.or_(
            wrong, self._is_tiny(b, sums, addend, found)
        )

    def is_extreme(self, b: Builder, which: str, exponents: Sequence[Value]) -> Value:
        """Return the lanes where some factor of A or B is special or, in bf16, so far from 1 that
        products may leave the range."""
        is_brain = self.factors.a == "bf16"
        middle = 127 + (self.factors.offset if which == "b" else 0)
        last = middle + FAR if is_brain else SPECIAL_EXPONENT // 2
        largest = _largest(b, exponents)
        extreme = b.compare("sgt", largest, b.const(largest, last))
        if not is_brain:
            return extreme
        # As an unsigned number, the exponent of a zero is large.
        own = [b.sub(exponent, b.const(exponent, middle - 127)) for exponent in exponents]
        least = reduce(lambda x, y: b.intrinsic("umin", x, y), own)
        return b.or_(extreme, b.compare("ult", least, b.const(least, 127 - FAR)))

    def is_extreme_addend(self, b: Builder, rows: Sequence[Value]) -> Value:
        """Return the lanes where some accumulator is special, close to overflow, or tiny but not
        0."""
        magnitudes = [b.mask(row, 31) for row in rows]
        largest = _largest(b, magnitudes)
        before = [b.sub(magnitude, b.const(magnitude, 1)) for magnitude in magnitudes]
        least = reduce(lambda x, y: b.intrinsic("umin", x, y), before)
        far = b.compare("uge", largest, b.const(largest, _LAST_FIELD - 8 << 23))
        return b.or_(far, b.compare("ult", least, b.const(least, (_FIRST_FIELD << 23) - 1)))

    def exact(
        self,
        b: Builder,
        left: Sequence[Factor],
        right: Sequence[Factor],
        sums: Sums,
        addend: Value,
        clamps: Value,
    ) -> Value:
        """Return the result for any operands. `clamps`: an i1, whether f16 overflows to its largest
        number."""
        own = b.shift("lshr", b.mask(addend, 31), 23)
        lowest = 127 - 14 if self.result == "f16" else 1
        field = reduce(
            lambda x, y: b.intrinsic("smax", x, y), [sums.field, own, b.const(own, lowest)]
        )
        total = b.add(_total(b, sums, field), _exact_addend(b, addend, own, field, lowest))
        if self.result == "f16":
            number = rounded_half(b, total, field, clamps)
        else:
            number = self._kept(b, _round_to_single(b, total, field))
        return self.specials(b, left, right, addend, number)

    def _quick_addend(self, b: Builder, addend: Value, field: Value, scale: Value) -> Value:
        """Return C in units of the grid, rounded towards minus infinity, except that a negative one
        below the unit becomes 0."""
        units = b.binary("fmul", b.bitcast(addend, "float"), scale)
        stays = b.compare("ole", units, b.const(units, -1.0))
        if self.result == "f16":
            stays = b.or_(stays, b.compare("sle", field, b.const(field, _GRID_BIAS - 14)))
        return b.convert("fptosi", b.select(stays, b.intrinsic("floor", units), units), "i32")

    def _is_tiny(self, b: Builder, sums: Sums, addend: Value, found: Value) -> Value:
        """Return the lanes where a number is below the grids of the quick form."""
        low = b.compare("slt", found, b.const(found, _FIRST_FIELD))
        something = b.compare("ne", b.mask(addend, 31), b.const(addend, 0))
        if self.factors.a == "bf16":
            product = b.compare("sgt", sums.field, b.const(sums.field, ZERO_EXPONENT // 2))
            something = b.or_(something, product)
        return b.and_(low, something)

    def _kept(self, b: Builder, bits: Value) -> Value:
        """Return f32 bits as the result keeps them: bf16 results are truncated."""
        return b.and_(bits, b.const(bits, 0xFFFF0000)) if self.result == "bf16" else bits

    def specials(
        self,
        b: Builder,
        left: Sequence[Factor],
        right: Sequence[Factor],
        addend: Value,
        number: Value,
    ) -> Value:
        """Return the result where operands are NaN or infinite; the order of the cases is the
        hardware's."""
        magnitude, infinity = b.mask(addend, 31), b.const(addend, _INFINITY)
        is_infinite = b.compare("eq", magnitude, infinity)
        is_negative = b.compare("slt", addend, b.const(addend, 0))
        nan, invalid, above, below = self._special_products(b, left, right)
        invalid = b.or_(invalid, b.and_(above, below))
        above = b.or_(above, b.and_(is_infinite, b.not_(is_negative)))
        below = b.or_(below, b.and_(is_infinite, is_negative))
        number = b.select(above, infinity, number)
        number = b.select(below, b.const(addend, 0xFF800000), number)
        invalid_bits = b.const(addend, _FACTOR_NAN["f32"] if self.factors.is_8_bit else _INVALID)
        number = b.select(b.and_(above, below), invalid_bits, number)
        quiet = b.or_(addend, b.const(addend, _QUIET))
        number = b.select(b.compare("ugt", magnitude, infinity), quiet, number)
        number = b.select(invalid, invalid_bits, number)
        return b.select(nan, b.const(addend, _FACTOR_NAN[self.result]), number)

    def _special_products(
        self, b: Builder, left: Sequence[Factor], right: Sequence[Factor]
    ) -> tuple[Value, Value, Value, Value]:
        """Return the lanes where a factor is NaN, where infinity meets 0, and where products are
        infinite, for either sign."""
        shape = left[0].significand
        nothing = constant(like(shape.type, "i1"), 0)
        nan, invalid, above, below = nothing, nothing, nothing, nothing
        for x, y in zip(left, right, strict=True):
            special = []
            for which, factor in (("a", x), ("b", y)):
                is_special, is_infinite = self._special_factor(b, which, factor)
                nan = b.or_(nan, b.and_(is_special, b.not_(is_infinite)))
                special.append(is_special)
            either = b.or_(*special)
            product = b.mul(x.significand, y.significand)
            zero = b.const(product, 0)
            invalid = b.or_(invalid, b.and_(either, b.compare("eq", product, zero)))
            above = b.or_(above, b.and_(either, b.compare("sgt", product, zero)))
            below = b.or_(below, b.and_(either, b.compare("slt", product, zero)))
        return nan, invalid, above, below

    def _special_factor(self, b: Builder, which: str, factor: Factor) -> tuple[Value, Value]:
        special = b.compare("sge", factor.exponent, b.const(factor.exponent, SPECIAL_EXPONENT // 2))
        infinity = self.factors.infinity(which)
        if infinity is None:
            return special, b.const(special, 0)
        magnitude = b.intrinsic("abs", factor.significand, flags=[constant("i1", 0)])
        return special, b.compare("eq", magnitude, b.const(magnitude, infinity))


def _scales(b: Builder, field: Value) -> tuple[Value, Value]:
    """Return the grid of an exponent field as f32, and its reciprocal."""
    inverse = b.sub(b.const(field, _GRID_BIAS + 127 << 23), b.shift("shl", field, 23))
    return b.bitcast(b.sub(b.const(field, 254 << 23), inverse), "float"), b.bitcast(
        inverse, "float"
    )


def _largest(b: Builder, values: Sequence[Value]) -> Value:
    return reduce(lambda x, y: b.intrinsic("smax", x, y), values)


def _floor(b: Builder, value: Value, amount: Value) -> Value:
    """Shift right; by 31 or more, only the sign is left."""
    return b.binary("ashr", value, b.intrinsic("umin", amount, b.const(amount, 31)))


def _total(b: Builder, sums: Sums, field: Value) -> Value:
    return reduce(b.add, [_floor(b, value, b.sub(field, own)) for value, own in sums.groups])


def _exact_addend(b: Builder, addend: Value, own: Value, field: Value, lowest: int) -> Value:
    """Return C in units of the grid, rounded towards minus infinity, except that on coarse grids a
    negative one below the unit becomes 0."""
    hidden = b.shift("shl", b.intrinsic("umin", own, b.const(own, 1)), 23)
    # The last bit of C is 23 below its exponent; the grid of a sum that it dominates is 26 below.
    significand = b.shift("shl", b.or_(b.mask(addend, 23), hidden), 3)
    distance = b.sub(field, b.intrinsic("umax", own, b.const(own, 1)))
    amount = b.intrinsic("umin", distance, b.const(distance, 31))
    units = b.binary("lshr", significand, amount)
    is_cut = b.compare("ne", b.binary("shl", units, amount), significand)
    is_fine = b.compare("sle", field, b.const(field, _GRID_BIAS - 127 + lowest))
    counts = b.and_(is_cut, b.or_(b.compare("ne", units, b.const(units, 0)), is_fine))
    negative = b.sub(b.sub(b.const(units, 0), units), b.convert("zext", counts, "i32"))
    return b.select(b.compare("slt", addend, b.const(addend, 0)), negative, units)


def _round_to_single(b: Builder, total: Value, field: Value) -> Value:
    """Return the f32 bits of total * 2**grid, rounded to nearest even; f64 holds that number
    exactly."""
    wide = b.resize(b.add(field, b.const(field, 1023 - _GRID_BIAS)), 64)
    scale = b.bitcast(b.shift("shl", wide, 52), "double")
    value = b.binary("fmul", b.convert("sitofp", total, "double"), scale)
    return b.bitcast(_positive_zero(b, b.convert("fptrunc", value, "float")), "i32")


def rounded_half(b: Builder, total: Value, field: Value, clamps: Value) -> Value:
    """Return the f32 bits of a sum rounded to f16. field: that of its grid; `clamps`: an i1,
    whether it overflows to the largest number."""
    scale = b.bitcast(b.shift("shl", b.sub(field, b.const(field, 26)), 23), "float")
    bits = half_bits(b, total, scale)
    largest = b.intrinsic(
        "copysign", b.bitcast(b.const(bits, _LARGEST_HALF), "float"), b.bitcast(bits, "float")
    )
    over = b.compare("eq", b.mask(bits, 31), b.const(bits, _INFINITY))
    clamped = b.select(over, b.bitcast(largest, "i32"), bits)
    return b.select(clamps, clamped, bits)


def half_bits(b: Builder, total: Value, scale: Value) -> Value:
    """Return the f32 bits of total * scale rounded to f16, to nearest even; bits that f32 would
    round first are joined into one."""
    low = b.mask(total, 5)
    joined = b.and_(b.or_(total, b.add(low, b.const(low, 31))), b.const(total, -32))
    magnitude = b.intrinsic("abs", total, flags=[constant("i1", 0)])
    is_long = b.compare("uge", magnitude, b.const(magnitude, 1 << 24))
    number = b.convert("sitofp", b.select(is_long, joined, total), "float")
    half = b.convert("fptrunc", b.binary("fmul", number, scale), "half")
    return b.bitcast(_positive_zero(b, b.convert("fpext", half, "float")), "i32")


def _positive_zero(b: Builder, value: Value) -> Value:
    """Return +0 for -0, otherwise the value."""
    return b.binary("fadd", value, b.const(value, 0.0))
