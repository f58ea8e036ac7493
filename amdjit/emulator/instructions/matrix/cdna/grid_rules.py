"""Steps of gfx942 for any operands, by a rule of `isa.matrix_rounding`: products are cut to a grid,
and added as integers.

With a grid for all products of a step, or one each for even and odd k, whose sums are floored to
the larger one before they meet. All numbers but the sum with C are integers of 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.matrix.cdna.rules import Parts
from amdjit.emulator.instructions.matrix.grid_step import BIAS, FRACTION, cut, floored, largest_of
from amdjit.isa.matrix_rounding import FORMATS, GridRule

# Exponents of sums without a product.
_NONE = -4096
# A product of this exponent and more counts as infinite.
INFINITE = 128


@dataclass(frozen=True, slots=True)
class Grid:
    """A step of gfx942. a, b: the formats of the factors."""

    a: str
    b: str
    rule: GridRule

    @property
    def length(self) -> int:
        """How many products are added in one step."""
        return self.rule.step

    @property
    def kinds(self) -> tuple[str, ...]:
        """The number, its significand with its sign, and its exponent."""
        return ("float", "i32", "i32")

    def parts(self, b: Builder, factor: str, number: Value) -> Parts:
        """Take apart factors. A significand is in units of its format's last bit."""
        form = FORMATS[self.a if factor == "a" else self.b]
        bits = b.bitcast(number, "i32")
        magnitude = b.mask(bits, 31)
        own = b.intrinsic("umax", b.shift("lshr", magnitude, FRACTION), b.const(bits, 1))
        own = b.sub(own, b.const(own, BIAS))
        exponent = b.intrinsic("smax", own, b.const(own, form.lowest))
        hidden = b.compare("uge", magnitude, b.const(bits, 1 << FRACTION))
        significand = b.mask(magnitude, FRACTION)
        significand = b.or_(significand, b.shift("shl", b.convert("zext", hidden, "i32"), FRACTION))
        below = b.add(b.sub(exponent, own), b.const(own, FRACTION - form.counted_bits))
        significand = cut(b, significand, below)
        negative = b.sub(b.const(bits, 0), significand)
        return (
            number,
            b.select(b.compare("slt", bits, b.const(bits, 0)), negative, significand),
            exponent,
        )

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products."""
        products = [f.mul(x[1], y[1]) for x, y in zip(left, right, strict=True)]
        exponents = [f.add(x[2], y[2]) for x, y in zip(left, right, strict=True)]
        stride = stride_of(self.rule)
        groups = [
            self._cut_sum(f, products[first::stride], exponents[first::stride])
            for first in range(stride)
        ]
        largest = largest_of(f, [each for _, each in groups])
        units = [floored(f, units, f.sub(largest, own)) for units, own in groups]
        number = _on_grid(f, reduce(f.add, units), largest, total, self.rule)
        terms = [self.term(f, x, y) for x, y in zip(left, right, strict=True)]
        return _with_specials(f, terms, total, number)

    def term(self, b: Builder, x: Parts, y: Parts) -> Value:
        """Return a product as far as it decides about NaN and infinities: from 2**128 on it is
        infinite, and how large others are does not matter."""
        if FORMATS[self.a].lowest != FORMATS["f32"].lowest:
            return b.binary("fmul", x[0], y[0])
        # In f64, since hosts are slow where a product is subnormal.
        product = b.binary("fmul", *(b.convert("fpext", each[0], "double") for each in (x, y)))
        size = b.intrinsic("fabs", product)
        is_small = b.compare("olt", size, b.const(product, 2.0**INFINITE))
        large = b.binary("fmul", product, b.const(product, 2.0**1000))
        return b.convert("fptrunc", b.select(is_small, b.const(product, 0.0), large), "float")

    def _cut_sum(
        self, b: Builder, products: Sequence[Value], exponents: Sequence[Value]
    ) -> tuple[Value, Value]:
        """Return the sum of the products, each cut towards zero, in units of 2**(e - 24), and
        e."""
        fraction = FORMATS[self.a].counted_bits + FORMATS[self.b].counted_bits
        counted = []
        for product, exponent in zip(products, exponents, strict=True):
            is_zero = b.compare("eq", product, b.const(product, 0))
            counted.append(b.select(is_zero, b.const(exponent, _NONE), exponent))
        largest = largest_of(b, counted)
        terms = []
        for product, exponent in zip(products, exponents, strict=True):
            size = b.intrinsic("abs", product, flags=[constant("i1", 0)])
            raised = b.shift("shl", size, self.rule.product_bits - fraction)
            size = cut(b, raised, b.sub(largest, exponent))
            is_negative = b.compare("slt", product, b.const(product, 0))
            terms.append(b.select(is_negative, b.sub(b.const(size, 0), size), size))
        return reduce(b.add, terms), largest


def stride_of(rule: GridRule) -> int:
    """Return the distance of neighbours in a group of products."""
    return 2 if rule.groups == "even and odd" else 1


def _on_grid(b: Builder, units: Value, exponent: Value, added: Value, rule: GridRule) -> Value:
    """Return units of the products' grid, which is below an exponent, plus C, as f32."""
    assert rule.c_bits is not None
    bits = b.bitcast(added, "i32")
    magnitude = b.mask(bits, 31)
    field = b.shift("lshr", magnitude, FRACTION)
    own = b.sub(b.intrinsic("umax", field, b.const(field, 1)), b.const(field, BIAS))
    hidden = b.shift("shl", b.intrinsic("umin", field, b.const(field, 1)), FRACTION)
    size = b.or_(b.mask(magnitude, FRACTION), hidden)
    top = b.intrinsic("smax", exponent, own)
    if rule.c_drops is not None:
        is_far = b.compare("slt", own, b.sub(top, b.const(top, rule.c_drops)))
        size = b.select(is_far, b.const(size, 0), size)
    signed = b.select(b.compare("slt", bits, b.const(bits, 0)), b.sub(b.const(size, 0), size), size)
    # C on a grid below its own exponent, then both on the final grid.
    c_units = floored(b, b.shift("shl", signed, rule.c_bits - FRACTION), b.sub(top, own))
    wide = b.shift("shl", b.resize(units, 64, signed=True), rule.sum_bits - rule.product_bits)
    wide = floored(b, wide, b.resize(b.sub(top, exponent), 64))
    total = b.add(
        wide, b.shift("shl", b.resize(c_units, 64, signed=True), rule.sum_bits - rule.c_bits)
    )
    return _rounded(b, total, top, rule)


def _rounded(b: Builder, total: Value, top: Value, rule: GridRule) -> Value:
    """Return units of the final grid, which is below an exponent, as f32: floored to the bits that
    are kept, then rounded."""
    assert rule.kept is not None
    unit = rule.sum_bits
    zeros = b.intrinsic(
        "ctlz",
        b.intrinsic("abs", total, flags=[constant("i1", 0)]),
        flags=[constant("i1", 0)],
    )
    leading = b.add(b.sub(b.const(top, 63 - unit), b.resize(zeros, 32)), top)
    lowest = b.intrinsic("smax", leading, b.const(leading, 1 - BIAS))
    cut = b.intrinsic(
        "smax", b.sub(b.add(lowest, b.const(top, unit - rule.kept)), top), b.const(top, 0)
    )
    amount = b.resize(cut, 64)
    kept = b.binary("shl", b.binary("ashr", total, amount), amount)
    field = b.resize(b.add(top, b.const(top, 1023 - unit)), 64)
    scale = b.bitcast(b.shift("shl", field, 52), "double")
    return b.convert(
        "fptrunc", b.binary("fmul", b.convert("sitofp", kept, "double"), scale), "float"
    )


def _with_specials(b: Builder, terms: Sequence[Value], added: Value, number: Value) -> Value:
    """Return sums with NaN and infinities where an operand or a product demands them."""
    limit = b.const(added, 0.0)
    for term in (*terms, added):
        is_finite = b.compare("olt", b.intrinsic("fabs", term), b.const(term, float("inf")))
        limit = b.binary("fadd", limit, b.select(is_finite, b.const(term, 0.0), term))
    return b.select(b.compare("oeq", limit, b.const(limit, 0.0)), number, limit)
