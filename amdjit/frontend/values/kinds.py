"""What an expression can be while a function is typed: known now, or a typed tree that computes it
at run time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction
from amdjit.tree import nodes as tree
from amdjit.types import Structure, Type


@dataclass(frozen=True, slots=True, eq=False)
class CompileTime:
    """A Python object known when compiling: a weak number, a string, a type, a module, a function,
    None.

    Two are equal if the same code is compiled for them: 1, 1.0 and True differ, and so do 0.0 and
    -0.0.
    """

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompileTime) and identity(self.value) == identity(other.value)

    def __hash__(self) -> int:
        return hash(identity(self.value))

    @property
    def is_number(self) -> bool:
        """Whether this is a weak number: Python's own int, float, bool or complex."""
        return isinstance(self.value, (bool, int, float, complex))


# The common types, whose values identify themselves.
_PLAIN = frozenset({int, bool, str, type(None)})


def identity(value: object) -> Hashable:
    """Return a key that identifies a compile-time object: equal keys, equal code."""
    if type(value) in _PLAIN:
        return type(value), value
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, float):
        return type(value), value.hex()
    if isinstance(value, complex):
        return type(value), value.real.hex(), value.imag.hex()
    if isinstance(value, tuple):
        return type(value), tuple(identity(item) for item in value)
    kind: Any = type(value)
    names = _field_names(kind)
    if names is not None:
        return type(value), tuple(identity(getattr(value, name)) for name in names)
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return type(value), value


@lru_cache(maxsize=256)
def _field_names(kind: Any) -> tuple[str, ...] | None:
    """Return the names of a dataclass's fields, None for other types."""
    return tuple(part.name for part in fields(kind)) if is_dataclass(kind) else None


@dataclass(frozen=True, slots=True)
class TupleValue:
    """Several values, each known now or computed later. structure: their names, for records.

    holds_functions: whether a function made in the kernel is among them, at any depth.
    """

    items: tuple[Value, ...]
    structure: Structure | None = None
    holds_functions: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        holds = False
        for item in self.items:
            holds |= (
                item.holds_functions
                if isinstance(item, TupleValue)
                else isinstance(item, FunctionValue)
            )
        object.__setattr__(self, "holds_functions", holds)

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


@dataclass(frozen=True, slots=True)
class Undefined:
    """A name without a single value here. `reason` completes the sentence "`x` ..."."""

    reason: str


@dataclass(frozen=True, slots=True)
class Poisoned(Undefined):
    """A name whose assignment was refused; reading it is refused too, without another error."""


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


def _instance(structure: Structure, fields: tuple[object, ...]) -> object:
    """Make the Python object of a record of compile-time values."""
    python = structure.python
    if python is None:
        return fields
    if issubclass(python, tuple):
        return tuple.__new__(python, fields)
    made = object.__new__(python)
    for name, value in zip(structure.fields, fields, strict=True):
        object.__setattr__(made, name, value)
    return made


Value = CompileTime | TupleValue | Method | SliceValue | FunctionValue | tree.Expression
Binding = Value | tree.Variable | Undefined


@dataclass(frozen=True, slots=True)
class ArgumentKey:
    """An argument as it selects a specialisation: its type, or the compile-time value itself."""

    type: Type | None
    value: object = None
    items: tuple[ArgumentKey, ...] = ()
