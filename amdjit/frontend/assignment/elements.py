"""Assigning to an element: `a[i] = x`, `v[0] = x`."""

from __future__ import annotations

import ast

from amdjit.diagnostics import codes
from amdjit.frontend.assignment.parts import store_part
from amdjit.frontend.assignment.record_fields import store_element, store_field
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.fields import field, field_name, is_element, is_records
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.expressions.subscripts import (
    element_indices,
    index_after,
    item_of,
    through_view,
    vector_index,
)
from amdjit.frontend.expressions.views import is_partial
from amdjit.frontend.names.scope import bind
from amdjit.frontend.numbers.conversion import assign_to
from amdjit.frontend.values.effects import may_act
from amdjit.frontend.values.kinds import Value
from amdjit.tree import nodes as tree
from amdjit.types import Array, Vector


def store_item(
    builder: FunctionBuilder, node: ast.Subscript, value: Value, place: ast.expr
) -> None:
    """Type `container[index] = value`. `place` is the node of the value, which Python evaluates
    first."""
    (value,), container = builder.evaluate_after((value,), node.value)
    (value, container), index = index_after(builder, (value, container), node)
    if may_act(container) or may_act(index):
        value, container, index = builder.in_order((value, container, index), node)
    store_at(builder, node, container=container, index=index, value=value, place=place)


def store_at(
    builder: FunctionBuilder,
    node: ast.Subscript,
    container: Value,
    index: Value,
    value: Value,
    place: ast.expr,
) -> None:
    """Type the store of a value. A vector in a variable is replaced by a vector with that element
    changed."""
    if isinstance(container, tree.Expression) and isinstance(container.type, Array):
        name = field_name(container, index)
        if name is not None and is_element(container):
            store_field(builder, container, name=name, value=value, node=node, place=place)
            return
        if name is not None:
            part = field(builder, container, name, node)
            store_part(builder, part, value, node, place)
            return
        if is_partial(index, container.type.ndim) and not is_records(container):
            store_part(builder, item_of(builder, container, index, node), value, node, place)
            return
        _check_element(builder, container.type, index, node)
        _store_element(
            builder,
            container,
            type=container.type,
            index=index,
            value=value,
            node=node,
            place=place,
        )
        return
    if (
        isinstance(container, tree.Expression)
        and isinstance(container.type, Vector)
        and isinstance(node.value, ast.Name)
    ):
        position = vector_index(builder, container.type, index, node)
        element = assign_to(builder, value, container.type.element, place)
        _replace_element(builder, node, node.value.id, container, position, element=element)
        return
    raise builder.error(
        codes.UNSUPPORTED_TARGET,
        node,
        what=f"an item of {describe(container)}",
        remedy="only elements of arrays, and of vectors that have a name, can be assigned",
    )


def _replace_element(
    builder: FunctionBuilder,
    node: ast.Subscript,
    name: str,
    vector: tree.Expression,
    position: tree.Expression,
    element: tree.Expression,
) -> None:
    span = builder.span(node)
    changed = tree.InsertElement(span, vector.type, vector, position, element)
    bind(builder, name, changed, node)


def _store_element(
    builder: FunctionBuilder,
    array: tree.Expression,
    type: Array,
    index: Value,
    value: Value,
    node: ast.expr,
    place: ast.expr,
) -> None:
    indices = element_indices(builder, array, type, index, node)
    if is_records(array):
        store_element(builder, array, indices=indices, value=value, node=node, place=place)
        return
    element = assign_to(builder, value, type.element, place)
    array, indices = through_view(array, indices)
    check = index_check(builder, array, indices, node)
    builder.emit(tree.Store(builder.span(node), array, indices, element, check=check))


def _check_element(builder: FunctionBuilder, type: Array, index: Value, node: ast.expr) -> None:
    if is_partial(index, type.ndim):
        what = f"a part of an array of {type.element}"
        raise builder.error(
            codes.UNSUPPORTED_TARGET, node, what=what, remedy="assign its elements in a loop"
        )
