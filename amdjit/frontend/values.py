"""What an expression can be while a function is typed: known now, or a typed tree that computes it later."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.tree import nodes as tree
from amdjit.types import Type


@dataclass(frozen=True, slots=True)
class CompileTime:
    """A Python object known when compiling: a weak number, a string, a type, a module, a function, None."""

    value: object

    @property
    def is_number(self) -> bool:
        """Whether this is a weak number: Python's own int, float or bool."""
        return isinstance(self.value, (bool, int, float))


@dataclass(frozen=True, slots=True)
class TupleValue:
    """Several values, each known now or computed later."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """`array.load` and its like, before the call."""

    receiver: tree.Expression
    name: str


@dataclass(frozen=True, slots=True)
class Undefined:
    """A name that has no single value here. `reason` completes the sentence "`x` ..."."""

    reason: str


Value = CompileTime | TupleValue | Method | tree.Expression
Binding = Value | tree.Variable | Undefined


@dataclass(frozen=True, slots=True)
class ArgumentKey:
    """An argument as it selects a specialisation: its type, or the compile-time value itself."""

    type: Type | None
    value: object = None
    items: tuple[ArgumentKey, ...] = ()
