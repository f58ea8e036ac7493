"""What a rule of addition is to the products, and how it gets numbers out of elements.

number = numbers(b, "f16", lanes)                # the low 16 bits of lanes as f32
parts = rule.parts(b, "a", number)               # what the rule keeps of a factor in memory
total = rule.step(f, left, right, total)         # C plus `rule.length` products
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from amdjit.emulator.host.builder import Builder, Value, constant, lanes_of, like
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.matrix.grid_step import INFINITY
from amdjit.emulator.instructions.matrix.loops import Loop
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.isa.matrix_rounding import FORMATS
from amdjit.late_methods import dataclass

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


# Rules that are ordinary arithmetic: multiply-adds in the order of k (f64, f32, and all floats in
# the quick mode), rounded products that are added in pairs (gfx90a), and integers.
#
# Source of the order and of what gfx90a rounds: MMA-Sim 2.1.1 (arXiv 2511.10909). That integers are
# exact and wrap: CDNA 3 ISA, 7.1.


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


# The rule of gfx908: the exact sum of C and of the products, rounded once.
#
# Source: MMA-Sim 2.1.1 (arXiv 2511.10909). Products are exact in f64, and sums of them mostly are.
# Where one is not, the errors are added too. Where their sum is not exact either, the terms are
# added as integers that are wide enough for all of them.


# Products of bf16 are multiples of 2**-266 and below 2**256; as f64 they have 52 bits after the
# leading one.
_LOWEST = -330
_WIDE = "i640"
_DOUBLE_BIAS, _FRACTION = 1023, 52
# The exponents of f32's last bit: of subnormal numbers, and below the leading one.
_LAST, _SINGLE_FRACTION = -149, 23
_SELDOM = (1, 4000)


@dataclass(frozen=True, slots=True)
class Exact(PlainFactors):
    """The exact sum, rounded once. Subnormal numbers are kept."""

    length: int

    def step(
        self, f: NativeFunction, left: Sequence[Parts], right: Sequence[Parts], total: Value
    ) -> Value:
        """Return C plus the products."""
        terms = [f.convert("fpext", total, "double")]
        for (x,), (y,) in zip(left, right, strict=True):
            factors = (f.convert("fpext", each, "double") for each in (x, y))
            terms.append(f.binary("fmul", *factors))
        found, errors = _sum(f, terms)
        is_finite = f.compare("olt", f.intrinsic("fabs", found), f.const(found, float("inf")))
        inexact = f.and_(_any_of(f, errors), is_finite)
        # No sum is -0.
        quick = f.convert("fptrunc", f.binary("fadd", found, f.const(found, 0.0)), "float")
        before, after = f.current, f.block("added")
        slowly = f.block("slowly")
        f.branch_if(_some(f, inexact), slowly, after, _SELDOM)
        f.label(slowly)
        rest, lost = _sum(f, errors)
        wide = f.and_(_any_of(f, lost), is_finite)
        exact = f.convert("fptrunc", _to_odd(f, *_two_sum(f, found, rest)), "float")
        # Where the sum is exact, or infinite or NaN, the quick one holds.
        exact = f.select(inexact, exact, quick)
        between, lanes = f.current, f.block("lanes")
        f.branch_if(_some(f, wide), lanes, after, _SELDOM)
        f.label(lanes)
        slow = _each_lane(f, terms, exact, wide)
        end = f.current
        f.branch(after)
        f.label(after)
        return f.phi(total.type, (quick, before), (exact, between), (slow, end))


def _sum(b: Builder, terms: Sequence[Value]) -> tuple[Value, list[Value]]:
    """Return a sum of f64, rounded after each addition, and the error of each."""
    found, errors = terms[0], []
    for term in terms[1:]:
        found, error = _two_sum(b, found, term)
        errors.append(error)
    return found, errors


def _any_of(b: Builder, errors: Sequence[Value]) -> Value:
    """Return the lanes where there is an error."""
    found = constant(like(errors[0].type, "i1"), 0)
    for error in errors:
        found = b.or_(found, b.compare("one", error, b.const(error, 0.0)))
    return found


def _some(b: Builder, lanes: Value) -> Value:
    kind = f"i{lanes_of(lanes.type)}"
    return b.compare("ne", b.cast("bitcast", lanes, kind), constant(kind, 0))


def _to_odd(b: Builder, total: Value, rest: Value) -> Value:
    """Return total + rest rounded to odd: rounded again, to f32, it is the exact sum rounded once
    (S. Boldo and G. Melquiond, "Emulation of FMA and Correctly Rounded Sums", 2008)."""
    bits, other = b.bitcast(total, "i64"), b.bitcast(rest, "i64")
    is_even = b.compare("eq", b.mask(bits, 1), b.const(bits, 0))
    moves = b.and_(is_even, b.compare("one", rest, b.const(rest, 0.0)))
    is_inward = b.compare("slt", b.xor(bits, other), b.const(bits, 0))
    by = b.select(is_inward, b.const(bits, -1), b.const(bits, 1))
    return b.bitcast(b.select(moves, b.add(bits, by), bits), "double")


def _two_sum(b: Builder, x: Value, y: Value) -> tuple[Value, Value]:
    """Return x + y and its error (D. E. Knuth, TAOCP 2, 4.2.2)."""
    total = b.binary("fadd", x, y)
    other = b.binary("fsub", total, x)
    error = b.binary("fsub", x, b.binary("fsub", total, other))
    return total, b.binary("fadd", error, b.binary("fsub", y, other))


def _each_lane(f: NativeFunction, terms: Sequence[Value], quick: Value, inexact: Value) -> Value:
    """Return the sums, exact in the lanes where the quick ones are not."""
    lanes = lanes_of(quick.type)
    assert lanes is not None
    places = [f.scratch(term.type) for term in (*terms, quick)]
    for term, place in zip((*terms, quick), places, strict=True):
        f.store(term, place, 64)
    lane = Loop(f, "lane", lanes)
    with f.if_(f.extract(inexact, lane.index)):
        own = f.shift("shl", lane.index, 3)
        sums = [_wide(f, f.load("i64", f.offset(place, own), 8)) for place in places[:-1]]
        total = sums[0]
        for each in sums[1:]:
            total = f.add(total, each)
        target = f.offset(places[-1], f.shift("shl", lane.index, 2))
        f.store(_rounded(f, total), target, 4)
    lane.close()
    return f.load(quick.type, places[-1], 64)


def _wide(b: Builder, bits: Value) -> Value:
    """Return an f64 as an integer, in units of 2**_LOWEST. No number is subnormal in f64."""
    magnitude = b.mask(bits, 63)
    hidden = b.or_(b.mask(bits, _FRACTION), constant("i64", 1 << _FRACTION))
    is_zero = b.compare("eq", magnitude, i64(0))
    significand = b.resize(b.select(is_zero, i64(0), hidden), 640)
    unit = b.sub(b.shift("lshr", magnitude, _FRACTION), i64(_DOUBLE_BIAS + _FRACTION + _LOWEST))
    amount = b.resize(b.select(is_zero, i64(0), unit), 640)
    size = b.binary("shl", significand, amount)
    negative = b.sub(constant(_WIDE, 0), size)
    return b.select(b.compare("slt", bits, i64(0)), negative, size)


def _rounded(b: Builder, total: Value) -> Value:
    """Return a sum as f32, rounded to nearest even."""
    is_negative = b.compare("slt", total, constant(_WIDE, 0))
    size = b.select(is_negative, b.sub(constant(_WIDE, 0), total), total)
    zeros = b.resize(b.intrinsic("ctlz", size, flags=[constant("i1", 0)]), 32)
    leading = b.sub(i32(639 + _LOWEST), zeros)
    last = b.intrinsic("smax", b.sub(leading, i32(_SINGLE_FRACTION)), i32(_LAST))
    # One bit more than the result keeps, and whether there are others below.
    amount = b.resize(b.sub(last, i32(_LOWEST + 1)), 640)
    kept = b.binary("lshr", size, amount)
    rest = b.compare("ne", b.binary("shl", kept, amount), size)
    units = b.resize(kept, 64)
    up = b.and_(units, b.or_(b.convert("zext", rest, "i64"), b.mask(b.shift("lshr", units, 1), 1)))
    whole = b.add(b.shift("lshr", units, 1), up)
    scale = b.shift("shl", b.resize(b.add(last, i32(_DOUBLE_BIAS)), 64), _FRACTION)
    value = b.binary("fmul", b.convert("uitofp", whole, "double"), b.bitcast(scale, "double"))
    signed = b.select(is_negative, b.emit("double", f"fneg double {value.text}"), value)
    return b.convert("fptrunc", signed, "float")
