"""Comparisons: `==`, `<`, `is`, `in` and their relatives."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert, is_complex, negated, truth
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.operands import launch_operands, pair
from amdjit.frontend.building.special_methods import (
    call_method_of,
    comparison_method,
    special_method,
)
from amdjit.frontend.expressions import complexes
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.unsigned_warnings import check_comparison
from amdjit.frontend.values import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.frontend.values.promotion import literal_fits
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Scalar, Type, boolean, i32, i64, u32

_COMPARISONS: dict[type[ast.cmpop], tuple[Comparison, Callable[[Any, Any], Any]]] = {
    ast.Eq: (Comparison.EQUAL, operator.eq),
    ast.NotEq: (Comparison.NOT_EQUAL, operator.ne),
    ast.Lt: (Comparison.LESS, operator.lt),
    ast.LtE: (Comparison.LESS_EQUAL, operator.le),
    ast.Gt: (Comparison.GREATER, operator.gt),
    ast.GtE: (Comparison.GREATER_EQUAL, operator.ge),
}


_IDENTITY: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}


def compare(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value:
    """Type one comparison."""
    if kind in _IDENTITY:
        return _identity(builder, kind, left, right, node)
    own = _own_comparison(builder, kind, left, right, node)
    if own is not None:
        return own
    symbol, compute = _COMPARISONS[kind]
    left_constant, right_constant = static_value(left), static_value(right)
    if left_constant is not None and right_constant is not None:
        return fold(builder, node, compute, left_constant.value, right_constant.value)
    if is_complex(left) or is_complex(right):
        return complexes.compare(builder, symbol, left, right, node)
    if (
        isinstance(left, TupleValue)
        and isinstance(right, TupleValue)
        and kind in (ast.Eq, ast.NotEq)
    ):
        return _compare_items(builder, kind, left, right, node)
    check_comparison(builder, kind, left, right, node)
    beyond = _compare_beyond_range(compute, left, right)
    if beyond is not None:
        builder.discard(left, node)
        builder.discard(right, node)
        return beyond
    numbers = launch_operands(builder, (left, right))
    if numbers is not None:
        return builder.launch_parameters.weak(
            launch_arithmetic.comparison(symbol.value, compute, *numbers), builder.span(node)
        )
    left, right = _exactly(builder, left, right, node), _exactly(builder, right, left, node)
    first, second = pair(builder, left, right, symbol.value, node)
    if not isinstance(first.type, Scalar) or first.type.storage_only:
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator=symbol.value,
            left=describe(left),
            right=describe(right),
            remedy="compare scalars, for example element by element: `v[i] < w[i]`",
        )
    if first.type is boolean:
        first, second = convert(builder, first, i32, node), convert(builder, second, i32, node)
    return tree.Compare(builder.span(node), boolean, symbol, first, second)


def _exactly(builder: FunctionBuilder, value: Value, other: Value, node: ast.AST) -> Value:
    """Widen an integer that is compared with a number of the launch, so that the comparison is
    exact, as in Python."""
    number = builder.weak_types.number(other)
    kind = value.type if isinstance(value, tree.Expression) else None
    if number is None or number.kind is float or not isinstance(kind, Scalar) or kind.is_float:
        return value
    if kind == u32:
        return convert(builder, value, i64, node)
    return convert(builder, value, i32, node) if kind.bits < i32.bits else value


def _own_comparison(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Type a comparison that a record defines; without `__ne__`, `!=` is the negation of `==`."""
    own = comparison_method(builder, kind, left, right, node)
    if own is None and kind is ast.NotEq:
        equal = comparison_method(builder, ast.Eq, left, right, node)
        return None if equal is None else negated(builder, truth(builder, equal, node), node)
    return own


def _comparable(value: TupleValue) -> object:
    """Return what is comparable: named tuples compare as tuples, dataclasses only with their own
    class."""
    python = None if value.structure is None else value.structure.python
    return tuple if python is None or issubclass(python, tuple) else python


def _compare_items(
    builder: FunctionBuilder,
    kind: type[ast.cmpop],
    left: TupleValue,
    right: TupleValue,
    node: ast.AST,
) -> Value:
    """Compare items: tuples are equal if all items are; dataclasses of two classes never are."""
    same_kind = _comparable(left) == _comparable(right) and len(left.items) == len(right.items)
    result: Value = CompileTime(same_kind)
    for pair_ in zip(left.items, right.items, strict=False) if same_kind else ():
        equal = compare(builder, ast.Eq, *pair_, node)
        if isinstance(result, CompileTime) or isinstance(equal, CompileTime):
            known, other = (result, equal) if isinstance(result, CompileTime) else (equal, result)
            assert isinstance(known, CompileTime)
            result = other if known.value else CompileTime(False)
        else:
            assert isinstance(result, tree.Expression)
            assert isinstance(equal, tree.Expression)
            result = tree.Binary(builder.span(node), boolean, BinaryOperator.AND, result, equal)
    return result if kind is ast.Eq else negated(builder, result, node)


def _identity(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value:
    if kind in (ast.In, ast.NotIn) and special_method(right, "__contains__") is not None:
        left, right = builder.in_order((left, right), node)
        held = call_method_of(builder, right, "__contains__", (left,), node)
        assert held is not None
        found = truth(builder, held, node)
        return found if kind is ast.In else negated(builder, found, node)
    left_constant, right_constant = static_value(left), static_value(right)
    if left_constant is None or right_constant is None:
        if kind in (ast.Is, ast.IsNot) and (_is_none(left) or _is_none(right)):
            builder.discard(left, node)
            builder.discard(right, node)
            return CompileTime(kind is ast.IsNot)
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node,
            expression="`is` and `in` on run-time values",
            remedy="use `==`; `is` and `in` work on compile-time values",
        )
    return fold(builder, node, _IDENTITY[kind], left_constant.value, right_constant.value)


def _is_none(value: Value) -> bool:
    return isinstance(value, CompileTime) and value.value is None


def _compare_beyond_range(
    compute: Callable[[Any, Any], Any], left: Value, right: Value
) -> CompileTime | None:
    """Decide a comparison with an integer constant that is outside the range of the other side's
    type."""
    if isinstance(left, CompileTime) and isinstance(right, tree.Expression):
        edge = _edge(left, right.type)
        return None if edge is None else CompileTime(bool(compute(edge, 0)))
    if isinstance(right, CompileTime) and isinstance(left, tree.Expression):
        edge = _edge(right, left.type)
        return None if edge is None else CompileTime(bool(compute(0, edge)))
    return None


def _edge(constant: CompileTime, other: Type) -> int | None:
    if not isinstance(constant.value, int) or not isinstance(other, Scalar) or not other.is_integer:
        return None
    if literal_fits(constant.value, other):
        return None
    return 1 if constant.value > 0 else -1
