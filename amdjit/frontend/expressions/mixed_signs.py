"""Operators on a signed and an unsigned integer, where no conversion to a common type gives
Python's result.

A u64 beside a signed number: `+ - * // % & | ^` yield Python's result modulo 2**64, comparisons,
`min` and `max` are exact. A shift has the type of its left operand.
"""

from __future__ import annotations

import ast

from amdjit.diagnostics.performance import Finding
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.building.operands import convert_weakly, sample_of
from amdjit.frontend.values.kinds import Value
from amdjit.frontend.values.promotion import common_scalar
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison, UnaryOperator
from amdjit.types import SCALARS, Scalar, ScalarKind, Type, Vector, boolean, f64, i32, i64, u64

__all__ = ["arithmetic", "comparison", "extreme", "note_widening", "shift"]

_MODULAR = (
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
    if any(builder.weak_types.number(side) is not None for side in sides):
        return False
    types = [value.type for value in sides if isinstance(value, tree.Expression)]
    scalars = [type for type in types if isinstance(type, Scalar)]
    signed = [type for type in scalars if type.kind is ScalarKind.SIGNED]
    return len(scalars) == 2 and len(signed) == 1 and u64 in scalars


def _held(builder: FunctionBuilder, value: Value, type: Scalar, node: ast.AST) -> tree.Expression:
    """Return an operand in a type of 64 bits, to be used several times."""
    converted = convert(builder, value, type, node)
    read = converted.operand if isinstance(converted, tree.Convert) else converted
    if isinstance(read, (tree.Read, tree.Constant)):
        return converted
    held = builder.hold(converted, "operand", node)
    assert isinstance(held, tree.Expression)
    return held


def arithmetic(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tree.Expression | None:
    """Type an operator on a u64 and a signed integer; None for other operands."""
    if not _is_mixed(builder, left, right):
        return None
    span = builder.span(node)
    if symbol in _MODULAR or symbol is BinaryOperator.DIVIDE:
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
            magnitudes.append(_held(builder, side, u64, node))
            continue
        number = _held(builder, side, i64, node)
        is_negative = tree.Compare(
            span, boolean, Comparison.LESS, number, tree.Constant(span, i64, 0)
        )
        absolute = tree.Unary(span, i64, UnaryOperator.ABSOLUTE, number)
        magnitudes.append(_held(builder, absolute, u64, node))
    over, under = magnitudes
    zero = tree.Constant(span, u64, 0)
    rest = _held(builder, binary(BinaryOperator.MODULO, over, under), u64, node)
    has_rest = tree.Compare(span, boolean, Comparison.NOT_EQUAL, rest, zero)
    if symbol is BinaryOperator.MODULO:
        # The rest has the sign of the divisor.
        is_divisor = isinstance(right, tree.Expression) and right.type is not u64
        sides = (rest, under) if is_divisor else (under, rest)
        corrected = binary(BinaryOperator.SUBTRACT, *sides)
        condition = tree.Binary(span, boolean, BinaryOperator.AND, is_negative, has_rest)
        return tree.Conditional(span, u64, condition, corrected, rest)
    quotient = _held(builder, binary(BinaryOperator.FLOOR_DIVIDE, over, under), u64, node)
    up = binary(BinaryOperator.ADD, quotient, tree.Convert(span, u64, has_rest))
    opposite = binary(BinaryOperator.SUBTRACT, zero, up)
    return tree.Conditional(span, u64, is_negative, opposite, quotient)


def comparison(
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
    number = _held(builder, left if is_left else right, i64, node)
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


def extreme(
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
    is_weak = builder.weak_types.is_weak(left)
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
    made = builder.weak_types.made(tree.Binary(span, work, symbol, first, second), first)
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


def note_widening(
    builder: FunctionBuilder, left: tree.Expression, right: tree.Expression, node: ast.AST
) -> None:
    """Warn that two numbers of at most 32 bits are computed in 64 bits, because their signs
    differ."""
    types = left.type, right.type
    is_weak = builder.weak_types.is_weak(left) or builder.weak_types.is_weak(right)
    if builder.source.is_library or is_weak:
        return
    narrow = [type for type in types if isinstance(type, Scalar) and type.is_integer]
    if len(narrow) < 2 or max(type.bits for type in narrow) > 32:
        return
    if common_scalar(narrow[0], narrow[1]) is not i64:
        return
    span = builder.span(node)
    unsigned = next(type for type in narrow if not type.is_signed)
    found = Finding(
        "mixed",
        span,
        f"{narrow[0]} and {narrow[1]} are computed in i64, because their signs differ",
        "takes two registers and more instructions",
        f"convert one operand: `{unsigned}(...)`, or `i32(...)`",
    )
    builder.session.findings[found.name, span.file, span.line] = found
