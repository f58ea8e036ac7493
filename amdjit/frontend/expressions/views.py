"""Parts of arrays: `a[i]` of a matrix, `a[1:n]`, `a[::2, j]`, `a[...]`. They share the array's
memory."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.expressions.sliced_axes import Axis, as_signed, cut_with_step
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, SliceValue, TupleValue, Value, as_python
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Array, Layout, Scalar, boolean

_WHOLE = SliceValue(CompileTime(None), CompileTime(None), CompileTime(None))


def slice_value(builder: FunctionBuilder, node: ast.Slice) -> Value:
    """`lower:upper:step`; parts that are known only at run time are computed here."""
    nodes = [part for part in (node.lower, node.upper, node.step) if part is not None]
    values = map(as_python, builder.evaluate_all(nodes))
    parts = [
        CompileTime(None) if part is None else next(values)
        for part in (node.lower, node.upper, node.step)
    ]
    if all(isinstance(part, CompileTime) for part in parts):
        return CompileTime(slice(*(part.value for part in parts if isinstance(part, CompileTime))))
    return SliceValue(*(builder.hold(part, "bound", node) for part in parts))


def is_partial(index: Value, ndim: int) -> bool:
    """Whether an index keeps an axis: it has a slice or `...`, or fewer items than there are
    axes."""
    items = index.items if isinstance(index, TupleValue) else (index,)
    return len(items) < ndim or any(_is_slice(item) or _is_ellipsis(item) for item in items)


def _is_slice(value: Value) -> bool:
    return isinstance(value, SliceValue) or (
        isinstance(value, CompileTime) and isinstance(value.value, slice)
    )


def _is_ellipsis(value: Value) -> bool:
    return isinstance(value, CompileTime) and value.value is Ellipsis


def whole_index(
    builder: FunctionBuilder, index: Value, type: Array, node: ast.expr
) -> tuple[Value, ...]:
    """Return one index or slice for each axis; `...` and missing items at the end stand for whole
    axes."""
    items = index.items if isinstance(index, TupleValue) else (index,)
    dots = [i for i, item in enumerate(items) if _is_ellipsis(item)]
    given = len(items) - len(dots)
    if given > type.ndim or len(dots) > 1:
        raise builder.error(
            codes.INDEX_COUNT,
            node,
            ndim=count(type.ndim, "dimension"),
            given=count(given, "index", "indices") if len(dots) < 2 else "several `...`",
            type=type,
            example="a[" + (", ".join("ijklmnpq"[: type.ndim]) or "()") + "]",
        )
    at = dots[0] if dots else len(items)
    return (*items[:at], *(_WHOLE,) * (type.ndim - given), *items[at + 1 :])


@dataclass(frozen=True, slots=True)
class _Part:
    """One axis of a view; the extent is an int if it is known, None for an axis that is dropped."""

    start: tree.Expression
    extent: tree.Expression | int | None
    step: int | tree.Expression
    is_whole: bool = False


def view_of(
    builder: FunctionBuilder,
    array: tree.Expression,
    index: Sequence[Value],
    node: ast.expr,
    dropped: dict[int, tree.Expression],
) -> tree.View:
    """Type a view. dropped: the typed indices of the axes that are indexed."""
    assert isinstance(array.type, Array)
    parts = [
        _Part(dropped[number], None, 1)
        if number in dropped
        else _cut(Axis(builder, array, number, node), item)
        for number, item in enumerate(index)
    ]
    axes = [Axis(builder, array, number, node) for number in range(len(parts))]
    extents = tuple(
        axis.constant(part.extent) if isinstance(part.extent, int) else part.extent
        for axis, part in zip(axes, parts, strict=True)
    )
    steps = tuple(part.step for part in parts)
    type = _view_type(array.type, parts)
    return tree.View(
        builder.span(node),
        type,
        array=array,
        starts=tuple(part.start for part in parts),
        extents=extents,
        steps=steps,
    )


def _view_type(array: Array, parts: list[_Part]) -> Array:
    kept = [part for part in parts if part.extent is not None]
    known = tuple(part.extent for part in kept if isinstance(part.extent, int))
    shape = known if len(known) == len(kept) and array.shape is not None else None
    return replace(
        array, ndim=len(kept), layout=_view_layout(array.layout, parts), shape=shape, alignment=0
    )


def _view_layout(layout: Layout, parts: list[_Part]) -> Layout:
    if layout is Layout.CONTIGUOUS and _stays_contiguous(parts):
        return Layout.CONTIGUOUS
    has_rows = (
        parts[-1].extent is not None
        and parts[-1].step == 1
        and all(isinstance(part.step, int) and part.step > 0 for part in parts)
    )
    return Layout.ROWS if has_rows and layout is not Layout.STRIDED else Layout.STRIDED


def _stays_contiguous(parts: list[_Part]) -> bool:
    """Whether the parts are indices first, then at most one axis sliced with step 1, then whole
    axes."""
    position = 0
    while position < len(parts) and parts[position].extent is None:
        position += 1
    rest = parts[position:]
    return not rest or (rest[0].step == 1 and all(part.is_whole for part in rest[1:]))


def _cut(axis: Axis, item: Value) -> _Part:
    lower, upper, step = _bounds(axis, item)
    if not isinstance(step, int):
        return _Part(*cut_with_step(axis, lower, upper, step))
    if lower == upper == CompileTime(None) and step == 1:
        extent = axis.known
        return _Part(
            axis.constant(0), axis.extent() if extent is None else extent, 1, is_whole=True
        )
    if axis.known is not None and isinstance(lower, CompileTime) and isinstance(upper, CompileTime):
        rounds = range(*slice(lower.value, upper.value, step).indices(axis.known))
        return _Part(axis.constant(rounds.start), len(rounds), step)
    return _run_time_cut(axis, lower, upper, step)


def _bounds(axis: Axis, item: Value) -> tuple[Value, Value, int | tree.Expression]:
    if isinstance(item, CompileTime) and isinstance(item.value, slice):
        item = SliceValue(
            *(CompileTime(part) for part in (item.value.start, item.value.stop, item.value.step))
        )
    assert isinstance(item, SliceValue)
    for bound in (item.lower, item.upper, item.step):
        _check_bound(axis, bound)
    if isinstance(item.step, tree.Expression):
        return item.lower, item.upper, item.step
    assert isinstance(item.step, CompileTime)
    step = 1 if item.step.value is None else item.step.value
    assert isinstance(step, int)
    if step == 0:
        raise axis.builder.error(
            codes.CONSTANT_FAILS, axis.node, message="slice step cannot be zero"
        )
    return item.lower, item.upper, int(step)


def _check_bound(axis: Axis, bound: Value) -> None:
    if isinstance(bound, CompileTime):
        fits = bound.value is None or (
            isinstance(bound.value, int) and not isinstance(bound.value, bool)
        )
    else:
        type = bound.type if isinstance(bound, tree.Expression) else None
        fits = isinstance(type, Scalar) and type.is_integer
    if not fits:
        remedy = "bounds of slices are integers: convert with `i32(...)`"
        raise axis.builder.error(codes.INDEX_TYPE, axis.node, type=describe(bound), remedy=remedy)


def _run_time_cut(axis: Axis, lower: Value, upper: Value, step: int) -> _Part:
    """Slice by Python's rules: negative bounds count from the end, and bounds beyond an end are
    clipped to it."""
    extent = axis.extent()
    if step > 0:
        start = axis.constant(0) if _is(lower, None, 0) else axis.held(_clamped(axis, lower, 0))
        stop = extent if _is(upper, None) else _clamped(axis, upper, 0)
        length = stop if _is(lower, None, 0) else axis.binary(BinaryOperator.SUBTRACT, stop, start)
    else:
        last = axis.binary(BinaryOperator.SUBTRACT, extent, axis.constant(1))
        start = axis.held(last if _is(lower, None) else _clamped(axis, lower, -1))
        stop = axis.constant(-1) if _is(upper, None) else _clamped(axis, upper, -1)
        length = axis.binary(BinaryOperator.SUBTRACT, start, stop)
    length = axis.binary(BinaryOperator.MAXIMUM, length, axis.constant(0))
    return _Part(start, axis.held(_rounds(axis, length, abs(step))), step)


def _is(value: Value, *constants: object) -> bool:
    return any(value == CompileTime(constant) for constant in constants)


def _rounds(axis: Axis, length: tree.Expression, step: int) -> tree.Expression:
    """Return (length - 1) // step + 1, which is 0 for length 0."""
    if step == 1:
        return length
    one = axis.constant(1)
    less = axis.binary(BinaryOperator.SUBTRACT, length, one)
    return axis.binary(
        BinaryOperator.ADD, axis.binary(BinaryOperator.FLOOR_DIVIDE, less, axis.constant(step)), one
    )


def _clamped(axis: Axis, bound: Value, least: int) -> tree.Expression:
    """Clamp a bound to 0..extent, or for negative steps to -1..extent - 1."""
    index = axis.type.index_type
    if isinstance(bound, CompileTime):
        assert isinstance(bound.value, int)
        limit = max(-index.maximum, min(bound.value, index.maximum))
        bound = axis.constant(limit)
        is_negative: bool | None = limit < 0
    else:
        bound = axis.held(as_signed(axis, bound))
        is_negative = None
    assert isinstance(bound.type, Scalar)
    extent = convert(axis.builder, axis.extent(), bound.type, axis.node)
    from_end = axis.binary(BinaryOperator.ADD, bound, extent)
    if is_negative is None:
        span = axis.builder.span(axis.node)
        below = tree.Compare(span, boolean, Comparison.LESS, bound, axis.constant(0, bound.type))
        value: tree.Expression = tree.Conditional(span, bound.type, below, from_end, bound)
    else:
        value = from_end if is_negative else bound
    most = (
        extent
        if least == 0
        else axis.binary(BinaryOperator.SUBTRACT, extent, axis.constant(1, bound.type))
    )
    if is_negative is not False:
        value = axis.binary(BinaryOperator.MAXIMUM, value, axis.constant(least, bound.type))
    if is_negative is not True or least:
        value = axis.binary(BinaryOperator.MINIMUM, value, most)
    return convert(axis.builder, value, index, axis.node)
