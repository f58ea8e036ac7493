"""What a launch knows besides its arguments: numbers and arrays, as parameters of the functions
that read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from amdjit.diagnostics.span import Span
from amdjit.frontend.values.dependencies import OutsideArray
from amdjit.frontend.values.weak_types import WIDE_TYPES, Origin, WeakTypes, wide_type
from amdjit.language.launch_numbers import LaunchNumber, LaunchUse
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import Scalar, Type, f64, i64


@dataclass
class LaunchParameters:
    """The launch's numbers that a function reads, with one parameter for each type, and the arrays
    that it reads from outside.

    requests: variables to make wider.
    """

    weak_types: WeakTypes
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

    def weak(self, number: LaunchNumber, span: Span) -> tree.Read:
        """Read a launch's number in the type that it has on its own; an operand that it meets may
        change that."""
        read = self.read(number, number.alone, span)
        self.weak_types.numbers[read] = number
        if number.kind is not bool:
            self.weak_types.expressions.add(read)
        return read

    def held(
        self,
        value: tree.Expression,
        name: str,
        origin: Origin,
        make: Callable[[str, Type], tree.Variable],
    ) -> tuple[tree.Expression, tree.Variable]:
        """Make a variable for a value. The variable of a weak value is weak too, and wide if that
        was requested."""
        if not self.weak_types.is_weak(value):
            return value, make(name, value.type)
        if origin in self.weak_types.widened:
            value = self._wide(value, wide_type(value.type))
        variable = make(name, value.type)
        self.weak_types.variables[variable] = origin
        return value, variable

    def in_type(self, value: tree.Expression, target: Type, span: Span) -> tree.Expression | None:
        """Make a weak value again in the type that it meets; None if converting it loses
        nothing."""
        number = self.weak_types.numbers.get(value)
        if number is not None and isinstance(target, Scalar):
            return self.read(number, target, span)
        if (
            not isinstance(target, Scalar)
            or target not in WIDE_TYPES
            or not self.weak_types.is_weak(value)
        ):
            return None
        return self._wide(value, target)

    def _wide(self, value: tree.Expression, target: Scalar) -> tree.Expression:
        """Return a part of a weak expression in a 64-bit type."""
        if not self.weak_types.is_weak(value):
            return _converted(value, target)
        number = self.weak_types.numbers.get(value)
        if number is not None:
            return self.read(number, target, value.span)
        own = wide_type(value.type)
        if isinstance(value, tree.Constant) and (
            target is own or (own is i64 and value.value >= 0)
        ):
            return tree.Constant(
                value.span, target, float(value.value) if target is f64 else value.value
            )
        if value in self.weak_types.again:
            return _converted(self.weak_types.again[value](), target)
        if isinstance(value, tree.Read):
            return self._read_wide(value, target)
        if value in self.weak_types.items:
            return self._asked(value, self.weak_types.items[value], target)
        if isinstance(value, tree.TupleItem) and isinstance(value.tuple, tree.Read):
            return self._asked(value, self.weak_types.variables[value.tuple.variable], target)
        if isinstance(value, tree.Call):
            return self._asked(value, self.weak_types.results[value.function][0], target)
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
            whole = _converted(self._wide(value.operand, f64), i64)
            return _converted(whole, target)
        return self._wide(value.operand, target)

    def _read_wide(self, value: tree.Read, target: Scalar) -> tree.Expression:
        number = next(
            (use.number for use, variable in self.uses.items() if variable is value.variable), None
        )
        if number is not None:
            return self.read(number, target, value.span)
        twin = self.weak_types.twins.get(value.variable)
        if twin is not None:
            assert isinstance(twin.type, Scalar)
            return _converted(tree.Read(value.span, twin.type, twin), target)
        return self._asked(value, self.weak_types.variables[value.variable], target)

    def wide_operand(self, value: tree.Expression, target: Scalar) -> tree.Expression:
        """Return an operand of a call that is repeated in 64 bits."""
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


def used_parameters(
    parameters: LaunchParameters, body: Sequence[tree.Statement]
) -> tuple[tuple[LaunchUse | OutsideArray, tree.Variable], ...]:
    """Return the launch's numbers that a function's body reads, and the arrays from outside."""
    if not parameters.uses and not parameters.arrays:
        return ()
    read = {node.variable for node in walk(body) if isinstance(node, tree.Read)}
    numbers = ((use, variable) for use, variable in parameters.uses.items() if variable in read)
    arrays = ((use, variable) for use, variable in parameters.arrays.items() if variable in read)
    return (*numbers, *arrays)


def _converted(value: tree.Expression, target: Scalar) -> tree.Expression:
    return value if value.type == target else tree.Convert(value.span, target, value)
