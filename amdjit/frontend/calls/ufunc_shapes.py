"""How the elements of a ufunc's operands meet: NumPy's broadcasting."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.array_attributes import extent
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.expressions.fields import complex_item, element_view, is_records
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.types import Array, boolean

__all__ = ["Indices", "check_same_shape", "element", "own_indices", "result_shape"]

Indices = tuple[tree.Expression, ...]
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
    assert isinstance(output.type, Array)
    assert isinstance(other.type, Array)
    if output.type.ndim != other.type.ndim:
        raise _misfit(builder, output, other, node)
    for axis in range(output.type.ndim):
        _refuse_unless_equal(builder, output, other, axis, axis, node)


def own_indices(
    builder: FunctionBuilder, output: tree.Expression, value: Value, node: ast.expr
) -> _Place:
    """Return what gives an operand's indices from those of the output; emit tests that it fits.

    An axis of one element is repeated along the output's.
    """
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return _no_indices
    assert isinstance(output.type, Array)
    more = output.type.ndim - value.type.ndim
    if more < 0:
        raise _misfit(builder, output, value, node)
    steps = [
        _step(builder, output, value, axis, axis + more, node) for axis in range(value.type.ndim)
    ]

    def place(indices: Indices) -> Indices:
        span = builder.span(node)
        return tuple(
            index
            if step is None
            else tree.Binary(span, step.type, BinaryOperator.MULTIPLY, step, index)
            for index, step in zip(indices[more:], steps, strict=True)
        )

    return place


def _no_indices(indices: Indices) -> Indices:
    return ()


def _step(
    builder: FunctionBuilder,
    output: tree.Expression,
    value: tree.Expression,
    axis: int,
    at: int,
    node: ast.expr,
) -> tree.Expression | None:
    """Return what an operand's index advances by, 0 or 1: an axis of one element is repeated. None
    for 1."""
    assert isinstance(value.type, Array)
    assert isinstance(output.type, Array)
    index = output.type.index_type
    own, other = extent(builder, value, axis, node), extent(builder, output, at, node)
    if own == CompileTime(1):
        return convert(builder, CompileTime(0), index, node)
    if isinstance(own, CompileTime) or other == CompileTime(1) or output is value:
        _refuse_unless_equal(builder, output, value, at, axis, node)
        return None
    several = compare(builder, ast.NotEq, own, CompileTime(1), node)
    several = builder.hold(several, "several", node)
    differs = compare(builder, ast.NotEq, own, other, node)
    assert isinstance(several, tree.Expression)
    assert isinstance(differs, tree.Expression)
    both = tree.Binary(builder.span(node), boolean, BinaryOperator.AND, several, differs)
    check(builder, both, _TEXT, node)
    step = builder.hold(convert(builder, several, index, node), "step", node)
    assert isinstance(step, tree.Expression)
    return step


_TEXT = "the operands of a ufunc cannot be broadcast to the shape of its output"


def _refuse_unless_equal(
    builder: FunctionBuilder,
    output: tree.Expression,
    value: tree.Expression,
    at: int,
    axis: int,
    node: ast.expr,
) -> None:
    """Compare two extents, now or at run time as Python's ValueError."""
    if output is value:
        return
    own, other = extent(builder, value, axis, node), extent(builder, output, at, node)
    differs = compare(builder, ast.NotEq, own, other, node)
    if isinstance(differs, tree.Expression):
        check(builder, differs, _TEXT, node)
    elif isinstance(differs, CompileTime) and differs.value:
        raise _misfit(builder, output, value, node)


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
