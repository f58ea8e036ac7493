"""The rules by which literals and operands of two types get a type: amdjit's own.

A kernel chooses its rules with the option `typing`; `numba_typing` has Numba's. amdjit's own
functions always follow amdjit's.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.frontend.values import promotion
from amdjit.late_methods import dataclass
from amdjit.types import Scalar, Type, boolean, f32, f64, i32

Case = tuple[Scalar, ...]
"""The types of a function's parameters, where it has several."""


@dataclass(frozen=True)
class TypingRules:
    """amdjit's rules.

    has_weak_literals: whether literals take the type of what they meet. integer, floating: the
    types of Python's own `int` and `float`. has_annotations: whether annotations are types.
    """

    has_weak_literals: bool = True
    integer: Scalar = i32
    floating: Scalar = f32
    has_annotations: bool = True

    def default_type(self, value: bool | int | float) -> Scalar | None:
        """Return the type of a literal on its own, None for an integer that no type holds."""
        return promotion.default_type(value)

    def literal_type(self, value: bool | int | float, other: Type) -> Scalar | None:
        """Return the scalar type that a literal takes beside an operand of type `other`."""
        return promotion.literal_type(value, other)

    def common_type(self, left: Type, right: Type) -> Type | None:
        """Return the type of a name with values of both types, None if there is none."""
        return promotion.common_type(left, right)

    def operand_type(self, operator: str, left: Type, right: Type) -> Type | None:
        """Return the type in which an operator works on both, None if the language asks for a
        conversion."""
        return promotion.common_type(left, right)

    def own_operand(self, operator: str, operand: Type) -> Type:
        """Return the type in which an operator of one operand works."""
        return i32 if operand is boolean else operand

    def own_result(self, operand: Type) -> Type:
        """Return the type of the result of an operator of one operand."""
        return operand

    def counts(self, type: Scalar) -> bool:
        """Whether `range` takes a number of this type."""
        return type.is_integer

    def range_type(self, bounds: Sequence[Scalar]) -> Scalar | None:
        """Return the type of the variable of `range(...)` with arguments of these types; None for
        the type that they have in common."""
        return None

    def overload(self, cases: Sequence[Case], arguments: Sequence[Scalar]) -> Case:
        """Return which types of parameters, of several, a function takes for its arguments."""
        return cases[0]

    def quotient_type(self, scalar: Scalar) -> Scalar:
        """Return the float type in which `/` divides integers."""
        return f64 if scalar.bits == 64 else f32

    def assignable(self, source: Type, target: Type) -> bool:
        """Whether a store converts implicitly."""
        return promotion.assignable(source, target)

    def float_for(self, integer: Scalar) -> Scalar:
        """Return the type in which functions of floats take an integer."""
        return f64 if integer.bits == 64 else f32


AMDJIT = TypingRules()
