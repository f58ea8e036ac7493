"""Numbers without a width: what a launch knows, literals in variables, and what is computed from
these alone.

An expression of the typed tree has a type, so a weak one has the type that it has alone (i32 or
f32) until it meets a wider one. Then it is made again in that type: its literals are literals of
the wider type, the launch's numbers parameters of it, and a variable asks that the program be typed
again with a wider variable (`program.type_kernel`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from amdjit.diagnostics.span import Span
from amdjit.frontend.values.kinds import TupleValue, Value
from amdjit.language.launch_numbers import LaunchNumber, LaunchUse
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import Scalar, Type, f32, f64, i32, i64, u64

Origin = tuple[str, int, int, str]
"""Where a variable gets its first value: file, line, column, name."""

_WIDE, _NARROW = (i64, u64, f64), (i32, f32)
_SHIFTS = (tree.BinaryOperator.SHIFT_LEFT, tree.BinaryOperator.SHIFT_RIGHT)


def origin_of(span: Span, name: str) -> Origin:
    """Return what names a variable in every typing of the same program."""
    return span.file, span.line, span.column, name


def wide_type(type: Type) -> Scalar:
    """Return the 64-bit type of the same kind."""
    if type is u64:
        return u64
    return f64 if isinstance(type, Scalar) and type.is_float else i64


@dataclass
class Weakness:
    """What of one typing of a program is weak; nodes and variables are told apart by identity.

    widened: the variables that are to be wide. numbers: the reads of a launch's numbers in the type
    that they have alone. expressions: all weak ones. variables: weak ones with their origin, None
    for one whose value is exact, such as a loop's counter. results: the functions whose results are
    weak, for a tuple an origin for each item that is. items: what is weak of the tuples that
    functions gave. again: how calls are made again, in 64 bits.
    """

    widened: frozenset[Origin] = frozenset()
    numbers: dict[tree.Expression, LaunchNumber] = field(default_factory=dict)
    expressions: set[tree.Expression] = field(default_factory=set)
    variables: dict[tree.Variable, Origin | None] = field(default_factory=dict)
    results: dict[tree.Function, tuple[Origin | None, ...]] = field(default_factory=dict)
    items: dict[tree.Expression, Origin] = field(default_factory=dict)
    again: dict[tree.Expression, Callable[[], tree.Expression]] = field(default_factory=dict)

    def number(self, value: object) -> LaunchNumber | None:
        """Return the launch's number that a value is, None for another value."""
        return self.numbers.get(value) if isinstance(value, tree.Expression) else None

    def is_weak(self, value: object) -> bool:
        """Whether a value is an expression without a width of its own."""
        return (
            isinstance(value, tree.Expression)
            and value in self.expressions
            and value.type in _NARROW
        )

    def has_no_width(self, value: object) -> bool:
        """Whether a value is weak, or was until what it meets asked for a wider one."""
        is_noted = isinstance(value, tree.Expression) and value in self.expressions
        return is_noted and value.type in (*_NARROW, *_WIDE)  # type: ignore[attr-defined]

    def returned(self, origins: tuple[Origin | None, ...], value: Value) -> None:
        """Note which items of a tuple that a function gave are weak."""
        items = value.items if isinstance(value, TupleValue) else ()
        for item, origin in zip(items, origins, strict=False):
            if origin is not None and isinstance(item, tree.TupleItem):
                self.expressions.add(item)
                self.items[item] = origin

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
        """Note what an operator makes of its operands: it is weak where all are. A shift's count
        does not matter."""
        is_shift = isinstance(expression, tree.Binary) and expression.operator in _SHIFTS
        deciding = operands[:1] if is_shift else operands
        if expression.type in (*_NARROW, *_WIDE) and all(
            operand in self.expressions for operand in deciding
        ):
            self.expressions.add(expression)
        return expression


@dataclass
class Launched:
    """The launch's numbers that a function reads: a parameter for each type. requests: variables to
    make wider."""

    weakness: Weakness
    uses: dict[LaunchUse, tree.Variable] = field(default_factory=dict)
    requests: list[Origin] = field(default_factory=list)

    def read(self, number: LaunchNumber, type: Scalar, span: Span) -> tree.Read:
        """Read a launch's number in a type that is decided."""
        use = LaunchUse(number, type, span)
        variable = self.uses.get(use)
        if variable is None:
            name = number.text if type == number.alone else f"{number.text}.{type}"
            variable = self.uses[use] = tree.Variable(name, type)
        return tree.Read(span, type, variable)

    def weak(self, number: LaunchNumber, span: Span) -> tree.Read:
        """Read a launch's number in the type that it has alone; what it meets may decide
        otherwise."""
        read = self.read(number, number.alone, span)
        self.weakness.numbers[read] = number
        if number.kind is not bool:
            self.weakness.expressions.add(read)
        return read

    def held(
        self,
        value: tree.Expression,
        name: str,
        span: Span,
        make: Callable[[str, Type], tree.Variable],
    ) -> tuple[tree.Expression, tree.Variable]:
        """Make a variable for a value; a weak one's is weak as well, and wide where that was asked
        for."""
        if not self.weakness.is_weak(value):
            return value, make(name, value.type)
        origin = origin_of(span, name)
        if origin in self.weakness.widened:
            value = self._wide(value, wide_type(value.type))
        variable = make(name, value.type)
        self.weakness.variables[variable] = origin
        return value, variable

    def in_type(self, value: tree.Expression, target: Type, span: Span) -> tree.Expression | None:
        """Make a weak value again in the type that it meets; None where converting it loses
        nothing."""
        number = self.weakness.numbers.get(value)
        if number is not None and isinstance(target, Scalar):
            return self.read(number, target, span)
        if (
            not isinstance(target, Scalar)
            or target not in _WIDE
            or not self.weakness.is_weak(value)
        ):
            return None
        return self._wide(value, target)

    def _wide(self, value: tree.Expression, target: Scalar) -> tree.Expression:
        """Return a part of a weak expression in a 64-bit type."""
        if not self.weakness.is_weak(value):
            return _converted(value, target)
        number = self.weakness.numbers.get(value)
        if number is not None:
            return self.read(number, target, value.span)
        own = wide_type(value.type)
        if isinstance(value, tree.Constant) and (
            target is own or (own is i64 and value.value >= 0)
        ):
            return tree.Constant(
                value.span, target, float(value.value) if target is f64 else value.value
            )
        if value in self.weakness.again:
            return _converted(self.weakness.again[value](), target)
        if isinstance(value, tree.Read):
            return self._read_wide(value, target)
        if value in self.weakness.items:
            return self._asked(value, self.weakness.items[value], target)
        if isinstance(value, tree.TupleItem) and isinstance(value.tuple, tree.Read):
            return self._asked(value, self.weakness.variables[value.tuple.variable], target)
        if isinstance(value, tree.Call):
            return self._asked(value, self.weakness.results[value.function][0], target)
        if isinstance(value, tree.Convert):
            return self._wide(value.operand, target)
        return _converted(self._same_kind(value, own), target)

    def _read_wide(self, value: tree.Read, target: Scalar) -> tree.Expression:
        number = next(
            (use.number for use, variable in self.uses.items() if variable is value.variable), None
        )
        if number is not None:
            return self.read(number, target, value.span)
        return self._asked(value, self.weakness.variables[value.variable], target)

    def wide_operand(self, value: tree.Expression, target: Scalar) -> tree.Expression:
        """Return an operand of a call that is made again in 64 bits."""
        return self._wide(value, target)

    def _asked(
        self, value: tree.Expression, origin: Origin | None, target: Scalar
    ) -> tree.Expression:
        if origin is not None:
            self.requests.append(origin)
        return _converted(value, target)

    def _same_kind(self, value: tree.Expression, wide: Scalar) -> tree.Expression:
        if isinstance(value, tree.Binary):
            left, right = self._wide(value.left, wide), self._wide(value.right, wide)
            return replace(value, type=wide, left=left, right=right)
        if isinstance(value, tree.Unary):
            return replace(value, type=wide, operand=self._wide(value.operand, wide))
        if isinstance(value, tree.Conditional):
            first, second = self._wide(value.when_true, wide), self._wide(value.when_false, wide)
            return replace(value, type=wide, when_true=first, when_false=second)
        return _converted(value, wide)


def used(
    launched: Launched, body: Sequence[tree.Statement]
) -> tuple[tuple[LaunchUse, tree.Variable], ...]:
    """Return the launch's numbers that a function's body reads."""
    if not launched.uses:
        return ()
    read = {node.variable for node in walk(body) if isinstance(node, tree.Read)}
    return tuple((use, variable) for use, variable in launched.uses.items() if variable in read)


def _converted(value: tree.Expression, target: Scalar) -> tree.Expression:
    return value if value.type == target else tree.Convert(value.span, target, value)
