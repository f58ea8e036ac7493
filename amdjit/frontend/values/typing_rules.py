"""The rules by which literals and operands of two types get a type: amdjit's own, and Numba's.

A kernel chooses its rules with the option `typing`. amdjit's own functions always follow amdjit's.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.frontend.values import promotion
from amdjit.late_methods import dataclass
from amdjit.types import Scalar, ScalarKind, Type, boolean, f16, f32, f64, i16, i32, i64, u64

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


# Numba's rules for the types of literals and operators.
#
# Sources: Numba's "NBEP 1: Changes in integer typing" and the signatures of its operators
# (numba/core/typing/builtins.py); tests/frontend/numba_result_types.tsv lists what Numba 0.68
# answers.


_Bits = dict[tuple[Scalar, ScalarKind], int]
# The widest integers that a float meets without becoming wider: as the operand of an operator, and
# as another value of the same name.
_OPERAND_BITS: _Bits = {
    (f16, ScalarKind.SIGNED): 8,
    (f16, ScalarKind.UNSIGNED): 0,
    (f32, ScalarKind.SIGNED): 16,
    (f32, ScalarKind.UNSIGNED): 8,
}
_NAME_BITS: _Bits = {
    (f16, ScalarKind.SIGNED): 8,
    (f16, ScalarKind.UNSIGNED): 8,
    (f32, ScalarKind.SIGNED): 16,
    (f32, ScalarKind.UNSIGNED): 16,
}
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))


@dataclass(frozen=True)
class NumbaTyping(TypingRules):
    """Literals are i64 and f64; integers are computed in 64 bits."""

    has_weak_literals: bool = False
    integer: Scalar = i64
    floating: Scalar = f64
    has_annotations: bool = False

    def default_type(self, value: bool | int | float) -> Scalar | None:
        """Return boolean, i64 (u64 beyond it) or f64."""
        if isinstance(value, bool):
            return boolean
        if isinstance(value, float):
            return f64
        return next((type for type in (i64, u64) if type.minimum <= value <= type.maximum), None)

    def literal_type(self, value: bool | int | float, other: Type) -> Scalar | None:
        """Return the type of the name that has a literal and a value of type `other`."""
        own = self.default_type(value)
        if own is None or not isinstance(other, Scalar):
            return promotion.literal_type(value, other)
        joined = self.common_type(own, other)
        return joined if isinstance(joined, Scalar) else None

    def common_type(self, left: Type, right: Type) -> Type | None:
        """Return what Numba unifies two types to."""
        if left == right or not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            return promotion.common_type(left, right)
        if left.storage_only or right.storage_only:
            return None
        if left.is_float or right.is_float:
            return _with_float(left, right, _NAME_BITS)
        if left.is_integer and right.is_integer and left.kind is not right.kind:
            signed, unsigned = (left, right) if left.is_signed else (right, left)
            bits = max(signed.bits, 2 * unsigned.bits)
            return next((type for type in (i16, i32, i64) if type.bits == bits), f64)
        return promotion.common_scalar(left, right)

    def operand_type(self, operator: str, left: Type, right: Type) -> Type | None:
        """Return the type in which Numba's operator works."""
        if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            return promotion.common_type(left, right)
        if left.storage_only or right.storage_only:
            return None
        if operator in ("min", "max") or (operator in _COMPARISONS and u64 in (left, right)):
            return self.common_type(left, right)
        if operator == "**" and left.is_float and not right.is_float:
            return left
        if left.is_float or right.is_float:
            return _with_float(left, right, _OPERAND_BITS)
        if operator == "/":
            return f64  # not by way of i64, in which a u64 may be negative
        if left is right is boolean:
            return boolean
        if operator in ("<<", ">>"):
            return u64 if left.is_integer and not left.is_signed else i64
        return i64 if any(type.is_signed or type is boolean for type in (left, right)) else u64

    def own_operand(self, operator: str, operand: Type) -> Type:
        """Return the type in which `-x`, `+x` and `~x` work: `-x` of a u8 wraps in 8 bits."""
        return i64 if operand is boolean and operator != "~" else operand

    def own_result(self, operand: Type) -> Type:
        """Return the 64-bit type that the result of `-x`, `+x` and `~x` is widened to."""
        if not isinstance(operand, Scalar) or not operand.is_integer:
            return operand
        return i64 if operand.is_signed else u64

    def counts(self, type: Scalar) -> bool:
        """Numba converts any real number to the type of its `range`."""
        return not type.storage_only

    def range_type(self, bounds: Sequence[Scalar]) -> Scalar | None:
        """Return the type among those that Numba's `range` has."""
        return self.overload([(type,) * len(bounds) for type in (i32, i64, u64)], bounds)[0]

    def overload(self, cases: Sequence[Case], arguments: Sequence[Scalar]) -> Case:
        """Return the first case for which the arguments need the least conversions: those that lose
        values count most, those to another kind less, those to a wider type least."""

        def cost(case: Case) -> list[int]:
            steps = [_conversion(*pair) for pair in zip(arguments, case, strict=True)]
            return [sum(column) for column in zip(*steps, strict=True)]

        return min(cases, key=cost)

    def quotient_type(self, scalar: Scalar) -> Scalar:
        """Return f64."""
        return f64

    def assignable(self, source: Type, target: Type) -> bool:
        """Numba converts any number to any other where it is stored."""
        if isinstance(source, Scalar) and isinstance(target, Scalar):
            return True
        return promotion.assignable(source, target)

    def float_for(self, integer: Scalar) -> Scalar:
        """Return f64."""
        return f64


def _conversion(source: Scalar, target: Scalar) -> tuple[bool, bool, bool]:
    """Return whether a conversion loses values, changes the kind, or only widens, by Numba's
    table (numba/core/typeconv/rules.py)."""
    if source is target:
        return False, False, False
    if source.kind is target.kind:
        return source.bits > target.bits, False, source.bits < target.bits
    if target.is_float:
        wide = 64 if target is f64 else _OPERAND_BITS.get((target, source.kind), 0)
        is_safe = source is boolean or source.bits <= wide
    else:
        is_safe = source is boolean or (
            source.is_integer and target.is_signed and source.bits < target.bits
        )
    return not is_safe, is_safe, False


def _with_float(left: Scalar, right: Scalar, bits: _Bits) -> Scalar:
    if left.is_float and right.is_float:
        joined = promotion.common_scalar(left, right)
        assert joined is not None
        return joined
    real, other = (left, right) if left.is_float else (right, left)
    if other is boolean:
        return real
    return next(
        wide
        for wide in (real, f32, f64)
        if wide.bits >= real.bits and other.bits <= bits.get((wide, other.kind), 64 * (wide == f64))
    )


NUMBA = NumbaTyping()
