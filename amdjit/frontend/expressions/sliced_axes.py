"""Axes of arrays while they are sliced, and slices whose step is known only at run time."""

from __future__ import annotations

import ast

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Array, Scalar, boolean, i32, i64


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
