"""What a rule of addition is to the products, and how it gets numbers out of elements.

number = numbers(b, "f16", lanes)                # the low 16 bits of lanes as f32
parts = rule.parts(b, "a", number)               # what the rule keeps of a factor in memory
total = rule.step(f, left, right, total)         # C plus `rule.length` products
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.matrix.grid_step import INFINITY
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.isa.matrix_rounding import FORMATS

# What a factor consists of in memory, and vectors of it.
Parts = Sequence[Value]


class Rule(Protocol):
    """How C and some products are added. C and the sum are lanes of f32, of f64, or of i32."""

    @property
    def length(self) -> int:
        """How many products are added in one step."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of a factor's parts."""

    def parts(self, b: Builder, factor: str, number: Value) -> Parts:
        """Take apart factors of A or B."""

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products."""


class PlainFactors:
    """The factors of a rule that keeps them as they are: one f32 each."""

    __slots__ = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The number."""
        return ("float",)

    def parts(self, b: Builder, factor: str, number: Value) -> Parts:
        """Return the number."""
        return (number,)


def numbers(b: Builder, kind: str, lanes: Value) -> Value:
    """Return the elements in the low bits of i32 or i64 lanes as floats: f64, or f32, which has all
    other types' numbers."""
    if kind == "f64":
        return b.bitcast(lanes, "double")
    if kind == "f32":
        return b.bitcast(lanes, "float")
    if kind == "xf32":
        magnitude = b.mask(lanes, 31)
        is_nan = b.compare("ugt", magnitude, b.const(magnitude, INFINITY))
        cut = b.and_(lanes, b.const(lanes, -1 << FORMATS[kind].ignored_bits))
        return b.bitcast(b.select(is_nan, lanes, cut), "float")
    return ELEMENTS[kind].widen(b, lanes)
