"""Weak numbers, which have no width of their own: literals in variables, numbers that the launch
knows, and what is computed from these alone.

Every expression of the typed tree has a type. A weak one has the type that it has on its own (i32
or f32) until it meets a wider one. Then it is made again in that type: its literals become literals
of the wider type, the launch's numbers become parameters of it, and a variable requests that the
program be typed again with a wider variable (`program.type_kernel`).

Typing again is needed because a variable may meet a wider type long after the statement that
assigns it was typed, and in the meantime its width has decided which functions were called and
which branches were taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeGuard

from amdjit.diagnostics.span import Span
from amdjit.frontend.values.dependencies import OutsideArray
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.launch_numbers import LaunchNumber, LaunchUse
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import Scalar, Type, f32, f64, i32, i64, u64

Origin = tuple[str, int, int, str]
"""Where a variable gets its first value: file, line, column and name. It identifies the variable in
every typing of the same program."""

_NARROW = (i32, f32)
_WIDE = (i64, u64, f64)
_SHIFTS = (tree.BinaryOperator.SHIFT_LEFT, tree.BinaryOperator.SHIFT_RIGHT)


def wide_type(type: Type) -> Scalar:
    """Return the 64-bit type of the same kind."""
    if type is u64:
        return u64
    return f64 if isinstance(type, Scalar) and type.is_float else i64


def _is_integer(value: Value) -> bool:
    kind = value.type if isinstance(value, tree.Expression) else None
    return isinstance(kind, Scalar) and not kind.is_float


@dataclass
class WeakNumbers:
    """The weak expressions and variables of one typing of a program, compared by identity.

    widened: the variables that have to be wide. numbers: the reads of a launch's numbers in the
    type that they have on their own. expressions: all weak expressions. variables: weak variables
    with their origin, None for one whose value is exact, such as a loop counter. results: the
    functions whose results are weak, with the origin of each weak item of a tuple. items: the weak
    items of tuples that functions returned. again: how to repeat calls in 64 bits. twins: for a
    variable that is assigned in both widths, the one that holds the same value in 64 bits. carried:
    the variables of names that loops carry, by the place of the loop and the name.
    """

    widened: frozenset[Origin] = frozenset()
    numbers: dict[tree.Expression, LaunchNumber] = field(default_factory=dict)
    expressions: set[tree.Expression] = field(default_factory=set)
    variables: dict[tree.Variable, Origin | None] = field(default_factory=dict)
    results: dict[tree.Function, tuple[Origin | None, ...]] = field(default_factory=dict)
    items: dict[tree.Expression, Origin] = field(default_factory=dict)
    again: dict[tree.Expression, Callable[[], tree.Expression]] = field(default_factory=dict)
    twins: dict[tree.Variable, tree.Variable] = field(default_factory=dict)
    carried: dict[Origin, list[tree.Variable]] = field(default_factory=dict)

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

    def was_weak(self, value: object) -> bool:
        """Whether a value is weak, or was weak until it met a wider type."""
        is_noted = isinstance(value, tree.Expression) and value in self.expressions
        return is_noted and value.type in (*_NARROW, *_WIDE)  # type: ignore[attr-defined]

    def are_weak(self, values: Sequence[Value], joined: Type) -> bool:
        """Whether what is one of several values, of the type that they have in common, is weak: if
        all are. Integers do not decide the width of a float beside weak ones."""
        weak = [isinstance(value, CompileTime) or self.is_weak(value) for value in values]
        others = [value for value, is_weak in zip(values, weak, strict=True) if not is_weak]
        return not others or (any(weak) and joined is f32 and all(map(_is_integer, others)))

    # What typing notes.

    def note_read(self, read: tree.Read) -> tree.Read:
        """Note that a variable is read: a weak one makes a weak value."""
        if read.variable in self.variables:
            self.expressions.add(read)
        return read

    def note_part(self, item: tree.TupleItem) -> tree.TupleItem:
        """Note that a part of a complex variable is read."""
        if item.tuple in self.expressions:
            self.expressions.add(item)
        return item

    def note_result(
        self, expression: tree.Expression, *operands: tree.Expression
    ) -> tree.Expression:
        """Note the result of an operator: it is weak if all operands are. The count of a shift does
        not matter."""
        is_shift = isinstance(expression, tree.Binary) and expression.operator in _SHIFTS
        deciding = operands[:1] if is_shift else operands
        if expression.type in (*_NARROW, *_WIDE) and all(
            operand in self.expressions for operand in deciding
        ):
            self.expressions.add(expression)
        return expression

    def note_call(self, call: tree.Expression, in_64_bits: Callable[[], tree.Expression]) -> None:
        """Note a call whose result is weak. in_64_bits: types it again where that meets 64 bits."""
        self.expressions.add(call)
        self.again[call] = in_64_bits

    def note_items(self, origins: tuple[Origin | None, ...], value: Value) -> None:
        """Note which items of a tuple that a function returned are weak."""
        items = value.items if isinstance(value, TupleValue) else ()
        for item, origin in zip(items, origins, strict=False):
            if origin is not None and isinstance(item, tree.TupleItem):
                self.expressions.add(item)
                self.items[item] = origin

    def note_carried(self, span: Span, carried: Mapping[str, tree.Variable]) -> None:
        """Note the variables in which a loop carries names."""
        for name, variable in carried.items():
            place = span.file, span.line, span.column, name
            self.carried.setdefault(place, []).append(variable)

    # Variables in two widths.

    def add_twin(
        self, variable: tree.Variable, origin: Origin, make: Callable[[str, Type], tree.Variable]
    ) -> None:
        """Give a weak variable a twin of 64 bits for the uses that asked for it, so that what the
        others read stays as it is."""
        self.variables[variable] = origin
        self.twins[variable] = make(variable.name, wide_type(variable.type))

    def widths_of(self, variable: tree.Variable) -> tuple[tree.Variable, ...]:
        """Return a variable and its twin, if it has one: both are assigned."""
        twin = self.twins.get(variable)
        return (variable,) if twin is None else (variable, twin)

    def keeps_width(self, variable: object, type: Type) -> TypeGuard[tree.Variable]:
        """Whether a variable may be assigned again by statements that know one width only."""
        return (
            isinstance(variable, tree.Variable)
            and variable.type == type
            and variable not in self.twins
        )


@dataclass
class LaunchParameters:
    """What the launch passes to a function besides its arguments: numbers, with one parameter for
    each type in which the function reads them, and arrays from outside.

    It makes weak expressions wide too, since the numbers in them then need a wider parameter.
    requests: variables to make wider.
    """

    weak: WeakNumbers
    uses: dict[LaunchUse, tree.Variable] = field(default_factory=dict)
    arrays: dict[OutsideArray, tree.Variable] = field(default_factory=dict)
    requests: list[Origin] = field(default_factory=list)

    def read(self, number: LaunchNumber, type: Scalar, span: Span) -> tree.Read:
        """Read a launch's number in a given type."""
        use = LaunchUse(number, type, span)
        variable = self.uses.get(use)
        if variable is None:
            name = number.text if type == number.alone else f"{number.text}.{type}"
            variable = self.uses[use] = tree.Variable(name, type)
        return tree.Read(span, type, variable)

    def read_weak(self, number: LaunchNumber, span: Span) -> tree.Read:
        """Read a launch's number in the type that it has on its own; an operand that it meets may
        change that."""
        read = self.read(number, number.alone, span)
        self.weak.numbers[read] = number
        if number.kind is not bool:
            self.weak.expressions.add(read)
        return read

    def read_here(self, value: Value, span: Span) -> Value:
        """Read a launch's number at another place than the one that made it; return other values
        as they are."""
        number = self.weak.number(value)
        return value if number is None else self.read_weak(number, span)

    def array(self, array: OutsideArray, span: Span) -> tree.Read:
        """Read an array that the launch finds outside of the kernel."""
        variable = self.arrays.get(array)
        if variable is None:
            # No name of Python's, and one of its own even beside another module's array.
            name, taken = f"outside {array.name}", [each.name for each in self.arrays]
            number = taken.count(array.name)
            name = f"{name} {number}" if number else name
            variable = self.arrays[array] = tree.Variable(name, array.type)
        return tree.Read(span, array.type, variable)

    def passed_on(self, use: LaunchUse | OutsideArray, span: Span) -> tree.Read:
        """Read what a function takes after its own parameters, to pass it to that function."""
        if isinstance(use, OutsideArray):
            return self.array(use, span)
        return self.read(use.number, use.type, use.span)

    def used(
        self, body: Sequence[tree.Statement]
    ) -> tuple[tuple[LaunchUse | OutsideArray, tree.Variable], ...]:
        """Return the numbers and the arrays that a function's body reads."""
        if not self.uses and not self.arrays:
            return ()
        read = {node.variable for node in walk(body) if isinstance(node, tree.Read)}
        numbers = ((use, variable) for use, variable in self.uses.items() if variable in read)
        arrays = ((use, variable) for use, variable in self.arrays.items() if variable in read)
        return (*numbers, *arrays)

    def in_type(self, value: tree.Expression, target: Type, span: Span) -> tree.Expression | None:
        """Make a weak value again in the type that it meets; None if converting it loses
        nothing."""
        number = self.weak.numbers.get(value)
        if number is not None and isinstance(target, Scalar):
            return self.read(number, target, span)
        is_wider = isinstance(target, Scalar) and target in _WIDE and self.weak.is_weak(value)
        return self.wide(value, target) if is_wider else None  # type: ignore[arg-type]

    def wide(self, value: tree.Expression, target: Scalar) -> tree.Expression:
        """Return a weak expression, or a part of one, in a 64-bit type."""
        weak = self.weak
        if not weak.is_weak(value):
            return _converted(value, target)
        number = weak.numbers.get(value)
        if number is not None:
            return self.read(number, target, value.span)
        own = wide_type(value.type)
        if isinstance(value, tree.Constant) and (
            target is own or (own is i64 and value.value >= 0)
        ):
            return tree.Constant(
                value.span, target, float(value.value) if target is f64 else value.value
            )
        if value in weak.again:
            return _converted(weak.again[value](), target)
        if isinstance(value, tree.Read):
            return self._read_wide(value, target)
        if value in weak.items:
            return self._requested(value, weak.items[value], target)
        if isinstance(value, tree.TupleItem) and isinstance(value.tuple, tree.Read):
            return self._requested(value, weak.variables[value.tuple.variable], target)
        if isinstance(value, tree.Call):
            return self._requested(value, weak.results[value.function][0], target)
        if isinstance(value, tree.Convert):
            return self._conversion(value, target)
        return _converted(self._same_kind(value, own), target)

    def _conversion(self, value: tree.Convert, target: Scalar) -> tree.Expression:
        """Convert what `int(x)` or `float(x)` converts. The fraction that `int` drops is no matter
        of width: it is dropped on the way to a float, too."""
        source, made = value.operand.type, value.type
        assert isinstance(source, Scalar)
        assert isinstance(made, Scalar)
        if source.is_float and not made.is_float and target.is_float:
            return _converted(_converted(self.wide(value.operand, f64), i64), target)
        return self.wide(value.operand, target)

    def _read_wide(self, value: tree.Read, target: Scalar) -> tree.Expression:
        number = self.number_of(value.variable)
        if number is not None:
            return self.read(number, target, value.span)
        twin = self.weak.twins.get(value.variable)
        if twin is not None:
            assert isinstance(twin.type, Scalar)
            return _converted(tree.Read(value.span, twin.type, twin), target)
        return self._requested(value, self.weak.variables[value.variable], target)

    def number_of(self, variable: tree.Variable) -> LaunchNumber | None:
        """Return the launch's number that is passed in a parameter, None for other variables."""
        return next((use.number for use, each in self.uses.items() if each is variable), None)

    def _requested(
        self, value: tree.Expression, origin: Origin | None, target: Scalar
    ) -> tree.Expression:
        """Convert a value whose variable will be wide in the next typing."""
        if origin is not None:
            self.requests.append(origin)
        return _converted(value, target)

    def _same_kind(self, value: tree.Expression, wide: Scalar) -> tree.Expression:
        if isinstance(value, tree.Binary):
            left, right = self.wide(value.left, wide), self.wide(value.right, wide)
            return replace(value, type=wide, left=left, right=right)
        if isinstance(value, tree.Unary):
            return replace(value, type=wide, operand=self.wide(value.operand, wide))
        if isinstance(value, tree.Conditional):
            first, second = self.wide(value.when_true, wide), self.wide(value.when_false, wide)
            return replace(value, type=wide, when_true=first, when_false=second)
        return _converted(value, wide)


def _converted(value: tree.Expression, target: Scalar) -> tree.Expression:
    return value if value.type == target else tree.Convert(value.span, target, value)
