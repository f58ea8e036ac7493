"""What the callers of a native function and its definition have in common."""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.isa.arithmetic import Value
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class Declaration:
    """A native function's name, its result and its parameters: their names and their LLVM types."""

    name: str
    result: str
    parameters: tuple[tuple[str, str], ...]

    def check(self, arguments: Sequence[Value]) -> None:
        """Fail if a call does not fit."""
        given = [argument.type for argument in arguments]
        assert given == [kind for _, kind in self.parameters], f"{self.name} called with {given}"


def declare(name: str, result: str = "void", /, **parameters: str) -> Declaration:
    """Declare a native function: `declare("aj_tick", "i32", context="ptr", site="i32")`."""
    return Declaration(name, result, tuple(parameters.items()))
