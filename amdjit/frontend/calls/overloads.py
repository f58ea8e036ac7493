"""Calls of functions with overloads, `@overload(f)`: those of `amdjit.numba_cuda.extending`, and
those of Numba's own `numba.extending` that users have declared."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.frontend.values.types_of_numba import as_numbas
from amdjit.language.complex_types import COMPLEX64, COMPLEX128, complex64, complex128
from amdjit.language.overloading import overloads_of
from amdjit.tree import nodes as tree
from amdjit.types import VOID, Array, Tuple, Type, boolean, f64, i64

__all__ = ["implementation"]

_LITERALS = {bool: boolean, int: i64, float: f64, complex: complex128, type(None): VOID}
_COMPLEX: dict[Type, Any] = {COMPLEX64: complex64, COMPLEX128: complex128}
_Chooser = Callable[..., Any]


def implementation(
    builder: FunctionBuilder, function: types.FunctionType, arguments: Arguments, node: ast.Call
) -> DeviceFunction | None:
    """Return what implements a call; None if the function has no overloads.

    An error if none of them implements the types of the arguments.
    """
    own, numbas = overloads_of(function), list(_of_numba(function))
    given = [_type_of(value) for value in arguments.positional]
    named = {name: _type_of(value) for name, value in arguments.keywords.items()}
    for choose in own:
        if (found := choose(*given, **named)) is not None:
            return DeviceFunction(found)
    if numbas:
        given = [as_numbas(each) for each in given]
        named = {name: as_numbas(each) for name, each in named.items()}
    for choose in numbas:
        if (found := choose(*given, **named)) is not None:
            return DeviceFunction(found)
    if not (own or numbas):
        return None
    shown = ", ".join(map(str, (*given, *named.values())))
    raise builder.error(
        codes.REFUSED,
        node,
        problem=f"no overload of `{function.__name__}` implements ({shown})",
        remedy="let one of them return a function for these types",
    )


def _of_numba(function: types.FunctionType) -> Iterator[_Chooser]:
    """Yield the overloads that Numba knows of a user's function: those for CUDA before those for
    every target."""
    numbas = sys.modules.get("numba.core.typing.templates")
    if numbas is None or function.__module__.split(".")[0] in ("numba", "numpy"):
        return
    templates = [
        template
        for value, kind in numbas.builtin_registry.globals
        if value is function
        for template in getattr(kind, "templates", ())
        if hasattr(template, "_overload_func")
    ]
    for target in ("cuda", "gpu", "generic"):
        for template in templates:
            if template.metadata.get("target", "generic") == target:
                yield template._overload_func


def _type_of(value: Value) -> Any:
    """Return the type that Numba would give an argument; what is neither a number nor a tuple or
    array, as it is."""
    if isinstance(value, TupleValue):
        return Tuple(tuple(_type_of(item) for item in value.items))
    if isinstance(value, CompileTime):
        return _LITERALS.get(type(value.value), value.value)
    if not isinstance(value, tree.Expression):
        return value
    if isinstance(value.type, Array):
        return value.type.without_promises()
    return _COMPLEX.get(value.type, value.type)
