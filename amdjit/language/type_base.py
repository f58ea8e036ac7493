"""The base of all types of the kernel language."""

from __future__ import annotations

__all__ = ["Type"]


class Type:
    """Base of all types of the kernel language."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<type {self}>"
