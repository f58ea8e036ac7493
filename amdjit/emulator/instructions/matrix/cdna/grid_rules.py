"""Steps of gfx942 for any operands: those of `grid_step`, of factors that come as f32.

All NaN are the same there, and a product from 2**128 on counts as infinite: sums of f32 show what
NaN and infinities make of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.matrix.cdna.rules import Parts
from amdjit.emulator.instructions.matrix.dot_factors import ZERO_EXPONENT, Factor
from amdjit.emulator.instructions.matrix.grid_step import BIAS, FRACTION, GridStep, cut
from amdjit.isa.matrix_rounding import FORMATS

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
