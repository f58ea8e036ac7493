"""How the elements of a ufunc's operands meet: NumPy's broadcasting."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.broadcasting import Indices, Meeting
from amdjit.frontend.expressions.fields import complex_item, element_view, is_records
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.values.kinds import Value
from amdjit.tree import nodes as tree
from amdjit.types import Array

__all__ = ["Indices", "check_same_shape", "element", "own_indices", "result_shape"]

_Place = Callable[[Indices], Indices]


def element(builder: FunctionBuilder, value: Value, indices: Indices, node: ast.expr) -> Value:
    """Return a number as it is, or the element of an array."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return value
    if is_records(value):
        view = element_view(builder, value, indices, node)
        return complex_item(builder, view, node)
    whole = ast.copy_location(ast.Subscript(node, node), node)
    fault = index_check(builder, value, indices, whole)
    return tree.Load(builder.span(node), value.type.element, value, indices, check=fault)


def check_same_shape(
    builder: FunctionBuilder, output: tree.Expression, other: tree.Expression, node: ast.expr
) -> None:
    """Refuse two outputs of different shapes; where they are known only at run time, test them."""
    _meeting(builder, output, other, node).check_same_shape()


def own_indices(
    builder: FunctionBuilder, output: tree.Expression, value: Value, node: ast.expr
) -> _Place:
    """Return what gives an operand's indices from those of the output; emit tests that it fits."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return lambda indices: ()
    return _meeting(builder, output, value, node).own_indices()


def _meeting(
    builder: FunctionBuilder, output: tree.Expression, value: tree.Expression, node: ast.expr
) -> Meeting:
    return Meeting(builder, output, value, node, lambda: _misfit(builder, output, value, node))


def _misfit(builder: FunctionBuilder, output: Value, value: Value, node: ast.AST) -> CompileError:
    problem = f"{describe(value)} cannot be broadcast to the output, {describe(output)}"
    remedy = "make the extents equal, or give the operand one element along that axis"
    return builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)


def result_shape(
    builder: FunctionBuilder, values: Sequence[Value], node: ast.AST
) -> tuple[int, ...] | None:
    """Return the shape of a result, None if an operand's is known only at run time."""
    arrays = [v for v in values if isinstance(v, tree.Expression) and isinstance(v.type, Array)]
    shapes = [value.type.shape for value in arrays if isinstance(value.type, Array)]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    try:
        return np.broadcast_shapes(*known)
    except ValueError as problem:
        raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem
