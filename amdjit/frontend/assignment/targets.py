"""Targets of assignments: a name, an element, a field, or a tuple of these."""

from __future__ import annotations

import ast

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.assignment.elements import store_item
from amdjit.frontend.assignment.record_fields import store_field
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.building.remedies import UNPACKED
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.expressions.fields import is_element
from amdjit.frontend.expressions.subscripts import item_of
from amdjit.frontend.names.scope import bind
from amdjit.frontend.numbers.conversion import truth
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.complex_types import ComplexElement
from amdjit.tree import nodes as tree
from amdjit.types import Array, Scalar, Vector


def assign_target(
    builder: FunctionBuilder, target: ast.expr, value: Value, place: ast.expr
) -> None:
    """Assign the value of the node `place` to a name, an element, or a tuple of these."""
    if isinstance(target, ast.Name):
        bind(builder, target.id, value, target)
    elif isinstance(target, ast.Subscript):
        store_item(builder, target, value, place)
    elif isinstance(target, ast.Attribute):
        part = part_of_element(builder, target)
        if part is None:
            _assign_field(builder, target, value, place)
        else:
            store_item(builder, part, value, place)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _assign_items(builder, target, value, place)
    else:
        raise _no_target(builder, target, f"`{ast.unparse(target)}`")


def part_of_element(builder: FunctionBuilder, target: ast.Attribute) -> ast.Subscript | None:
    """Return `a.real[i]` for `a[i].real`, where `a` is an array of complex numbers."""
    element = target.value
    if target.attr not in ("real", "imag") or not isinstance(element, ast.Subscript):
        return None
    if not isinstance(element.value, ast.Name):
        return None
    array = builder.evaluate(element.value)
    if not (
        isinstance(array, tree.Expression)
        and isinstance(array.type, Array)
        and isinstance(array.type.element, ComplexElement)
    ):
        return None
    parts = ast.copy_location(ast.Attribute(element.value, target.attr, ast.Load()), target)
    return ast.copy_location(ast.Subscript(parts, element.slice, ast.Store()), target)


def _no_target(builder: FunctionBuilder, target: ast.expr, what: str) -> CompileError:
    remedy = "assign to a name or to an element, `a[i] = ...`"
    return builder.error(codes.UNSUPPORTED_TARGET, target, what=what, remedy=remedy)


def _assign_field(
    builder: FunctionBuilder, target: ast.Attribute, value: Value, place: ast.expr
) -> None:
    """`a[i].x = value`."""
    (value,), owner = builder.evaluate_after((value,), target.value)
    if isinstance(owner, tree.Expression) and is_element(owner):
        store_field(builder, owner, name=target.attr, value=value, node=target, place=place)
        return
    if isinstance(owner, TupleValue) and owner.structure is not None:
        raise builder.error(
            codes.UNSUPPORTED_TARGET,
            target,
            what=f"a field of {owner.structure.name}",
            remedy="records are immutable: make a new one, `dataclasses.replace(record, "
            f"{target.attr}=...)`",
        )
    raise _no_target(builder, target, "an attribute")


def _assign_items(
    builder: FunctionBuilder, target: ast.Tuple | ast.List, value: Value, place: ast.expr
) -> None:
    names = count(len(target.elts), "name")
    if isinstance(value, tree.Expression) and isinstance(value.type, Array):
        value = unpacked(builder, value, target, place)
    items = _starred(target.elts, _items(builder, value, place, names))
    if len(items) != len(target.elts):
        values = count(len(items), "value")
        raise _not_unpacked(builder, value, target, names, values)
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
    """Gather the items of `*rest` into a tuple (Python makes a list)."""
    at = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    taken = len(items) - (len(targets) - 1)
    if at is None or taken < 0:
        return items
    return (*items[:at], TupleValue(items[at : at + taken]), *items[at + taken :])


def _not_unpacked(
    builder: FunctionBuilder, value: Value, node: ast.expr, names: str, values: str
) -> CompileError:
    type, remedy = describe(value), UNPACKED
    if values == "1 value":
        remedy = "write one name; `amdjit.grid(2)` gives two indices, `amdjit.grid(3)` three"
    return builder.error(codes.UNPACK, node, names=names, values=values, type=type, remedy=remedy)


def _items(builder: FunctionBuilder, value: Value, node: ast.expr, names: str) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, tree.Expression) and isinstance(value.type, Vector):
        return tuple(
            item_of(builder, value, CompileTime(i), node) for i in range(value.type.length)
        )
    if isinstance(value, tree.Expression) and isinstance(value.type, Scalar):
        raise _not_unpacked(builder, value, node, names, "1 value")
    raise builder.error(codes.NOT_INDEXABLE, node, type=describe(value))


# Arrays taken apart into names: `p, q = x[i]`, `for a, b in rows`.


def unpacked(
    builder: FunctionBuilder, array: tree.Expression, target: ast.Tuple | ast.List, place: ast.expr
) -> TupleValue:
    """Return an array's items, one for each target. An extent that is known only at run time is
    tested there, as Python's ValueError."""
    held = builder.hold(array, "array", place)
    assert isinstance(held, tree.Expression)
    assert isinstance(held.type, Array)
    kind, number = held.type, len(target.elts)
    if kind.ndim == 0:
        raise builder.error(codes.NOT_INDEXABLE, place, type=kind)
    if kind.shape is not None:
        number = kind.shape[0]
    elif any(isinstance(item, ast.Starred) for item in target.elts):
        raise _unknown_rest(builder, kind, target, place)
    else:
        extent = tree.Extent(builder.span(place), kind.index_type, held, 0)
        other = compare(builder, ast.NotEq, extent, CompileTime(number), place)
        wrong = truth(builder, other, place)
        assert isinstance(wrong, tree.Expression)
        text = f"wrong number of values to unpack (expected {number})"
        check(builder, wrong, text, place)
    items = (item_of(builder, held, CompileTime(i), place) for i in range(number))
    return TupleValue(tuple(builder.hold(item, "item", place) for item in items))


def _unknown_rest(
    builder: FunctionBuilder, kind: Array, target: ast.Tuple | ast.List, place: ast.expr
) -> Exception:
    text, first = ast.unparse(place), ast.unparse(target.elts[0]).strip("*")
    remedy = f"write out the items, `{first} = {text}[0]`; the rest is a part, `{text}[1:]`"
    return builder.error(
        codes.UNPACK,
        place,
        names=count(len(target.elts), "name") + " with a star",
        values="a number of values that is known only at run time",
        type=kind,
        remedy=remedy,
    )
