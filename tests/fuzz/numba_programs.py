"""Random programs for `typing="numba"`, and what Numba's rules make of them on the host.

The types of operators are those of the table that Numba's own answers make
(tests/frontend/numba_result_types.tsv); values are Python's integers, cut to their type, and
NumPy's floats.
"""

from __future__ import annotations

import csv
import operator
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

TABLE = Path(__file__).parents[1] / "frontend" / "numba_result_types.tsv"
DTYPES: dict[str, Any] = {
    **{f"i{bits}": np.dtype(f"int{bits}").type for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"uint{bits}").type for bits in (8, 16, 32, 64)},
    "f32": np.float32,
    "f64": np.float64,
    "boolean": np.bool_,
}
INTEGERS = tuple(name for name in DTYPES if name[0] in "iu")
FLOATS = ("f32", "f64")
INPUTS = (*INTEGERS, *FLOATS)
LANES, SLOTS = 8, 6

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "/": np.divide,
    "min": min,
    "max": max,
}
_SIGNS = ("+", "-", "*", "//", "%", "&", "/", "|", "^")
_LIKE = {"|": "&", "^": "&"}  # the table has one of the three
_SPECIAL = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod", "&": "and"}
_SPECIAL |= {"|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "/": "truediv"}
_COMPARISONS = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}


def read_rules() -> dict[tuple[str, str, str], str]:
    """Return the result types of operators, by operator and operands."""
    with TABLE.open() as lines:
        rows = csv.DictReader((line for line in lines if line[0] != "#"), delimiter="\t")
        return {(row["operator"], row["left"], row["right"]): row["result"] for row in rows}


RULES = read_rules()


class UnclearError(Exception):
    """A value that the documentation leaves open: a lane with one is not compared."""


class Value:
    """A number of a type, with the operators of Numba's rules."""

    def __init__(self, type: str, value: Any) -> None:
        self.type, self.value = type, value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return int(self.value)


def made(type: str, value: Any) -> Value:
    """Convert: integers are cut to their width, floats rounded once."""
    if type == "boolean":
        return Value(type, bool(value))
    if type in FLOATS:
        return Value(type, DTYPES[type](value))
    if isinstance(value, (float, np.floating)):
        limits = np.iinfo(DTYPES[type])
        if not float(limits.min) <= value < float(int(limits.max) + 1):
            raise UnclearError
    bits = int(type[1:])
    cut = int(value) % (1 << bits)
    return Value(type, cut - (1 << bits) if type[0] == "i" and cut >> (bits - 1) else cut)


def as_value(x: Any) -> Value:
    """Give a literal its type: i64 or f64."""
    if isinstance(x, Value):
        return x
    return Value("boolean" if isinstance(x, bool) else "f64" if isinstance(x, float) else "i64", x)


def apply(sign: str, x: Any, y: Any) -> Value:
    """Compute in the type that the table has for the operands."""
    x, y = as_value(x), as_value(y)
    type = RULES[_LIKE.get(sign, sign), x.type, y.type]
    if sign in ("<<", ">>"):
        return made(type, _BINARY[sign](int(made(type, x.value).value), int(y.value)))
    a, b = made(type, x.value).value, made(type, y.value).value
    if type not in FLOATS:
        a, b = int(a), int(b)
        if sign in ("//", "%") and b == 0:
            return made(type, 0)
    elif sign in ("//", "%"):
        return Value(type, (np.floor_divide if sign == "//" else np.remainder)(a, b))
    elif sign in ("min", "max") and (np.isnan(a) or np.isnan(b) or a == b):
        raise UnclearError
    compute = _BINARY.get(sign) or {"|": operator.or_, "^": operator.xor}[sign]
    return made(type, compute(a, b))


def compare(sign: str, x: Any, y: Any) -> Value:
    """Compare: integers exactly, with a float in a float that holds the smaller ones."""
    x, y = as_value(x), as_value(y)
    a, b = x.value, y.value
    if x.type in FLOATS or y.type in FLOATS:
        wide = "f64" in (x.type, y.type) or any(t[1:] in ("32", "64") for t in (x.type, y.type))
        a, b = (DTYPES["f64" if wide else "f32"](side) for side in (a, b))
    return Value("boolean", bool(getattr(operator, _COMPARISONS[sign])(a, b)))


def one(sign: str, x: Any) -> Value:
    """Apply an operator or function of one operand."""
    x = as_value(x)
    type = RULES[sign if sign == "abs" else f"unary {sign}", x.type, ""]
    value = made(type, x.value).value
    if type == "boolean":
        return made(type, not value)  # of `~`
    compute = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "abs": abs}[sign]
    return made(type, compute(value if type in FLOATS else int(value)))


def choose(condition: Any, x: Any, y: Any) -> Value:
    """Return one of two values in the type that both have in common."""
    x, y = as_value(x), as_value(y)
    return made(RULES["if", x.type, y.type], (x if condition else y).value)


def _methods() -> None:
    for sign, name in _SPECIAL.items():
        setattr(Value, f"__{name}__", lambda x, y, sign=sign: apply(sign, x, y))
        setattr(Value, f"__r{name}__", lambda x, y, sign=sign: apply(sign, y, x))
    for sign, name in _COMPARISONS.items():
        setattr(Value, f"__{name}__", lambda x, y, sign=sign: compare(sign, x, y))
    for sign, name in {"-": "neg", "+": "pos", "~": "invert", "abs": "abs"}.items():
        setattr(Value, f"__{name}__", lambda x, sign=sign: one(sign, x))


_methods()
HOST_NAMES: dict[str, Any] = {
    "choose": choose,
    "min": lambda x, y: apply("min", x, y),
    "max": lambda x, y: apply("max", x, y),
    "int64": lambda x: made("i64", as_value(x).value),
    "float64": lambda x: made("f64", as_value(x).value),
    **{
        f"as_{name}": lambda x, name=name: made(name, as_value(x).value)
        for name in DTYPES
        if name != "boolean"
    },
}


class Writer:
    """Writes expressions whose types it knows. names: the variables with their types."""

    def __init__(self, random: Random) -> None:
        self.random, self.lines, self.names = random, [], {}  # type: ignore[var-annotated]

    def expression(self, depth: int) -> tuple[str, str]:
        """Return the text and the type of an expression."""
        make = self.random.choice(
            [self.leaf] if not depth else
            [self.binary] * 6 + [self.extreme, self.unary, self.conditional, self.conversion]
            + [self.comparison, self.shift]
        )  # fmt: skip
        text, type = make(depth - 1)
        # Python computes an expression of literals, without bounds.
        return (text, type) if not depth or "[i]" in text or "v" in text else self.element()

    def element(self) -> tuple[str, str]:
        name = self.random.choice(INPUTS)
        return f"a_{name}[i]", name

    def leaf(self, depth: int) -> tuple[str, str]:
        kind = self.random.random()
        if kind < 0.15:
            return str(self.random.choice([0, 1, 2, 7, -3, 100, 2**31, 2**40])), "i64"
        if kind < 0.25:
            return self.random.choice(["0.5", "0.1", "3.0", "-1.25"]), "f64"
        if kind < 0.5 and self.names:
            return self.random.choice(list(self.names.items()))
        return self.element()

    def binary(self, depth: int) -> tuple[str, str]:
        sign = self.random.choice(_SIGNS)
        (a, x), (b, y) = self.expression(depth), self.expression(depth)
        type = RULES[_LIKE.get(sign, sign), x, y]
        if type == ".":
            sign, type = "+", RULES["+", x, y]
        return f"({a} {sign} {b})", type

    def extreme(self, depth: int) -> tuple[str, str]:
        name = self.random.choice(["min", "max"])
        (a, x), (b, y) = self.expression(depth), self.expression(depth)
        return f"{name}({a}, {b})", RULES[name, x, y]

    def unary(self, depth: int) -> tuple[str, str]:
        (a, x), sign = self.expression(depth), self.random.choice("-+~a")
        rule = "abs" if sign == "a" else f"unary {sign}"
        type = RULES[rule, x, ""]
        if type == "." or (sign == "a" and x == "boolean"):
            return a, x
        return (f"abs({a})" if sign == "a" else f"({sign}{a})"), type

    def shift(self, depth: int) -> tuple[str, str]:
        (a, x), sign = self.expression(depth), self.random.choice(["<<", ">>"])
        if x in FLOATS:
            return a, x
        return f"({a} {sign} {self.random.randint(0, 7)})", RULES[sign, x, "i64"]

    def comparison(self, depth: int) -> tuple[str, str]:
        # Of a literal beyond the other side's range the result is known, and decides on types.
        a, b = self.expression(depth)[0], self.expression(depth)[0]
        if "[i]" not in a and "v" not in a:
            a = self.element()[0]
        if "[i]" not in b and "v" not in b:
            b = self.random.choice(["0", "7", "100", "0.5"])
        return f"({a} {self.random.choice(list(_COMPARISONS))} {b})", "boolean"

    def conditional(self, depth: int) -> tuple[str, str]:
        (a, x), (b, y) = self.expression(depth), self.expression(depth)
        type = RULES["if", x, y]
        return f"({a} if {self.comparison(depth)[0]} else {b})", type

    def conversion(self, depth: int) -> tuple[str, str]:
        type = self.random.choice(INPUTS)
        return f"as_{type}({self.expression(depth)[0]})", type

    def statement(self, slot: int, depth: int) -> None:
        """Write an assignment or a sum over a loop, and store the value."""
        text, type = self.expression(depth)
        name = f"v{slot}"
        if self.random.random() < 0.3 and type in ("i64", "f64"):
            more, other = self.expression(1)
            if RULES["+", type, other] == type:
                start = "0" if type == "i64" else "0.0"
                self.lines += [
                    f"    {name} = {start}",
                    f"    for k{slot} in range({self.random.randint(1, 4)}):",
                    f"        {name} += {text} * k{slot}" if RULES["*", type, "i64"] == type else
                    f"        {name} += {text}",
                    f"        {name} = {name} + {more}",
                ]  # fmt: skip
                text = ""
        if text:
            self.lines.append(f"    {name} = {text}")
        self.names[name] = type
        self.lines.append(f"    {'f' if type in FLOATS else 'o'}[i, {slot}] = {name}")


def written(random: Random, depth: int) -> str:
    """Write a program: a function of the lane, its inputs, and the outputs of integers and
    floats."""
    writer = Writer(random)
    for slot in range(SLOTS):
        writer.statement(slot, depth)
    inputs = ", ".join(f"a_{name}" for name in INPUTS)
    return f"def program(i, {inputs}, o, f):\n" + "\n".join(writer.lines) + "\n"


def inputs(random: np.random.Generator) -> dict[str, np.ndarray[Any, Any]]:
    """Return an array of each type: ordinary numbers and the limits."""
    found = {}
    for name in INPUTS:
        dtype = DTYPES[name]
        if name in FLOATS:
            found[name] = (random.integers(-50, 50, LANES) * 0.37).astype(dtype)
            continue
        limits = np.iinfo(dtype)
        found[name] = random.integers(max(limits.min, -20), 20, LANES).astype(dtype)
        found[name][:2] = limits.min, limits.max
        found[name] = random.permutation(found[name])
    return found
