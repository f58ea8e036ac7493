"""`type(x)` and `isinstance(x, kind)`, which are known when compiling, so that code can be chosen
by type."""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import is_complex
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.language.type_classes import TypeClass
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, Tuple, Type, boolean, from_dtype


def _type_of(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (value,) = arguments.exactly(builder, node, "type", ("x",))
    builder.discard(value, node)
    if isinstance(value, tree.Expression):
        return CompileTime(value.type)
    if isinstance(value, CompileTime):
        return CompileTime(type(value.value))
    if isinstance(value, TupleValue):
        python = None if value.structure is None else value.structure.python
        if is_complex(value):
            return CompileTime(np.complex64 if describe(value) == "complex64" else np.complex128)
        return CompileTime(python or tuple)
    raise builder.error(
        codes.NO_OPERATION,
        node,
        what=f"the type of {describe(value)}",
        remedy="apply `type` to a value",
    )


def _is_instance(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    value, kinds = arguments.exactly(builder, node, "isinstance", ("x", "kind"))
    known = static_value(kinds)
    if known is None:
        raise builder.error(codes.NOT_CONSTANT, node, what="the second argument of `isinstance`")
    builder.discard(value, node)
    kinds_of_types: list[TypeClass] = []
    kinds_of_values: list[object] = []
    for kind in _alternatives(known.value):
        if isinstance(kind, TypeClass):
            kinds_of_types.append(kind)
        else:
            kinds_of_values.append(kind)
    type = _type_in(builder, value) if kinds_of_types else None
    return CompileTime(
        any(isinstance(type, kind) for kind in kinds_of_types)
        or any(_is_a(value, kind) for kind in kinds_of_values)
    )


def _type_in(builder: FunctionBuilder, value: Value) -> Type | None:
    """Return the type that a value has at run time, None if it has none."""
    if isinstance(value, tree.Expression):
        return value.type
    if isinstance(value, TupleValue):
        items = tuple(_type_in(builder, item) for item in value.items)
        known = tuple(item for item in items if item is not None)
        return Tuple(known, value.structure) if len(known) == len(items) else None
    if isinstance(value, CompileTime) and isinstance(value.value, (bool, int, float)):
        return builder.rules.default_type(value.value)
    return None


def _alternatives(kinds: object) -> tuple[object, ...]:
    if isinstance(kinds, tuple):
        return tuple(inner for kind in kinds for inner in _alternatives(kind))
    return typing.get_args(kinds) if isinstance(kinds, types.UnionType) else (kinds,)


def _is_a(value: Value, kind: object) -> bool:
    if isinstance(value, CompileTime):
        return isinstance(kind, type) and isinstance(value.value, kind)
    if isinstance(value, tree.Expression):
        return value.type == kind if isinstance(kind, Type) else _is_number_of(value.type, kind)
    if is_complex(value):
        return kind is complex or describe(value) == getattr(kind, "__name__", None)
    python = (
        value.structure.python
        if isinstance(value, TupleValue) and value.structure is not None
        else tuple
    )
    return (
        isinstance(kind, type)
        and isinstance(value, TupleValue)
        and issubclass(python or tuple, kind)
    )


def _is_number_of(type: Type, kind: object) -> bool:
    """Whether a scalar type is of a kind that Python's or NumPy's class names; a bool is an int, as
    in Python."""
    if not isinstance(type, Scalar):
        return False
    if kind in (int, np.integer):
        return type.is_integer or (kind is int and type is boolean)
    if kind in (float, np.floating):
        return type.is_float
    if kind in (bool, np.bool_):
        return type is boolean
    is_numpys = isinstance(kind, _CLASS) and issubclass(kind, np.generic)
    return is_numpys and from_dtype(np.dtype(kind)) == type  # type: ignore[call-overload]


_CLASS = type
TYPE_FUNCTIONS: Mapping[Any, Callable[[FunctionBuilder, Arguments, ast.Call], Value]] = {
    isinstance: _is_instance,
    type: _type_of,
}
