"""What declarations write for a parameter that takes values of several types, or a Python value."""

from __future__ import annotations

from typing import ClassVar

from amdjit.language.memories import AddressSpace
from amdjit.language.type_base import Type
from amdjit.late_methods import dataclass

__all__ = ["Const", "PointerPattern", "TypeVariable"]

# More of a type variable's constraints than these would drown the rest of an error's text.
_SHOWN_CONSTRAINTS = 13


@dataclass(frozen=True, slots=True)
class TypeVariable(Type):
    """A parameter's type that may be any of `constraints`; one variable is one type in a call."""

    name: str
    constraints: tuple[Type, ...]

    def __str__(self) -> str:
        first = ", ".join(map(str, self.constraints[:_SHOWN_CONSTRAINTS]))
        more = len(self.constraints) - _SHOWN_CONSTRAINTS
        return f"{self.name} (one of {first}{f' and {more} more' if more > 0 else ''})"


@dataclass(frozen=True, slots=True)
class PointerPattern(Type):
    """A parameter that takes a pointer to `element` in any of `address_spaces`.

    element: None for a pointer to anything.
    """

    element: Type | None
    address_spaces: tuple[AddressSpace, ...]

    def __str__(self) -> str:
        where = f"in {' or '.join(space.name for space in self.address_spaces)}"
        return f"pointer {where}" if self.element is None else f"pointer to {self.element} {where}"


class Const:
    """Annotation of a kernel's parameter whose Python value is compiled in: `n: amdjit.Const`."""

    description: ClassVar[str] = "a value that is compiled in"
