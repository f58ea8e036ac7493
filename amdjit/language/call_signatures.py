"""The types of a call, written as Numba writes them: `void(f32[:], i32)`."""

from __future__ import annotations

from typing import Any

from amdjit.language.type_base import Type
from amdjit.late_methods import dataclass

__all__ = ["CallSignature"]


@dataclass(frozen=True, slots=True)
class CallSignature:
    """The types of a function's parameters and of its result.

    args: a type for each parameter, or a tuple of types for one that is a tuple. return_type: None
    where it is not said.
    """

    return_type: Type | None
    args: tuple[Any, ...]

    def __str__(self) -> str:
        result = "" if self.return_type is None else str(self.return_type)
        return f"{result}({', '.join(map(str, self.args))})"
