"""Assigning to a field or to a whole element of an array of records."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator

from amdjit.diagnostics import codes
from amdjit.frontend.assignment.parts import check_overlap, over_axes, store_part
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.building.remedies import UNPACKED
from amdjit.frontend.expressions.fields import (
    _field_view,
    complex_item,
    element_view,
    field,
    is_element,
    is_time,
    ticks_of,
)
from amdjit.frontend.expressions.texts import characters_for, is_text
from amdjit.frontend.numbers.conversion import assign_to, convert, no_conversion
from amdjit.frontend.values.kinds import TupleValue, Value
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import RecordView
from amdjit.types import Array, Record, RecordField, Scalar, Type, i32


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
    value = _text(builder, part, value, place)
    is_tuple = isinstance(value, TupleValue) or not part.shape
    if is_tuple and (isinstance(part.type, Record) or part.shape):
        _store_all(builder, view, value, node, place)
    elif part.shape:
        _store_array(builder, view, value, node, place)
    else:
        builder.emit(
            tree.Store(builder.span(node), view, (), assign_to(builder, value, part.type, place))
        )


def _text(builder: FunctionBuilder, part: RecordField, value: Value, place: ast.AST) -> Value:
    """Return a constant text that is stored to a field of characters as these; other values as they
    are."""
    if len(part.shape) != 1 or not isinstance(part.type, Scalar):
        return value
    return characters_for(builder, value, part.type, part.shape[0], place)


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


def _store_array(
    builder: FunctionBuilder, view: RecordView, value: Value, node: ast.AST, place: ast.AST
) -> None:
    """Store a number or an array into a field that is an array, as into a part of an array."""
    assert isinstance(node, ast.expr)
    assert isinstance(place, ast.expr)
    target = builder.hold(view, "field", node)
    assert isinstance(target, tree.Expression)
    is_alike = _is_array(value) and _shape_of(value) == _shape_of(target)
    is_record = isinstance(_scalar_of(view), Record)
    is_long = math.prod(_shape_of(target) or ()) > _MOST_UNROLLED
    if is_alike and is_long:
        check_overlap(builder, target, value, place)
    if is_record and not _is_array(value):
        _store_in_each(builder, target, value, node, place)
    elif is_record or (is_alike and not is_long):
        _store_all(builder, target, value, node, place)
    else:
        store_part(builder, target, value, node, place)


def _store_in_each(
    builder: FunctionBuilder,
    target: tree.Expression,
    value: Value,
    node: ast.expr,
    place: ast.expr,
) -> None:
    """Store one complex number into every element of an array of them."""
    assert isinstance(target.type, Array)
    record = target.type.element
    assert isinstance(record, Record)
    if not record.title:
        raise no_conversion(builder, value, target.type, place)
    whole = value if is_time(record) else _complex(builder, record, value, place)
    source = builder.hold(whole, "value", place)

    def store(indices: tuple[tree.Expression, ...]) -> None:
        _store_all(builder, element_view(builder, target, indices, node), source, node, place)

    over_axes(builder, target, kind=target.type, indices=(), store=store, node=node)


def _is_array(value: Value) -> bool:
    return isinstance(value, tree.Expression) and isinstance(value.type, Array)


def _shape_of(value: Value) -> tuple[int, ...] | None:
    assert isinstance(value, tree.Expression)
    assert isinstance(value.type, Array)
    return value.type.shape


def _store_all(
    builder: FunctionBuilder, view: Value, value: Value, node: ast.AST, place: ast.AST
) -> None:
    """Store all fields; everything is read before anything is written, since source and target may
    be the same. Fields that are long arrays are then copied in loops: two elements of an array are
    either the same memory or apart."""
    target = builder.hold(view, "element", node)
    source = builder.hold(value, "element", place)
    assert isinstance(target, tree.Expression)
    pairs = list(_pairs(builder, target, source, node, place))
    stores = [
        (to, at, builder.hold(assign_to(builder, item, _scalar_of(to), place), "field", place))
        for to, at, item in pairs
        if at is not None
    ]
    for to, at, item in stores:
        assert isinstance(item, tree.Expression)
        builder.emit(tree.Store(builder.span(node), to, at, item))
    for array, indices, item in pairs:
        if indices is None:
            assert isinstance(item, tree.Expression)
            _copy_array(builder, array, item, node, place)


def _copy_array(
    builder: FunctionBuilder,
    target: tree.Expression,
    source: tree.Expression,
    node: ast.AST,
    place: ast.AST,
) -> None:
    assert isinstance(target.type, Array)
    span, element = builder.span(node), _scalar_of(target)

    def copy(indices: tuple[tree.Expression, ...]) -> None:
        if isinstance(element, Record):
            assert isinstance(place, ast.expr)
            to = element_view(builder, target, indices, place)
            _store_all(builder, to, _item(builder, source, indices, place), node, place)
            return
        loaded = tree.Load(builder.span(place), _scalar_of(source), source, indices)
        value = assign_to(builder, loaded, element, place)
        builder.emit(tree.Store(span, target, indices, value))

    over_axes(builder, target, kind=target.type, indices=(), store=copy, node=node)


def _scalar_of(view: Value) -> Type:
    assert isinstance(view, tree.Expression)
    assert isinstance(view.type, Array)
    return view.type.element


# A place, its indices, and its value. Without indices: two arrays to be copied in a loop.
Pair = tuple[tree.Expression, "tuple[tree.Expression, ...] | None", Value]
# Longer fields are copied in loops.
_MOST_UNROLLED = 16


def _pairs(
    builder: FunctionBuilder, target: tree.Expression, source: Value, node: ast.AST, place: ast.AST
) -> Iterator[Pair]:
    """Yield the place and the value of each number."""
    type = target.type
    assert isinstance(type, Array)
    if type.shape is not None:
        yield from _elements(
            builder, target, shape=type.shape, source=source, node=node, place=place
        )
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
    if is_time(record):
        return [ticks_of(builder, record, source, place)]
    if is_text(record) and not is_element(source):
        return [_text(builder, record.fields[0], source, place)]
    if record.title:
        return list(builder.unpack(_complex(builder, record, source, place)).items)
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
        raise builder.error(
            codes.UNPACK,
            place,
            names=names,
            values=values,
            type=describe(source),
            remedy=UNPACKED,
        )
    raise no_conversion(builder, source, record, place)


def _complex(
    builder: FunctionBuilder, record: Record, value: Value, place: ast.AST
) -> tree.Expression:
    return convert(builder, value, COMPLEX64 if record.nbytes == 8 else COMPLEX128, place)


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
    if not (_is_array(source) and _shape_of(source) == shape) and not isinstance(
        source, TupleValue
    ):
        raise no_conversion(builder, source, type, place)
    if isinstance(source, tree.Expression) and math.prod(shape) > _MOST_UNROLLED:
        yield target, None, builder.hold(source, "field", place)
        return
    for position in itertools.product(*map(range, shape)):
        indices = tuple(tree.Constant(builder.span(node), i32, index) for index in position)
        item = _element(
            builder, source, position=position, indices=indices, target=type, place=place
        )
        if isinstance(type.element, Record):
            assert isinstance(node, ast.expr)
            inner = element_view(builder, target, indices, node)
            yield from _pairs(builder, inner, item, node, place)
        else:
            yield target, indices, item


def _element(
    builder: FunctionBuilder,
    source: Value,
    position: tuple[int, ...],
    indices: tuple[tree.Expression, ...],
    target: Array,
    place: ast.AST,
) -> Value:
    """Return the item of an array or of nested tuples at a position."""
    if isinstance(source, tree.Expression):
        return _item(builder, source, indices, place)
    for axis, index in enumerate(position):
        extent = 0 if target.shape is None else target.shape[axis]
        if not isinstance(source, TupleValue) or len(source.items) != extent:
            raise no_conversion(builder, source, target, place)
        source = source.items[index]
    return source


def _item(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: tuple[tree.Expression, ...],
    place: ast.AST,
) -> Value:
    """Return an element of an array: a number, a complex number or a record."""
    element = _scalar_of(array)
    if not isinstance(element, Record):
        return tree.Load(builder.span(place), element, array, indices)
    assert isinstance(place, ast.expr)
    view = element_view(builder, array, indices, place)
    return complex_item(builder, view, place) if element.title else view
