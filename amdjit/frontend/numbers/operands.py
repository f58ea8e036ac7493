"""The operands of an operator, brought to the type that they have in common; and operators on a
signed and an unsigned integer, which have none that gives Python's result."""

from __future__ import annotations

import ast

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import operand_remedy
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison, UnaryOperator
from amdjit.types import (
    SCALARS,
    Scalar,
    ScalarKind,
    Type,
    Vector,
    boolean,
    f32,
    f64,
    i32,
    i64,
    u32,
    u64,
)


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
    if target == f32 and (builder.weak.is_weak(first) or builder.weak.is_weak(second)):
        # An integer does not decide the width of the float that it becomes beside a weak one.
        for value, converted in ((left, first), (right, second)):
            if (
                isinstance(value, tree.Expression)
                and isinstance(value.type, Scalar)
                and not value.type.is_float
            ):
                builder.weak.expressions.add(converted)
    return first, second


def convert_weakly(
    builder: FunctionBuilder, value: Value, target: Type, node: ast.AST
) -> tree.Expression:
    """Convert an operand to the common type; a weak value stays weak."""
    if isinstance(value, tree.Expression) and value.type == target:
        return value
    converted = convert(builder, value, target, node)
    weak = builder.weak
    is_weak = isinstance(value, CompileTime) and builder.rules.has_weak_literals
    if converted is not value and (is_weak or weak.is_weak(value)):
        weak.expressions.add(converted)
        number = weak.number(value)
        if number is not None and isinstance(converted, tree.Read):
            weak.numbers[converted] = number
    return converted


def sample_of(builder: FunctionBuilder, value: Value) -> bool | int | float | complex | None:
    """Return a literal that takes the same type as a literal or a launch's number does, None for
    other values."""
    if isinstance(value, CompileTime):
        return value.value if isinstance(value.value, (bool, int, float, complex)) else None
    number = builder.weak.number(value)
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
        if weak in builder.weak.expressions and (weak.type, other.type) in _TAKEN_BY_WEAK:
            return other.type
    return None


def _typed_pair(
    builder: FunctionBuilder, left: tree.Expression, right: tree.Expression, operator: str
) -> Type | None:
    """A weak float beside a 64-bit integer becomes an f64, as a literal does."""
    types = {left.type, right.type}
    is_weak_float = any(side.type == f32 and builder.weak.is_weak(side) for side in (left, right))
    if is_weak_float and types & {i64, u64}:
        return f64
    return builder.rules.operand_type(operator, left.type, right.type)


# A signed and an unsigned integer. A u64 beside a signed number: `+ - * // % & | ^` yield Python's
# result modulo 2**64, comparisons, `min` and `max` are exact. A shift has the type of its left
# operand.

_MODULAR_OPERATORS = (
    BinaryOperator.ADD,
    BinaryOperator.SUBTRACT,
    BinaryOperator.MULTIPLY,
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.XOR,
)
_DIVISIONS = (BinaryOperator.FLOOR_DIVIDE, BinaryOperator.MODULO)


def _is_mixed(builder: FunctionBuilder, left: Value, right: Value) -> bool:
    """Whether one side is a u64 and the other one a signed integer, which have no common type.

    A launch's number takes the u64's type instead, and the launch refuses a negative one.
    """
    sides = left, right
    if any(builder.weak.number(side) is not None for side in sides):
        return False
    types = [value.type for value in sides if isinstance(value, tree.Expression)]
    scalars = [type for type in types if isinstance(type, Scalar)]
    signed = [type for type in scalars if type.kind is ScalarKind.SIGNED]
    return len(scalars) == 2 and len(signed) == 1 and u64 in scalars


def _used_again(
    builder: FunctionBuilder, value: Value, type: Scalar, node: ast.AST
) -> tree.Expression:
    """Return an operand in a type of 64 bits, to be used several times."""
    converted = convert(builder, value, type, node)
    read = converted.operand if isinstance(converted, tree.Convert) else converted
    if isinstance(read, (tree.Read, tree.Constant)):
        return converted
    held = builder.hold(converted, "operand", node)
    assert isinstance(held, tree.Expression)
    return held


def arithmetic_of_mixed_signs(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tree.Expression | None:
    """Type an operator on a u64 and a signed integer; None for other operands."""
    if not _is_mixed(builder, left, right):
        return None
    span = builder.span(node)
    if symbol in _MODULAR_OPERATORS or symbol is BinaryOperator.DIVIDE:
        target = f64 if symbol is BinaryOperator.DIVIDE else u64
        first, second = (convert(builder, side, target, node) for side in (left, right))
        return tree.Binary(span, target, symbol, first, second)
    return _divided(builder, symbol, left, right, node) if symbol in _DIVISIONS else None


def _divided(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tree.Expression:
    """Divide the absolute values, and correct the result if one operand is negative."""
    span = builder.span(node)
    left, right = builder.in_order((left, right), node)

    def binary(operator: BinaryOperator, a: tree.Expression, b: tree.Expression) -> tree.Binary:
        return tree.Binary(span, u64, operator, a, b)

    magnitudes: list[tree.Expression] = []
    is_negative: tree.Expression = tree.Constant(span, boolean, False)
    for side in (left, right):
        assert isinstance(side, tree.Expression)
        if side.type is u64:
            magnitudes.append(_used_again(builder, side, u64, node))
            continue
        number = _used_again(builder, side, i64, node)
        is_negative = tree.Compare(
            span, boolean, Comparison.LESS, number, tree.Constant(span, i64, 0)
        )
        absolute = tree.Unary(span, i64, UnaryOperator.ABSOLUTE, number)
        magnitudes.append(_used_again(builder, absolute, u64, node))
    over, under = magnitudes
    zero = tree.Constant(span, u64, 0)
    rest = _used_again(builder, binary(BinaryOperator.MODULO, over, under), u64, node)
    has_rest = tree.Compare(span, boolean, Comparison.NOT_EQUAL, rest, zero)
    if symbol is BinaryOperator.MODULO:
        # The rest has the sign of the divisor.
        is_divisor = isinstance(right, tree.Expression) and right.type is not u64
        sides = (rest, under) if is_divisor else (under, rest)
        corrected = binary(BinaryOperator.SUBTRACT, *sides)
        condition = tree.Binary(span, boolean, BinaryOperator.AND, is_negative, has_rest)
        return tree.Conditional(span, u64, condition, corrected, rest)
    quotient = _used_again(builder, binary(BinaryOperator.FLOOR_DIVIDE, over, under), u64, node)
    up = binary(BinaryOperator.ADD, quotient, tree.Convert(span, u64, has_rest))
    opposite = binary(BinaryOperator.SUBTRACT, zero, up)
    return tree.Conditional(span, u64, is_negative, opposite, quotient)


def comparison_of_mixed_signs(
    builder: FunctionBuilder, symbol: Comparison, left: Value, right: Value, node: ast.AST
) -> tree.Expression | None:
    """Compare a u64 with a signed integer exactly; None for other operands."""
    if not _is_mixed(builder, left, right):
        return None
    span = builder.span(node)
    left, right = builder.in_order((left, right), node)
    assert isinstance(left, tree.Expression)
    assert isinstance(right, tree.Expression)
    is_left = left.type is not u64
    number = _used_again(builder, left if is_left else right, i64, node)
    zero = tree.Constant(span, i64, 0)
    is_negative = tree.Compare(span, boolean, Comparison.LESS, number, zero)
    first, second = (
        convert(builder, number if (side is left) is is_left else side, u64, node)
        for side in (left, right)
    )
    of_magnitudes = tree.Compare(span, boolean, symbol, first, second)
    lesser = (Comparison.LESS, Comparison.LESS_EQUAL)
    greater = (Comparison.GREATER, Comparison.GREATER_EQUAL)
    # A negative number is less than every u64.
    if symbol is Comparison.NOT_EQUAL or symbol in (lesser if is_left else greater):
        return tree.Binary(span, boolean, BinaryOperator.OR, is_negative, of_magnitudes)
    not_negative = tree.Compare(span, boolean, Comparison.GREATER_EQUAL, number, zero)
    return tree.Binary(span, boolean, BinaryOperator.AND, not_negative, of_magnitudes)


def extreme_of_mixed_signs(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tree.Expression | None:
    """`min` of a u64 and a signed integer is an i64, `max` a u64: each holds its result. None for
    other operands."""
    if not _is_mixed(builder, left, right):
        return None
    span = builder.span(node)
    is_left = isinstance(left, tree.Expression) and left.type is not u64
    signed, unsigned = (left, right) if is_left else (right, left)
    number, other = (
        convert(builder, side, type, node) for side, type in ((signed, i64), (unsigned, u64))
    )
    if symbol is BinaryOperator.MAXIMUM:
        positive = tree.Binary(span, i64, symbol, number, tree.Constant(span, i64, 0))
        sides = other, tree.Convert(span, u64, positive)
        return tree.Binary(span, u64, symbol, *(sides[::-1] if is_left else sides))
    largest = tree.Constant(span, u64, i64.maximum)
    clipped = tree.Convert(span, i64, tree.Binary(span, u64, symbol, other, largest))
    return tree.Binary(span, i64, symbol, *((number, clipped) if is_left else (clipped, number)))


def shift(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tree.Expression | None:
    """Type a shift whose operands have two integer types; None for other operands.

    A count that the left operand's type cannot hold is beyond its width, so both are converted to
    the count's width, and the result back.
    """
    if not isinstance(left, tree.Expression) or not isinstance(right, tree.Expression):
        return None
    number, count = _element(left.type), _element(right.type)
    is_literal = sample_of(builder, left) is not None or sample_of(builder, right) is not None
    if number is None or count is None or number is count or is_literal:
        return None
    is_weak = builder.weak.is_weak(left)
    if number is boolean:
        left, number = convert(builder, left, i32, node), i32
    type = _shaped(number, left.type, right.type)
    if type is None:
        return None
    is_wider = count.bits > number.bits and count is not boolean
    wide = _of_width(number.kind, count.bits) if is_wider else number
    work = Vector(wide, type.length) if isinstance(type, Vector) else wide
    span = builder.span(node)
    first = convert_weakly(builder, left, work, node)
    # A count does not need the width that it is converted to.
    as_is = isinstance(work, Scalar) and right.type != work
    second = tree.Convert(span, work, right) if as_is else convert(builder, right, work, node)
    made = builder.weak.note_result(tree.Binary(span, work, symbol, first, second), first)
    return made if made.type == type or is_weak else tree.Convert(span, type, made)


def _element(type: Type) -> Scalar | None:
    scalar = type.element if isinstance(type, Vector) else type
    is_whole = isinstance(scalar, Scalar) and (scalar.is_integer or scalar is boolean)
    return scalar if is_whole and isinstance(scalar, Scalar) else None


def _shaped(number: Scalar, left: Type, right: Type) -> Type | None:
    """Return the type of a shift: a vector if an operand is one; None if their lengths differ."""
    lengths = {type.length for type in (left, right) if isinstance(type, Vector)}
    if len(lengths) > 1:
        return None
    return Vector(number, lengths.pop()) if lengths else number


def _of_width(kind: ScalarKind, bits: int) -> Scalar:
    return next(scalar for scalar in SCALARS if scalar.kind is kind and scalar.bits == bits)
