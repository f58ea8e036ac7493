"""Values that stand once in the page's data, and are meant by their numbers elsewhere."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Interned"]

Value = TypeVar("Value", bound=Hashable)


@dataclass(slots=True)
class Interned(Generic[Value]):
    """Distinct values in the order of their first use."""

    _numbers: dict[Value, int] = field(default_factory=dict)

    def number(self, value: Value) -> int:
        """Return the number of a value, from 0."""
        return self._numbers.setdefault(value, len(self._numbers))

    def values(self) -> list[Value]:
        """Return the values by number."""
        return list(self._numbers)
