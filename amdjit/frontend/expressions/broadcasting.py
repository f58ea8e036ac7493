"""How the elements of one array meet those of another: NumPy's broadcasting. Shapes that do not fit
are refused when compiling, or where they are known only at run time by Python's ValueError."""

from __future__ import annotations

import ast
from collections.abc import Callable

from amdjit.abi.reports import Field, Text
from amdjit.diagnostics import CompileError
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.array_attributes import extent
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.types import Array, Scalar, boolean

__all__ = ["Broadcast", "Indices"]

Indices = tuple[tree.Expression, ...]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """An array whose elements go to those of another one. Both are held."""

    builder: FunctionBuilder
    target: tree.Expression
    value: tree.Expression
    node: ast.expr
    misfit: Callable[[], CompileError]
    """Makes the error of shapes that do not fit."""
    may_drop: bool = False
    """Whether the value may have more axes, of one element each, as in NumPy's assignments."""

    def own_indices(self) -> Callable[[Indices], Indices]:
        """Return what gives the value's indices from those of the target; emit tests that it fits.

        An axis of one element is repeated along the target's.
        """
        more = _ndim(self.target) - _ndim(self.value)
        if more < 0 and not self.may_drop:
            raise self.misfit()
        dropped = [self._dropped(axis) for axis in range(-more)]
        axes = range(len(dropped), _ndim(self.value))
        steps = [self._step(axis, axis + more) for axis in axes]
        return lambda indices: (
            *dropped,
            *map(self._moved, steps, indices[max(more, 0) :]),
        )

    def check_same_shape(self) -> None:
        """Test that the shapes are equal."""
        if _ndim(self.target) != _ndim(self.value):
            raise self.misfit()
        for axis in range(_ndim(self.target)):
            self._refuse_if(self._differs(axis, axis))

    def _moved(self, step: tree.Expression | None, index: tree.Expression) -> tree.Expression:
        if step is None:
            return index
        span = self.builder.span(self.node)
        return tree.Binary(span, step.type, BinaryOperator.MULTIPLY, step, index)

    def _dropped(self, axis: int) -> tree.Expression:
        one = compare(self.builder, ast.NotEq, self._own(axis), CompileTime(1), self.node)
        self._refuse_if(one)
        return self._index(CompileTime(0))

    def _step(self, axis: int, at: int) -> tree.Expression | None:
        """Return what the value's index advances by, 0 or 1: an axis of one element is repeated.
        None for 1."""
        own, other = self._own(axis), extent(self.builder, self.target, at, self.node)
        if own == CompileTime(1):
            return self._index(CompileTime(0))
        differs = self._differs(axis, at)
        if isinstance(own, CompileTime) or other == CompileTime(1) or differs == CompileTime(False):
            self._refuse_if(differs)
            return None
        several = compare(self.builder, ast.NotEq, own, CompileTime(1), self.node)
        several = self.builder.hold(several, "several", self.node)
        assert isinstance(several, tree.Expression)
        assert isinstance(differs, tree.Expression)
        span = self.builder.span(self.node)
        both = tree.Binary(span, boolean, BinaryOperator.AND, several, differs)
        self._refuse_if(both)
        step = self.builder.hold(self._index(several), "step", self.node)
        assert isinstance(step, tree.Expression)
        return step

    def _index(self, value: Value) -> tree.Expression:
        assert isinstance(self.target.type, Array)
        return convert(self.builder, value, self.target.type.index_type, self.node)

    def _own(self, axis: int) -> Value:
        return extent(self.builder, self.value, axis, self.node)

    def _differs(self, axis: int, at: int) -> Value:
        """Return whether two extents differ, without a test if they are the same one."""
        if self.target is self.value:
            return CompileTime(False)
        own, other = self._own(axis), extent(self.builder, self.target, at, self.node)
        if _is_same(self.builder, (self.value, axis), (self.target, at)):
            return CompileTime(False)
        return compare(self.builder, ast.NotEq, own, other, self.node)

    def _refuse_if(self, differs: Value) -> None:
        if isinstance(differs, tree.Expression):
            text, values = self._text()
            check(self.builder, differs, text, self.node, values=values)
        elif isinstance(differs, CompileTime) and differs.value:
            raise self.misfit()

    def _text(self) -> tuple[Text, tuple[tree.Expression, ...]]:
        """Return NumPy's message, with both shapes."""
        parts: list[str | Field] = []
        values: list[tree.Expression] = []
        for words, array in (
            ("could not broadcast input array from shape (", self.value),
            (") into shape (", self.target),
        ):
            parts.append(words)
            for axis in range(_ndim(array)):
                parts.append("," if axis else "")
                length = extent(self.builder, array, axis, self.node)
                if isinstance(length, tree.Expression) and isinstance(length.type, Scalar):
                    parts.append(Field(length.type))
                    values.append(length)
                elif isinstance(length, CompileTime):
                    parts.append(str(length.value))
            parts.append("," if _ndim(array) == 1 else "")
        return Text(tuple(part for part in (*parts, ")") if part != "")), tuple(values)


def _ndim(array: tree.Expression) -> int:
    assert isinstance(array.type, Array)
    return array.type.ndim


def _is_same(
    builder: FunctionBuilder,
    first: tuple[tree.Expression, int],
    second: tuple[tree.Expression, int],
) -> bool:
    """Whether two axes are whole ones of one array, as in `a[i] = a[j]`."""
    axes = [_whole_axis(builder, *each) for each in (first, second)]
    return axes[0] is not None and axes[0] == axes[1]


def _whole_axis(
    builder: FunctionBuilder, array: tree.Expression, axis: int
) -> tuple[tree.Variable, int] | None:
    """Return the array and its axis that a part, which this statement has made, takes whole."""
    given = builder.given.get(array.variable, []) if isinstance(array, tree.Read) else []
    view = given[0] if len(given) == 1 else None
    if not isinstance(view, tree.View) or not isinstance(view.array, tree.Read):
        return None
    length = [kept for kept in view.extents if kept is not None][axis]
    base = length.array if isinstance(length, tree.Extent) else None
    if not isinstance(base, tree.Read) or base.variable is not view.array.variable:
        return None
    assert isinstance(length, tree.Extent)
    return view.array.variable, length.axis
