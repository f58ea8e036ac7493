"""Arithmetic and bitwise operators, with Python's meaning."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert, is_complex, materialise, negated, truth
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.operands import beside_unsigned, launch_operands, pair
from amdjit.frontend.building.remedies import WHOLE_ARRAY, bitwise_remedy
from amdjit.frontend.building.special_methods import (
    binary_method,
    is_dataclass_record,
    operator_name,
    unary_method,
)
from amdjit.frontend.expressions import complexes, divisors, mixed_signs
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.powers import power
from amdjit.frontend.names.scope import checked_size, value_of_object
from amdjit.frontend.values import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, as_python, static_value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, UnaryOperator
from amdjit.types import Array, Scalar, Type, Vector, boolean

BINARY: dict[type[ast.operator], tuple[BinaryOperator, Callable[[Any, Any], Any]]] = {
    ast.Add: (BinaryOperator.ADD, operator.add),
    ast.Sub: (BinaryOperator.SUBTRACT, operator.sub),
    ast.Mult: (BinaryOperator.MULTIPLY, operator.mul),
    ast.Div: (BinaryOperator.DIVIDE, operator.truediv),
    ast.FloorDiv: (BinaryOperator.FLOOR_DIVIDE, operator.floordiv),
    ast.Mod: (BinaryOperator.MODULO, operator.mod),
    ast.Pow: (BinaryOperator.POWER, operator.pow),
    ast.BitAnd: (BinaryOperator.AND, operator.and_),
    ast.BitOr: (BinaryOperator.OR, operator.or_),
    ast.BitXor: (BinaryOperator.XOR, operator.xor),
    ast.LShift: (BinaryOperator.SHIFT_LEFT, operator.lshift),
    ast.RShift: (BinaryOperator.SHIFT_RIGHT, operator.rshift),
}
_UNARY: dict[type[ast.unaryop], tuple[UnaryOperator, Callable[[Any], Any]]] = {
    ast.USub: (UnaryOperator.NEGATE, operator.neg),
    ast.Invert: (UnaryOperator.INVERT, operator.invert),
    ast.UAdd: (UnaryOperator.NEGATE, operator.pos),
}
_BITWISE = (BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR)
_SHIFTS = (BinaryOperator.SHIFT_LEFT, BinaryOperator.SHIFT_RIGHT)
_INTEGER_ONLY = (*_BITWISE, *_SHIFTS)


def binary(
    builder: FunctionBuilder, kind: type[ast.operator], left: Value, right: Value, node: ast.AST
) -> Value:
    """Type `left kind right`."""
    own = binary_method(builder, kind, left, right, node)
    if own is not None:
        return own
    _refuse_record(builder, kind, left, right, node)
    if kind is ast.MatMult:
        remedy = "write the loop, or use the matrix intrinsics in amdjit.intrinsics.amdgcn"
        raise builder.error(codes.UNSUPPORTED_EXPRESSION, node, expression="`@`", remedy=remedy)
    symbol, compute = BINARY[kind]
    known = static_value(left), static_value(right)
    if kind is ast.Mult and any(item is not None and _is_sequence(item.value) for item in known):
        known = static_value(as_python(left)), static_value(as_python(right))
    if known[0] is not None and known[1] is not None:
        result = fold(builder, node, compute, known[0].value, known[1].value)
        return value_of_object(builder, result.value, "the result", node)
    launched = of_launch(builder, symbol, left, right, node)
    if launched is not None:
        return launched
    if symbol is BinaryOperator.POWER:
        return power(builder, left, right, node, lambda x, y: binary(builder, ast.Mult, x, y, node))
    if is_complex(left) or is_complex(right):
        return complexes.binary(builder, symbol, left, right, node)
    if (
        symbol is BinaryOperator.ADD
        and isinstance(left, TupleValue)
        and isinstance(right, TupleValue)
    ):
        return checked_size(builder, TupleValue(left.items + right.items), node)
    return _of_numbers(builder, symbol, left, right, node)


def _is_sequence(value: object) -> bool:
    return isinstance(value, (tuple, str, bytes))


def _of_numbers(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> Value:
    given = left, right
    if builder.rules.has_weak_literals:
        own = _of_unlike_signs(builder, symbol, left, right, node)
        if own is not None:
            return own
    left, right = pair(builder, left, right, symbol.value, node)
    divisors.refuse_zero(builder, symbol, left, right, node)
    left, right = _checked(builder, symbol, left, right, node)
    if symbol in _SHIFTS or left.type is boolean:
        left, right = _plain_integers(builder, symbol, left, right, node)
    scalar = _element(left.type)
    if scalar is None or scalar.storage_only or (symbol in _INTEGER_ONLY and scalar.is_float):
        raise _refuse(builder, symbol, left.type, given, node)
    if symbol is BinaryOperator.DIVIDE and not scalar.is_float:
        left, right = (_to_float(builder, side, node) for side in (left, right))
    made = tree.Binary(builder.span(node), left.type, symbol, left, right)
    return builder.weak_types.made(made, left, right)


def _checked(
    builder: FunctionBuilder,
    symbol: BinaryOperator,
    left: tree.Expression,
    right: tree.Expression,
    node: ast.AST,
) -> tuple[tree.Expression, tree.Expression]:
    """Return the operands, with a test of the divisor if the kernel makes them."""
    first, second = divisors.checked(builder, symbol, left, right, node)
    assert isinstance(first, tree.Expression)
    assert isinstance(second, tree.Expression)
    return first, second


def _of_unlike_signs(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tree.Expression | None:
    """Type what is not done in a common type: shifts, and a u64 beside a signed integer."""
    if not isinstance(left, tree.Expression) or not isinstance(right, tree.Expression):
        return None
    if left.type == right.type:
        return None
    if symbol in _SHIFTS:
        return mixed_signs.shift(builder, symbol, left, right, node)
    if beside_unsigned(builder, left, right, symbol.value) is None:
        mixed_signs.note_widening(builder, left, right, node)
        divisors.refuse_zero(builder, symbol, left, right, node)
        left, right = _checked(builder, symbol, left, right, node)
        return mixed_signs.arithmetic(builder, symbol, left, right, node)
    return None


def of_launch(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Let the launch compute an operation on its own numbers; None if a value is of another
    kind."""
    numbers = launch_operands(builder, (left, right))
    made = None if numbers is None else launch_arithmetic.binary(symbol, *numbers)
    if made is not None:
        divisors.refuse_zero(builder, symbol, left, right, node)
        divisors.checked(builder, symbol, left, right, node)
    return None if made is None else builder.launch_parameters.weak(made, builder.span(node))


def _refuse_record(
    builder: FunctionBuilder, kind: type[ast.operator], left: Value, right: Value, node: ast.AST
) -> None:
    """Refuse an operator that a dataclass does not define: unlike a tuple, it has no `+` of its
    own."""
    record = left if is_dataclass_record(left) else right
    if (
        isinstance(record, TupleValue)
        and record.structure is not None
        and is_dataclass_record(record)
    ):
        symbol = "@" if kind is ast.MatMult else BINARY[kind][0].value
        remedy = (
            f"define `{operator_name(kind)}` in {record.structure.name}, or compute with its fields"
        )
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator=symbol,
            left=describe(left),
            right=describe(right),
            remedy=remedy,
        )


def _plain_integers(
    builder: FunctionBuilder,
    symbol: BinaryOperator,
    left: tree.Expression,
    right: tree.Expression,
    node: ast.AST,
) -> tuple[tree.Expression, tree.Expression]:
    """Convert booleans to 0 and 1, as Python does; `&`, `|` and `^` of two booleans stay
    boolean."""
    if left.type is boolean and symbol not in _BITWISE:
        kind = builder.rules.integer
        return convert(builder, left, kind, node), convert(builder, right, kind, node)
    return left, right


def _refuse(
    builder: FunctionBuilder,
    symbol: BinaryOperator,
    common: Type,
    given: tuple[Value, Value],
    node: ast.AST,
) -> Exception:
    scalar = _element(common)
    left, right = map(describe, given)
    remedy = WHOLE_ARRAY if scalar is None else bitwise_remedy(builder.source.node, node)
    if scalar is not None and scalar.storage_only:
        remedy = "fp8 and bf8 are storage types: convert to f32 first, `f32(...)`"
    return builder.error(
        codes.OPERAND_TYPES, node, operator=symbol.value, left=left, right=right, remedy=remedy
    )


def _element(type: Type) -> Scalar | None:
    if isinstance(type, Vector):
        return type.element
    return type if isinstance(type, Scalar) else None


def _to_float(builder: FunctionBuilder, value: tree.Expression, node: ast.AST) -> tree.Expression:
    """Convert an operand of `/` to a float: f64 for 64-bit integers, f32 for others."""
    scalar = _element(value.type)
    assert scalar is not None
    target = builder.rules.quotient_type(scalar)
    vector = value.type
    converted = convert(
        builder,
        value,
        Vector(target, vector.length) if isinstance(vector, Vector) else target,
        node,
    )
    if builder.rules.has_weak_literals:
        builder.weak_types.expressions.add(converted)
    return converted


def unary(
    builder: FunctionBuilder, kind: type[ast.unaryop], operand: Value, node: ast.AST
) -> Value:
    """Type `-x`, `+x`, `~x` or `not x`."""
    if kind is ast.Not:
        return negated(builder, truth(builder, operand, node), node)
    own = unary_method(builder, kind, operand, node)
    if own is not None:
        return own
    symbol, compute = _UNARY[kind]
    if isinstance(operand, CompileTime):
        if isinstance(operand.value, bool) and kind is ast.Invert and _inverts_truth(builder):
            return CompileTime(not operand.value)
        return fold(builder, node, compute, operand.value)
    if is_complex(operand) and isinstance(operand, TupleValue) and kind is not ast.Invert:
        return operand if kind is ast.UAdd else complexes.negated(builder, operand, True, node)
    number = builder.weak_types.number(operand)
    launched = (
        None if number is None or kind is ast.UAdd else launch_arithmetic.unary(symbol, number)
    )
    if launched is not None:
        return builder.launch_parameters.weak(launched, builder.span(node))
    value = materialise(builder, operand, node)
    own_type = builder.rules.own_operand(symbol.value, value.type)
    if own_type is boolean and kind is ast.Invert:
        return negated(builder, value, node)
    value = value if own_type == value.type else convert(builder, value, own_type, node)
    result_type = builder.rules.own_result(own_type)
    scalar = _element(value.type)
    if (
        scalar is None
        or scalar.storage_only
        or (scalar.is_float and symbol is UnaryOperator.INVERT)
    ):
        text = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[kind]
        raise builder.error(
            codes.UNARY_TYPE,
            node,
            operator=text,
            type=describe(value),
            remedy=WHOLE_ARRAY if isinstance(value.type, Array) else "convert it first: `i32(...)`",
        )
    if kind is not ast.UAdd:
        made = tree.Unary(builder.span(node), value.type, symbol, value)
        value = builder.weak_types.made(made, value)
    return value if result_type == value.type else convert(builder, value, result_type, node)


def _inverts_truth(builder: FunctionBuilder) -> bool:
    """Whether `~` of a truth value is its negation, not -1 or -2."""
    return builder.rules.own_operand("~", boolean) is boolean
