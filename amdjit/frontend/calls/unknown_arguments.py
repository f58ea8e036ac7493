"""Calls with arguments that were refused: the errors of the called function that do not depend on
these arguments are reported too."""

from __future__ import annotations

import ast
import inspect
import types

from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import CompileError
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.names.scope import value_of_object
from amdjit.frontend.source.reading import is_library
from amdjit.frontend.values.kinds import CompileTime, Value

__all__ = ["with_errors_of"]


def with_errors_of(
    builder: FunctionBuilder, callee: Value, node: ast.Call, failure: CompileError
) -> CompileError:
    """Add the errors of the function that is called to those of its arguments."""
    function = _own_function(callee)
    if function is None or any(isinstance(argument, ast.Starred) for argument in node.args):
        return failure
    python = function.function
    assert isinstance(python, types.FunctionType)
    try:
        signature = inspect.signature(python, follow_wrapped=False)
        bound = signature.bind(*node.args, **{word.arg or "": word.value for word in node.keywords})
    except (TypeError, ValueError):
        return failure
    arguments: dict[str, Value | None] = {}
    for name, parameter in signature.parameters.items():
        given = bound.arguments.get(name)
        if isinstance(given, ast.expr):
            arguments[name] = _known(builder, given)
        elif given is None and parameter.default is not parameter.empty:
            arguments[name] = value_of_object(builder, parameter.default, name, node)
        else:
            arguments[name] = None
    found = builder.session.explore(builder, function, arguments, node)
    return CompileError(*failure.diagnostics, *found.diagnostics)


def _own_function(callee: Value) -> DeviceFunction | None:
    """Return the function that a call names, if it is one of the user's."""
    called = callee.value if isinstance(callee, CompileTime) else None
    function = DeviceFunction(called) if isinstance(called, types.FunctionType) else called
    if not isinstance(function, DeviceFunction):
        return None
    python = function.function
    is_own = isinstance(python, types.FunctionType) and not is_library(python)
    is_amdjits = is_own and (python.__module__ or "").partition(".")[0] == "amdjit"
    return function if is_own and not is_amdjits else None


def _known(builder: FunctionBuilder, node: ast.expr) -> Value | None:
    """Return the value of an argument, None if it is unknown. Calls are not typed once more."""
    if any(isinstance(inner, (ast.Call, ast.NamedExpr)) for inner in ast.walk(node)):
        return None
    try:
        return builder.evaluate(node)
    except CompileError:
        return None
