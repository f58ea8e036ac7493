"""Arrays of records: fields of one element and of all elements."""

from __future__ import annotations

import ast
import math
from dataclasses import replace

import numpy as np

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.numbers.conversion import no_conversion
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.language.times import time_structure, time_unit
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import RecordView
from amdjit.types import Array, Layout, Record, RecordField

__all__ = ["is_time", "ticks_of"]


def is_records(value: Value) -> bool:
    """Whether a value is an array of records or one of its elements."""
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


def field_name(value: Value, index: Value) -> str | int | None:
    """Return the field that an index names, or counts in one element; None for other indices. A
    number without a field stays one, which `field` refuses."""
    if not is_records(value) or not isinstance(index, CompileTime):
        return None
    if isinstance(index.value, str):
        return index.value
    assert isinstance(value, tree.Expression)
    assert isinstance(value.type, Array)
    record = value.type.element
    number = index.value
    if not is_element(value) or type(number) is not int:
        return None
    if not isinstance(record, Record) or record.title:
        return None
    is_inside = -len(record.fields) <= number < len(record.fields)
    return record.fields[number].name if is_inside else number


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
        layout=Layout.CONTIGUOUS,
        address_space=whole.address_space,
        shape=None,
        offset_bits=whole.offset_bits,
        packing=_packing(whole, record, 0),
    )
    return RecordView(
        builder.span(node),
        type,
        array=array,
        indices=indices,
        offset=0,
        check=index_check(builder, array, indices, node),
    )


def _packing(array: Array, record: Record, offset: int) -> int:
    """Return the alignment of a field: the largest power of two that divides its address for every
    index."""
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
    """Read a complex number, or a date or duration."""
    element = builder.hold(view, "element", node)
    assert isinstance(element, tree.Expression)
    assert isinstance(element.type, Array)
    assert isinstance(element.type.element, Record)
    if is_time(element.type.element):
        return time_value(element.type.element, field(builder, element, "ticks", node))
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
        # Only the first element is where the field begins.
        packing = math.gcd(packing, part.type.nbytes)
        type = Array(
            part.type,
            len(part.shape),
            layout=Layout.CONTIGUOUS,
            address_space=array.address_space,
            shape=part.shape,
            offset_bits=array.offset_bits,
            packing=packing,
        )
    else:
        pitch = (array.pitch or record.nbytes) if array.ndim else 0
        type = replace(array, element=part.type, pitch=pitch, packing=packing, alignment=0)
    return RecordView(builder.span(node), type, owner, (), part.offset), part


# Elements of arrays of datetime64 and timedelta64, as the records that a kernel computes with.


def is_time(record: Record) -> bool:
    """Whether an element is a date or a duration."""
    return record.title.startswith(("datetime64", "timedelta64"))


def time_value(record: Record, ticks: Value) -> TupleValue:
    """Return the value of an element with these ticks."""
    dtype = np.dtype(record.title)
    return TupleValue((ticks, CompileTime(time_unit(dtype))), time_structure(dtype))


def ticks_of(builder: FunctionBuilder, record: Record, value: Value, place: ast.AST) -> Value:
    """Return the ticks of a value that is stored to an element; refuse other kinds and units."""
    dtype = np.dtype(record.title)
    if not isinstance(value, TupleValue) or value.structure != time_structure(dtype):
        raise no_conversion(builder, value, record, place)
    ticks, unit = value.items
    if unit != CompileTime(time_unit(dtype)):
        found = unit.value if isinstance(unit, CompileTime) else unit
        raise builder.error(
            codes.REFUSED,
            place,
            problem=f"a time in the unit {found} is stored to an array of {record}",
            remedy=f"convert one of the arrays on the host: `x.astype({str(dtype)!r})`",
        )
    assert isinstance(ticks, CompileTime | tree.Expression)
    return ticks
