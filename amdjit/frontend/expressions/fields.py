"""Arrays of records: fields of one element and of all of them, and whole elements stored."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder, count, describe
from amdjit.frontend.building.conversion import assign_to, convert, no_conversion
from amdjit.frontend.expressions.reports import index_check
from amdjit.frontend.values.kinds import TupleValue, Value
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.tree import nodes as tree
from amdjit.tree.record_views import RecordView
from amdjit.types import Array, Layout, Record, RecordField, Type, i32


def is_records(value: Value) -> bool:
    """Whether a value is an array of records, or one element of it."""
    return (
        isinstance(value, tree.Expression)
        and isinstance(value.type, Array)
        and isinstance(value.type.element, Record)
    )


def is_element(value: Value) -> bool:
    """Whether a value is one element of an array of records: a view, as in NumPy."""
    return (
        is_records(value)
        and isinstance(value, tree.Expression)
        and isinstance(value.type, Array)
        and not value.type.ndim
    )


def element_view(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: tuple[tree.Expression, ...],
    node: ast.expr,
) -> RecordView:
    """Return one element as a view."""
    assert isinstance(array.type, Array)
    whole = array.type
    record = whole.element
    assert isinstance(record, Record)
    type = Array(
        record,
        0,
        Layout.CONTIGUOUS,
        whole.address_space,
        None,
        whole.offset_bits,
        packing=_packing(whole, record, 0),
    )
    return RecordView(
        builder.span(node), type, array, indices, 0, index_check(builder, array, indices, node)
    )


def _packing(array: Array, record: Record, offset: int) -> int:
    """Return what a field's address is a multiple of: a power of two, whatever the index."""
    common = math.gcd(array.packing or record.alignment, array.pitch or record.nbytes, offset)
    return min(common & -common, 16)


def field(builder: FunctionBuilder, owner: tree.Expression, name: object, node: ast.AST) -> Value:
    """Type `element.name`, or `array["name"]` for all elements."""
    view, part = _field_view(builder, owner, name, node)
    assert isinstance(view.type, Array)
    if is_element(view) and isinstance(part.type, Record) and part.type.title:
        return complex_item(builder, view, node)
    if view.type.ndim == 0 and not isinstance(part.type, Record):
        return tree.Load(builder.span(node), part.type, view, ())
    return view


def complex_item(builder: FunctionBuilder, view: tree.Expression, node: ast.AST) -> Value:
    """Read a complex number."""
    element = builder.hold(view, "element", node)
    assert isinstance(element, tree.Expression)
    assert isinstance(element.type, Array)
    assert isinstance(element.type.element, Record)
    parts = tuple(field(builder, element, name, node) for name in ("real", "imag"))
    return TupleValue(
        parts, (COMPLEX64 if element.type.element.nbytes == 8 else COMPLEX128).structure
    )


def _field_view(
    builder: FunctionBuilder, owner: tree.Expression, name: object, node: ast.AST
) -> tuple[RecordView, RecordField]:
    array = owner.type
    assert isinstance(array, Array)
    record = array.element
    assert isinstance(record, Record)
    part = record.field(name)
    if part is None or (part.shape and array.ndim):
        names = ", ".join(each.name for each in record.fields)
        remedy = (
            f"its fields are {names}" if part is None else f"index the array first: `a[i].{name}`"
        )
        raise builder.error(
            codes.NO_ATTRIBUTE, node, type=describe(owner), attribute=name, remedy=remedy
        )
    packing = _packing(array, record, part.offset)
    if part.shape:
        type = Array(
            part.type, len(part.shape), Layout.CONTIGUOUS, array.address_space, part.shape, array.offset_bits,
            packing=packing,
        )  # fmt: skip
    else:
        pitch = (array.pitch or record.nbytes) if array.ndim else 0
        type = replace(array, element=part.type, pitch=pitch, packing=packing, alignment=0)
    return RecordView(builder.span(node), type, owner, (), part.offset), part


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
    builder: FunctionBuilder, array: tree.Expression, indices: tuple[tree.Expression, ...], value: Value,
    node: ast.expr, place: ast.AST,
) -> None:  # fmt: skip
    """Type `array[index] = record`: of another element, or of a tuple with a value for each
    field."""
    _store_all(builder, element_view(builder, array, indices, node), value, node, place)


def _store_all(
    builder: FunctionBuilder, view: RecordView, value: Value, node: ast.AST, place: ast.AST
) -> None:
    """All is read before anything is written: the two may be one."""
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
    """Yield each number's place and its value."""
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
    builder: FunctionBuilder, target: tree.Expression, shape: tuple[int, ...], source: Value, node: ast.AST,
    place: ast.AST,
) -> Iterator[Pair]:  # fmt: skip
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
