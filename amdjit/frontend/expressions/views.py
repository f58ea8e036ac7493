"""Parts of arrays: `a[i]` of a matrix, `a[1:n]`, `a[::2, j]`, `a[...]`. They share the array's
memory."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, SliceValue, TupleValue, Value, as_python
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Array, Layout, Scalar, boolean, i32, i64

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


# Axes of arrays while they are sliced, and slices whose step is known only at run time.


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of an array that is sliced."""

    builder: FunctionBuilder
    array: tree.Expression
    number: int
    node: ast.AST

    @property
    def type(self) -> Array:
        assert isinstance(self.array.type, Array)
        return self.array.type

    @property
    def known(self) -> int | None:
        return None if self.type.shape is None else self.type.shape[self.number]

    def constant(self, value: int, scalar: Scalar | None = None) -> tree.Expression:
        return convert(self.builder, CompileTime(value), scalar or self.type.index_type, self.node)

    def extent(self) -> tree.Expression:
        if self.known is not None:
            return self.constant(self.known)
        return tree.Extent(
            self.builder.span(self.node), self.type.index_type, self.array, self.number
        )

    def binary(
        self, operator: BinaryOperator, left: tree.Expression, right: tree.Expression
    ) -> tree.Expression:
        return tree.Binary(self.builder.span(self.node), left.type, operator, left, right)

    def held(self, value: tree.Expression) -> tree.Expression:
        result = self.builder.hold(value, "bound", self.node)
        assert isinstance(result, tree.Expression)
        return result


def as_signed(axis: Axis, bound: Value) -> tree.Expression:
    """Convert a bound to i32 or i64 without changing its meaning."""
    assert isinstance(bound, tree.Expression)
    assert isinstance(bound.type, Scalar)
    if bound.type.maximum > i64.maximum:
        largest = axis.constant(i64.maximum, bound.type)
        bound = axis.binary(BinaryOperator.MINIMUM, bound, largest)
    assert isinstance(bound.type, Scalar)
    wide = i32 if bound.type.maximum <= i32.maximum else i64
    if wide is i32 and axis.type.index_type is i64:
        wide = i64
    return convert(axis.builder, bound, wide, axis.node)


def cut_with_step(
    axis: Axis, lower: Value, upper: Value, given: tree.Expression
) -> tuple[tree.Expression, tree.Expression, tree.Expression]:
    """Return start, extent and step of a slice by Python's rules; a step of 0 is a ValueError.

    For a negative step the bounds are clipped to -1..extent - 1 instead of 0..extent: `sign`, which
    is -1 then and otherwise 0, is added to both.
    """
    step = axis.held(_clipped_step(axis, given))
    no_step = _compare(axis, Comparison.EQUAL, step, axis.constant(0))
    check(axis.builder, no_step, "slice step cannot be zero", _place(axis))
    sign, extent = axis.held(_sign(axis, step)), axis.extent()
    last = axis.held(axis.binary(BinaryOperator.ADD, extent, sign))
    if lower == CompileTime(None):
        whole = axis.binary(BinaryOperator.AND, extent, sign)
        start = axis.held(axis.binary(BinaryOperator.ADD, whole, sign))
    else:
        start = axis.held(_clipped(axis, lower, sign, last))
    if upper == CompileTime(None):
        whole = axis.binary(BinaryOperator.AND, extent, sign)
        stop = axis.binary(BinaryOperator.SUBTRACT, last, whole)
    else:
        stop = _clipped(axis, upper, sign, last)
    distance = _turned(axis, axis.held(axis.binary(BinaryOperator.SUBTRACT, stop, start)), sign)
    distance = axis.binary(BinaryOperator.MAXIMUM, distance, axis.constant(0))
    less = axis.binary(BinaryOperator.SUBTRACT, distance, axis.constant(1))
    rounds = axis.binary(BinaryOperator.FLOOR_DIVIDE, less, _turned(axis, step, sign))
    length = axis.binary(BinaryOperator.ADD, rounds, axis.constant(1))
    span = axis.builder.span(axis.node)
    length = tree.Conditional(span, length.type, no_step, axis.constant(0), length)
    return start, axis.held(length), step


def _place(axis: Axis) -> ast.expr:
    assert isinstance(axis.node, ast.expr)
    return axis.node


def _compare(
    axis: Axis, operator: Comparison, left: tree.Expression, right: tree.Expression
) -> tree.Expression:
    return tree.Compare(axis.builder.span(axis.node), boolean, operator, left, right)


def _clipped_step(axis: Axis, given: tree.Expression) -> tree.Expression:
    """Convert a step to the type of extents. One beyond its range reaches one element, as do the
    largest."""
    step = as_signed(axis, given)
    index, most = axis.type.index_type, axis.type.index_type.maximum
    assert isinstance(step.type, Scalar)
    type = step.type
    step = axis.binary(BinaryOperator.MAXIMUM, step, axis.constant(-most, type))
    if type.maximum > most:
        step = axis.binary(BinaryOperator.MINIMUM, step, axis.constant(most, type))
    return convert(axis.builder, step, index, axis.node)


def _sign(axis: Axis, value: tree.Expression) -> tree.Expression:
    """Return -1 for a negative number, otherwise 0."""
    assert isinstance(value.type, Scalar)
    return axis.binary(
        BinaryOperator.SHIFT_RIGHT, value, axis.constant(value.type.bits - 1, value.type)
    )


def _turned(axis: Axis, value: tree.Expression, sign: tree.Expression) -> tree.Expression:
    """Return -value if the sign is -1."""
    flipped = axis.binary(BinaryOperator.XOR, value, sign)
    return axis.binary(BinaryOperator.SUBTRACT, flipped, sign)


def _clipped(
    axis: Axis, bound: Value, least: tree.Expression, most: tree.Expression
) -> tree.Expression:
    """Count a negative bound from the end, and clip it."""
    if isinstance(bound, CompileTime):
        limit = axis.type.index_type.maximum
        assert isinstance(bound.value, int)
        bound = axis.constant(max(-limit, min(bound.value, limit)))
    held = axis.held(as_signed(axis, bound))
    assert isinstance(held.type, Scalar)
    builder, type = axis.builder, held.type
    extent = convert(builder, axis.extent(), type, axis.node)
    added = axis.binary(BinaryOperator.AND, extent, _sign(axis, held))
    value = axis.binary(BinaryOperator.ADD, held, added)
    value = axis.binary(BinaryOperator.MAXIMUM, value, convert(builder, least, type, axis.node))
    value = axis.binary(BinaryOperator.MINIMUM, value, convert(builder, most, type, axis.node))
    return convert(builder, value, axis.type.index_type, axis.node)
