"""Rules that are ordinary arithmetic: multiply-adds in the order of k (f64, f32, and all floats in
the quick mode), rounded products that are added in pairs (gfx90a), and integers.

Source of the order and of what gfx90a rounds: MMA-Sim 2.1.1 (arXiv 2511.10909). That integers are
exact and wrap: CDNA 3 ISA, 7.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.host.function import NativeFunction
from amdjit.emulator.instructions.matrix.cdna.rules import Parts, PlainFactors
from amdjit.isa.matrix_rounding import FORMATS


@dataclass(frozen=True, slots=True)
class Chain:
    """Products one after the other, each fused. is_double: of f64."""

    is_double: bool
    length: int

    @property
    def kinds(self) -> tuple[str, ...]:
        """The number."""
        return ("double" if self.is_double else "float",)

    def parts(self, b: Builder, factor: str, number: Value) -> Parts:
        """Return the number."""
        return (number,)

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products, each rounded once."""
        for (x,), (y,) in zip(left, right, strict=True):
            total = f.intrinsic("fma", x, y, total)
        return total


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two or four products, each rounded to f32, added in pairs and then to C. Subnormal factors
    and a subnormal C are +0; a subnormal result of any operation becomes a zero of its sign."""

    kind: str
    length: int

    @property
    def kinds(self) -> tuple[str, ...]:
        """The number."""
        return ("float",)

    def parts(self, b: Builder, factor: str, number: Value) -> Parts:
        """Return the number, without subnormal ones and signs of zeros."""
        return (_without_small(b, number, self.kind),)

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products."""
        # Of f16, products and their sums are multiples of 2**-48: none is subnormal.
        is_fine = self.kind == "f16"
        terms = []
        for (x,), (y,) in zip(left, right, strict=True):
            product = f.binary("fmul", x, y)
            terms.append(product if is_fine else _flushed(f, product))
        while len(terms) > 1:
            sums = [f.binary("fadd", x, y) for x, y in zip(terms[::2], terms[1::2], strict=True)]
            terms = sums if is_fine else [_flushed(f, each) for each in sums]
        added = f.binary("fadd", _without_small(f, total, "f32"), terms[0])
        return _flushed(f, added)


def _is_small(b: Builder, number: Value, kind: str) -> Value:
    return b.compare(
        "olt", b.intrinsic("fabs", number), b.const(number, 2.0 ** FORMATS[kind].lowest)
    )


def _without_small(b: Builder, number: Value, kind: str) -> Value:
    return b.select(_is_small(b, number, kind), b.const(number, 0.0), number)


def _flushed(b: Builder, number: Value) -> Value:
    zero = b.intrinsic("copysign", b.const(number, 0.0), number)
    return b.select(_is_small(b, number, "f32"), zero, number)


@dataclass(frozen=True, slots=True)
class Integers(PlainFactors):
    """Products of 8-bit integers, whose sum is exact in f32, added to i32 that wraps."""

    length: int

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products, modulo 2**32."""
        products = f.const(left[0][0], 0.0)
        for (x,), (y,) in zip(left, right, strict=True):
            products = f.intrinsic("fma", x, y, products)
        return f.add(total, f.convert("fptosi", products, "i32"))
