"""The evaluated arguments of a call, matched to the names of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count
from amdjit.frontend.values.kinds import CompileTime, Value, as_python, static_value
from amdjit.late_methods import dataclass


@dataclass(frozen=True)
class Arguments:
    """The evaluated arguments of a call and their places in the source, by position or keyword."""

    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    places: Mapping[int | str, ast.expr] = field(default_factory=dict)

    def place(self, index: int, name: str, call: ast.expr) -> ast.expr:
        """Return the node of a parameter's argument, or the call itself if the argument is left
        out."""
        return self.places.get(index if index < len(self.positional) else name, call)

    @property
    def are_static(self) -> bool:
        """Whether all arguments are compile-time values given by position."""
        return not self.keywords and all(
            static_value(value) is not None for value in self.positional
        )

    def exactly(
        self,
        builder: FunctionBuilder,
        node: ast.AST,
        function: str,
        names: tuple[str, ...],
        optional: int = 0,
    ) -> tuple[Value, ...]:
        """Return the arguments in the order of `names`; the last `optional` ones may be missing
        (None)."""
        values: dict[str, Value] = dict(zip(names, self.positional, strict=False))
        extra = [name for name in self.keywords if name not in names or name in values]
        values |= self.keywords
        missing = [name for name in names[: len(names) - optional] if name not in values]
        if len(self.positional) > len(names) or extra or missing:
            raise builder.error(
                codes.ARGUMENT_COUNT,
                node,
                function=function,
                expected=_counted(len(names) - optional, len(names)),
                given=_given(len(self.positional), extra, missing),
                signature=f"{function}({', '.join(names)})",
            )
        return tuple(values.get(name, CompileTime(None)) for name in names)


def _counted(least: int, most: int) -> str:
    return count(most, "argument") if least == most else f"{least} to {most} arguments"


def _given(number: int, extra: list[str], missing: list[str]) -> str:
    if extra:
        return f"`{extra[0]}` is unknown or given twice"
    if missing:
        return f"`{missing[0]}` is missing"
    return f"{number} {'was' if number == 1 else 'were'} given"


def constant_integer(builder: FunctionBuilder, value: Value, node: ast.AST, what: str) -> int:
    """Return a compile-time integer."""
    value = as_python(value)
    if not isinstance(value, CompileTime) or not isinstance(value.value, int):
        raise builder.error(codes.NOT_CONSTANT, node, what=what)
    return int(value.value)
