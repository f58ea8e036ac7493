"""Reading items of arrays, vectors, tuples and compile-time objects."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.building.remedies import integer_remedy
from amdjit.frontend.building.special_methods import call_method_of, is_dataclass_record
from amdjit.frontend.expressions.conditional import choose
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.expressions.fields import (
    complex_item,
    element_view,
    field,
    field_name,
    is_records,
)
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.index_checks import checked_axes, from_start, index_check
from amdjit.frontend.expressions.texts import constant_bytes, is_text
from amdjit.frontend.expressions.views import is_partial, view_of, whole_index
from amdjit.frontend.names.merging import join_types
from amdjit.frontend.numbers.conversion import convert, materialise
from amdjit.frontend.numbers.operands import convert_weakly
from amdjit.frontend.values.effects import depends_on_memory
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, as_python, static_value
from amdjit.frontend.values.structures import TEXT
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import AddressSpace, Array, Record, Scalar, Type, Vector, boolean, i32, i64


def subscript(builder: FunctionBuilder, node: ast.Subscript) -> Value:
    """Type `container[index]`."""
    (container,), index = index_after(builder, (builder.evaluate(node.value),), node)
    outside: Any = container.value if isinstance(container, CompileTime) else None
    if getattr(outside, "is_amdjit_kernel", False):
        raise builder.error(codes.CALLS_KERNEL, node, kernel=outside.__name__)
    return item_of(builder, container, index, node)


def index_after(
    builder: FunctionBuilder, earlier: Sequence[Value], node: ast.Subscript
) -> tuple[list[Value], Value]:
    """Type the index of a subscript, which Python evaluates after the earlier values."""
    if not isinstance(node.slice, ast.Tuple):
        evaluated, index = builder.evaluate_after(earlier, node.slice)
        return evaluated, as_python(_only_element(builder, index, node))
    values = list(earlier)
    items: list[Value] = []
    for element in node.slice.elts:
        evaluated, item = builder.evaluate_after((*values, *items), element)
        item = _only_element(builder, item, node)
        values, items = evaluated[: len(values)], [*evaluated[len(values) :], item]
    return values, as_python(TupleValue(tuple(items)))


def _only_element(builder: FunctionBuilder, index: Value, node: ast.expr) -> Value:
    """Return an index, of an array without axes its element, as NumPy takes it."""
    type = index.type if isinstance(index, tree.Expression) else None
    if not isinstance(index, tree.Expression) or not isinstance(type, Array) or type.ndim:
        return index
    return _array_item(builder, index, type, TupleValue(()), node)


def item_of(builder: FunctionBuilder, container: Value, index: Value, node: ast.expr) -> Value:
    """Type the read of an item."""
    if isinstance(container, tree.Expression) and isinstance(container.type, Array):
        name = field_name(container, index)
        if name is not None:
            return field(builder, container, name, node)
        return _array_item(builder, container, container.type, index, node)
    if isinstance(container, tree.Expression) and isinstance(container.type, Vector):
        position = vector_index(builder, container.type, index, node)
        return tree.ExtractElement(builder.span(node), container.type.element, container, position)
    if isinstance(container, TupleValue):
        own = call_method_of(builder, container, "__getitem__", (index,), node)
        if own is not None:
            return own
        if is_dataclass_record(container):
            raise builder.error(codes.NOT_INDEXABLE, node, type=describe(container))
        return tuple_item(builder, container, index, node, index_place(node))
    if isinstance(container, CompileTime) and hasattr(container.value, "__getitem__"):
        known = static_value(index)
        if known is None and isinstance(container.value, bytes):
            array = constant_bytes(builder, container.value, node)
            return item_of(builder, array, index, node)
        if known is None:
            raise builder.error(
                codes.NOT_CONSTANT, index_place(node), what=f"an index of {describe(container)}"
            )
        return fold(builder, node, lambda value, key: value[key], container.value, known.value)
    raise builder.error(codes.NOT_INDEXABLE, node, type=describe(container))


def _array_item(
    builder: FunctionBuilder, array: tree.Expression, type: Array, index: Value, node: ast.expr
) -> Value:
    if not is_partial(index, type.ndim):
        indices = element_indices(builder, array, type, index, node)
        array, indices = through_view(array, indices)
        if is_records(array):
            return _record_item(builder, array, _indices_in_order(builder, indices, node), node)
        check = index_check(builder, array, indices, node)
        return tree.Load(builder.span(node), type.element, array, indices, check=check)
    held = builder.hold(array, "array", node) if depends_on_memory(array) else array
    assert isinstance(held, tree.Expression)
    items = builder.in_order(whole_index(builder, index, type, node), node)
    places = _axis_places(node, type.ndim)
    dropped = {
        axis: _element_index(builder, held, type=type, axis=axis, index=item, node=place)
        for axis, (item, place) in enumerate(zip(items, places, strict=True))
        if not is_partial(item, 1)
    }
    return view_of(builder, held, items, node, checked_axes(builder, held, dropped, node))


def _indices_in_order(
    builder: FunctionBuilder, indices: tuple[tree.Expression, ...], node: ast.expr
) -> tuple[tree.Expression, ...]:
    """Compute indices with effects once, since every field of an element evaluates them again."""
    held = builder.in_order(indices, node)
    return tuple(index for index in held if isinstance(index, tree.Expression))


def _record_item(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: tuple[tree.Expression, ...],
    node: ast.expr,
) -> Value:
    view = element_view(builder, array, indices, node)
    assert isinstance(array.type, Array)
    assert isinstance(array.type.element, Record)
    if is_text(array.type.element):
        return field(builder, view, TEXT, node)
    return complex_item(builder, view, node) if array.type.element.title else view


def index_place(node: ast.AST) -> ast.AST:
    """Return the node of an index, for messages about it."""
    return node.slice if isinstance(node, ast.Subscript) else node


def _integer_index(builder: FunctionBuilder, index: Value, node: ast.expr) -> tree.Expression:
    """Convert an index to i32, or to i64 if its type has larger values."""
    is_integer = isinstance(index, CompileTime) and isinstance(index.value, int)
    type = index.type if isinstance(index, tree.Expression) else None
    if not is_integer and not (isinstance(type, Scalar) and type.is_integer):
        remedy = integer_remedy(index, index_place(node))
        if is_partial(index, 1):
            remedy = "index elements one by one: `v[i]`"
        raise builder.error(
            codes.INDEX_TYPE, index_place(node), type=describe(index), remedy=remedy
        )
    expression = materialise(builder, index, node)
    if not builder.compilation.bounds_check:
        expression = _without_wrap(expression)
    assert isinstance(expression.type, Scalar)
    fits = expression.type.maximum <= i32.maximum
    return convert(builder, expression, i32 if fits else i64, node)


def element_indices(
    builder: FunctionBuilder,
    array: tree.Expression,
    type: Array,
    index: Value,
    node: ast.expr,
    wraps: bool = True,
) -> tuple[tree.Expression, ...]:
    """Type the indices of an array's element; negative constants count from the end, as in Python.

    wraps: whether the option `wraparound` applies; not to parts of an index.
    """
    index = as_python(index)
    items = index.items if isinstance(index, TupleValue) else (index,)
    if len(items) != type.ndim:
        raise builder.error(
            codes.INDEX_COUNT,
            node,
            ndim=count(type.ndim, "dimension"),
            given=count(len(items), "index", "indices"),
            type=type,
            example="a[" + (", ".join("ijklmnpq"[: type.ndim]) or "()") + "]",
        )
    places = _axis_places(node, type.ndim)
    parts = zip(items, places, strict=True)
    return tuple(
        _element_index(builder, array, type, axis, *part, wraps) for axis, part in enumerate(parts)
    )


def _axis_places(node: ast.expr, ndim: int) -> list[ast.expr]:
    place = node.slice if isinstance(node, ast.Subscript) else node
    if isinstance(place, ast.Tuple) and len(place.elts) == ndim:
        return place.elts
    return [place] * ndim


def _element_index(
    builder: FunctionBuilder,
    array: tree.Expression,
    type: Array,
    axis: int,
    index: Value,
    node: ast.expr,
    wraps: bool = True,
) -> tree.Expression:
    extent, span = None if type.shape is None else type.shape[axis], builder.span(node)
    if not isinstance(index, CompileTime) or not isinstance(index.value, int):
        place = _integer_index(builder, index, node)
        length = extent if extent is not None else tree.Extent(span, type.index_type, array, axis)
        return from_start(builder, index, place, length, node) if wraps else place
    value = index.value
    if extent is not None and not -extent <= value < extent:
        raise builder.error(
            codes.INDEX_RANGE, index_place(node), index=value, type=_array(type), last=extent - 1
        )
    if value >= 0 or extent is not None:
        return _integer_index(builder, CompileTime(value % extent if extent else value), node)
    length = tree.Extent(span, type.index_type, array, axis)
    offset = convert(builder, CompileTime(value), type.index_type, node)
    return replace(
        tree.Binary(span, type.index_type, BinaryOperator.ADD, length, offset), no_wrap=True
    )


def _array(type: Array) -> str:
    """Return an array's type in words: `peak` of `reduce` is in no memory that users know of."""
    if type.address_space is not AddressSpace.PRIVATE:
        return str(type)
    shape = ", ".join(map(str, type.shape or ()))
    return f"{type.element}[{shape}], an array that each lane has"


_WRAPPING = (BinaryOperator.ADD, BinaryOperator.SUBTRACT, BinaryOperator.MULTIPLY)


def _without_wrap(expression: tree.Expression) -> tree.Expression:
    """Mark the outer +, - and * of a subscript, which must not leave the range of a signed type
    (docs/types.md)."""
    if not isinstance(expression, tree.Binary) or expression.operator not in _WRAPPING:
        return expression
    if not isinstance(expression.type, Scalar) or not expression.type.is_signed:
        return expression
    left, right = _without_wrap(expression.left), _without_wrap(expression.right)
    return replace(expression, left=left, right=right, no_wrap=True)


def through_view(
    array: tree.Expression, indices: tuple[tree.Expression, ...]
) -> tuple[tree.Expression, tuple[tree.Expression, ...]]:
    """Merge `a[i][j]` into `a[i, j]`, one address, if the view takes whole axes."""
    if not isinstance(array, tree.View):
        return array, indices
    parts = list(zip(array.starts, array.extents, array.steps, strict=True))
    is_whole = [
        isinstance(start, tree.Constant) and start.value == 0 and step == 1
        for start, _, step in parts
    ]
    if not all(
        extent is None or whole for (_, extent, _), whole in zip(parts, is_whole, strict=True)
    ):
        return array, indices
    rest = iter(indices)
    return array.array, tuple(start if extent is None else next(rest) for start, extent, _ in parts)


def vector_index(
    builder: FunctionBuilder, type: Vector, index: Value, node: ast.expr
) -> tree.Expression:
    if isinstance(index, CompileTime) and isinstance(index.value, int):
        if not -type.length <= index.value < type.length:
            raise builder.error(
                codes.INDEX_RANGE,
                index_place(node),
                index=index.value,
                type=type,
                last=type.length - 1,
            )
        return convert(builder, CompileTime(index.value % type.length), i32, node)
    place = _integer_index(builder, index, node)
    return convert(builder, from_start(builder, index, place, type.length, node), i32, node)


# Items of tuples: by an index that is known when compiling, or at run time.


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
