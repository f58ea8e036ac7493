"""Assigning to a part of an array, `a[2:5] = 0`, `tile[:] = a[i]`, `a[i] += b[i]`: a loop over its
elements."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.expressions.broadcasting import Broadcast, Indices
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.numbers.conversion import assign_to, convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import RecordView, Reshaped, Transposed
from amdjit.types import Array, Type

# Computes the new element from the old one and the value, for `part += value`.
Combine = Callable[[tree.Expression, Value], Value]


def store_part(
    builder: FunctionBuilder,
    part: Value,
    value: Value,
    node: ast.expr,
    place: ast.expr,
    combine: Combine | None = None,
) -> None:
    """Store a number into every element of a part, or each element of an array into the one at the
    same indices.

    As in NumPy, the array is broadcast to the shape of the part.
    """
    assert isinstance(part, tree.Expression)
    assert isinstance(part.type, Array)
    kind = part.type
    _check_source(builder, kind, value, place)
    check_overlap(builder, part, value, place)
    is_array = isinstance(value, tree.Expression) and isinstance(value.type, Array)
    if not is_array and combine is None:
        value = assign_to(builder, value, kind.element, place)
    source = builder.hold(value, "source", place)
    target = builder.hold(part, "part", node)
    assert isinstance(target, tree.Expression)
    indices_in = _own_indices(builder, target, source, place, may_drop=combine is None)

    def store(indices: Indices) -> None:
        item = _element(builder, source, indices_in(indices), place)
        if combine is not None:
            item = combine(tree.Load(builder.span(node), kind.element, target, indices), item)
        element = assign_to(builder, item, kind.element, place)
        builder.emit(tree.Store(builder.span(node), target, indices, element))

    over_axes(builder, target, kind=kind, indices=(), store=store, node=node)


def over_axes(
    builder: FunctionBuilder,
    target: tree.Expression,
    kind: Array,
    indices: Indices,
    store: Callable[[Indices], None],
    node: ast.AST,
) -> None:
    """Emit a loop for each axis that has no index yet."""
    axis = len(indices)
    if axis == kind.ndim:
        store(indices)
        return
    span, type = builder.span(node), kind.index_type
    zero, one = (convert(builder, CompileTime(n), type, node) for n in (0, 1))
    extent: tree.Expression = tree.Extent(span, type, target, axis)
    if kind.shape is not None:
        extent = convert(builder, CompileTime(kind.shape[axis]), type, node)
    variable = builder.hidden_variable("element", type)
    with builder.collect() as body:
        over_axes(
            builder,
            target,
            kind=kind,
            indices=(*indices, tree.Read(span, type, variable)),
            store=store,
            node=node,
        )
    builder.emit(tree.ForRange(span, variable, start=zero, stop=extent, step=one, body=body))


def _own_indices(
    builder: FunctionBuilder,
    target: tree.Expression,
    source: Value,
    place: ast.expr,
    may_drop: bool,
) -> Callable[[Indices], Indices]:
    """Return what gives the indices of a source from those of the part; refuse one that does not
    fit."""
    if not isinstance(source, tree.Expression) or not isinstance(source.type, Array):
        return lambda indices: ()
    kind = source.type

    def misfit() -> CompileError:
        reason = f"has {count(kind.ndim, 'dimension')}"
        if kind.shape is not None:
            reason = f"has the shape {kind.shape}"
        return _refuse(
            builder,
            target.type,
            value=source,
            place=place,
            reason=reason,
            remedy=_fitting(target.type),
        )

    return Broadcast(
        builder, target, value=source, node=place, misfit=misfit, may_drop=may_drop
    ).own_indices()


def _fitting(target: Type) -> str:
    assert isinstance(target, Array)
    if target.shape is None:
        return f"use a part of it with {count(target.ndim, 'dimension')}"
    return f"slice one of them: the part has the shape {target.shape}"


def _element(builder: FunctionBuilder, source: Value, own: Indices, place: ast.expr) -> Value:
    if not isinstance(source, tree.Expression) or not isinstance(source.type, Array):
        return source
    # A fault names the whole source.
    whole = ast.copy_location(ast.Subscript(place, place), place)
    check = index_check(builder, source, own, whole)
    return tree.Load(builder.span(place), source.type.element, source, own, check=check)


def _check_source(builder: FunctionBuilder, kind: Array, value: Value, place: ast.expr) -> None:
    if not isinstance(value, (CompileTime, tree.Expression)):
        remedy = "assign a number or an array, or the elements one by one"
        raise _refuse(
            builder, kind, value=value, place=place, reason=f"is {describe(value)}", remedy=remedy
        )


def check_overlap(
    builder: FunctionBuilder, part: tree.Expression, value: Value, place: ast.expr
) -> None:
    """Refuse a partial overlap: NumPy reads everything before it writes, but the loop does not."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return
    places = itertools.product(_places(builder, part), _places(builder, value))
    if not any(target.may_overlap(source) for target, source in places):
        return
    assert isinstance(part.type, Array)
    remedy = "write the loop in the order that you want, or copy to a local array first"
    raise _refuse(
        builder,
        part.type,
        value=value,
        place=place,
        reason="may overlap the part that is assigned to",
        remedy=remedy,
    )


def _refuse(
    builder: FunctionBuilder, kind: Type, value: Value, place: ast.expr, reason: str, remedy: str
) -> CompileError:
    source = describe(value)
    return builder.error(
        codes.PART_ASSIGNMENT, place, source=source, target=kind, reason=reason, remedy=remedy
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an array lies: the memory of a variable that is not a view, all of it or a part.

    is_line: whether the part takes each axis whole or at one index. Two such parts with the same
    remaining axes (`kept`) are either identical or disjoint. records: the fields of records that
    lead to it, each with the axes that remained before. field: where the first of these fields
    begins and ends, in bytes from the start of its record.
    """

    base: tree.Variable
    is_line: bool = True
    kept: tuple[bool, ...] = ()
    records: tuple[tuple[int, tuple[bool, ...]], ...] = ()
    field: tuple[int, int] | None = None

    def may_overlap(self, other: _Place) -> bool:
        """Whether two places may share a part of their memory, without being the same."""
        if self.base is not other.base or (self.is_line and self == other):
            return False
        if self.field is None or other.field is None:
            return True
        return self.field[0] < other.field[1] and other.field[0] < self.field[1]


def _places(
    builder: FunctionBuilder, array: tree.Expression, passed: frozenset[tree.Variable] = frozenset()
) -> Iterator[_Place]:
    """Yield the places where an array may lie, from all values that were assigned to its
    variable."""
    if isinstance(array, tree.View):
        yield from (_part_of(place, array) for place in _places(builder, array.array, passed))
    elif isinstance(array, RecordView):
        yield from (_field_of(place, array) for place in _places(builder, array.array, passed))
    elif isinstance(array, (Reshaped, Transposed)):
        for place in _places(builder, array.array, passed):
            yield replace(place, is_line=False)
    elif isinstance(array, tree.Conditional):
        for side in (array.when_true, array.when_false):
            yield from _places(builder, side, passed)
    elif isinstance(array, tree.Read) and array.variable not in passed:
        given = builder.given.get(array.variable)
        if given is None or any(isinstance(value, tree.AllocateArray) for value in given):
            yield _Place(array.variable)
        for value in given or ():
            yield from _places(builder, value, passed | {array.variable})


def _part_of(place: _Place, view: tree.View) -> _Place:
    if all(_is_whole(view, axis) for axis in range(len(view.extents))):
        return place
    is_line = not place.kept and all(
        extent is None or _is_whole(view, axis) for axis, extent in enumerate(view.extents)
    )
    return replace(
        place, is_line=place.is_line and is_line, kept=tuple(e is not None for e in view.extents)
    )


def _field_of(place: _Place, view: RecordView) -> _Place:
    assert isinstance(view.type, Array)
    kept = () if view.type.shape is not None or view.indices else place.kept
    if view.indices:
        return replace(place, kept=kept, records=(*place.records, (-1, place.kept)))
    size = view.type.element.nbytes * (view.type.size if view.type.shape is not None else 1)
    field = place.field or (view.offset, view.offset + size)
    path = (*place.records, (view.offset, place.kept))
    return replace(place, kept=kept, records=path, field=field)


def _is_whole(view: tree.View, axis: int) -> bool:
    start, extent, kind = view.starts[axis], view.extents[axis], view.array.type
    assert isinstance(kind, Array)
    known = kind.shape[axis] if kind.shape is not None else None
    reaches_end = isinstance(extent, tree.Extent) or (
        isinstance(extent, tree.Constant) and extent.value == known
    )
    return (
        view.steps[axis] == 1
        and isinstance(start, tree.Constant)
        and start.value == 0
        and reaches_end
    )
