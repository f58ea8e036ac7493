"""What an expression can be while a function is typed: known now, or a typed tree that computes it
later."""

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

    Two are equal where the same code is compiled for them: 1, 1.0 and True differ, and so do 0.0
    and -0.0.
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


# Types whose values tell everything, and are most of what is asked for.
_PLAIN = frozenset({int, bool, str, type(None)})


def identity(value: object) -> Hashable:
    """Return what tells a compile-time object from others: equal keys, equal code."""
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
    """Return the names of a dataclass's fields, None for another type."""
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
    """`array.load` and its like, before the call. function: the record's method, None for arrays'
    own."""

    receiver: Value
    name: str
    function: DeviceFunction | None = None


@dataclass(frozen=True, slots=True)
class SliceValue:
    """A slice with bounds known at run time, held in variables; a part that is not given is
    `CompileTime(None)`."""

    lower: Value
    upper: Value
    step: Value


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function made in the kernel: what it is, and the values that it carries, by name."""

    function: Any
    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Undefined:
    """A name that has no single value here. `reason` completes the sentence "`x` ..."."""

    reason: str


@dataclass(frozen=True, slots=True)
class Poisoned(Undefined):
    """A name whose assignment was refused: what reads it is refused as well, without another
    error."""


POISONED = Poisoned("was not typed")


def static_value(value: Value) -> CompileTime | None:
    """Return the compile-time object of a value whose every part is known, None otherwise."""
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
    """Make the Python object that a record of compile-time values is."""
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
