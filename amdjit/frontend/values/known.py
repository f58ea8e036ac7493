"""What is known when compiling, as a value: launches have such arguments too, without the rest of
the front end."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from amdjit.late_methods import dataclass

__all__ = ["CompileTime", "identity"]


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
    if isinstance(value, np.ndarray):
        return type(value), value.shape, value.dtype, value.tobytes()
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
