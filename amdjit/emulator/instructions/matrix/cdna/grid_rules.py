"""Steps of gfx942, for any operands and a quick form for ordinary ones: those of `grid_step`, of
factors that come as f32.

All NaN are the same there, and a product from 2**128 on counts as infinite: sums of f32 show what
NaN and infinities make of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.matrix.cdna.products import ROW_LANES
from amdjit.emulator.instructions.matrix.cdna.rules import Parts
from amdjit.emulator.instructions.matrix.dot_factors import ZERO_EXPONENT, Factor
from amdjit.emulator.instructions.matrix.grid_step import (
    BIAS,
    FRACTION,
    INFINITY,
    GridStep,
    cut,
    floored,
    largest_of,
)
from amdjit.emulator.instructions.matrix.quick_steps import FAR, ZEROS, Bounds
from amdjit.isa.matrix_rounding import FORMATS, GridRule
from amdjit.late_methods import dataclass

# A product of this exponent and more counts as infinite.
INFINITE = 128


@dataclass(frozen=True, slots=True)
class Grid(GridStep):
    """A step of gfx942."""

    @property
    def length(self) -> int:
        """How many products are added in one step."""
        return self.rule.step

    @property
    def kinds(self) -> tuple[str, ...]:
        """The number, its significand with its sign, and its exponent: that of A with the bias of
        f32."""
        return ("float", "i32", "i32")

    def parts(self, b: Builder, factor: str, number: Value) -> Parts:
        """Take apart factors. Significands are scaled as `FactorPair` says."""
        form = FORMATS[self.factors.a if factor == "a" else self.factors.b]
        scale = self.factors.scales["ab".index(factor)]
        bits = b.bitcast(number, "i32")
        magnitude = b.mask(bits, 31)
        own = b.shift("lshr", magnitude, FRACTION)
        exponent = b.intrinsic("smax", own, b.const(own, BIAS + form.lowest))
        hidden = b.shift("shl", b.intrinsic("umin", own, b.const(own, 1)), FRACTION)
        significand = b.or_(b.mask(magnitude, FRACTION), hidden)
        own = b.intrinsic("umax", own, b.const(own, 1))
        below = b.add(b.sub(exponent, own), b.const(own, FRACTION - form.counted_bits - scale))
        significand, zero = cut(b, significand, below), b.const(bits, 0)
        negative = b.sub(zero, significand)
        if factor == "b":
            exponent = b.sub(exponent, b.const(exponent, BIAS))
        is_zero = b.compare("eq", significand, zero)
        return (
            number,
            b.select(b.compare("slt", bits, zero), negative, significand),
            b.select(is_zero, b.const(exponent, ZERO_EXPONENT), exponent),
        )

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products."""
        factors = ([Factor(*each[1:]) for each in side] for side in (left, right))
        sums, never = self.sums(f, *factors), constant("i1", 0)
        number = f.bitcast(self.floored(f, sums, f.bitcast(total, "i32"), never), "float")
        terms = [self.term(f, x, y) for x, y in zip(left, right, strict=True)]
        return _with_specials(f, terms, total, number)

    def term(self, b: Builder, x: Parts, y: Parts) -> Value:
        """Return a product as far as it decides about NaN and infinities: from 2**128 on it is
        infinite, and how large others are does not matter."""
        if FORMATS[self.factors.a].lowest != FORMATS["f32"].lowest:
            return b.binary("fmul", x[0], y[0])
        # In f64, since hosts are slow where a product is subnormal.
        product = b.binary("fmul", *(b.convert("fpext", each[0], "double") for each in (x, y)))
        size = b.intrinsic("fabs", product)
        is_small = b.compare("olt", size, b.const(product, 2.0**INFINITE))
        large = b.binary("fmul", product, b.const(product, 2.0**1000))
        return b.convert("fptrunc", b.select(is_small, b.const(product, 0.0), large), "float")


def _with_specials(b: Builder, terms: Sequence[Value], added: Value, number: Value) -> Value:
    """Return sums with NaN and infinities where an operand or a product demands them."""
    limit = b.const(added, 0.0)
    for term in (*terms, added):
        is_finite = b.compare("olt", b.intrinsic("fabs", term), b.const(term, float("inf")))
        limit = b.binary("fadd", limit, b.select(is_finite, b.const(term, 0.0), term))
    return b.select(b.compare("oeq", limit, b.const(limit, 0.0)), number, limit)


# The rules of `grid_rules` for ordinary operands, with half of the operations.
#
# A product of two factors is exact in f32, and so is its quotient by the grid: the conversion to an
# integer cuts it. The sum of the integers and C are added in f64, which holds all bits of both, and
# masked to 32 bits of significand.
#
# Operands are ordinary if no step of a product meets an infinity, a NaN or an overflow, or numbers
# so small that f32 does not hold the grid or its reciprocal. This is known from the operands.


# The exponent that a step without products is given: below all that ordinary products have, and so
# high that f32 has the unit of C on its grid. A C below it is a multiple of that unit.
_LOWEST = -90
# Of accumulators: those above may overflow, those below may not be such a multiple.
_ADDENDS = (-80, 100)
# A sum further below C than this is 0 or -1 unit anyway.
_DEEPEST = -64


@dataclass(frozen=True, slots=True)
class RunningBounds:
    """Bounds of all that a loop meets."""

    largest: Value
    least: Value

    @classmethod
    def start(cls, f: NativeFunction) -> RunningBounds:
        """Begin with nothing met."""
        kind = vector("i32", ROW_LANES)
        made = cls(f.scratch(kind), f.scratch(kind))
        f.store(constant(kind, 0), made.largest, 64)
        f.store(constant(kind, -1), made.least, 64)
        return made

    def meet(self, f: NativeFunction, values: Sequence[Value]) -> None:
        """Take lanes of f32 into account."""
        old, new = self.found(f), Bounds.of(f, values)
        f.store(f.intrinsic("umax", old.largest, new.largest), self.largest, 64)
        f.store(f.intrinsic("umin", old.least, new.least), self.least, 64)

    def found(self, f: NativeFunction) -> Bounds:
        """Return the bounds."""
        kind = vector("i32", ROW_LANES)
        return Bounds(f.load(kind, self.largest, 64), f.load(kind, self.least, 64))


@dataclass(frozen=True, slots=True)
class QuickGrid:
    """`Grid` for ordinary operands."""

    a: str
    b: str
    rule: GridRule

    @property
    def length(self) -> int:
        """How many products are added in one step."""
        return self.rule.step

    @property
    def kinds(self) -> tuple[str, ...]:
        """The number, and its exponent where f32 has it: that of A with the bias."""
        return ("float", "i32")

    def parts(self, b: Builder, factor: str, number: Value) -> Parts:
        """Take apart factors."""
        lowest = FORMATS[self.a if factor == "a" else self.b].lowest
        bits = b.bitcast(number, "i32")
        field = b.and_(bits, b.const(bits, INFINITY))
        if lowest != FORMATS["f32"].lowest:
            field = b.intrinsic("umax", field, b.const(field, BIAS + lowest << FRACTION))
        if factor == "b":
            field = b.sub(field, b.const(field, BIAS << FRACTION))
        is_zero = b.compare("oeq", number, b.const(number, 0.0))
        return number, b.select(is_zero, b.const(field, ZEROS[factor] << FRACTION), field)

    def are_extreme(self, b: Builder, factor: Bounds) -> Value:
        """Return the lanes where a factor is not ordinary."""
        is_wide = FORMATS[self.a].lowest == FORMATS["f32"].lowest
        return factor.exceed(b, *((-FAR, FAR + 1) if is_wide else (None, None)))

    def are_extreme_addends(self, b: Builder, addends: Bounds) -> Value:
        """Return the lanes where a C is not ordinary."""
        return addends.exceed(b, *_ADDENDS)

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products."""
        groups = [
            _cut_sum(f, left[members], right[members], self.rule)
            for members in self.rule.members(len(left))
        ]
        units, field = groups[0]
        if self.rule.groups_meet:
            field = f.intrinsic("smax", field, groups[1][1])
            units = reduce(f.add, [_floored(f, sum, f.sub(field, own)) for sum, own in groups])
        return _added(f, units, field, total, self.rule)


def _cut_sum(
    b: Builder, left: Sequence[Parts], right: Sequence[Parts], rule: GridRule
) -> tuple[Value, Value]:
    """Return the sum of products on a grid below their largest exponent, and the field of it."""
    fields = [b.add(x[1], y[1]) for x, y in zip(left, right, strict=True)]
    lowest = b.const(fields[0], BIAS + _LOWEST << FRACTION)
    field = largest_of(b, [lowest, *fields])
    unit = _power(b, field, rule.product_bits)
    terms = []
    for x, y in zip(left, right, strict=True):
        product = b.binary("fmul", b.binary("fmul", x[0], y[0]), unit)
        terms.append(b.convert("fptosi", product, "i32"))
    return reduce(b.add, terms), field


def _power(b: Builder, field: Value, exponent: int) -> Value:
    """Return 2**(exponent - e) as f32."""
    biased = b.const(field, 2 * BIAS + exponent << FRACTION)
    return b.bitcast(b.sub(biased, field), "float")


def _floored(b: Builder, units: Value, distance: Value) -> Value:
    return floored(b, units, b.shift("lshr", distance, FRACTION))


def _added(b: Builder, units: Value, field: Value, total: Value, rule: GridRule) -> Value:
    """Return units of the products' grid plus C."""
    assert rule.c_bits is not None
    own = b.and_(b.bitcast(total, "i32"), b.const(field, INFINITY))
    top = b.intrinsic("smax", field, own)
    c_units = b.intrinsic("floor", b.binary("fmul", total, _power(b, top, rule.c_bits)))
    if rule.c_drops is not None:
        is_far = b.compare("slt", own, b.sub(top, b.const(top, rule.c_drops << FRACTION)))
        c_units = b.select(is_far, b.const(c_units, 0.0), c_units)
    # Both in units of the final grid, as whole numbers in f64.
    more = rule.sum_bits - rule.product_bits
    below = b.intrinsic("smax", b.sub(field, top), b.const(top, _DEEPEST << FRACTION))
    scale = b.bitcast(b.add(below, b.const(below, BIAS + more << FRACTION)), "float")
    whole = b.binary(
        "fmul", b.convert("sitofp", units, "double"), b.convert("fpext", scale, "double")
    )
    whole = b.intrinsic("floor", whole)
    wide = b.convert("fpext", c_units, "double")
    found = b.intrinsic("fma", wide, b.const(wide, 2.0 ** (rule.sum_bits - rule.c_bits)), whole)
    rounded = b.convert("fptrunc", _with_leading_bits(b, found, rule.kept), "float")
    unit = b.bitcast(b.sub(top, b.const(top, rule.sum_bits << FRACTION)), "float")
    return b.binary("fmul", rounded, unit)


def _with_leading_bits(b: Builder, number: Value, kept: int | None) -> Value:
    """Keep the leading one of f64 numbers and `kept` bits after it, rounding towards minus
    infinity."""
    assert kept is not None
    rest = (1 << 52 - kept) - 1
    bits = b.bitcast(number, "i64")
    up = b.and_(b.shift("ashr", bits, 63), b.const(bits, rest))
    return b.bitcast(b.and_(b.add(bits, up), b.const(bits, ~rest)), "double")
