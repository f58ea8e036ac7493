"""Assigning to a field or to a whole element of an array of records."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import assign_to, convert, no_conversion
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.expressions.fields import _field_view, element_view, field, is_element
from amdjit.frontend.values.kinds import TupleValue, Value
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.tree import nodes as tree
from amdjit.tree.record_views import RecordView
from amdjit.types import Array, Record, Type, i32


def store_field(
    builder: FunctionBuilder,
    owner: tree.Expression,
    name: object,
    value: Value,
    node: ast.AST,
    place: ast.AST,
) -> None:
    """Type `element.name = value`."""
    view, part = _field_view(builder, owner, name, node)
    if isinstance(part.type, Record) or part.shape:
        _store_all(builder, view, value, node, place)
    else:
        builder.emit(
            tree.Store(builder.span(node), view, (), assign_to(builder, value, part.type, place))
        )


def store_element(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: tuple[tree.Expression, ...],
    value: Value,
    node: ast.expr,
    place: ast.AST,
) -> None:
    """Type `array[index] = record`, from another element or from a tuple with a value for each
    field."""
    _store_all(builder, element_view(builder, array, indices, node), value, node, place)


def _store_all(
    builder: FunctionBuilder, view: RecordView, value: Value, node: ast.AST, place: ast.AST
) -> None:
    """Store all fields; everything is read before anything is written, since source and target may
    be the same."""
    target = builder.hold(view, "element", node)
    source = builder.hold(value, "element", place)
    assert isinstance(target, tree.Expression)
    stores = [
        (to, indices, builder.hold(assign_to(builder, item, _scalar_of(to), place), "field", place))
        for to, indices, item in _pairs(builder, target, source, node, place)
    ]
    for to, indices, item in stores:
        assert isinstance(item, tree.Expression)
        builder.emit(tree.Store(builder.span(node), to, indices, item))


def _scalar_of(view: tree.Expression) -> Type:
    assert isinstance(view.type, Array)
    return view.type.element


Pair = tuple[tree.Expression, tuple[tree.Expression, ...], Value]


def _pairs(
    builder: FunctionBuilder, target: tree.Expression, source: Value, node: ast.AST, place: ast.AST
) -> Iterator[Pair]:
    """Yield the place and the value of each number."""
    type = target.type
    assert isinstance(type, Array)
    if type.shape is not None:
        yield from _elements(builder, target, type.shape, source, node, place)
    elif not isinstance(type.element, Record):
        yield target, (), source
    else:
        items = _items(builder, type.element, source, node, place)
        for part, item in zip(type.element.fields, items, strict=True):
            yield from _pairs(
                builder, _field_view(builder, target, part.name, node)[0], item, node, place
            )


def _items(
    builder: FunctionBuilder, record: Record, source: Value, node: ast.AST, place: ast.AST
) -> list[Value]:
    if record.title:
        made = convert(builder, source, COMPLEX64 if record.nbytes == 8 else COMPLEX128, place)
        return list(builder.unpack(made).items)
    if isinstance(source, TupleValue) and len(source.items) == len(record.fields):
        return list(source.items)
    if (
        is_element(source)
        and isinstance(source, tree.Expression)
        and isinstance(source.type, Array)
    ):
        other = source.type.element
        assert isinstance(other, Record)
        if [part.name for part in other.fields] == [part.name for part in record.fields]:
            return [field(builder, source, part.name, node) for part in other.fields]
    if isinstance(source, TupleValue):
        names, values = count(len(record.fields), "field"), count(len(source.items), "value")
        raise builder.error(codes.UNPACK, place, names=names, values=values, type=describe(source))
    raise no_conversion(builder, source, record, place)


def _elements(
    builder: FunctionBuilder,
    target: tree.Expression,
    shape: tuple[int, ...],
    source: Value,
    node: ast.AST,
    place: ast.AST,
) -> Iterator[Pair]:
    type = target.type
    assert isinstance(type, Array)
    is_alike = (
        isinstance(source, tree.Expression)
        and isinstance(source.type, Array)
        and source.type.shape == shape
    )
    if isinstance(type.element, Record) or not (is_alike or isinstance(source, TupleValue)):
        raise no_conversion(builder, source, type, place)
    for position in itertools.product(*map(range, shape)):
        indices = tuple(tree.Constant(builder.span(node), i32, index) for index in position)
        if isinstance(source, tree.Expression):
            assert isinstance(source.type, Array)
            item: Value = tree.Load(builder.span(node), source.type.element, source, indices)
        else:
            item = source
            for index in position:
                if not isinstance(item, TupleValue) or not index < len(item.items):
                    raise no_conversion(builder, source, type, place)
                item = item.items[index]
        yield target, indices, item
