"""Variables outside the kernel that compiled code depends on."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.frontend.values.kinds import identity


@dataclass(frozen=True, slots=True)
class Dependency:
    """A variable that the code depends on. `scope` is a namespace, a closure cell or an object with
    attributes."""

    scope: Any
    name: str
    value: object

    def is_current(self) -> bool:
        """Whether the variable still has the value that was compiled in."""
        current = self.current()
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
_PLAIN = (int, float, str, tuple, np.generic)
