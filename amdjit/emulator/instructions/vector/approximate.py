"""The approximate instructions as host code: the rules of `isa/approximations.py` on 32 lanes.

The rule of the reciprocal takes 20 ns with AVX-512 (104 vector instructions, two a cycle), and 46
to 52 ns with AVX2. The host's division and a table of how far the chip's results are from it (two
bits for each mantissa: 2 MiB, for roots twice that) take 24 and 28 ns if the table is in L2, and 41
and 42 ns if it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from amdjit.emulator.host.builder import LANES, Builder, Value, constant, is_float, vector
from amdjit.emulator.host.function import FALSE, V32, NativeFunction
from amdjit.emulator.host.native_sources import Source, Variant
from amdjit.isa.approximation_tables import Rows
from amdjit.isa.approximations import SINGLE_RULES, Rule, power_of_two_half
from amdjit.isa.floats import expressions as fx
from amdjit.late_methods import dataclass

_SINGLE = vector("float")

# AVX-512 takes an element of two registers for each of its lanes.
_HALF = vector("i32", 16)
_ROW = vector("i32", 4)
_PERMUTE = "llvm.x86.avx512.vpermi2var.d.512"

HALF_EXPONENTIAL = "aj_approximate_exp_half"


def approximate_symbol(name: str) -> str:
    """Return the native function of `v_<name>_f32`, from 32 floats to 32 floats."""
    return f"aj_approximate_{name}"


@dataclass(frozen=True, slots=True, eq=False)
class _Lanes:
    """32 integers, or conditions, with Python's operators. single: the integers as floats, if they
    are known as such."""

    builder: Builder
    value: Value
    single: Value | None = None

    def _made(self, operation: str, other: Any, swapped: bool = False) -> _Lanes:
        right = other.value if isinstance(other, _Lanes) else self.builder.const(self.value, other)
        pair = (right, self.value) if swapped else (self.value, right)
        return _Lanes(self.builder, self.builder.binary(operation, *pair))

    def _compared(self, predicate: str, other: Any) -> _Lanes:
        right = other.value if isinstance(other, _Lanes) else self.builder.const(self.value, other)
        return _Lanes(self.builder, self.builder.compare(predicate, self.value, right))

    def __add__(self, other: Any) -> _Lanes:
        return self._made("add", other)

    def __sub__(self, other: Any) -> _Lanes:
        return self._made("sub", other)

    def __rsub__(self, other: int) -> _Lanes:
        return self._made("sub", other, swapped=True)

    def __mul__(self, other: Any) -> _Lanes:
        return self._made("mul", other)

    def __and__(self, other: Any) -> _Lanes:
        return self._made("and", other)

    def __or__(self, other: Any) -> _Lanes:
        return self._made("or", other)

    def __xor__(self, other: Any) -> _Lanes:
        return self._made("xor", other)

    def __lshift__(self, other: Any) -> _Lanes:
        return self._made("shl", other)

    def __rlshift__(self, other: int) -> _Lanes:
        return self._made("shl", other, swapped=True)

    def __rshift__(self, other: Any) -> _Lanes:
        return self._made("ashr", other)

    def __lt__(self, other: Any) -> _Lanes:
        return self._compared("slt", other)

    def __le__(self, other: Any) -> _Lanes:
        return self._compared("sle", other)

    def __gt__(self, other: Any) -> _Lanes:
        return self._compared("sgt", other)

    def __ge__(self, other: Any) -> _Lanes:
        return self._compared("sge", other)

    def __eq__(self, other: object) -> _Lanes:  # type: ignore[override]
        return self._compared("eq", other)

    def __ne__(self, other: object) -> _Lanes:  # type: ignore[override]
        return self._compared("ne", other)

    __radd__, __rmul__, __ror__ = __add__, __mul__, __or__
    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class HostReader:
    """Writes a rule into a function of the host."""

    builder: NativeFunction
    has_wide_vectors: bool

    def number(self, value: Value) -> _Lanes:
        """Return a value with operators."""
        return _Lanes(self.builder, value)

    def _value(self, x: _Lanes | int) -> Value:
        return x.value if isinstance(x, _Lanes) else constant(V32, x)

    def where(self, condition: _Lanes, yes: Any, no: Any) -> _Lanes:
        """Select."""
        b = self.builder
        return self.number(b.select(condition.value, self._value(yes), self._value(no)))

    def rarely(self, condition: _Lanes, number: _Lanes, other: Callable[[], _Lanes]) -> _Lanes:
        """Branch if there is such a lane."""
        b = self.builder
        result = b.variable(number.value)
        lanes = b.mask_bits(condition.value)
        with b.if_(b.compare("ne", lanes, b.const(lanes, 0)), weights=(1, 16)):
            result.set_if(condition.value, other().value)
        return self.number(result.get())

    def row(self, table: Rows, index: _Lanes) -> tuple[_Lanes, _Lanes, _Lanes, _Lanes]:
        """Look up constants, whatever the index is in lanes whose number nobody uses."""
        if self.has_wide_vectors:
            columns = [self._permuted(column, index) for column in zip(*table, strict=True)]
        else:
            columns = self._loaded(table, index)
        c0, c1, c2, c3 = columns
        return c0, c1, c2, c3

    def factors(self, table: Rows, index: _Lanes) -> tuple[_Lanes, _Lanes, _Lanes, _Lanes]:
        """Look up floats."""
        c0, *others = zip(*table, strict=True)
        bits = [np.array(column, np.float32).view(np.int32).tolist() for column in others]
        constant, *factors = self.row(tuple(zip(c0, *bits, strict=True)), index)
        first, second, third = (
            self._whole_single(self.builder.bitcast(factor.value, "float")) for factor in factors
        )
        return constant, first, second, third

    def _whole_single(self, number: Value) -> _Lanes:
        """Return integers that floats hold. Host code that nobody uses is not compiled."""
        return _Lanes(self.builder, self.builder.convert("fptosi", number, "i32"), number)

    def _single(self, x: _Lanes) -> Value:
        return x.single or self.builder.convert("sitofp", x.value, "float")

    def inner(self, c2: _Lanes, c3: _Lanes, t: _Lanes, times: int, bits: int) -> _Lanes:
        """Compute floats: the product rounded on top of 2**23, as in `kept`."""
        b = self.builder
        number = self._single(t)
        step = b.const(number, 2.0**-bits)
        place = b.intrinsic("fma", number, b.const(number, times * 2.0**-bits), step)
        least = b.const(number, 2.0**23)
        product = b.binary("fsub", b.intrinsic("fma", self._single(c3), place, least), least)
        return self._whole_single(b.binary("fsub", self._single(c2), product))

    def _permuted(self, column: Sequence[int], index: _Lanes) -> _Lanes:
        """Permute registers of 32 constants, which takes a tenth of a gather's time."""
        b = self.builder
        ends = [b.shuffle(index.value, index.value, range(at, at + 16)) for at in (0, 16)]
        result = None
        for first in range(0, len(column), 32):
            table = [_constants((*column[first:], *[0] * 32)[at : at + 16]) for at in (0, 16)]
            found = [b.call(_PERMUTE, _HALF, [table[0], end, table[1]]) for end in ends]
            joined = self.number(b.shuffle(found[0], found[1], range(32)))
            result = joined if result is None else self.where(index >= first, joined, result)
        assert result is not None
        return result

    def _loaded(self, table: Rows, index: _Lanes) -> list[_Lanes]:
        """Load a row for each lane, and transpose: half the time of four gathers."""
        b = self.builder
        rows = [*table, *table[:1] * ((1 << (len(table) - 1).bit_length()) - len(table))]
        name = f"{b.symbol}_{len(b.declarations)}"
        entries = ", ".join(f"i32 {number}" for row in rows for number in row)
        size = 4 * len(rows)
        b.declarations[name] = f"@{name} = internal constant [{size} x i32] [{entries}], align 16"
        places = ((index & (len(rows) - 1)) << 4).value
        loaded = [
            b.load(_ROW, b.offset(Value("ptr", f"@{name}"), b.extract(places, lane)), 16)
            for lane in range(LANES)
        ]
        parts = [self._transposed(loaded[first : first + 8]) for first in range(0, LANES, 8)]
        return [self.number(self._joined(list(part))) for part in zip(*parts, strict=True)]

    def _transposed(self, rows: list[Value]) -> list[Value]:
        """Make columns of 8 rows."""
        shuffle = self.builder.shuffle
        r0, r1, r2, r3 = (shuffle(rows[k], rows[k + 4], range(8)) for k in range(4))
        low, high = (0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15)
        first, second = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)
        return [
            shuffle(shuffle(r0, r1, half), shuffle(r2, r3, half), pair)
            for half in (low, high)
            for pair in (first, second)
        ]

    def _joined(self, parts: list[Value]) -> Value:
        """Join vectors, a power of two of them."""
        while len(parts) > 1:
            lanes = range(2 * (LANES // len(parts)))
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.builder.shuffle(left, right, lanes) for left, right in pairs]
        return parts[0]

    def width(self, x: _Lanes) -> _Lanes:
        """Count leading zeros."""
        return 32 - self.number(self.builder.intrinsic("ctlz", x.value, flags=[FALSE]))

    def at_least(self, x: _Lanes, low: int) -> _Lanes:
        """Compare."""
        b = self.builder
        return self.number(b.intrinsic("smax", x.value, b.const(x.value, low)))

    def at_most(self, x: _Lanes, high: int) -> _Lanes:
        """Compare."""
        b = self.builder
        return self.number(b.intrinsic("smin", x.value, b.const(x.value, high)))

    def cut(self, x: _Lanes, y: _Lanes, bits: _Lanes | int, plus: int = 0) -> _Lanes:
        """Multiply in 64 bits."""
        b = self.builder
        left, right, amount = (b.resize(self._value(each), 64) for each in (x, y, bits))
        product = b.mul(left, right)
        product = b.add(product, b.const(product, plus))
        return self.number(b.resize(b.binary("lshr", product, amount), 32))

    def kept(self, x: _Lanes, y: _Lanes, bits: int) -> _Lanes:
        """Multiply floats, which have 24 bits: smaller products on top of 2**23, whose last bit is
        the unit, so that the distance from its bits is the result."""
        b = self.builder
        left, right = (self._single(each) for each in (x, y))
        left = b.binary("fmul", left, b.const(left, 2.0**-bits))
        large, least = b.binary("fmul", left, right), b.const(left, 2.0**23)
        above = b.bitcast(b.intrinsic("fma", left, right, least), "i32")
        small = b.sub(above, b.bitcast(least, "i32"))
        is_large = b.compare("oge", large, least)
        return self.number(b.select(is_large, b.convert("fptosi", large, "i32"), small))

    def square(self, x: _Lanes, bits: int) -> _Lanes:
        """Multiply in 32 bits: (2 h + o)**2 = 4 h (h + o) + o, and o alone cannot be carried."""
        half = x >> 1
        product = half * (half + (x & 1))
        return self.number(self.builder.shift("lshr", product.value, bits - 2))

    def parts(self, x: _Lanes, bits: int) -> tuple[_Lanes, _Lanes]:
        """Subtract the whole part, which rounds nothing. What is no number has any parts."""
        b = self.builder
        number = b.bitcast(x.value, "float")
        whole = self._whole(number)
        rest = b.binary("fsub", number, b.convert("sitofp", whole, "float"))
        return self.number(whole), self.number(
            self._whole(b.binary("fmul", rest, b.const(rest, 2.0**bits)))
        )

    def _whole(self, x: Value) -> Value:
        b = self.builder
        whole = b.convert("fptosi", x, "i32")
        return b.emit(whole.type, f"freeze {whole.type} {whole.text}")

    def product(self, x: _Lanes, factor: int) -> _Lanes:
        """Multiply floats: host code computes as MODE's defaults say."""
        b = self.builder
        single = b.bitcast(x.value, "float")
        scale = b.bitcast(constant(V32, factor), "float")
        return self.number(b.bitcast(b.binary("fmul", single, scale), "i32"))


def _constants(numbers: Sequence[int]) -> Value:
    return Value(_HALF, f"<{', '.join(f'i32 {number}' for number in numbers)}>")


def _exact(rule: Rule, has_wide_vectors: bool, b: NativeFunction) -> Value:
    """Write a rule, from 32 floats to the bits of its results."""
    reader = HostReader(b, has_wide_vectors)
    found: _Lanes = rule(reader, reader.number(b.bitcast(b.parameter("x"), "i32")))
    return found.value


# The quick functions: f32's division and root, and polynomials in f64, within 1 ulp of the exact
# value as the hardware is; denormal numbers are kept.

_DOUBLE = vector("double")


def _polynomial(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """Evaluate a polynomial by Horner's scheme; the constant coefficient comes first."""
    result = constant(_DOUBLE, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = b.intrinsic("fma", result, x, constant(_DOUBLE, coefficient))
    return result


def _whole(b: Builder, x: Value) -> Value:
    """Convert whole numbers to integers; NaNs become 0."""
    return b.convert("fptosi", b.select(b.compare("uno", x, x), b.const(x, 0.0), x), "i64")


def _power_of_two(b: Builder, single: Value) -> Value:
    x = b.convert("fpext", single, "double")
    low = b.intrinsic("maximum", x, constant(_DOUBLE, -200.0))
    limited = b.intrinsic("minimum", low, constant(_DOUBLE, 200.0))
    whole = b.intrinsic("roundeven", limited)
    rest = b.binary("fmul", b.binary("fsub", limited, whole), constant(_DOUBLE, math.log(2)))
    mantissa = _polynomial(b, rest, [1 / math.factorial(n) for n in range(11)])
    exponent = _whole(b, whole)
    scale = b.bitcast(b.shift("shl", b.add(exponent, b.const(exponent, 1023)), 52), "double")
    return b.convert("fptrunc", b.binary("fmul", mantissa, scale), "float")


def _logarithm(b: Builder, single: Value) -> Value:
    bits = b.bitcast(b.convert("fpext", single, "double"), "i64")
    # Take m in [sqrt(1/2), sqrt(2)): adding the distance between the bits of sqrt(1/2) and 1 moves
    # the exponent.
    shifted = b.add(bits, b.const(bits, 0x3FF0000000000000 - 0x3FE6A09E667F3BCD))
    exponent = b.sub(b.shift("ashr", shifted, 52), b.const(bits, 1023))
    mantissa = b.bitcast(b.sub(bits, b.shift("shl", exponent, 52)), "double")
    one = constant(_DOUBLE, 1.0)
    ratio = b.binary("fdiv", b.binary("fsub", mantissa, one), b.binary("fadd", mantissa, one))
    square = b.binary("fmul", ratio, ratio)
    series = _polynomial(b, square, [2 / math.log(2) / (2 * n + 1) for n in range(10)])
    result = b.intrinsic("fma", ratio, series, b.convert("sitofp", exponent, "double"))
    value = b.convert("fptrunc", result, "float")
    zero, infinity = b.const(single, 0.0), b.const(single, math.inf)
    value = b.select(b.compare("oeq", single, infinity), infinity, value)
    value = b.select(b.compare("oeq", single, zero), b.const(single, -math.inf), value)
    invalid = b.or_(b.compare("olt", single, zero), b.compare("uno", single, single))
    return b.select(invalid, b.bitcast(constant(vector("i32"), 0x7FC00000), "float"), value)


def _circle(turn: float, b: Builder, single: Value) -> Value:
    """Return sin(2 pi (x + turn)), reduced to an eighth of a turn around 0 or around a quarter
    turn."""
    x = b.convert("fpext", single, "double")
    moved = b.binary(
        "fadd", b.binary("fsub", x, b.intrinsic("roundeven", x)), constant(_DOUBLE, turn)
    )
    quarters = b.intrinsic("roundeven", b.binary("fmul", moved, constant(_DOUBLE, 4.0)))
    rest = b.intrinsic("fma", quarters, constant(_DOUBLE, -0.25), moved)
    angle = b.binary("fmul", rest, constant(_DOUBLE, 2 * math.pi))
    square = b.binary("fmul", angle, angle)
    sine = [(-1) ** n / math.factorial(2 * n + 1) for n in range(8)]
    cosine = [(-1) ** n / math.factorial(2 * n) for n in range(8)]
    quadrant = _whole(b, quarters)
    chosen = b.select(
        b.resize(quadrant, 1),
        _polynomial(b, square, cosine),
        b.binary("fmul", angle, _polynomial(b, square, sine)),
    )
    negative = b.resize(b.shift("lshr", quadrant, 1), 1)
    result = b.select(negative, b.emit(_DOUBLE, f"fneg {_DOUBLE} {chosen.text}"), chosen)
    return b.convert("fptrunc", result, "float")


_QUICK: Mapping[str, Callable[[Builder, Value], Value]] = {
    "rcp": fx.reciprocal,
    "rsq": fx.reciprocal_root,
    "sqrt": fx.square_root,
    "exp": _power_of_two,
    "log": _logarithm,
    "sin": partial(_circle, 0.0),
    "cos": partial(_circle, 0.25),
}


def _quick(name: str, result: str, b: NativeFunction) -> Value:
    single = _QUICK[name](b, b.parameter("x"))
    return b.convert("fptrunc", single, result)


def _text(
    symbol: str, result: str, body: Callable[[NativeFunction], Value], attributes: str
) -> str:
    """Return a function from 32 floats to results, which its body gives as such or as bits."""
    function = NativeFunction(symbol, vector(result), [(_SINGLE, "x")])
    found = body(function)
    if not is_float(found.type):
        found = function.bitcast(function.resize(found, 16 if result == "half" else 32), result)
    function.give(found)
    return function.text(attributes)


def approximate_sources(variant: Variant) -> Mapping[str, Source]:
    """Return what makes the text of each native function."""
    if variant.math == "fast":
        bodies = {name: partial(_quick, name, "float") for name in SINGLE_RULES}
        half = partial(_quick, "exp", "half")
    else:
        bodies = {
            name: partial(_exact, rule, variant.is_wide) for name, rule in SINGLE_RULES.items()
        }
        half = partial(_exact, power_of_two_half, variant.is_wide)
    singles = {
        approximate_symbol(name): partial(_text, approximate_symbol(name), "float", body)
        for name, body in bodies.items()
    }
    return {**singles, HALF_EXPONENTIAL: partial(_text, HALF_EXPONENTIAL, "half", half)}
