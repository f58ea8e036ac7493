"""What an expression can be while a function is typed: known now, or a typed tree that computes it
at run time."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import CompileError
from amdjit.frontend.values.known import CompileTime as CompileTime
from amdjit.frontend.values.known import identity as identity
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, UnaryOperator
from amdjit.types import Scalar, Structure, Type


@dataclass(frozen=True, slots=True)
class TupleValue:
    """Several values, each known now or computed later. structure: their names, for records.

    holds_functions: whether a function made in the kernel is among them, at any depth. size: how
    many items there are in all, those of inner tuples too.
    """

    items: tuple[Value, ...]
    structure: Structure | None = None
    holds_functions: bool = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        holds, size = False, len(self.items)
        for item in self.items:
            if isinstance(item, TupleValue):
                holds |= item.holds_functions
                size += item.size
            else:
                holds |= isinstance(item, FunctionValue)
        object.__setattr__(self, "holds_functions", holds)
        object.__setattr__(self, "size", size)

    def with_items(self, items: Iterable[Value]) -> TupleValue:
        """Return a tuple of the same structure."""
        return TupleValue(tuple(items), self.structure)


@dataclass(frozen=True, slots=True)
class Method:
    """A bound method such as `array.load`, before the call. function: a record's method, None for
    methods of arrays."""

    receiver: Value
    name: str
    function: DeviceFunction | None = None


@dataclass(frozen=True, slots=True)
class SliceValue:
    """A slice whose bounds are known at run time and held in variables; missing parts are
    `CompileTime(None)`."""

    lower: Value
    upper: Value
    step: Value


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function made in the kernel, with the values that it carries and their names."""

    function: Any
    names: tuple[str, ...]
    items: tuple[Value, ...]


class Choice:
    """In place of a function: one of two, by a condition. The value's items are the condition, the
    function where it is true, and the one where it is false."""

    name = "choice"


def chosen_function(condition: tree.Expression, when_true: Value, when_false: Value) -> Value:
    """Return the function that is called as one of two, by a condition in a variable."""
    return FunctionValue(Choice, ("", "", ""), (condition, when_true, when_false))


def is_function(value: Value) -> bool:
    """Whether a value can be called."""
    return isinstance(value, (FunctionValue, Method)) or (
        isinstance(value, CompileTime) and callable(value.value)
    )


@dataclass(frozen=True, slots=True)
class Undefined:
    """A name without a single value here. `reason` completes the sentence "`x` ..."."""

    reason: str


@dataclass(frozen=True, slots=True)
class Poisoned(Undefined):
    """A name whose assignment was refused; reading it is refused too, without another error."""


@dataclass(frozen=True, slots=True, eq=False)
class NoCommonType(Undefined):
    """A name whose values on the paths that meet here have no type in common, which is an error
    where it is read."""

    error: CompileError


@dataclass(frozen=True, slots=True, eq=False)
class PartlyAssigned:
    """A name that has one variable in the whole function, None before its type is known.

    assigned: says whether it has been assigned, None where reads are not checked.
    """

    variable: tree.Variable | None
    assigned: tree.Variable | None


POISONED = Poisoned("was not typed")


def static_value(value: Value) -> CompileTime | None:
    """Return the compile-time object of a value if all its parts are known, None otherwise."""
    if isinstance(value, CompileTime):
        return value
    if isinstance(value, TupleValue):
        items = [static_value(item) for item in value.items]
        if all(item is not None for item in items):
            known = tuple(item.value for item in items if item is not None)
            return CompileTime(
                known if value.structure is None else _instance(value.structure, known)
            )
    return None


def of_member(value: Value) -> Value:
    """Return a member of an enum whose value is a number as what stands for one that is chosen at
    run time, a tuple of this number; other values as they are."""
    member = value.value if isinstance(value, CompileTime) else None
    if not isinstance(member, enum.Enum) or isinstance(member, int):
        return value
    if not isinstance(member.value, (bool, int, float)):
        return value
    kind = type(member)
    return TupleValue((CompileTime(member.value),), Structure(kind.__name__, ("value",), kind))


def is_chosen_member(value: Value) -> bool:
    """Whether a value is a member of an enum that is chosen at run time."""
    python = value.structure.python if isinstance(value, TupleValue) and value.structure else None
    return python is not None and issubclass(python, enum.Enum)


def known_integer(value: object) -> int | None:
    """Return an integer that is known when compiling, None for other values: Python's own, or one
    with a type, such as a NumPy scalar from outside or what is computed from these alone."""
    if isinstance(value, CompileTime):
        number = value.value
        return int(number) if isinstance(number, int) and not isinstance(number, bool) else None
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        return None
    if not value.type.is_integer:
        return None
    return None if (number := _computed(value)) is None else _wrapped(number, value.type)


def _computed(value: tree.Expression) -> int | None:
    """Return the value of a typed integer expression of constants, without bounds."""
    if isinstance(value, tree.Constant):
        return int(value.value)
    if isinstance(value, tree.Convert):
        return known_integer(value.operand)
    if isinstance(value, tree.Unary):
        operands = [known_integer(value.operand)]
        compute = _OF_ONE.get(value.operator)
    elif isinstance(value, tree.Binary):
        operands = [known_integer(value.left), known_integer(value.right)]
        compute = _OF_TWO.get(value.operator)
        is_division = value.operator in (BinaryOperator.FLOOR_DIVIDE, BinaryOperator.MODULO)
        if is_division and operands[1] == 0:
            return None
    else:
        return None
    if compute is None or None in operands:
        return None
    return int(compute(*operands))


_OF_ONE: Mapping[UnaryOperator, Callable[..., int]] = {
    UnaryOperator.NEGATE: operator.neg,
    UnaryOperator.INVERT: operator.invert,
    UnaryOperator.ABSOLUTE: abs,
}
_OF_TWO: Mapping[BinaryOperator, Callable[..., int]] = {
    BinaryOperator.ADD: operator.add,
    BinaryOperator.SUBTRACT: operator.sub,
    BinaryOperator.MULTIPLY: operator.mul,
    BinaryOperator.FLOOR_DIVIDE: operator.floordiv,
    BinaryOperator.MODULO: operator.mod,
    BinaryOperator.AND: operator.and_,
    BinaryOperator.OR: operator.or_,
    BinaryOperator.XOR: operator.xor,
    BinaryOperator.SHIFT_LEFT: lambda x, n: x << n if 0 <= n < 64 else 0,
    BinaryOperator.SHIFT_RIGHT: lambda x, n: x >> min(n, 64) if n >= 0 else x >> 64,
    BinaryOperator.MINIMUM: min,
    BinaryOperator.MAXIMUM: max,
}


def _wrapped(number: int, scalar: Scalar) -> int:
    low = number & ((1 << scalar.bits) - 1)
    return low - (1 << scalar.bits) if low > scalar.maximum else low


def as_python(value: Value) -> Value:
    """Return an integer with a type that is known when compiling as Python's own, tuples item by
    item: where a constant is asked for, its type does not matter."""
    if isinstance(value, TupleValue):
        return value.with_items(map(as_python, value.items))
    if isinstance(value, CompileTime):
        return value
    number = known_integer(value)
    return value if number is None else CompileTime(number)


def typed_constant(value: Value) -> tree.Constant | None:
    """Return an integer expression of constants as one constant of its type; None for others."""
    number = known_integer(value) if isinstance(value, tree.Expression) else None
    if number is None:
        return None
    assert isinstance(value, tree.Expression)
    return tree.Constant(value.span, value.type, number)


def _instance(structure: Structure, fields: tuple[object, ...]) -> object:
    """Make the Python object of a record of compile-time values."""
    python = structure.python
    if python is None:
        return fields
    if issubclass(python, enum.Enum):
        return python(fields[0])
    if issubclass(python, tuple):
        return tuple.__new__(python, fields)
    made = object.__new__(python)
    for name, value in zip(structure.fields, fields, strict=True):
        object.__setattr__(made, name, value)
    return made


Value = CompileTime | TupleValue | Method | SliceValue | FunctionValue | tree.Expression
Binding = Value | tree.Variable | Undefined | PartlyAssigned


@dataclass(frozen=True, slots=True)
class ArgumentKey:
    """An argument as it selects a specialisation: its type, or the compile-time value itself."""

    type: Type | None
    value: object = None
    items: tuple[ArgumentKey, ...] = ()
