"""Expressions of random programs: of every type, from the names and arrays that there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from amdjit.frontend.values.promotion import common_scalar
from amdjit.types import Scalar, Vector, bf16, boolean, f32, i8, i16, i32, i64, u8, u16, u32, u64
from tests.fuzz.choices import Choices
from tests.fuzz.program_types import (
    FLOATS,
    INTEGERS,
    ITEMS,
    NUMBERS,
    PARAMETERS,
    SLOTS,
    ComplexType,
    Kind,
    MemoryType,
    RecordType,
    TupleType,
)

T = TypeVar("T")
SIGNED = (i8, i16, i32, i64)
_DEPTH = 3


def parts(text: str, type: Kind) -> Iterator[tuple[str, Kind]]:
    """Yield a name and its readable parts: items, fields, real and imaginary parts."""
    yield text, type
    if isinstance(type, ComplexType):
        yield from ((f"{text}.real", type.part), (f"{text}.imag", type.part))
    elif isinstance(type, Vector):
        yield from ((f"{text}[{k}]", type.element) for k in (0, -1))
    elif isinstance(type, TupleType):
        for k, item in enumerate(type.items):
            yield from parts(f"{text}[{k}]", item)
    elif isinstance(type, RecordType):
        for name, item in type.fields:
            yield from parts(f"{text}.{name}", item)
    elif isinstance(type, MemoryType):
        yield from ((type.place(text, str(k)), type.element) for k in (0, -1))


@dataclass
class Expressions:
    """Takes choices and writes expressions.

    names: what can be read, also `self.a`. helpers: their parameters and result. fillers: functions
    that make a memory; takers: those that take an array of a type.
    """

    choices: Choices
    lines: list[str] = field(default_factory=list)
    names: dict[str, Kind] = field(default_factory=dict)
    records: list[RecordType] = field(default_factory=list)
    helpers: dict[str, tuple[tuple[Kind, ...], Kind]] = field(default_factory=dict)
    fillers: dict[str, MemoryType] = field(default_factory=dict)
    takers: dict[Scalar, str] = field(default_factory=dict)
    counter: int = 0
    arrays: bool = True
    loops: int = 0

    def pick(self, *items: T) -> T:
        return self.choices.pick(*items)

    def chance(self, percent: int) -> bool:
        return self.choices.chance(percent)

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def expression(self, type: Kind, depth: int = _DEPTH) -> str:
        """Write an expression of exactly this type."""
        if not isinstance(type, Scalar):
            return self.composite(type, depth)
        if depth <= 0 or self.chance(15):
            return self.leaf(type)
        makers = [self.leaf, self.conversion, self.conditional, self.conditional, self.call]
        makers += [self.item_at_run_time, self.chain]
        if type is boolean:
            makers += [
                self.comparison,
                self.comparison,
                self.connective,
                self.negation,
                self.boolean_bits,
            ]
            makers += [self.complex_comparison, self.unlike_signs, self.membership, self.membership]
        else:
            makers += [self.arithmetic] * 5 + [self.unary, self.extreme, self.choice_of_operands]
            makers += (
                [self.bit_operation, self.bit_operation, self.shift]
                if type.is_integer
                else [self.division]
            )
            makers += [self.unlike_signs] if type in (u64, i64) else []
            makers += [self.reinterpretation] if type.bits > 8 else []
            makers += [self.rounding] if type is not bf16 else []
        return self.pick(*makers)(type, depth - 1)

    def composite(self, type: Kind, depth: int) -> str:
        """Write an expression of a type with parts."""
        raise NotImplementedError

    def complex_comparison(self, type: Scalar, depth: int) -> str:
        raise NotImplementedError

    def readable(self, type: Kind) -> list[str]:
        """Return the names of a type, and the parts of names that have it."""
        found = []
        for name, kind in self.names.items():
            found += [text for text, part in parts(name, kind) if part == type]
        return found

    def leaf(self, type: Scalar, depth: int = 0) -> str:
        known = self.readable(type)
        if known and self.chance(60):
            return self.pick(*known)
        if self.arrays and type in PARAMETERS and self.chance(60):
            return self.element(type, depth)
        if not self.arrays and type in PARAMETERS and self.chance(20):
            return f"T_{type}[{self.choices.number(-ITEMS, ITEMS - 1)}]"
        return f"{type}({self.literal(type)})"

    def element(self, type: Scalar, depth: int) -> str:
        """Read an input, a table of constants, or a result that the lane has written or not."""
        if self.chance(20):
            return f"o_{type}[{self.place()}]"
        return f"{self.pick('a', 'a', 'T')}_{type}[{self.index(depth)}]"

    def place(self) -> str:
        return f"i * {SLOTS} + {self.choices.number(0, SLOTS - 1)}"

    def index(self, depth: int) -> str:
        """Write an index of the inputs: the lane's own, one that all lanes share, or one that is
        computed."""
        if self.chance(60):
            return self.pick("i", "i", "u", "u + 2", "3", "LAST", "-TWO", "THREE - TWO * TWO")
        return f"{self.expression(i32, min(depth, 1))} & {ITEMS - 1}"

    def condition(self, depth: int) -> str:
        """Write what is tested: an expression, or elements that are read only if those before them
        ask for it."""
        if depth <= 0 or not self.arrays or self.chance(50):
            return self.expression(self.pick(boolean, boolean, *NUMBERS), depth)
        return self.tested_elements(depth)

    def tested_elements(self, depth: int) -> str:
        """Write elements of any types whose truth alone is asked for."""
        first = self.element(self.pick(*PARAMETERS), depth)
        first = f"(not {first})" if self.chance(15) else first
        if depth <= 0 or self.chance(25):
            return first
        rest = self.tested_elements(depth - 1)
        if self.chance(15):
            return f"({first} if {self.tested_elements(depth - 1)} else {rest})"
        return f"({first} {self.pick('and', 'or')} {rest})"

    def literal(self, type: Scalar) -> str:
        if type is boolean:
            return self.pick("True", "False")
        if type.is_float:
            return self.pick(
                "1.0", "0.0", "0.0", "-1.5", "0.1", "3.0", "1e-3", "100.25", "-2.0", "-0.0", "0.125"
            )
        if self.chance(25):
            return str(
                self.pick(type.minimum, type.maximum, type.maximum // 3, 1 << (type.bits - 2))
            )
        return str(self.pick(1, 0, 2, 3, 5, 7, 9, *((-1, -2, -9) if type.is_signed else ())))

    def partner(self, type: Scalar, kinds: tuple[Scalar, ...] = NUMBERS) -> Scalar:
        """Choose a type that meets `type` in `type`."""
        return self.pick(
            type, *(other for other in (*kinds, boolean) if common_scalar(type, other) is type)
        )

    def operands(
        self, type: Scalar, depth: int, kinds: tuple[Scalar, ...] = NUMBERS
    ) -> tuple[str, str]:
        left = self.expression(type, depth)
        right = (
            self.weak(type)
            if self.chance(30)
            else self.expression(self.partner(type, kinds), depth)
        )
        return (left, right) if self.chance(60) else (right, left)

    def weak(self, type: Scalar) -> str:
        """Write a literal, or what Python numbers make, that takes this type beside it."""
        if self.arrays and self.chance(40):
            return self.python_number(type)
        if type.is_float and self.chance(50):
            return self.pick("2", "-1", "0", "7", "True")
        text = self.literal(type)
        return f"({text})" if text.startswith("-") else text

    def python_number(self, type: Scalar) -> str:
        """Write an expression of Python numbers that every type of the kind holds."""
        if type.is_float:
            return self.pick(
                "r", "t", "p", "(r * t)", "(r / p + t)", "(p / 7)", "-r", "abs(t)", "(t // r)",
                "max(r, q)",
                "(r - 0.3) * 2", "2 ** q", "(p ** q * 8)", "r ** p", "abs(t) ** r",
            )  # fmt: skip
        return self.pick(
            "p",
            "(p + 2)",
            "(p * p)",
            "(q & 15)",
            "abs(q)",
            "min(p, 9)",
            "(p // 2)",
            "(p << 2)",
            "-q",
            "2 ** p",
            "(3 ** (p * p) % 7)",
            "pow(p, 40, 64)",
            "((1 << p * 20) >> 95)",
        )

    def dividend_and_divisor(self, type: Scalar, depth: int) -> tuple[str, str]:
        """Write operands that keep their type in `x if u else 1`: a Python number gets one there,
        and a boolean becomes an i32."""
        left, partner = self.expression(type, depth), self.partner(type)
        if self.chance(30) or partner is boolean:
            right = f"{type}({self.weak(type)})"
        else:
            right = self.expression(partner, depth)
        return (left, right) if self.chance(60) else (right, left)

    def arithmetic(self, type: Scalar, depth: int) -> str:
        # How bfloat16 divides down is ml_dtypes' own affair.
        operators = ("+", "-", "*") if type is bf16 else ("+", "-", "*", "+", "-", "*", "//", "%")
        operator = self.pick(*operators)
        write = self.dividend_and_divisor if operator in ("//", "%") else self.operands
        left, right = write(type, depth)
        return self.operation(left, operator, right)

    def operation(self, left: str, operator: str, right: str) -> str:
        """Write an operator. A divisor is no constant: one that is 0 would be refused."""
        if operator in ("//", "%", "/"):
            right = f"({right} if u else 1)" if self.arrays else f"({right} or 1)"
        return f"({left} {operator} {right})"

    def division(self, type: Scalar, depth: int) -> str:
        if type is f32 and self.chance(30):
            narrow = self.pick(i8, i16, i32, u8, u16, u32, boolean)
            # Converted: of a width of its own, whatever it meets.
            left, right = self.expression(narrow, depth), self.expression(narrow, depth)
            return f"f32{self.operation(left, '/', right)}"
        left, right = self.dividend_and_divisor(type, depth)
        return self.operation(left, "/", right)

    def bit_operation(self, type: Scalar, depth: int) -> str:
        left, right = self.operands(type, depth, INTEGERS)
        return f"({left} {self.pick('&', '|', '^')} {right})"

    def unlike_signs(self, type: Scalar, depth: int) -> str:
        """Write an operator on a u64 and a signed integer, which has a result of this type."""
        sides = [self.expression(u64, depth), self.expression(self.pick(*SIGNED), depth)]
        left, right = sides if self.chance(50) else sides[::-1]
        if type is boolean:
            return f"({left} {self.pick('<', '<=', '==', '!=', '>', '>=')} {right})"
        if type is i64:
            return f"min({left}, {right})"
        if self.chance(15):
            return f"max({left}, {right})"
        return self.operation(left, self.pick("+", "-", "*", "//", "%", "&", "|", "^"), right)

    def membership(self, type: Scalar, depth: int) -> str:
        """Write `x in items`. Not of floats: Python also asks whether a NaN is the same object."""
        operand = self.pick(*INTEGERS)
        item = self.expression(operand, depth)
        items = [
            self.expression(self.partner(operand, INTEGERS), min(depth, 1))
            if self.chance(60)
            else self.weak(operand)
            for _ in range(self.choices.number(1, 3))
        ]
        shape = self.pick("({},)", "[{}]")
        return f"({item} {self.pick('in', 'not in')} {shape.format(', '.join(items))})"

    def any_count(self, type: Scalar, depth: int) -> str:
        """Write a shift by a count of any integer type."""
        count = self.pick(*INTEGERS, boolean)
        right = self.expression(count, depth)
        right = f"({right} & {self.pick(7, 15, 63)})" if count is not boolean else right
        return f"({self.expression(type, depth)} {self.pick('<<', '>>')} {right})"

    def shift(self, type: Scalar, depth: int) -> str:
        if self.chance(30):
            return self.any_count(type, depth)
        count = self.pick(
            "1", "3", str(type.bits - 1), f"({self.expression(type, depth)} & {type.bits - 1})"
        )
        count = self.expression(type, depth) if self.chance(20) else count
        return f"({self.expression(type, depth)} {self.pick('<<', '>>')} {count})"

    def unary(self, type: Scalar, depth: int) -> str:
        operators = ("-", "+", "~", "abs", "**") if type.is_integer else ("-", "+", "abs", "**")
        operator, operand = self.pick(*operators), self.expression(type, depth)
        if operator == "**" and type.is_integer and self.chance(50):
            other = self.partner(type, INTEGERS)
            count = self.expression(other, min(depth, 1))
            return f"({operand} ** {f'({count} & 7)' if other is not boolean else count})"
        if operator == "**":
            return f"({operand} ** {self.pick(0, 1, 2, 3, 6)})"
        return f"abs({operand})" if operator == "abs" else f"({operator}{operand})"

    def extreme(self, type: Scalar, depth: int) -> str:
        items = [*self.operands(type, depth)]
        if self.chance(40):
            items.insert(self.choices.number(0, 2), self.expression(self.partner(type), depth))
        return f"{self.pick('min', 'max')}({', '.join(items)})"

    def rounding(self, type: Scalar, depth: int) -> str:
        """Round to digits, known when compiling, when launching, or at run time."""
        known = ("p - 3", "q") if self.arrays else ("2",)
        digits = self.pick("1", "-1", *known, f"({self.expression(i32, min(depth, 1))} & 3)")
        return f"round({self.expression(type, depth)}, {self.pick('', '', '-')}({digits}))"

    def conversion(self, type: Scalar, depth: int) -> str:
        sources = FLOATS if type.is_float and self.chance(50) else (*NUMBERS, boolean)
        return f"{type}({self.expression(self.pick(*sources), depth)})"

    def reinterpretation(self, type: Scalar, depth: int) -> str:
        other = self.pick(
            *(n for n in NUMBERS if n.bits == type.bits and n.is_float is not type.is_float)
        )
        if not other.is_float:
            return f"bitcast({self.expression(other, depth)}, {type})"
        # Not of any float: the bits of a NaN that arithmetic makes are the machine's choice.
        if not self.arrays:
            return self.leaf(type)
        return f"bitcast(a_{other}[{self.index(depth)}], {type})"

    def conditional(self, type: Kind, depth: int) -> str:
        left, right = self.expression(type, depth), self.expression(type, depth)
        return f"({left} if {self.condition(depth)} else {right})"

    def item_at_run_time(self, type: Kind, depth: int) -> str:
        """Write a tuple and an index that is known at run time, counted from either end."""
        kinds = [type, *(self.side(type) for _ in range(self.choices.number(0, 3)))]
        turned = self.choices.number(0, len(kinds) - 1)
        items = [self.expression(kind, depth) for kind in (*kinds[turned:], *kinds[:turned])]
        index = f"{self.expression(i32, depth)} % {len(items)}"
        index += self.pick("", f" - {len(items)}")
        if self.chance(15):
            index = self.pick("LAST", "TWO - THREE", f"TWO % {len(items)}")
        return self.converted(type, f"({', '.join(items)},)[{index}]")

    def side(self, type: Kind) -> Kind:
        """Choose the type of one of several values that meet in a type, which one of them has."""
        return self.partner(type) if isinstance(type, Scalar) and type is not boolean else type

    def converted(self, type: Kind, text: str) -> str:
        """Write one of several values: for Python it has a type of its own."""
        return f"{type}({text})" if isinstance(type, Scalar) and type is not boolean else text

    def chain(self, type: Kind, depth: int) -> str:
        """Write a choice among three values, whose type is that of all at once."""
        kinds = [type, self.side(type), self.side(type)]
        if u64 in kinds and any(kind in SIGNED for kind in kinds):
            kinds = [type] * 3  # two of them alone have no type in common
        turned = self.choices.number(0, 2)
        one, two, three = (
            self.expression(kind, depth) for kind in (*kinds[turned:], *kinds[:turned])
        )
        first, second = self.condition(min(depth, 1)), self.condition(min(depth, 1))
        form = self.pick(
            "({0} if {3} else {1} if {4} else {2})", "(({0} if {3} else {1}) if {4} else {2})"
        )
        return self.converted(type, form.format(one, two, three, first, second))

    def choice_of_operands(self, type: Scalar, depth: int) -> str:
        return (
            f"({self.expression(type, depth)} {self.pick('and', 'or')} "
            f"{self.expression(type, depth)})"
        )

    def comparison(self, type: Scalar, depth: int) -> str:
        operand = self.pick(*NUMBERS)
        left, right = self.operands(operand, depth)
        operators = ("<", "<=", "==", "!=", ">", ">=")
        if self.chance(25):
            middle = self.expression(operand, depth)
            return f"({left} {self.pick(*operators)} {middle} {self.pick(*operators)} {right})"
        if operand.is_integer and self.chance(10):
            right = str(self.pick(1 << 70, -(1 << 70)))
            left = self.expression(operand, depth)
        return f"({left} {self.pick(*operators)} {right})"

    def connective(self, type: Scalar, depth: int) -> str:
        return (
            f"({self.expression(boolean, depth)} {self.pick('and', 'or')} "
            f"{self.expression(boolean, depth)})"
        )

    def negation(self, type: Scalar, depth: int) -> str:
        return f"boolean(not {self.expression(self.pick(*NUMBERS, boolean), depth)})"

    def boolean_bits(self, type: Scalar, depth: int) -> str:
        return (
            f"({self.expression(boolean, depth)} {self.pick('&', '|', '^')} "
            f"{self.expression(boolean, depth)})"
        )

    def call(self, type: Kind, depth: int) -> str:
        fitting = [name for name, (_, result) in self.helpers.items() if result == type]
        if not fitting:
            return self.expression(type, 0)
        name = self.pick(*fitting)
        arguments = [self.expression(parameter, depth) for parameter in self.helpers[name][0]]
        return f"{name}({', '.join(arguments)})"
