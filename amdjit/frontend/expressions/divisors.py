"""Divisors that are 0: a constant one is refused, and with `division_check=True` others are tested,
as in Python a ZeroDivisionError."""

from __future__ import annotations

import ast
import operator
from functools import partial
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Scalar, Vector, boolean

__all__ = ["checked", "refuse_zero"]

_DIVISIONS = (BinaryOperator.DIVIDE, BinaryOperator.FLOOR_DIVIDE, BinaryOperator.MODULO)


def refuse_zero(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> None:
    """Refuse a division of integers by a constant 0, which Python would not do either. A float of
    a type by 0 is an infinity or NaN, as in NumPy. Numba's programs, which may hold such a division
    where it is not reached, are compiled."""
    if symbol not in _DIVISIONS or not builder.rules.has_weak_literals:
        return
    if _constant(right) == 0 and _is_integer(builder, left) and _is_integer(builder, right):
        raise builder.error(codes.DIVISION_BY_ZERO, node, operator=symbol.value)


def _constant(value: Value) -> Any:
    known = static_value(value)
    if known is not None:
        return known.value
    return value.value if isinstance(value, tree.Constant) else None


def _is_integer(builder: FunctionBuilder, value: Value) -> bool:
    number = builder.weak.number(value)
    if number is not None:
        return number.kind is not float
    if isinstance(value, tree.Expression):
        kind = value.type.element if isinstance(value.type, Vector) else value.type
        return isinstance(kind, Scalar) and not kind.is_float
    return isinstance(_constant(value), int)


def checked(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tuple[Value, Value]:
    """Return the operands of an operator, evaluated after a test of the divisor if they are
    divided. The functions of amdjit itself divide by 0 where that gives what they want."""
    is_tested = builder.compilation.division_check and symbol in _DIVISIONS
    if not is_tested or builder.source.is_library or not isinstance(node, (ast.expr, ast.stmt)):
        return left, right
    left, right = builder.in_order((left, right), node)
    right = builder.hold(right, "divisor", node)
    parts = right.items if isinstance(right, TupleValue) else (right,)
    tests = [_is_zero(builder, part, node) for part in parts]
    failed: tree.Expression | None = None
    for test in tests:
        if test is None:
            return left, right
        failed = test if failed is None else _both(builder, failed, test, node)
    if failed is not None:
        check(builder, failed, "division by zero", node, ZeroDivisionError)
    return left, right


def _is_zero(builder: FunctionBuilder, value: Value, node: ast.AST) -> tree.Expression | None:
    """Type the test whether a number is 0; None for one that is known not to be, and for
    vectors. The launch tests its own numbers."""
    is_zero = partial(launch_arithmetic.comparison, Comparison.EQUAL.value, operator.eq)
    tested = launch_arithmetic.at_launch(builder, is_zero, (value, CompileTime(0)), node)
    if tested is not None:
        return tested
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        return None
    if isinstance(value, tree.Constant) and value.value != 0:
        return None
    span = builder.span(node)
    nothing = tree.Constant(span, value.type, 0.0 if value.type.is_float else 0)
    return tree.Compare(span, boolean, Comparison.EQUAL, value, nothing)


def _both(
    builder: FunctionBuilder, first: tree.Expression, second: tree.Expression, node: ast.AST
) -> tree.Expression:
    return tree.Binary(builder.span(node), boolean, BinaryOperator.AND, first, second)
