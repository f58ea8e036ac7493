"""Statements other than loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder, StatementHandler, count, describe
from amdjit.frontend.building.conversion import assign_to, convert, is_complex, no_conversion
from amdjit.frontend.building.special_methods import in_place_method
from amdjit.frontend.expressions.fields import field, is_element, is_records, store_field
from amdjit.frontend.expressions.operators import binary
from amdjit.frontend.expressions.part_assignment import store_part
from amdjit.frontend.expressions.reports import assert_statement, index_check, raise_statement
from amdjit.frontend.expressions.subscripts import (
    element_indices,
    index_after,
    item_of,
    store_at,
    store_item,
)
from amdjit.frontend.expressions.views import is_partial
from amdjit.frontend.names.annotations import annotated_type
from amdjit.frontend.names.scope import bind, merge, read_name
from amdjit.frontend.statements.recovery import condition_of
from amdjit.frontend.values.exits import Exit, ReturnSite
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Undefined, Value
from amdjit.tree import nodes as tree
from amdjit.types import Array, Tuple, Type, Vector


def assign(builder: FunctionBuilder, node: ast.Assign) -> None:
    """`a = b = value`, also with tuples of targets."""
    try:
        value = builder.evaluate(node.value)
    except CompileError:
        # The indices of the targets may be wrong as well.
        subscripts = [target for target in node.targets if isinstance(target, ast.Subscript)]
        builder.evaluate_all(
            [node.value, *(part for target in subscripts for part in (target.value, target.slice))]
        )
        raise
    if len(node.targets) > 1 or isinstance(node.targets[0], (ast.Tuple, ast.List)):
        value = builder.hold(value, "value", node.value)
    for target in node.targets:
        assign_target(builder, target, value, node.value)


def assign_target(
    builder: FunctionBuilder, target: ast.expr, value: Value, place: ast.expr
) -> None:
    """Assign a value, which stands at `place`, to a name, an element, or a tuple of those."""
    if isinstance(target, ast.Name):
        bind(builder, target.id, value, target)
    elif isinstance(target, ast.Subscript):
        store_item(builder, target, value, place)
    elif isinstance(target, ast.Attribute):
        _assign_field(builder, target, value, place)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _assign_items(builder, target, value, place)
    else:
        raise _no_target(builder, target, f"`{ast.unparse(target)}`")


def _no_target(builder: FunctionBuilder, target: ast.expr, what: str) -> CompileError:
    remedy = "assign to a name or to an element, `a[i] = ...`"
    return builder.error(codes.UNSUPPORTED_TARGET, target, what=what, remedy=remedy)


def _assign_field(
    builder: FunctionBuilder, target: ast.Attribute, value: Value, place: ast.expr
) -> None:
    """`a[i].x = value`."""
    (value,), owner = builder.evaluate_after((value,), target.value)
    if isinstance(owner, tree.Expression) and is_element(owner):
        store_field(builder, owner, target.attr, value, target, place)
        return
    if isinstance(owner, TupleValue) and owner.structure is not None:
        raise builder.error(
            codes.UNSUPPORTED_TARGET, target, what=f"a field of {owner.structure.name}",
            remedy="records do not change: make another, `dataclasses.replace(record, "
                   f"{target.attr}=...)`",
        )  # fmt: skip
    raise _no_target(builder, target, "an attribute")


def _assign_items(
    builder: FunctionBuilder, target: ast.Tuple | ast.List, value: Value, place: ast.expr
) -> None:
    items = _starred(target.elts, _items(builder, value, place))
    if len(items) != len(target.elts):
        names, values = count(len(target.elts), "name"), count(len(items), "value")
        raise builder.error(codes.UNPACK, target, names=names, values=values, type=describe(value))
    places = (
        place.elts
        if isinstance(place, ast.Tuple) and len(place.elts) == len(items)
        else [place] * len(items)
    )
    for inner, item, its_place in zip(target.elts, items, places, strict=True):
        assign_target(
            builder, inner.value if isinstance(inner, ast.Starred) else inner, item, its_place
        )


def _starred(targets: list[ast.expr], items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Gather what `*rest` takes into a tuple (Python makes a list)."""
    at = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    taken = len(items) - (len(targets) - 1)
    if at is None or taken < 0:
        return items
    return (*items[:at], TupleValue(items[at : at + taken]), *items[at + taken :])


def _items(builder: FunctionBuilder, value: Value, node: ast.expr) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, tree.Expression) and isinstance(value.type, Vector):
        return tuple(
            item_of(builder, value, CompileTime(i), node) for i in range(value.type.length)
        )
    raise builder.error(codes.NOT_INDEXABLE, node, type=describe(value))


def assign_annotated(builder: FunctionBuilder, node: ast.AnnAssign) -> None:
    """`x: f16 = value`: the variable has the annotated type."""
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
        value = _updated(builder, old, operand, node)
        bind(builder, node.target.id, value, node.target)
        return
    if isinstance(node.target, ast.Attribute):
        owner = builder.hold(builder.evaluate(node.target.value), "owner", node.target)
        if isinstance(owner, tree.Expression) and is_element(owner):
            (old,), operand = builder.evaluate_after(
                (field(builder, owner, node.target.attr, node),), node.value
            )
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
    (old,), operand = builder.evaluate_after((old,), node.value)
    store_at(
        builder, node.target, container, index, _updated(builder, old, operand, node), node.value
    )


def _updated(builder: FunctionBuilder, old: Value, operand: Value, node: ast.AugAssign) -> Value:
    """Type what `old op= operand` binds: what the class's `__iadd__` gives, else `old op
    operand`."""
    value = in_place_method(builder, type(node.op), old, operand, node)
    return binary(builder, type(node.op), old, operand, node) if value is None else value


def _update_element(
    builder: FunctionBuilder, array: tree.Expression, kind: Array, index: Value, node: ast.AugAssign
) -> None:
    if is_partial(index, kind.ndim):
        part = builder.hold(item_of(builder, array, index, node.target), "part", node.target)
        (part,), operand = builder.evaluate_after((part,), node.value)
        store_part(
            builder,
            part,
            operand,
            node.target,
            node.value,
            lambda a, b: binary(builder, type(node.op), a, b, node),
        )
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


def evaluate(builder: FunctionBuilder, node: ast.Expr) -> None:
    """An expression for its effect; a docstring or `...` has none."""
    if isinstance(node.value, ast.Constant):
        return
    value = builder.evaluate(node.value)
    if isinstance(value, tree.Expression) and not isinstance(value, (tree.Constant, tree.Read)):
        builder.emit(tree.Evaluate(builder.span(node), value))


def branch(builder: FunctionBuilder, node: ast.If) -> None:
    """`if`: a compile-time condition types one branch only."""
    node = _nested(node)
    condition = condition_of(builder, node.test)
    sides = (lambda: builder.run(node.body), lambda: builder.run(node.orelse))
    ends = (node.body[-1], node.orelse[-1] if node.orelse else node.test)
    branch_on(builder, condition, sides, ends, node)


def _nested(node: ast.If) -> ast.If:
    """Write `if a and (x := b):` as two ifs, so that the body knows that x is assigned."""
    test = node.test
    if node.orelse or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return node
    if not any(
        isinstance(inner, ast.NamedExpr) for value in test.values[1:] for inner in ast.walk(value)
    ):
        return node
    rest = (
        test.values[1]
        if len(test.values) == 2
        else ast.copy_location(ast.BoolOp(test.op, test.values[1:]), test)
    )
    inner = ast.copy_location(ast.If(rest, node.body, []), node)
    return ast.copy_location(ast.If(test.values[0], [inner], []), node)


Side = Callable[[], None]


def branch_on(
    builder: FunctionBuilder,
    condition: Value,
    sides: tuple[Side, Side],
    ends: tuple[ast.AST, ast.AST],
    node: ast.stmt,
) -> None:
    """Type what runs if a condition holds, and if not. ends: where errors about the meeting of the
    two point."""
    if isinstance(condition, CompileTime):
        sides[0 if condition.value else 1]()
        return
    assert isinstance(condition, tree.Expression)
    ways: list[Exit] = []
    bodies: list[list[tree.Statement]] = []
    for side, end in zip(sides, ends, strict=True):
        with builder.block() as statements:
            side()
            bodies.append(statements)
            if not builder.terminated:
                ways.append(Exit(builder.names, statements, end))
    if ways:
        builder.names = merge(builder, ways, node)
    builder.terminated = not ways
    builder.emit(tree.If(condition.span, condition, bodies[0], bodies[1]))


def delete(builder: FunctionBuilder, node: ast.Delete) -> None:
    """`del name`: reading it afterwards is an error."""
    for target in node.targets:
        if not isinstance(target, ast.Name):
            raise builder.error(
                codes.UNSUPPORTED_TARGET,
                target,
                what=f"`del {ast.unparse(target)}`",
                remedy="`del` takes names",
            )
        read_name(builder, target.id, target)
        builder.names[target.id] = Undefined("was deleted")


def leave_function(builder: FunctionBuilder, node: ast.Return) -> None:
    """`return`: the value is converted once all returns of the function are known."""
    value = None if node.value is None else builder.evaluate(node.value)
    if isinstance(value, CompileTime) and value.value is None:
        value = None
    if builder.is_kernel and value is not None:
        raise builder.error(codes.KERNEL_RETURNS, node, kernel=builder.source.node.name)
    placeholder = tree.Return(builder.span(node), None)
    builder.returns.append(ReturnSite(value, builder.statements, placeholder, node))
    builder.emit(placeholder)
    builder.terminated = True


def skip(builder: FunctionBuilder, node: ast.Pass) -> None:
    """`pass`."""


STATEMENTS: Mapping[type[ast.stmt], StatementHandler] = {
    ast.AnnAssign: assign_annotated,
    ast.Assert: assert_statement,
    ast.Assign: assign,
    ast.AugAssign: assign_augmented,
    ast.Delete: delete,
    ast.Expr: evaluate,
    ast.If: branch,
    ast.Pass: skip,
    ast.Raise: raise_statement,
    ast.Return: leave_function,
}


def return_value(
    builder: FunctionBuilder, value: Value, node: ast.AST, type: Type
) -> tree.Expression:
    """Convert a returned value to the function's result type, tuples item by item."""
    if isinstance(type, Tuple) and isinstance(value, TupleValue) and not is_complex(value):
        pairs = zip(value.items, type.elements, strict=False)
        if value.structure != type.structure or len(value.items) != len(type.elements):
            raise no_conversion(builder, value, type, node)
        items = tuple(return_value(builder, item, node, element) for item, element in pairs)
        return tree.MakeTuple(builder.span(node), type, items)
    if builder.source.node.returns is not None:
        return assign_to(builder, value, type, node)
    return convert(builder, value, type, node)
