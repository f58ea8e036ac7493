"""`x in items`: whether any of the items of a tuple equals x."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.special_methods import call_method_of, special_method
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.numbers.conversion import negated, truth
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.types import Array, Scalar, boolean

__all__ = ["container", "contains"]

Equality = Callable[[FunctionBuilder, type[ast.cmpop], Value, Value, ast.AST], Value]


def container(kind: ast.cmpop, node: ast.expr) -> ast.expr:
    """Return what is to the right of a comparison: a list or set after `in` is as good as a
    tuple."""
    if isinstance(kind, (ast.In, ast.NotIn)) and isinstance(node, (ast.List, ast.Set)):
        return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
    return node


def contains(
    builder: FunctionBuilder,
    kind: type[ast.cmpop],
    left: Value,
    right: Value,
    node: ast.AST,
    compare: Equality,
) -> Value:
    """Type `left in right` and `left not in right`."""
    found = _found(builder, left, right, node, compare)
    return found if kind is ast.In else negated(builder, found, node)


def _found(
    builder: FunctionBuilder, left: Value, right: Value, node: ast.AST, compare: Equality
) -> Value:
    if special_method(right, "__contains__") is not None:
        left, right = builder.in_order((left, right), node)
        held = call_method_of(builder, right, "__contains__", (left,), node)
        assert held is not None
        return truth(builder, held, node)
    known = static_value(left), static_value(right)
    if known[0] is not None and known[1] is not None:
        return fold(builder, node, lambda x, items: x in items, known[0].value, known[1].value)
    if isinstance(right, tree.Expression) and isinstance(right.type, Array):
        return _in_array(builder, left, right, node)
    if not isinstance(right, TupleValue):
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node,
            expression="`in` on a value that is no tuple",
            remedy="use a tuple, `x in (1, 2)`, or an array",
        )
    left, *items = builder.in_order((left, *right.items), node)
    left = builder.hold(left, "item", node)
    result: Value = CompileTime(False)
    for item in items:
        equal = _equal(builder, left, item, node, compare)
        result = _either(builder, result, equal, node)
    return result


def _in_array(builder: FunctionBuilder, left: Value, right: Value, node: ast.AST) -> Value:
    """Return whether an element of an array equals the item."""
    left, right = builder.in_order((left, right), node)
    function = builder.session.builtins[operator.contains]
    assert isinstance(function, DeviceFunction)
    assert isinstance(node, ast.expr)
    return truth(builder, builder.session.call(builder, function, (right, left), {}, node), node)


def _equal(
    builder: FunctionBuilder, left: Value, item: Value, node: ast.AST, compare: Equality
) -> Value:
    """Return whether two values are equal; numbers equal no text and no other object."""
    for one, other in ((left, item), (item, left)):
        is_object = isinstance(one, CompileTime) and not one.is_number
        if is_object and isinstance(other, tree.Expression) and isinstance(other.type, Scalar):
            return CompileTime(False)
    return truth(builder, compare(builder, ast.Eq, left, item, node), node)


def _either(builder: FunctionBuilder, left: Value, right: Value, node: ast.AST) -> Value:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, CompileTime):
            return one if one.value else other
    assert isinstance(left, tree.Expression)
    assert isinstance(right, tree.Expression)
    return tree.Binary(builder.span(node), boolean, BinaryOperator.OR, left, right)
