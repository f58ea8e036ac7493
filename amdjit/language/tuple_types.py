"""Types of values that take several registers or none: tuples and their known items, nothing."""

from __future__ import annotations

from typing import Any

from amdjit.language.call_signatures import CallSignature
from amdjit.language.type_base import Type
from amdjit.late_methods import dataclass

__all__ = ["VOID", "Known", "Structure", "Tuple", "Void"]


@dataclass(frozen=True, slots=True)
class Structure:
    """The names of a tuple's items.

    python: the named tuple or frozen dataclass whose methods the tuple has.
    """

    name: str
    fields: tuple[str, ...]
    python: type | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Tuple(Type):
    """Several values of any types, which have names if there is a structure."""

    elements: tuple[Type, ...]
    structure: Structure | None = None

    def __str__(self) -> str:
        if self.structure is None:
            return f"({', '.join(map(str, self.elements))})"
        if self.structure.fields == ("real", "imag") and self.structure.python is None:
            return self.structure.name
        pairs = zip(self.structure.fields, self.elements, strict=True)
        return f"{self.structure.name}({', '.join(f'{name}: {type}' for name, type in pairs)})"

    def __call__(self, *parameters: Any) -> CallSignature:
        """Return the signature of a device function that returns such a tuple."""
        return CallSignature(self, parameters)


@dataclass(frozen=True, slots=True, repr=False)
class Known(Type):
    """An item of a tuple that is known when compiling, such as None. It takes no register."""

    value: object

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True, repr=False)
class Void(Type):
    """The type of the result of a function that returns nothing."""

    def __str__(self) -> str:
        return "None"

    def __call__(self, *parameters: Any) -> CallSignature:
        """Return the signature of a kernel: `void(f32[:], i32)`."""
        return CallSignature(self, parameters)


VOID = Void()
