"""Comparisons: `==`, `<`, `is`, `in` and their relatives."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from amdjit.declarations import DeviceFunction
from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.special_methods import (
    call_method_of,
    comparison_method,
    special_method,
)
from amdjit.frontend.expressions import complexes
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.likely_mistakes import check_comparison
from amdjit.frontend.expressions.texts import compare_text
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.numbers.conversion import convert, is_complex, negated, truth
from amdjit.frontend.numbers.operands import comparison_of_mixed_signs, pair
from amdjit.frontend.values.kinds import (
    CompileTime,
    TupleValue,
    Value,
    is_chosen_member,
    known_integer,
    of_member,
    static_value,
)
from amdjit.frontend.values.promotion import literal_fits
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Array, Scalar, Type, boolean, i32, i64, u32, u64

__all__ = ["container"]


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
}


def compare(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value:
    """Type one comparison."""
    if kind in (ast.In, ast.NotIn):
        return contains(builder, kind, left=left, right=right, node=node, compare=compare)
    kind, left, right = _members(kind, left, right)
    if kind in _IDENTITY:
        return _identity(builder, kind, left, right, node)
    own = _own_comparison(builder, kind, left, right, node)
    if own is not None:
        return own
    symbol, compute = _COMPARISONS[kind]
    known = _of_constants(builder, compute, left, right, node)
    if known is not None:
        return known
    text = compare_text(builder, kind, left, right, node)
    if text is not None:
        return text
    if is_complex(left) or is_complex(right):
        return complexes.compare(builder, symbol, left, right, node)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue):
        if kind in (ast.Eq, ast.NotEq):
            return _compare_items(builder, kind, left, right, node)
        if _comparable(left) is _comparable(right) is tuple:
            return _compare_in_order(builder, kind, left, right, node)
    check_comparison(builder, kind, left, right, node)
    return _of_numbers(builder, kind, left, right, node)


def _of_constants(
    builder: FunctionBuilder,
    compute: Callable[[Any, Any], Any],
    left: Value,
    right: Value,
    node: ast.AST,
) -> Value | None:
    known = static_value(left), static_value(right)
    if known[0] is not None and known[1] is not None:
        return fold(builder, node, compute, known[0].value, known[1].value)
    numbers = known_integer(left), known_integer(right)
    return None if None in numbers else CompileTime(bool(compute(*numbers)))


def _of_numbers(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value:
    symbol, compute = _COMPARISONS[kind]
    left, right = (
        _beside_wide_literal(builder, left, right, node),
        _beside_wide_literal(builder, right, left, node),
    )
    numbers = launch_arithmetic.launch_operands(builder, (left, right))
    # What the host computes may be beyond the range of an i32, which arguments are within.
    is_computed = numbers is not None and any(number.operands for number in numbers)
    # Literals with types of their own decide nothing: both sides of `a if x < -1 else b` count.
    is_weak = builder.rules.has_weak_literals and not is_computed
    beyond = _compare_beyond_range(compute, left, right) if is_weak else None
    if beyond is not None:
        builder.discard(left, node)
        builder.discard(right, node)
        return beyond
    if numbers is not None:
        return builder.launch_parameters.read_weak(
            launch_arithmetic.comparison(symbol.value, compute, *numbers), builder.span(node)
        )
    sides = left, right
    if builder.rules.has_weak_literals:
        left, right = _exactly(builder, left, right, node), _exactly(builder, right, left, node)
        exact = comparison_of_mixed_signs(builder, symbol, left, right, node)
        if exact is not None:
            return exact
        sides = _beside_u64(builder, left, right, node), _beside_u64(builder, right, left, node)
    first, second = pair(builder, *sides, symbol.value, node)
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
    number = builder.weak.number(other)
    kind = value.type if isinstance(value, tree.Expression) else None
    if number is None or number.kind is float or not isinstance(kind, Scalar) or kind.is_float:
        return value
    if kind == u32:
        return convert(builder, value, i64, node)
    return convert(builder, value, i32, node) if kind.bits < i32.bits else value


def _beside_wide_literal(
    builder: FunctionBuilder, value: Value, other: Value, node: ast.AST
) -> Value:
    """Make an integer without a width an i64 beside a literal that an i32 does not hold."""
    literal = other.value if isinstance(other, CompileTime) else None
    is_wide = isinstance(literal, int) and not i32.minimum <= literal <= i32.maximum
    weak = builder.weak
    if not is_wide or not weak.is_weak(value) or weak.number(value) is not None:
        return value
    is_integer = isinstance(value, tree.Expression) and value.type is i32
    return convert(builder, value, i64, node) if is_integer else value


def _beside_u64(builder: FunctionBuilder, value: Value, other: Value, node: ast.AST) -> Value:
    """Give an integer literal or a truth value that is compared with a u64 its type: an i64 does
    not hold both."""
    is_small = (isinstance(value, CompileTime) and isinstance(value.value, int)) or (
        isinstance(value, tree.Expression) and value.type is boolean
    )
    if is_small and isinstance(other, tree.Expression) and other.type is u64:
        return convert(builder, value, u64, node)
    return value


def _members(
    kind: type[ast.cmpop], left: Value, right: Value
) -> tuple[type[ast.cmpop], Value, Value]:
    """Bring a member of an enum to the form of the other, which is chosen at run time: members are
    single objects, so that `is` compares their values."""
    if not is_chosen_member(left) and not is_chosen_member(right):
        return kind, left, right
    left, right = of_member(left), of_member(right)
    if kind in _IDENTITY and is_chosen_member(left) and is_chosen_member(right):
        kind = ast.Eq if kind is ast.Is else ast.NotEq
    return kind, left, right


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


def _compare_in_order(
    builder: FunctionBuilder,
    kind: type[ast.cmpop],
    left: TupleValue,
    right: TupleValue,
    node: ast.AST,
) -> Value:
    """Compare tuples as Python does: by the first items that differ, else by their lengths."""
    held = [
        builder.hold(value, "compared", node) for value in builder.in_order((left, right), node)
    ]
    left, right = (value for value in held if isinstance(value, TupleValue))
    compute = _COMPARISONS[kind][1]
    result: Value = CompileTime(compute(len(left.items), len(right.items)))
    for one, other in reversed(list(zip(left.items, right.items, strict=False))):
        equal = truth(builder, compare(builder, ast.Eq, one, other, node), node)
        if isinstance(equal, CompileTime):
            if not equal.value:
                result = compare(builder, kind, one, other, node)
            continue
        decided = compare(builder, kind, one, other, node)
        values = (
            convert(builder, value, boolean, node) if isinstance(value, CompileTime) else value
            for value in (result, decided)
        )
        same, differing = (value for value in values if isinstance(value, tree.Expression))
        assert isinstance(equal, tree.Expression)
        result = tree.Conditional(builder.span(node), boolean, equal, same, differing)
    return result


def _identity(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value:
    left_constant, right_constant = static_value(left), static_value(right)
    if left_constant is None or right_constant is None:
        if kind in (ast.Is, ast.IsNot) and (_is_none(left) or _is_none(right)):
            builder.discard(left, node)
            builder.discard(right, node)
            return CompileTime(kind is ast.IsNot)
        if _is_boolean(left, right) or _is_boolean(right, left):
            # A boolean that is computed at run time is one of Python's two.
            return compare(builder, ast.Eq if kind is ast.Is else ast.NotEq, left, right, node)
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node,
            expression="`is` on run-time values",
            remedy="use `==`; `is` works on compile-time values",
        )
    return fold(builder, node, _IDENTITY[kind], left_constant.value, right_constant.value)


def _is_boolean(value: Value, other: Value) -> bool:
    """Whether a run-time boolean is compared with True or False."""
    known = isinstance(other, CompileTime) and isinstance(other.value, bool)
    return known and isinstance(value, tree.Expression) and value.type is boolean


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


# `x in items`: whether any of the items of a tuple equals x.


Equality = Callable[[FunctionBuilder, type[ast.cmpop], Value, Value, ast.AST], Value]


def container(kind: ast.cmpop, node: ast.expr) -> ast.expr:
    """Return what is to the right of a comparison: a list or set after `in` is as good as a
    tuple."""
    if isinstance(kind, (ast.In, ast.NotIn)) and isinstance(node, (ast.List, ast.Set)):
        return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
    return node


def contains(
    builder: FunctionBuilder,
    kind: type[ast.cmpop],
    left: Value,
    right: Value,
    node: ast.AST,
    compare: Equality,
) -> Value:
    """Type `left in right` and `left not in right`."""
    found = _found(builder, left, right, node, compare)
    return found if kind is ast.In else negated(builder, found, node)


def _found(
    builder: FunctionBuilder, left: Value, right: Value, node: ast.AST, compare: Equality
) -> Value:
    if special_method(right, "__contains__") is not None:
        left, right = builder.in_order((left, right), node)
        held = call_method_of(builder, right, "__contains__", (left,), node)
        assert held is not None
        return truth(builder, held, node)
    known = static_value(left), static_value(right)
    if known[0] is not None and known[1] is not None:
        return fold(builder, node, lambda x, items: x in items, known[0].value, known[1].value)
    if isinstance(right, tree.Expression) and isinstance(right.type, Array):
        return _in_array(builder, left, right, node)
    if not isinstance(right, TupleValue):
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node,
            expression="`in` on a value that is no tuple",
            remedy="use a tuple, `x in (1, 2)`, or an array",
        )
    left, *items = builder.in_order((left, *right.items), node)
    left = builder.hold(left, "item", node)
    result: Value = CompileTime(False)
    for item in items:
        equal = _equal(builder, left, item, node, compare)
        result = _either(builder, result, equal, node)
    return result


def _in_array(builder: FunctionBuilder, left: Value, right: Value, node: ast.AST) -> Value:
    """Return whether an element of an array equals the item."""
    left, right = builder.in_order((left, right), node)
    function = builder.session.builtins[operator.contains]
    assert isinstance(function, DeviceFunction)
    assert isinstance(node, ast.expr)
    return truth(builder, builder.session.call(builder, function, (right, left), {}, node), node)


def _equal(
    builder: FunctionBuilder, left: Value, item: Value, node: ast.AST, compare: Equality
) -> Value:
    """Return whether two values are equal; numbers equal no text and no other object."""
    for one, other in ((left, item), (item, left)):
        is_object = isinstance(one, CompileTime) and not one.is_number
        if is_object and isinstance(other, tree.Expression) and isinstance(other.type, Scalar):
            return CompileTime(False)
    return truth(builder, compare(builder, ast.Eq, left, item, node), node)


def _either(builder: FunctionBuilder, left: Value, right: Value, node: ast.AST) -> Value:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, CompileTime):
            return one if one.value else other
    assert isinstance(left, tree.Expression)
    assert isinstance(right, tree.Expression)
    return tree.Binary(builder.span(node), boolean, BinaryOperator.OR, left, right)
