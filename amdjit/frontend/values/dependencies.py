"""Variables outside the kernel that compiled code depends on."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amdjit.frontend.values.known import identity
from amdjit.language.type_base import Type
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Dependency:
    """A variable that the code depends on. `scope` is a namespace, a closure cell or an object with
    attributes."""

    scope: Any
    name: str
    value: object

    def is_current(self) -> bool:
        """Whether the variable still has the value that was compiled in."""
        return self.accepts(self.current())

    def accepts(self, current: object) -> bool:
        """Whether the same code is compiled for this value of the variable."""
        if isinstance(current, _BOUND):  # each look at an attribute makes another object
            return type(current) is type(self.value) and current == self.value
        return current is self.value or (
            isinstance(current, _PLAIN) and identity(current) == identity(self.value)
        )

    def current(self) -> object:
        """Return the value that the variable has now."""
        if isinstance(self.scope, dict):
            return self.scope.get(self.name, _MISSING)
        if isinstance(self.scope, types.CellType):
            return _contents(self.scope)
        return getattr(self.scope, self.name, _MISSING)

    @property
    def description(self) -> str:
        """The variable's name for messages."""
        if isinstance(self.scope, dict):
            return f"global `{self.name}` of {self.scope.get('__name__', '?')}"
        if isinstance(self.scope, types.CellType):
            return f"`{self.name}` of an enclosing function"
        if self.name == "__code__":
            return f"the code of `{self.scope.__name__}`"
        return f"`{getattr(self.scope, '__name__', type(self.scope).__name__)}.{self.name}`"

    def texts(self, shown: Callable[[object], str]) -> tuple[str, str]:
        """Return the value that was compiled in and the present one as text."""
        return _text(self.value, shown), _text(self.current(), shown)


class ArrayContent(NamedTuple):
    """What the code holds of an array. elements: in C order."""

    elements: bytes
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def content_of(array: NDArray[Any]) -> ArrayContent:
    """Return what an array holds now."""
    return ArrayContent(array.tobytes(), array.shape, array.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Content(Dependency):
    """The content of a NumPy array that is part of the code. scope: the array. value: an
    ArrayContent."""

    def accepts(self, current: object) -> bool:
        """Whether the array's elements, shape and type are those of the code, bit by bit."""
        return current == self.value

    def current(self) -> ArrayContent:
        """Return what the array holds now."""
        return content_of(self.scope)

    @property
    def description(self) -> str:
        """The array's name for messages."""
        return f"the content of the array `{self.name}`"

    def texts(self, shown: Callable[[object], str]) -> tuple[str, str]:
        """Return the content that was compiled in and the present one as text."""
        assert isinstance(self.value, ArrayContent)
        compiled, now = self.value, self.current()
        old = np.ndarray(compiled.shape, compiled.dtype, compiled.elements)
        new = np.ndarray(now.shape, now.dtype, now.elements)
        return shown(old.tolist()), shown(new.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class OutsideArray(Dependency):
    """An array in a device's memory, which the launch passes by itself. value: its type, an Array.

    type_of: returns the type of such an array, None for other objects.
    """

    type_of: Callable[[object], Type | None]

    def accepts(self, current: object) -> bool:
        """Whether the code fits this array."""
        return self.type_of(current) == self.value

    @property
    def type(self) -> Type:
        """The type of the array in the kernel."""
        assert isinstance(self.value, Type)
        return self.value

    def argument(self, kernel: str, arguments: Mapping[str, Any]) -> Any:
        """Return what the launch passes: the array that the variable has now."""
        return self.current()

    def texts(self, shown: Callable[[object], str]) -> tuple[str, str]:
        """Return the type that was compiled for and the present one, or what is there instead."""
        now = self.current()
        found = self.type_of(now)
        return str(self.value), _text(now, shown) if found is None else str(found)


def _text(value: object, shown: Callable[[object], str]) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, types.FunctionType):
        value = value.__code__
    if isinstance(value, types.CodeType):
        return f"`{value.co_name}` of line {value.co_firstlineno}"
    return shown(value)


def _contents(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # emptied by `del`
        return _MISSING


_MISSING = object()
_BOUND = (types.BuiltinMethodType, types.MethodType)
_PLAIN = (int, float, str, tuple, np.generic)
