"""Classes of types, of which `isinstance` asks: `isinstance(f32, Float)`."""

from __future__ import annotations

from typing import Any

__all__ = ["TypeClass"]


class TypeClass(type):
    """The class of classes that hold types.

    On the host `isinstance` takes a type, in a kernel a value, which it asks the type of.
    """

    def __instancecheck__(cls, value: Any) -> bool:
        """Whether a type belongs to the class."""
        return bool(cls.holds(value))  # type: ignore[attr-defined]
