"""Functions whose bodies have errors: what is known of their results, and their errors as those of
a call."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.names.parameters import bind_parameters
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.late_methods import dataclass
from amdjit.types import VOID, Type

__all__ = ["Refused", "RefusedError", "errors_of", "unknown_result", "with_call"]


@dataclass(frozen=True, slots=True)
class Refused:
    """A function with errors. result: the type of what it returns, None if the errors hide it;
    is_weak: whether that has no width."""

    failure: CompileError
    result: Type | None = None
    is_weak: bool = False


class RefusedError(Exception):
    """The body of a function has errors."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused)
        self.refused = refused


def unknown_result(builder: FunctionBuilder, refused: Refused, node: ast.expr) -> Value:
    """Stand for what a function with errors returns."""
    assert refused.result is not None
    if refused.result == VOID:
        return CompileTime(None)
    variable = builder.hidden_variable("unknown", refused.result)
    if refused.is_weak:
        builder.weak.variables[variable] = None
    return builder.read(variable, node)


def errors_of(builder: FunctionBuilder, arguments: Mapping[str, Value | None]) -> CompileError:
    """Return the errors of a function that do not depend on the arguments that are unknown
    (None)."""
    known = {name: value for name, value in arguments.items() if value is not None}
    try:
        bind_parameters(builder, known)
        builder.poison(arguments.keys() - known.keys())
        builder.run(builder.source.node.body)
    except CompileError as failure:
        return failure
    return CompileError(*builder.failures)


def with_call(
    failure: CompileError, builder: FunctionBuilder, node: ast.expr, is_own: bool
) -> CompileError:
    """Add the call to the errors of a function. Errors raised by amdjit's own functions are
    reported at the call."""
    span = builder.span(node)
    site = (builder.source.node.name, span)
    from_here = tuple(
        replace(d, span=span)
        if is_own and d.kind is codes.REFUSED
        else replace(d, calls=(site, *d.calls))
        for d in failure.diagnostics
    )
    return type(failure)(*from_here)
