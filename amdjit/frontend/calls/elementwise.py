"""Calls of scalar functions with short vectors: `math.exp(v)` applies `math.exp` to each
element."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeGuard

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.subscripts import item_of
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, TypeVariable, Vector, boolean

__all__ = ["call_elementwise", "is_elementwise"]


def is_elementwise(
    builder: FunctionBuilder, callee: Intrinsic | DeviceFunction, arguments: Arguments
) -> bool:
    """Whether a scalar function of Python or NumPy is called with a vector."""
    vectors = [value.type for value in arguments.positional if _is_vector(value)]
    if not vectors or callee not in builder.session.builtins.values():
        return False
    return not (isinstance(callee, Intrinsic) and _takes(callee, vectors[0]))


def call_elementwise(
    builder: FunctionBuilder,
    call: Callable[[Arguments], Value],
    arguments: Arguments,
    node: ast.expr,
) -> Value:
    """Call the function for each element; scalar arguments are the same for all elements."""
    held = tuple(builder.hold(value, "operand", node) for value in arguments.positional)
    lengths = {
        value.type.length for value in held if _is_vector(value) and isinstance(value.type, Vector)
    }
    if len(lengths) > 1:
        raise _refused(builder, held, "vectors of one length", node)
    parts = [
        call(Arguments(_items(builder, held, i, node), arguments.keywords))
        for i in range(lengths.pop())
    ]
    first = parts[0].type if isinstance(parts[0], tree.Expression) else None
    if not isinstance(first, Scalar) or first is boolean:
        raise _refused(builder, held, "a number", node)
    elements = tuple(convert(builder, part, first, node) for part in parts)
    return tree.MakeVector(builder.span(node), Vector(first, len(elements)), elements)


def _items(
    builder: FunctionBuilder, values: tuple[Value, ...], i: int, node: ast.expr
) -> tuple[Value, ...]:
    return tuple(
        item_of(builder, value, CompileTime(i), node) if _is_vector(value) else value
        for value in values
    )


def _is_vector(value: Value) -> TypeGuard[tree.Expression]:
    return isinstance(value, tree.Expression) and isinstance(value.type, Vector)


def _takes(intrinsic: Intrinsic, vector: object) -> bool:
    types = (parameter.type for parameter in intrinsic.parameters)
    return any(
        vector in type.constraints if isinstance(type, TypeVariable) else vector == type
        for type in types
    )


def _refused(
    builder: FunctionBuilder, values: tuple[Value, ...], expected: str, node: ast.expr
) -> Exception:
    vector = next(value for value in values if _is_vector(value))
    return builder.error(
        codes.ARGUMENT_TYPE,
        node,
        parameter="x",
        function=ast.unparse(node).partition("(")[0],
        expected=expected,
        found=describe(vector),
        remedy="take elements: `v[i]`",
    )
