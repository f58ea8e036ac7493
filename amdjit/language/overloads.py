"""Versions of a function of Python or NumPy for one kind of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["OfKind"]


@dataclass(frozen=True)
class OfKind:
    """The version of a function for complex numbers, or for integers that stay integers."""

    function: Callable[..., Any]
    kind: Literal["complex", "integer"]

    @property
    def __name__(self) -> str:
        return self.function.__name__
