"""Numbers without a width: numbers of the launch, literals in variables, and values computed from
these alone.

Every expression of the typed tree has a type. A weak one has the type that it has on its own (i32
or f32) until it meets a wider one. Then it is made again in that type: its literals become literals
of the wider type, the launch's numbers become parameters of it, and a variable requests that the
program be typed again with a wider variable (`program.type_kernel`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from amdjit.diagnostics.span import Span
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.launch_numbers import LaunchNumber
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, Type, f32, f64, i32, i64, u64

Origin = tuple[str, int, int, str]
"""Where a variable gets its first value: file, line, column and name."""

_NARROW = (i32, f32)
WIDE_TYPES = (i64, u64, f64)
"""What a weak expression may become; alone it is an i32 or f32."""
_SHIFTS = (tree.BinaryOperator.SHIFT_LEFT, tree.BinaryOperator.SHIFT_RIGHT)


def origin_of(span: Span, name: str) -> Origin:
    """Return a key that identifies a variable in every typing of the same program."""
    return span.file, span.line, span.column, name


def wide_type(type: Type) -> Scalar:
    """Return the 64-bit type of the same kind."""
    if type is u64:
        return u64
    return f64 if isinstance(type, Scalar) and type.is_float else i64


def _is_integer(value: Value) -> bool:
    kind = value.type if isinstance(value, tree.Expression) else None
    return isinstance(kind, Scalar) and not kind.is_float


@dataclass
class WeakTypes:
    """The weak expressions and variables of one typing of a program, compared by identity."""

    widened: frozenset[Origin] = frozenset()
    """The variables that have to be wide."""
    numbers: dict[tree.Expression, LaunchNumber] = field(default_factory=dict)
    """The reads of a launch's numbers in the type that they have on their own."""
    expressions: set[tree.Expression] = field(default_factory=set)
    """All weak expressions."""
    variables: dict[tree.Variable, Origin | None] = field(default_factory=dict)
    """Weak variables with their origin, None for one whose value is exact, such as a loop
    counter."""
    results: dict[tree.Function, tuple[Origin | None, ...]] = field(default_factory=dict)
    """The functions whose results are weak, with the origin of each weak item of a tuple."""
    items: dict[tree.Expression, Origin] = field(default_factory=dict)
    """The weak items of tuples that functions returned."""
    again: dict[tree.Expression, Callable[[], tree.Expression]] = field(default_factory=dict)
    """How to repeat calls in 64 bits."""
    twins: dict[tree.Variable, tree.Variable] = field(default_factory=dict)
    """For a variable that is assigned in both widths, the one that holds the same value in 64
    bits."""

    def number(self, value: object) -> LaunchNumber | None:
        """Return the launch's number that a value reads, None for other values."""
        return self.numbers.get(value) if isinstance(value, tree.Expression) else None

    def is_weak(self, value: object) -> bool:
        """Whether a value is an expression without a width of its own."""
        return (
            isinstance(value, tree.Expression)
            and value in self.expressions
            and value.type in _NARROW
        )

    def are_weak(self, values: Sequence[Value], joined: Type) -> bool:
        """Whether what is one of several values, of the type that they have in common, is weak: if
        all are. Integers do not decide the width of a float beside weak ones."""
        weak = [isinstance(value, CompileTime) or self.is_weak(value) for value in values]
        others = [value for value, is_weak in zip(values, weak, strict=True) if not is_weak]
        return not others or (any(weak) and joined is f32 and all(map(_is_integer, others)))

    def has_no_width(self, value: object) -> bool:
        """Whether a value is weak, or was weak until it met a wider type."""
        is_noted = isinstance(value, tree.Expression) and value in self.expressions
        return is_noted and value.type in (*_NARROW, *WIDE_TYPES)  # type: ignore[attr-defined]

    def returned(self, origins: tuple[Origin | None, ...], value: Value) -> None:
        """Note which items of a tuple that a function returned are weak."""
        items = value.items if isinstance(value, TupleValue) else ()
        for item, origin in zip(items, origins, strict=False):
            if origin is not None and isinstance(item, tree.TupleItem):
                self.expressions.add(item)
                self.items[item] = origin

    def widths_of(self, variable: tree.Variable) -> tuple[tree.Variable, ...]:
        """Return a variable and its twin, if it has one: both are assigned."""
        twin = self.twins.get(variable)
        return (variable,) if twin is None else (variable, twin)

    def read(self, read: tree.Read) -> tree.Read:
        """Note that a variable is read."""
        if read.variable in self.variables:
            self.expressions.add(read)
        return read

    def part(self, item: tree.TupleItem) -> tree.TupleItem:
        """Note that a part of a complex variable is read."""
        if item.tuple in self.expressions:
            self.expressions.add(item)
        return item

    def made(self, expression: tree.Expression, *operands: tree.Expression) -> tree.Expression:
        """Note the result of an operator: it is weak if all operands are. The count of a shift does
        not matter."""
        is_shift = isinstance(expression, tree.Binary) and expression.operator in _SHIFTS
        deciding = operands[:1] if is_shift else operands
        if expression.type in (*_NARROW, *WIDE_TYPES) and all(
            operand in self.expressions for operand in deciding
        ):
            self.expressions.add(expression)
        return expression
