"""Items of tuples: by an index that is known when compiling, or at run time."""

from __future__ import annotations

import ast

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.building.remedies import integer_remedy
from amdjit.frontend.expressions.conditional import choose
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.names.merging import join_types
from amdjit.frontend.numbers.conversion import convert, materialise
from amdjit.frontend.numbers.operands import convert_weakly
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Array, Scalar, Type, boolean, i32, i64


def tuple_item(
    builder: FunctionBuilder, container: TupleValue, index: Value, node: ast.expr, place: ast.AST
) -> Value:
    """Type `items[index]`. place: the node of the index."""
    if not isinstance(index, CompileTime):
        return _chosen_item(builder, container, index, node, place)
    if isinstance(index.value, slice):
        return TupleValue(container.items[index.value])
    if not isinstance(index.value, int):
        raise builder.error(codes.NOT_CONSTANT, place, what="the index of a tuple")
    size = len(container.items)
    if not -size <= index.value < size:
        raise builder.error(
            codes.INDEX_RANGE,
            place,
            index=index.value,
            type=f"a tuple of {count(size, 'item')}",
            last=size - 1,
        )
    return container.items[index.value]


def _chosen_item(
    builder: FunctionBuilder, container: TupleValue, index: Value, node: ast.expr, place: ast.AST
) -> Value:
    """Type an item whose index is known at run time: the items need a common type, as the sides of
    `a if condition else b` do.

    Each bit of the index chooses between neighbours, so that n items take n - 1 selections and
    log2(n) tests.
    """
    kind = index.type if isinstance(index, tree.Expression) else None
    if not isinstance(kind, Scalar) or not (kind.is_integer or kind is boolean):
        remedy = integer_remedy(index, place)
        raise builder.error(codes.INDEX_TYPE, place, type=describe(index), remedy=remedy)
    items = container.items
    common = join_types(builder, "an item", list(items), place) if items else None
    if common is None:
        raise builder.error(codes.NOT_CONSTANT, place, what="the index of this tuple")
    position = _position(builder, index, len(items), node)
    if len(items) == 1:
        return items[0]
    values = _of_one_type(builder, items, common, node)
    span, bit = builder.span(node), 1
    while len(values) > 1:
        masked = _binary(builder, BinaryOperator.AND, position, bit, node)
        zero = convert(builder, CompileTime(0), position.type, node)
        is_second = tree.Compare(span, boolean, Comparison.NOT_EQUAL, masked, zero)
        values = [
            _neighbour(builder, is_second, values[at : at + 2], node)
            for at in range(0, len(values), 2)
        ]
        bit *= 2
    return values[0]


def _of_one_type(
    builder: FunctionBuilder, items: tuple[Value, ...], common: Type, node: ast.expr
) -> list[Value]:
    """Convert items to the type that all have in common: that of two neighbours may hold less."""
    if isinstance(common, Array):
        return list(items)
    made = [convert_weakly(builder, item, common, node) for item in items]
    if builder.weak.are_weak(items, common):
        builder.weak.expressions.update(made)
    return list(made)


def _neighbour(
    builder: FunctionBuilder, is_second: tree.Expression, pair: list[Value], node: ast.expr
) -> Value:
    if len(pair) == 1:
        return pair[0]
    return choose(builder, is_second, lambda: pair[1], lambda: pair[0], node)


def _position(builder: FunctionBuilder, index: Value, size: int, node: ast.expr) -> tree.Expression:
    """Return the index counted from the first item; report Python's IndexError for one outside."""
    expression = materialise(builder, index, node)
    assert isinstance(expression.type, Scalar)
    is_inside = _is_inside(expression, size)
    kind = i32 if expression.type.maximum <= i32.maximum else i64
    if expression.type.maximum > i64.maximum:
        kind = expression.type
    held = builder.hold(convert(builder, expression, kind, node), "index", node)
    assert isinstance(held, tree.Expression)
    if is_inside:
        return held
    span = builder.span(node)
    if kind.is_signed:
        zero = convert(builder, CompileTime(0), kind, node)
        is_negative = tree.Compare(span, boolean, Comparison.LESS, held, zero)
        counted = _binary(builder, BinaryOperator.ADD, held, size, node)
        wrapped = tree.Conditional(span, kind, is_negative, counted, held)
        held = builder.hold(wrapped, "index", node)
        assert isinstance(held, tree.Expression)
    extent = convert(builder, CompileTime(size), kind, node)
    outside: tree.Expression = tree.Compare(span, boolean, Comparison.GREATER_EQUAL, held, extent)
    if kind.is_signed:
        before = tree.Compare(span, boolean, Comparison.LESS, held, zero)
        outside = tree.Logical(span, boolean, False, before, outside)
    check(builder, outside, "tuple index out of range", node, IndexError)
    return held


def _is_inside(index: tree.Expression, size: int) -> bool:
    """Whether an index is in range by how it is computed: `i % 3`, `i & 3`."""
    if isinstance(index, tree.Convert):
        return _is_inside(index.operand, size)
    if not isinstance(index, tree.Binary) or not isinstance(index.right, tree.Constant):
        return index.type is boolean and size > 1
    limit = {BinaryOperator.MODULO: size, BinaryOperator.AND: size - 1}.get(index.operator, -1)
    first = 1 if index.operator is BinaryOperator.MODULO else 0
    return first <= index.right.value <= limit


def _binary(
    builder: FunctionBuilder,
    operator: BinaryOperator,
    left: tree.Expression,
    right: int,
    node: ast.expr,
) -> tree.Expression:
    constant = convert(builder, CompileTime(right), left.type, node)
    return tree.Binary(builder.span(node), left.type, operator, left, constant)
