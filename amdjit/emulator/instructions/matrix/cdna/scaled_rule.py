"""How products of 8, 6 and 4 bits with scales are added: as those of 8-bit floats of gfx942, with
the exponents of two scales in that of each product.

A scale is E8M0: 2**(byte - 127), and 255 is NaN (CDNA 4 ISA, 7.2). The document says of the sum
only that the scales' exponents are added to those of the products (7.1.5); the steps and the
rounding are a model, that of the host reference.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.instructions.matrix.cdna.grid_quick import QuickGrid
from amdjit.emulator.instructions.matrix.cdna.grid_rules import INFINITE, Grid
from amdjit.emulator.instructions.matrix.cdna.rules import Parts
from amdjit.emulator.instructions.matrix.grid_step import BIAS, FRACTION
from amdjit.emulator.instructions.matrix.quick_steps import FAR, ZEROS, Bounds

_NAN_SCALE = 255


@dataclass(frozen=True, slots=True)
class ScaledGrid(Grid):
    """A step of 16 products with scales. The number among a factor's parts is without its scale,
    but NaN if the scale is."""

    def scaled(self, b: Builder, factor: str, number: Value, scale: Value) -> Parts:
        """Take apart factors with the bytes of their scales."""
        plain, significand, exponent = self.parts(b, factor, number)
        is_nan = b.compare("eq", scale, b.const(scale, _NAN_SCALE))
        moved = b.add(exponent, b.sub(scale, b.const(scale, BIAS)))
        return b.select(is_nan, b.const(plain, float("nan")), plain), significand, moved

    def term(self, b: Builder, x: Parts, y: Parts) -> Value:
        """Return a product, infinite from 2**128 on."""
        plain = b.binary("fmul", x[0], y[0])
        size = b.intrinsic("abs", b.mul(x[1], y[1]), flags=[constant("i1", 0)])
        zeros = b.intrinsic("ctlz", size, flags=[constant("i1", 0)])
        unit = b.add(x[2], y[2])
        leading = b.sub(b.add(unit, b.const(unit, 31 - self.rule.product_bits)), zeros)
        # The sum of the exponents has a bias; that of a zero is far below.
        is_large = b.compare("sge", leading, b.const(leading, BIAS + INFINITE))
        infinity = b.intrinsic("copysign", b.const(plain, float("inf")), plain)
        is_finite = b.compare("olt", b.intrinsic("fabs", plain), b.const(plain, float("inf")))
        return b.select(b.and_(is_large, is_finite), infinity, plain)


@dataclass(frozen=True, slots=True)
class QuickScaledGrid(QuickGrid):
    """`ScaledGrid` for ordinary operands: factors that are so with their scales."""

    def scaled(self, b: Builder, factor: str, number: Value, scale: Value) -> Parts:
        """Take apart factors with the bytes of their scales. The number has its scale; it is not
        finite if the scale is NaN, and has the exponent of its format."""
        at_least = b.intrinsic("umax", scale, b.const(scale, 1))
        power = b.bitcast(b.shift("shl", at_least, FRACTION), "float")
        moved = b.shift("shl", b.sub(scale, b.const(scale, BIAS)), FRACTION)
        _, field = self.parts(b, factor, number)
        is_zero = b.compare("oeq", number, b.const(number, 0.0))
        field = b.select(is_zero, b.const(field, ZEROS[factor] << FRACTION), b.add(field, moved))
        return b.binary("fmul", number, power), field

    def are_extreme(self, b: Builder, factor: Bounds) -> Value:
        """Return the lanes where a factor is not ordinary."""
        return factor.exceed(b, -FAR, FAR + 1)
