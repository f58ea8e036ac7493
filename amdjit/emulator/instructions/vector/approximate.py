"""The approximate instructions as host code: the rules of `isa/approximations.py` on 32 lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from amdjit.emulator.host.builder import LANES, Builder, Value, constant, vector
from amdjit.emulator.host.function import FALSE, NativeFunction
from amdjit.isa.approximation_tables import Rows
from amdjit.isa.approximations import SINGLE_RULES, Rule, power_of_two_half

_WHOLE = vector("i64")
_SINGLE = vector("float")

HALF_EXPONENTIAL = "aj_approximate_exp_half"


def approximate_symbol(name: str) -> str:
    """Return the native function of `v_<name>_f32`, from 32 floats to 32 floats."""
    return f"aj_approximate_{name}"


@dataclass(frozen=True, slots=True, eq=False)
class _Lanes:
    """32 integers of 64 bits, or conditions, with Python's operators."""

    builder: Builder
    value: Value

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

    def number(self, value: Value) -> _Lanes:
        """Return a value with operators."""
        return _Lanes(self.builder, value)

    def _value(self, x: _Lanes | int) -> Value:
        return x.value if isinstance(x, _Lanes) else constant(_WHOLE, x)

    def where(self, condition: _Lanes, yes: Any, no: Any) -> _Lanes:
        """Select."""
        b = self.builder
        return self.number(b.select(condition.value, self._value(yes), self._value(no)))

    def row(self, table: Rows, index: _Lanes) -> tuple[_Lanes, _Lanes, _Lanes, _Lanes]:
        """Gather from constants."""
        c0, c1, c2, c3 = (
            self._gathered(list(column), index) for column in zip(*table, strict=True)
        )
        return c0, c1, c2, c3

    def _gathered(self, column: list[int], index: _Lanes) -> _Lanes:
        b = self.builder
        name = f"{b.symbol}_{len(b.declarations)}"
        entries = ", ".join(f"i32 {number}" for number in column)
        b.declarations[name] = f"@{name} = internal constant [{len(column)} x i32] [{entries}]"
        places = b.emit(
            vector("ptr"), f"getelementptr i32, ptr @{name}, {_WHOLE} {index.value.text}"
        )
        full = Value(vector("i1"), "splat (i1 true)")
        zero = Value(vector("i32"), "zeroinitializer")
        gather = f"llvm.masked.gather.v{LANES}i32.v{LANES}p0"
        return self.number(b.resize(b.call(gather, zero.type, [places, full, zero]), 64, True))

    def width(self, x: _Lanes) -> _Lanes:
        """Count leading zeros."""
        return 64 - self.number(self.builder.intrinsic("ctlz", x.value, flags=[FALSE]))

    def limited(self, x: _Lanes, low: int, high: int) -> _Lanes:
        """Clip."""
        b = self.builder
        above = b.intrinsic("smax", x.value, b.const(x.value, low))
        return self.number(b.intrinsic("smin", above, b.const(x.value, high)))

    def power(self, exponent: _Lanes) -> _Lanes:
        """Shift 1."""
        return self.number(constant(_WHOLE, 1)) << exponent

    def product(self, x: _Lanes, factor: int) -> _Lanes:
        """Multiply floats: host code computes as MODE's defaults say."""
        b = self.builder
        single = b.bitcast(b.resize(x.value, 32), "float")
        scale = b.bitcast(constant(vector("i32"), factor), "float")
        return self.number(b.resize(b.bitcast(b.binary("fmul", single, scale), "i32"), 64))


def _text(symbol: str, rule: Rule, result: str, attributes: str) -> str:
    """Return a function from 32 floats to the results of a rule."""
    function = NativeFunction(symbol, vector(result), [(_SINGLE, "x")])
    reader = HostReader(function)
    bits = function.resize(function.bitcast(function.parameter("x"), "i32"), 64)
    found = rule(reader, reader.number(bits)).value
    width = 16 if result == "half" else 32
    function.give(function.bitcast(function.resize(found, width), result))
    return function.text(attributes)


def approximate_sources() -> Mapping[str, Callable[[str], str]]:
    """Return what makes the text of each native function."""
    return {
        **{
            approximate_symbol(name): partial(_text, approximate_symbol(name), rule, "float")
            for name, rule in SINGLE_RULES.items()
        },
        HALF_EXPONENTIAL: partial(_text, HALF_EXPONENTIAL, power_of_two_half, "half"),
    }
