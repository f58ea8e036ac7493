"""The operands of an operator, brought to the type that they have in common."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import operand_remedy
from amdjit.frontend.values import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.language.launch_numbers import LaunchNumber
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, Type, Vector, f32, f64, i32, i64, u32, u64


def pair(
    builder: FunctionBuilder, left: Value, right: Value, operator: str, node: ast.AST
) -> tuple[tree.Expression, tree.Expression]:
    """Convert two operands to the type that they have in common."""
    target = _pair_type(builder, left, right, operator)
    if target is None:
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator=operator,
            left=describe(left),
            right=describe(right),
            remedy=operand_remedy(left, right),
        )
    first, second = (
        convert_weakly(builder, left, target, node),
        convert_weakly(builder, right, target, node),
    )
    if target == f32 and (builder.weak_types.is_weak(first) or builder.weak_types.is_weak(second)):
        # An integer does not decide the width of the float that it becomes beside a weak one.
        for value, converted in ((left, first), (right, second)):
            if (
                isinstance(value, tree.Expression)
                and isinstance(value.type, Scalar)
                and not value.type.is_float
            ):
                builder.weak_types.expressions.add(converted)
    return first, second


def convert_weakly(
    builder: FunctionBuilder, value: Value, target: Type, node: ast.AST
) -> tree.Expression:
    """Convert an operand to the common type; a weak value stays weak."""
    if isinstance(value, tree.Expression) and value.type == target:
        return value
    converted = convert(builder, value, target, node)
    weak_types = builder.weak_types
    is_weak = isinstance(value, CompileTime) and builder.rules.has_weak_literals
    if converted is not value and (is_weak or weak_types.is_weak(value)):
        weak_types.expressions.add(converted)
        number = weak_types.number(value)
        if number is not None and isinstance(converted, tree.Read):
            weak_types.numbers[converted] = number
    return converted


def launch_operands(
    builder: FunctionBuilder, values: Sequence[Value]
) -> tuple[LaunchNumber, ...] | None:
    """Return the operands as numbers of the launch if each is one or a literal, and not all are
    literals."""
    numbers: list[LaunchNumber] = []
    for value in values:
        number = builder.weak_types.number(value)
        if (
            number is None
            and isinstance(value, CompileTime)
            and isinstance(value.value, (bool, int, float))
        ):
            number = launch_arithmetic.constant(value.value)
        if number is None:
            return None
        numbers.append(number)
    return tuple(numbers) if any(number.parameters for number in numbers) else None


def sample_of(builder: FunctionBuilder, value: Value) -> bool | int | float | complex | None:
    """Return a literal that takes the same type as a literal or a launch's number does, None for
    other values."""
    if isinstance(value, CompileTime):
        return value.value if isinstance(value.value, (bool, int, float, complex)) else None
    number = builder.weak_types.number(value)
    return None if number is None else number.kind(1)


def _pair_type(builder: FunctionBuilder, left: Value, right: Value, operator: str) -> Type | None:
    if not builder.rules.has_weak_literals:
        return strong_pair(builder, left, right, operator)
    unsigned = beside_unsigned(builder, left, right, operator)
    if unsigned is not None:
        return unsigned
    samples = sample_of(builder, left), sample_of(builder, right)
    both_typed = samples[0] is samples[1] is None or None not in samples
    if both_typed and isinstance(left, tree.Expression) and isinstance(right, tree.Expression):
        return _typed_pair(builder, left, right, operator)
    typed, sample = (left, samples[1]) if samples[0] is None else (right, samples[0])
    if not isinstance(sample, (bool, int, float)) or not isinstance(typed, tree.Expression):
        return None
    scalar = builder.rules.literal_type(sample, typed.type)
    if isinstance(typed.type, Vector):
        return typed.type if scalar == typed.type.element else None
    return scalar


def own_type(builder: FunctionBuilder, value: Value) -> Type | None:
    """Return the type that an operand has on its own, None for what is no number."""
    if isinstance(value, CompileTime) and isinstance(value.value, (bool, int, float)):
        return builder.rules.default_type(value.value)
    return value.type if isinstance(value, tree.Expression) else None


def strong_pair(builder: FunctionBuilder, left: Value, right: Value, operator: str) -> Type | None:
    """Return the type for operands whose literals have types of their own; beside a vector they
    take that of its elements."""
    first, second = own_type(builder, left), own_type(builder, right)
    if first is None or second is None:
        return None
    for vector, other in ((first, second), (second, first)):
        if isinstance(vector, Vector) and isinstance(other, Scalar):
            return vector
    return builder.rules.operand_type(operator, first, second)


# Operators whose result has the same bits whether a number is negative or wraps around.
_MODULAR = frozenset("+-*&|^")


_TAKEN_BY_WEAK = ((i32, u32), (i32, u64), (i64, u64))


def beside_unsigned(
    builder: FunctionBuilder, left: Value, right: Value, operator: str
) -> Type | None:
    """A weak integer takes an unsigned type as a literal does, if a negative value does no harm."""
    if (
        not isinstance(left, tree.Expression)
        or not isinstance(right, tree.Expression)
        or operator not in _MODULAR
    ):
        return None
    for weak, other in ((left, right), (right, left)):
        if weak in builder.weak_types.expressions and (weak.type, other.type) in _TAKEN_BY_WEAK:
            return other.type
    return None


def _typed_pair(
    builder: FunctionBuilder, left: tree.Expression, right: tree.Expression, operator: str
) -> Type | None:
    """A weak float beside a 64-bit integer becomes an f64, as a literal does."""
    types = {left.type, right.type}
    is_weak_float = any(
        side.type == f32 and builder.weak_types.is_weak(side) for side in (left, right)
    )
    if is_weak_float and types & {i64, u64}:
        return f64
    return builder.rules.operand_type(operator, left.type, right.type)
