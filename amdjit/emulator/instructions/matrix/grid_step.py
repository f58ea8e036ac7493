"""One step of a dot product for any operands: an accumulator and some products, put on one grid and
rounded once, by a `GridRule` of `isa.matrix_rounding`.

On gfx12 and gfx942 products are added in groups, then groups and accumulator; each floor is an
arithmetic shift. On gfx11 magnitudes are cut to the grid and added in the sign of the accumulator;
a product of the other sign takes part as its one's complement. All numbers are integers, of 32 bits
but for the last sum of gfx942, so the rounding mode of the host does not matter. `quick_steps` and
`cdna.grid_rules` have forms for ordinary operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from amdjit.emulator.host.builder import (
    Builder,
    Value,
    bits_of,
    constant,
    element_of,
    lanes_of,
    like,
    vector,
)
from amdjit.emulator.instructions.matrix.dot_factors import (
    SPECIAL_EXPONENT,
    ZERO_EXPONENT,
    Factor,
    FactorPair,
    parted,
)
from amdjit.isa.matrix_rounding import FORMATS, GridRule, rdna_rule
from amdjit.late_methods import dataclass

BIAS, FRACTION = 127, 23
_SIGN, INFINITY, _QUIET = 0x80000000, 0x7F800000, 0x00400000
# 65504.0
_LARGEST_HALF = 0x477FE000


@dataclass(frozen=True, slots=True)
class Sums:
    """Groups of products, each with the field of its grid, and the largest field."""

    groups: tuple[tuple[Value, Value], ...]
    field: Value


@dataclass(frozen=True, slots=True)
class GridStep:
    """The arithmetic of a step. Accumulators and results are i32 lanes that hold f32, even if the
    result is f16 or bf16."""

    factors: FactorPair
    result: str

    @classmethod
    def of(cls, a: str, b: str, result: str, is_gfx11: bool = False) -> GridStep:
        """Return the step of a processor for types of A, B and the result."""
        return cls(FactorPair(a, b, rdna_rule((a, b, result), is_gfx11)), result)

    @property
    def rule(self) -> GridRule:
        """The rule."""
        return self.factors.rule

    @property
    def grid_bias(self) -> int:
        """How far the exponent of a grid is below the exponent field of an f32 accumulator with
        that grid."""
        return BIAS + self.rule.c_sum_bits

    @property
    def lowest(self) -> int:
        """The least field of an accumulator, as it takes part in the grid."""
        return BIAS + FORMATS[self.result].lowest

    def pairs(self, b: Builder, which: str, dwords: Value) -> tuple[Value, Iterator[Factor]]:
        """Return the exponents in i32 lanes of two factors of A or B, and the even and the odd
        ones, with their signs."""
        take_apart = self.factors.left if which == "a" else self.factors.right
        whole = take_apart(b, self.flushed(b, dwords))
        signs_of = (b.shift("shl", dwords, 16), dwords)
        both = zip(parted(b, whole), signs_of, strict=True)
        return whole.exponent, (replace(factor, sign=sign) for factor, sign in both)

    def flushed(self, b: Builder, dwords: Value) -> Value:
        """Return pairs of factors in i32 lanes as i16 lanes, subnormal ones as zeros if the rule
        has it so."""
        lanes = lanes_of(dwords.type)
        assert lanes is not None
        halves = b.cast("bitcast", dwords, vector("i16", 2 * lanes))
        if self.rule.flushes_factors:
            form = FORMATS[self.factors.a]
            exponent = form.top << form.fraction_bits
            is_small = b.compare(
                "eq", b.and_(halves, b.const(halves, exponent)), b.const(halves, 0)
            )
            signs = b.and_(halves, b.const(halves, 0x8000))
            halves = b.select(is_small, signs, halves)
        return halves

    def sums(self, b: Builder, left: Sequence[Factor], right: Sequence[Factor]) -> Sums:
        """Return the sums of groups of products."""
        products = [b.mul(x.significand, y.significand) for x, y in zip(left, right, strict=True)]
        fields = [b.add(x.exponent, y.exponent) for x, y in zip(left, right, strict=True)]
        align = floored if self.rule.cut == "floor" else truncated
        groups = []
        for members in self.rule.members(len(products)):
            ours = fields[members]
            field = largest_of(b, ours)
            aligned = [
                align(b, product, b.sub(field, own))
                for product, own in zip(products[members], ours, strict=True)
            ]
            groups.append((reduce(b.add, aligned), field))
        sums = Sums(tuple(groups), largest_of(b, [field for _, field in groups]))
        if self.rule.groups_meet:
            return replace(sums, groups=((total_of(b, sums, sums.field), sums.field),))
        return sums

    def exact(
        self,
        b: Builder,
        left: Sequence[Factor],
        right: Sequence[Factor],
        addend: Value,
        clamps: Value,
        sums: Sums | None = None,
    ) -> Value:
        """Return the result for any operands. `clamps`: an i1, whether f16 overflows to its largest
        number. sums: those of the factors, if they are known."""
        if self.rule.relative:
            number = self._in_sign_of_addend(b, left, right, addend, clamps)
        else:
            number = self.floored(b, sums or self.sums(b, left, right), addend, clamps)
        return self._specials(b, left, right, addend, number)

    def floored(self, b: Builder, sums: Sums, addend: Value, clamps: Value) -> Value:
        """Return the result for finite operands, each term rounded towards minus infinity."""
        own = b.shift("lshr", b.mask(addend, 31), 23)
        field = largest_of(b, [sums.field, own, b.const(own, self.lowest)])
        total = b.add(
            total_of(b, sums, field, self.rule.sum_bits - self.rule.product_bits),
            finer(b, self._addend(b, addend, own, field), self.rule.c_sum_bits - self.c_bits),
        )
        if self.result == "f16":
            return self._rounded_half(b, total, field, clamps)
        return self.kept(b, self._rounded_single(b, total, field))

    @property
    def c_bits(self) -> int:
        """How far the grid to which C is cut is below C's exponent."""
        return self.rule.c_sum_bits if self.rule.c_bits is None else self.rule.c_bits

    def _addend(self, b: Builder, addend: Value, own: Value, field: Value) -> Value:
        """Return C in units of its grid, rounded towards minus infinity, but 0 where the rule has
        it so: where it is far below the products, or negative and below the unit of a coarse
        grid."""
        hidden = b.shift("shl", b.intrinsic("umin", own, b.const(own, 1)), 23)
        size = self._on_own_grid(b, b.or_(b.mask(addend, 23), hidden))
        zero = b.const(size, 0)
        signed = b.select(b.compare("slt", addend, zero), b.sub(zero, size), size)
        distance = b.sub(field, b.intrinsic("umax", own, b.const(own, 1)))
        units = floored(b, signed, distance)
        if self.rule.c_exception:
            is_coarse = b.compare("sgt", field, b.const(field, self.finest))
            vanishes = b.compare("eq", cut(b, size, distance), zero)
            units = b.select(b.and_(vanishes, is_coarse), zero, units)
        if self.rule.c_drops is not None:
            is_far = b.compare("sgt", distance, b.const(distance, self.rule.c_drops))
            units = b.select(is_far, zero, units)
        return units

    @property
    def finest(self) -> int:
        """The last field of the grids on which a negative accumulator below the unit counts."""
        return self.grid_bias + FORMATS[self.result].lowest

    def _on_own_grid(self, b: Builder, significand: Value) -> Value:
        """Return C's significand in units of the grid of a sum that it dominates."""
        return b.shift("shl", significand, self.c_bits - FORMATS["f32"].fraction_bits)

    def _in_sign_of_addend(
        self,
        b: Builder,
        left: Sequence[Factor],
        right: Sequence[Factor],
        addend: Value,
        clamps: Value,
    ) -> Value:
        """Return the result for finite operands, opposing terms as one's complements."""
        zero = b.const(addend, 0)
        own = b.shift("lshr", b.mask(addend, 31), 23)
        is_there = b.compare("ne", own, zero)
        significand = b.or_(b.mask(addend, 23), b.const(addend, 1 << 23))
        significand = b.select(is_there, self._on_own_grid(b, significand), zero)
        own_field = b.select(is_there, own, b.const(own, ZERO_EXPONENT))
        fields = [b.add(x.exponent, y.exponent) for x, y in zip(left, right, strict=True)]
        lowest = [b.const(own, self.lowest)] if self.result == "f16" else []
        field = largest_of(b, [own_field, *fields, *lowest])
        total = cut(b, significand, b.sub(field, own_field))
        for x, y, grid in zip(left, right, fields, strict=True):
            product = b.mul(x.significand, y.significand)
            size = b.intrinsic("abs", product, flags=[constant("i1", 0)])
            units = cut(b, size, b.sub(field, grid))
            assert x.sign is not None
            assert y.sign is not None
            is_opposite = b.shift("ashr", b.xor(b.xor(x.sign, y.sign), addend), 31)
            total = b.add(total, b.xor(units, is_opposite))
        if self.result == "f16":
            frame = b.shift("ashr", addend, 31)
            return self._rounded_half(b, b.sub(b.xor(total, frame), frame), field, clamps)
        return self.kept(b, self._rounded_without_subnormal(b, total, field, addend))

    def _rounded_without_subnormal(
        self, b: Builder, total: Value, field: Value, addend: Value
    ) -> Value:
        """Return a sum in the sign of C, in units of a grid, rounded to f32, and 0 instead of a
        subnormal number."""
        zero = b.const(total, 0)
        single = b.bitcast(b.convert("sitofp", total, "float"), "i32")
        moved = b.sub(field, b.const(field, self.grid_bias))
        magnitude = b.mask(single, 31)
        exponent = b.add(b.shift("lshr", magnitude, 23), moved)
        # The conversion has rounded as if exponents had no end; only now is the exponent looked at.
        is_zero = b.or_(b.compare("eq", total, zero), b.compare("sle", exponent, zero))
        is_over = b.compare("sge", exponent, b.const(exponent, 255))
        size = b.add(magnitude, b.shift("shl", moved, 23))
        size = b.select(is_over, b.const(size, INFINITY), size)
        sign = b.and_(b.xor(single, addend), b.const(single, _SIGN))
        return b.select(is_zero, zero, b.or_(size, sign))

    def _rounded_single(self, b: Builder, total: Value, field: Value) -> Value:
        """Return the f32 bits of total * 2**grid, of which the rule may keep some bits only,
        rounded to nearest even; f64 holds that number exactly."""
        if self.rule.kept is not None:
            total = self._with_leading_bits(b, total, field, self.rule.kept)
        wide = b.resize(b.add(field, b.const(field, 1023 - self.grid_bias)), 64)
        scale = b.bitcast(b.shift("shl", wide, 52), "double")
        value = b.binary("fmul", b.convert("sitofp", total, "double"), scale)
        single = b.convert("fptrunc", value, "float")
        return b.bitcast(single if self.rule.vanishing_sign else _positive_zero(b, single), "i32")

    def _with_leading_bits(self, b: Builder, total: Value, field: Value, kept: int) -> Value:
        """Floor a sum of i64 to its leading bit, or to that of the smallest normal number, and
        `kept` bits after it."""
        no = constant("i1", 0)
        zeros = b.resize(b.intrinsic("ctlz", b.intrinsic("abs", total, flags=[no]), flags=[no]), 32)
        below = [
            b.sub(b.const(zeros, 63 - kept), zeros),
            b.sub(b.const(field, self.finest - kept), field),
        ]
        amount = b.resize(largest_of(b, [*below, b.const(field, 0)]), 64)
        return b.binary("shl", b.binary("ashr", total, amount), amount)

    def _rounded_half(self, b: Builder, total: Value, field: Value, clamps: Value) -> Value:
        """Return the f32 bits of a sum rounded to f16. field: that of its grid; `clamps`: an i1,
        whether it overflows to the largest number."""
        biased = b.sub(field, b.const(field, self.grid_bias - BIAS))
        bits = half_bits(b, total, b.bitcast(b.shift("shl", biased, 23), "float"))
        largest = b.intrinsic(
            "copysign", b.bitcast(b.const(bits, _LARGEST_HALF), "float"), b.bitcast(bits, "float")
        )
        over = b.compare("eq", b.mask(bits, 31), b.const(bits, INFINITY))
        clamped = b.select(over, b.bitcast(largest, "i32"), bits)
        return b.select(clamps, clamped, bits)

    def kept(self, b: Builder, bits: Value) -> Value:
        """Return f32 bits as the result keeps them: bf16 results are truncated."""
        return b.and_(bits, b.const(bits, 0xFFFF0000)) if self.result == "bf16" else bits

    def _specials(
        self,
        b: Builder,
        left: Sequence[Factor],
        right: Sequence[Factor],
        addend: Value,
        number: Value,
    ) -> Value:
        """Return the result where operands are NaN or infinite; the order of the cases is the
        hardware's."""
        magnitude, infinity = b.mask(addend, 31), b.const(addend, INFINITY)
        is_infinite = b.compare("eq", magnitude, infinity)
        is_negative = b.compare("slt", addend, b.const(addend, 0))
        nan, invalid, above, below = self._special_products(b, left, right)
        invalid = b.or_(invalid, b.and_(above, below))
        above = b.or_(above, b.and_(is_infinite, b.not_(is_negative)))
        below = b.or_(below, b.and_(is_infinite, is_negative))
        number = b.select(above, infinity, number)
        number = b.select(below, b.const(addend, 0xFF800000), number)
        invalid_bits = b.const(addend, self._nan(self.rule.specials.invalid))
        number = b.select(b.and_(above, below), invalid_bits, number)
        quiet = b.or_(addend, b.const(addend, _QUIET))
        number = b.select(b.compare("ugt", magnitude, infinity), quiet, number)
        number = b.select(invalid, invalid_bits, number)
        factor_nan = self._nan(self.rule.specials.factor_nan)
        return b.select(nan, b.const(addend, factor_nan), number)

    def _nan(self, bits: int) -> int:
        """Return a NaN of the rule's as the result has it, in f32."""
        found = self.rule.specials.nan(bits, self.result)
        if self.result == "f16":
            return (found & 0x8000) << 16 | INFINITY | (found & 0x3FF) << 13
        return found << 16 if self.result == "bf16" else found

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


def largest_of(b: Builder, values: Sequence[Value]) -> Value:
    """Return the largest of signed numbers."""
    return reduce(lambda x, y: b.intrinsic("smax", x, y), values)


def floored(b: Builder, units: Value, amount: Value) -> Value:
    """Shift right; by all bits or more, only the sign is left. amount: i32."""
    bits = bits_of(element_of(units.type))
    amount = b.intrinsic("umin", amount, b.const(amount, bits - 1))
    return b.binary("ashr", units, b.resize(amount, bits))


def truncated(b: Builder, units: Value, amount: Value) -> Value:
    """Shift right, towards 0."""
    size = cut(b, b.intrinsic("abs", units, flags=[constant("i1", 0)]), amount)
    return b.select(b.compare("slt", units, b.const(units, 0)), b.sub(b.const(size, 0), size), size)


def finer(b: Builder, units: Value, bits: int) -> Value:
    """Convert units of a grid (i32) to those of a grid that is `bits` bits finer, as i64; without
    bits, return them as they are."""
    return b.shift("shl", b.resize(units, 64, signed=True), bits) if bits else units


def total_of(b: Builder, sums: Sums, field: Value, more: int = 0) -> Value:
    """Return the sum of groups of products in units of a grid, which is `more` bits finer than
    theirs at the same field."""
    return reduce(
        b.add,
        [floored(b, finer(b, value, more), b.sub(field, own)) for value, own in sums.groups],
    )


def cut(b: Builder, magnitude: Value, amount: Value) -> Value:
    """Shift a magnitude right; by 31 or more, nothing is left. A negative amount belongs to a
    0."""
    return b.binary("lshr", magnitude, b.intrinsic("umin", amount, b.const(amount, 31)))


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
