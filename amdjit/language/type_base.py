"""What the types of the kernel language are made of: their base, the memories and layouts of
arrays, and what declarations write for several types.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from amdjit.late_methods import dataclass

__all__ = ["Const", "PointerPattern", "Type", "TypeVariable"]


class Type:
    """Base of all types of the kernel language."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<type {self}>"


# Where arrays lie: the memories of a device, and the layouts of arrays.


class AddressSpace(Enum):
    """The memories of a device, numbered as in the LLVM AMDGPU guide, "Address Spaces"."""

    GENERIC = 0
    GLOBAL = 1
    LDS = 3
    CONSTANT = 4
    PRIVATE = 5
    # Not memory but a buffer resource, the 128-bit descriptor that buffer instructions take.
    BUFFER = 8


class Layout(Enum):
    """How an array lies in memory."""

    ANY = "as the argument is"
    CONTIGUOUS = "C-contiguous"
    ROWS = (
        "rows: strided, but neighbours along the last axis lie side by side, and no stride is "
        "negative"
    )
    STRIDED = "strided"

    @property
    def has_strides(self) -> bool:
        """Whether strides are passed to the kernel because they do not follow from the shape."""
        return self in (Layout.ROWS, Layout.STRIDED)


# What declarations write for a parameter that takes values of several types, or a Python value.


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
