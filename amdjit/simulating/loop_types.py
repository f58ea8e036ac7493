"""The types in which loops carry variables that began as literals.

Such a variable is as wide as what it meets, however much later (docs/types.md, "Literals are
weak"). No value says that while the loop runs, so the front end types the kernel as for compiling,
when the first such variable comes to a loop. A kernel without them is never typed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from amdjit.diagnostics import CompileError
from amdjit.frontend import TypedKernel
from amdjit.frontend.values.promotion import common_scalar
from amdjit.frontend.values.weak_numbers import Origin
from amdjit.simulating.not_simulated import NotSimulatedError
from amdjit.simulating.numbers import KnownNumber, Number, WeakNumber, convert, number_of
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import Scalar, f32, i32

__all__ = ["LoopTypes"]


class _Chosen(NamedTuple):
    """The type in which a loop carries a variable, and whether it has no width of its own."""

    type: Scalar
    is_weak: bool


class LoopTypes:
    """The types of one launch."""

    def __init__(self, type_kernel: Callable[[], TypedKernel]) -> None:
        """type_kernel: types the kernel for the launch's arguments."""
        self._type_kernel = type_kernel
        self._chosen: dict[Origin, _Chosen | None] = {}

    def carried(self, kind: type[Number], place: Origin, value: Any, items: object = None) -> Any:
        """Return a variable as a loop carries it.

        place: the place of the loop and the variable's name. items: what the loop goes over, if it
        is a `for`. NotSimulatedError if the type cannot be known.
        """
        if isinstance(items, tuple):  # unrolled
            return value
        if value.__class__ in (int, float, WeakNumber, KnownNumber) and place not in self._chosen:
            self._chosen[place] = self._choose(place) if kind.rules.has_weak_literals else None
        chosen = self._chosen.get(place)
        if chosen is not None and _joins(kind, value, chosen.type):
            return _converted(kind, value, chosen)
        return _alone(kind, value)

    @cached_property
    def _typed(self) -> TypedKernel | CompileError:
        try:
            return self._type_kernel()
        except CompileError as failure:
            return failure

    @cached_property
    def _assigned(self) -> frozenset[tree.Variable]:
        """The variables of the program: typing a loop again has left others."""
        assert isinstance(self._typed, TypedKernel)
        program = self._typed.program
        bodies = [each.body for each in (program.kernel, *program.functions)]
        return frozenset(each.variable for each in walk(bodies) if isinstance(each, tree.Assign))

    def _choose(self, place: Origin) -> _Chosen | None:
        """Return the type of a variable of a loop; None if each value shows it. A function that is
        called for several types has several."""
        typed, name = self._typed, place[3]
        if isinstance(typed, CompileError):
            first = typed.diagnostics[0]
            raise NotSimulatedError(
                f"the loop that carries `{name}`, a literal at first, whose type is unknown since "
                f"the kernel does not compile ({first.title}, {first.span}),"
            )
        weak = typed.weak
        found = [each for each in weak.carried.get(place, ()) if each in self._assigned]
        types = {each.type for each in found}
        if len(types) > 1 and any(weak.variables.get(each) in weak.widened for each in found):
            several = " and ".join(sorted(map(str, types)))
            raise NotSimulatedError(
                f"the loop that carries `{name}`, a literal at first, as {several} in different "
                "calls of its function,"
            )
        type = types.pop() if len(types) == 1 else None
        if not isinstance(type, Scalar) or not (type.is_integer or type.is_float):
            return None
        is_weak = type in (i32, f32) and all(each in weak.variables for each in found)
        return _Chosen(type, is_weak)


def _joins(kind: type[Number], value: Any, target: Scalar) -> bool:
    """Whether a value becomes one of a type where it meets another one of that type."""
    if isinstance(value, Number) and value.__class__ is not WeakNumber:
        return common_scalar(value.type, target) is target
    return isinstance(value, Number) or value.__class__ in (int, float)


def _converted(kind: type[Number], value: Any, chosen: _Chosen) -> Number:
    number: Number = convert(kind, chosen.type, value)
    if not chosen.is_weak:
        return number
    exact = value.exact if value.__class__ is WeakNumber else value
    exact = exact.value if isinstance(exact, Number) else exact
    return WeakNumber(number.type, number.value, float(exact) if number.type.is_float else exact)


def _alone(kind: type[Number], value: Any) -> Any:
    """Return a variable in a loop in the type that it has alone."""
    if value.__class__ is KnownNumber:
        return kind(value.type, value.value)
    if value.__class__ not in (int, float):
        return value
    own = kind.rules.default_type(value)
    if own is None:
        raise OverflowError(f"no type of the kernel language holds {value}")
    number = number_of(kind, own, value)
    if kind.rules.has_weak_literals and own in (i32, f32):
        return WeakNumber(own, number.value, value)
    return number
