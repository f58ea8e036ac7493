"""Assignments: `=`, `+=` and annotated ones."""

from __future__ import annotations

import ast

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.assignment.elements import store_at
from amdjit.frontend.assignment.parts import store_part
from amdjit.frontend.assignment.record_fields import store_field
from amdjit.frontend.assignment.targets import assign_target, part_of_element
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.special_methods import in_place_method
from amdjit.frontend.expressions.fields import field, is_element, is_records
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.expressions.operators import binary
from amdjit.frontend.expressions.subscripts import element_indices, index_after, item_of
from amdjit.frontend.expressions.views import is_partial
from amdjit.frontend.names.annotations import annotated_type
from amdjit.frontend.names.scope import bind
from amdjit.frontend.numbers.conversion import assign_to
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.types import Array, Tuple


def assign(builder: FunctionBuilder, node: ast.Assign) -> None:
    """`a = b = value`, also with tuples of targets."""
    try:
        value = builder.evaluate(node.value)
    except CompileError as failure:
        raise _with_errors_of_indices(builder, failure, node.targets) from None
    if len(node.targets) > 1 or isinstance(node.targets[0], (ast.Tuple, ast.List)):
        value = builder.hold(value, "value", node.value)
    for target in node.targets:
        assign_target(builder, target, value, node.value)


def _with_errors_of_indices(
    builder: FunctionBuilder, failure: CompileError, targets: list[ast.expr]
) -> CompileError:
    """Add the errors in the indices of the targets to those of the assigned value."""
    subscripts = [target for target in targets if isinstance(target, ast.Subscript)]
    parts = [part for target in subscripts for part in (target.value, target.slice)]
    try:
        builder.evaluate_all(parts)
    except CompileError as more:
        return CompileError(*failure.diagnostics, *more.diagnostics)
    return failure


def assign_annotated(builder: FunctionBuilder, node: ast.AnnAssign) -> None:
    """`x: f16 = value`: the variable has the annotated type (with Numba's typing, the value's)."""
    if not builder.rules.has_annotations:
        if node.value is not None:
            assign(builder, ast.copy_location(ast.Assign([node.target], node.value), node))
        return
    if not isinstance(node.target, ast.Name) or node.value is None:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node,
            expression="an annotation of something other than an assigned name",
            remedy="write `name: type = value`",
        )
    target = annotated_type(
        builder, builder.evaluate(node.annotation), node.target.id, node.annotation
    )
    value: Value = assign_to(builder, builder.evaluate(node.value), target, node.value)
    if isinstance(target, Tuple):
        value = builder.hold(value, node.target.id, node)
    bind(builder, node.target.id, value, node.target)


def assign_augmented(builder: FunctionBuilder, node: ast.AugAssign) -> None:
    """`x += value`, `a[i] += value`: the subscript is evaluated once."""
    if isinstance(node.target, ast.Name):
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        old, operand = builder.evaluate_all((load, node.value))
        if _is_part(old):
            _update_all(builder, old, operand, node)  # NumPy changes the array, too
            return
        value = _updated(builder, old, operand, node)
        bind(builder, node.target.id, value, node.target)
        return
    if isinstance(node.target, ast.Attribute):
        part = part_of_element(builder, node.target)
        if part is not None:
            whole = ast.copy_location(ast.AugAssign(part, node.op, node.value), node)
            assign_augmented(builder, whole)
            return
        owner = builder.hold(builder.evaluate(node.target.value), "owner", node.target)
        if isinstance(owner, tree.Expression) and is_element(owner):
            found = field(builder, owner, node.target.attr, node)
            if _is_part(found):
                _update_part(builder, found, node)
                return
            (old,), operand = builder.evaluate_after((found,), node.value)
            value = _updated(builder, old, operand, node)
            store_field(builder, owner, node.target.attr, value, node.target, node)
            return
    if not isinstance(node.target, ast.Subscript):
        assign_target(builder, node.target, CompileTime(None), node.value)
        return
    (container,), index = index_after(builder, (builder.evaluate(node.target.value),), node.target)
    if (
        isinstance(container, tree.Expression)
        and isinstance(container.type, Array)
        and not is_records(container)
    ):
        _update_element(builder, container, container.type, index, node)
        return
    index = builder.hold(index, "index", node.target)
    old = item_of(builder, container, index, node.target)
    if _is_part(old):
        _update_part(builder, old, node)
        return
    (old,), operand = builder.evaluate_after((old,), node.value)
    store_at(
        builder, node.target, container, index, _updated(builder, old, operand, node), node.value
    )


def _updated(builder: FunctionBuilder, old: Value, operand: Value, node: ast.AugAssign) -> Value:
    """Type the value of `old op= operand`: the result of the class's `__iadd__`, else `old op
    operand`."""
    value = in_place_method(builder, type(node.op), old, operand, node)
    return binary(builder, type(node.op), old, operand, node) if value is None else value


def _is_part(value: Value) -> bool:
    """Whether a value is an array of numbers in memory."""
    return (
        isinstance(value, tree.Expression)
        and isinstance(value.type, Array)
        and not is_records(value)
    )


def _update_part(builder: FunctionBuilder, part: Value, node: ast.AugAssign) -> None:
    part = builder.hold(part, "part", node.target)
    (part,), operand = builder.evaluate_after((part,), node.value)
    _update_all(builder, part, operand, node)


def _update_all(builder: FunctionBuilder, part: Value, operand: Value, node: ast.AugAssign) -> None:
    store_part(
        builder,
        part,
        operand,
        node.target,
        node.value,
        lambda a, b: binary(builder, type(node.op), a, b, node),
    )


def _update_element(
    builder: FunctionBuilder, array: tree.Expression, kind: Array, index: Value, node: ast.AugAssign
) -> None:
    if is_partial(index, kind.ndim):
        _update_part(builder, item_of(builder, array, index, node.target), node)
        return
    span = builder.span(node.target)
    indices = element_indices(builder, array, kind, index, node.target)
    held = tuple(_held(builder, index, node.target) for index in indices)
    load = tree.Load(
        span, kind.element, array, held, check=index_check(builder, array, held, node.target)
    )
    (old, held_array), operand = builder.evaluate_after((load, array), node.value)
    assert isinstance(held_array, tree.Expression)
    array = held_array
    value = binary(builder, type(node.op), old, operand, node)
    builder.emit(
        tree.Store(builder.span(node), array, held, assign_to(builder, value, kind.element, node))
    )


def _held(builder: FunctionBuilder, index: tree.Expression, node: ast.AST) -> tree.Expression:
    held = builder.hold(index, "index", node)
    assert isinstance(held, tree.Expression)
    return held
