"""Arithmetic, comparison and boolean operators, with Python's meaning on the types they have."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder, describe
from amdjit.frontend.building.conversion import (
    convert,
    is_complex,
    launch_operands,
    materialise,
    pair,
    truth,
)
from amdjit.frontend.building.special_methods import (
    binary_method,
    call_method_of,
    comparison_method,
    is_dataclass_record,
    operator_name,
    special_method,
    unary_method,
)
from amdjit.frontend.expressions import complexes
from amdjit.frontend.expressions.powers import power
from amdjit.frontend.expressions.unsigned_checks import check_comparison
from amdjit.frontend.names.scope import outside_value
from amdjit.frontend.values import launch_arithmetic
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.frontend.values.promotion import literal_fits
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison, UnaryOperator
from amdjit.types import Scalar, Type, Vector, boolean, f32, f64, i32, i64, u32

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
_BITWISE = (BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR)
_SHIFTS = (BinaryOperator.SHIFT_LEFT, BinaryOperator.SHIFT_RIGHT)
_INTEGER_ONLY = (*_BITWISE, *_SHIFTS)
_WRAPPING = (BinaryOperator.ADD, BinaryOperator.SUBTRACT, BinaryOperator.MULTIPLY)


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
    if known[0] is not None and known[1] is not None:
        result = fold(builder, node, compute, known[0].value, known[1].value)
        return outside_value(builder, result.value, "the result", node)
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
        return TupleValue(left.items + right.items)
    return _of_numbers(builder, symbol, left, right, node)


def _of_numbers(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> Value:
    given = left, right
    left, right = pair(builder, left, right, symbol.value, node)
    if symbol in _SHIFTS or left.type is boolean:
        left, right = _plain_integers(builder, symbol, left, right, node)
    scalar = _element(left.type)
    if scalar is None or scalar.storage_only or (symbol in _INTEGER_ONLY and scalar.is_float):
        raise _refuse(builder, symbol, left.type, given, node)
    if symbol is BinaryOperator.DIVIDE and not scalar.is_float:
        left, right = (_to_float(builder, side, node) for side in (left, right))
    made = tree.Binary(builder.span(node), left.type, symbol, left, right)
    return builder.weakness.made(made, left, right)


def of_launch(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Let the launch compute what depends on its numbers alone; None where a value is of another
    kind."""
    numbers = launch_operands(builder, (left, right))
    made = None if numbers is None else launch_arithmetic.binary(symbol, *numbers)
    return None if made is None else builder.launched.weak(made, builder.span(node))


def _refuse_record(
    builder: FunctionBuilder, kind: type[ast.operator], left: Value, right: Value, node: ast.AST
) -> None:
    """A dataclass is no tuple: it has no `+` of its own."""
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
    """Python computes with booleans as 0 and 1, but `&`, `|` and `^` of two booleans are
    boolean."""
    if left.type is boolean and symbol not in _BITWISE:
        return convert(builder, left, i32, node), convert(builder, right, i32, node)
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
    remedy = (
        "index the array first: `a[i]`" if scalar is None else f"convert the operands: `{i32}(...)`"
    )
    if scalar is not None and scalar.storage_only:
        remedy = "fp8 and bf8 only store: convert to f32 first, `f32(...)`"
    return builder.error(
        codes.OPERAND_TYPES, node, operator=symbol.value, left=left, right=right, remedy=remedy
    )


def _element(type: Type) -> Scalar | None:
    if isinstance(type, Vector):
        return type.element
    return type if isinstance(type, Scalar) else None


def _to_float(builder: FunctionBuilder, value: tree.Expression, node: ast.AST) -> tree.Expression:
    """`/` of integers is a float: f64 where 64-bit integers were asked for, f32 otherwise."""
    scalar = _element(value.type)
    assert scalar is not None
    target = f64 if scalar.bits == 64 else f32
    vector = value.type
    converted = convert(
        builder,
        value,
        Vector(target, vector.length) if isinstance(vector, Vector) else target,
        node,
    )
    builder.weakness.expressions.add(converted)
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
        return fold(builder, node, compute, operand.value)
    if is_complex(operand) and isinstance(operand, TupleValue) and kind is not ast.Invert:
        return operand if kind is ast.UAdd else complexes.negated(builder, operand, True, node)
    number = builder.weakness.number(operand)
    launched = (
        None if number is None or kind is ast.UAdd else launch_arithmetic.unary(symbol, number)
    )
    if launched is not None:
        return builder.launched.weak(launched, builder.span(node))
    value = materialise(builder, operand, node)
    if value.type is boolean:
        value = convert(builder, value, i32, node)
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
            remedy="convert it first: `i32(...)`",
        )
    if kind is ast.UAdd:
        return value
    return builder.weakness.made(tree.Unary(builder.span(node), value.type, symbol, value), value)


def negated(builder: FunctionBuilder, condition: Value, node: ast.AST) -> Value:
    """Return the opposite of a truth value."""
    if isinstance(condition, CompileTime):
        return CompileTime(not condition.value)
    assert isinstance(condition, tree.Expression)
    number = builder.weakness.number(condition)
    if number is not None:
        return builder.launched.weak(launch_arithmetic.opposite(number), builder.span(node))
    return tree.Unary(builder.span(node), boolean, UnaryOperator.NOT, condition)


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
        return builder.launched.weak(
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
    """Widen an integer that is compared with one that the launch knows: each i32 is compared
    exactly, as in Python."""
    number = builder.weakness.number(other)
    kind = value.type if isinstance(value, tree.Expression) else None
    if number is None or number.kind is float or not isinstance(kind, Scalar) or kind.is_float:
        return value
    if kind == u32:
        return convert(builder, value, i64, node)
    return convert(builder, value, i32, node) if kind.bits < i32.bits else value


def _own_comparison(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Type a comparison that a record defines; without `__ne__`, `!=` is the opposite of `==`."""
    own = comparison_method(builder, kind, left, right, node)
    if own is None and kind is ast.NotEq:
        equal = comparison_method(builder, ast.Eq, left, right, node)
        return None if equal is None else negated(builder, truth(builder, equal, node), node)
    return own


def _comparable(value: TupleValue) -> object:
    """Named tuples are compared as tuples, dataclasses with those of their own class only."""
    python = None if value.structure is None else value.structure.python
    return tuple if python is None or issubclass(python, tuple) else python


def _compare_items(
    builder: FunctionBuilder,
    kind: type[ast.cmpop],
    left: TupleValue,
    right: TupleValue,
    node: ast.AST,
) -> Value:
    """Tuples are equal where all items are; dataclasses of two classes never are."""
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
    """An integer constant beyond the other side's range decides the comparison, as it does in
    Python."""
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


# Constants that no type holds are not worth the time and memory that Python takes for them.
_MOST_BITS = 1 << 16


def _is_huge(compute: Callable[..., Any], left: object, right: object) -> bool:
    """Whether the result of an operator on constants would be out of all proportion."""
    if isinstance(left, int) and isinstance(right, int):
        if compute in (operator.pow, pow):
            return right > 0 and left.bit_length() * right > _MOST_BITS
        return compute is operator.lshift and right > _MOST_BITS
    if compute is not operator.mul:
        return False
    items, times = (right, left) if isinstance(left, int) else (left, right)
    return (
        isinstance(times, int)
        and isinstance(items, (str, bytes, tuple))
        and len(items) * times > _MOST_BITS
    )


def fold(
    builder: FunctionBuilder, node: ast.AST, compute: Callable[..., Any], *values: Any
) -> CompileTime:
    """Compute on compile-time values as Python does."""
    try:
        if len(values) == 2 and _is_huge(compute, *values):
            raise OverflowError("the result is too large")
        return CompileTime(compute(*values))
    except Exception as problem:
        raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem


def without_wrap(expression: tree.Expression) -> tree.Expression:
    """Mark the outer +, - and * of a subscript: they must not leave the range of a signed type
    (docs/types.md)."""
    if not isinstance(expression, tree.Binary) or expression.operator not in _WRAPPING:
        return expression
    if not isinstance(expression.type, Scalar) or not expression.type.is_signed:
        return expression
    left, right = without_wrap(expression.left), without_wrap(expression.right)
    return replace(expression, left=left, right=right, no_wrap=True)
