"""Calls of compile-time functions: amdjit's own rules about types, written in Python outside the
front end."""

from __future__ import annotations

import ast
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.names.scope import value_of_object
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.compile_time import CompileTimeFunction, Refused
from amdjit.tree import nodes as tree


def call_when_compiling(
    builder: FunctionBuilder, callee: CompileTimeFunction, arguments: Arguments, node: ast.expr
) -> Value:
    """Run the function on the known values of the arguments, and on the types of the others."""
    values = [_known(value) for value in arguments.positional]
    keywords = {name: _known(value) for name, value in arguments.keywords.items()}
    for value in (*arguments.positional, *arguments.keywords.values()):
        builder.discard(value, node)
    try:
        result = callee.function(builder.compilation, *values, **keywords)
    except Refused as refused:
        raise builder.error(
            codes.REFUSED, node, problem=refused.problem, remedy=refused.remedy
        ) from refused
    return value_of_object(builder, result, callee.function.__name__, node)


def _known(value: Value) -> Any:
    """Return a known value, the type of an unknown one, or a tuple of these for a tuple."""
    if isinstance(value, CompileTime):
        return value.value
    if isinstance(value, TupleValue):
        return tuple(map(_known, value.items))
    return value.type if isinstance(value, tree.Expression) else value
