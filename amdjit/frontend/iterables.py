"""What loops go over: a range at run time, or items of compile-time length."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping
from typing import cast

from amdjit.declarations import Form, SpecialForm
from amdjit.diagnostics import codes
from amdjit.frontend.builder import FunctionBuilder, describe
from amdjit.frontend.scope import MOST_ITEMS
from amdjit.frontend.values import CompileTime, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.types import Scalar


class Range:
    """The bounds of `range(...)`, converted to one type."""

    def __init__(self, bounds: tuple[Value, Value, Value]) -> None:
        self.start, self.stop, self.step = bounds


def iterable_of(builder: FunctionBuilder, node: ast.For) -> tuple[Range | tuple[Value, ...], int]:
    """Return the range, or the items, that a loop goes over, and how many rounds of it to unroll."""
    call = node.iter
    if isinstance(call, ast.Call):
        callee = builder.evaluate(call.func)
        if isinstance(callee, CompileTime) and callee.value is range:
            return Range(_bounds(builder, call)), 0
        if isinstance(callee, CompileTime) and _is_form(callee.value, Form.UNROLL):
            return _unrolled(builder, call)
    return _items_of(builder, call), 0


def _is_form(value: object, form: Form) -> bool:
    return isinstance(value, SpecialForm) and value.form is form


def _items_of(builder: FunctionBuilder, node: ast.expr) -> tuple[Value, ...]:
    if isinstance(node, ast.Call):
        callee = builder.evaluate(node.func)
        known = callee.value if isinstance(callee, CompileTime) else None
        if _is_form(known, Form.STATIC_RANGE):
            return _static_items(builder, node)
        if isinstance(known, Hashable) and known in _STATIC_ITERABLES and (known is zip or not node.keywords):
            return _STATIC_ITERABLES[known](builder, node)
    value = builder.evaluate(node)
    if isinstance(value, TupleValue):
        return value.items
    raise builder.error(codes.LOOP_OVER, node, what=describe(value))


def _enumerate(builder: FunctionBuilder, call: ast.Call) -> tuple[Value, ...]:
    items = _items_of(builder, _only_argument(builder, call, "enumerate"))
    return tuple(TupleValue((CompileTime(i), item)) for i, item in enumerate(items))


def _only_argument(builder: FunctionBuilder, call: ast.Call, name: str) -> ast.expr:
    if len(call.args) == 1:
        return call.args[0]
    raise builder.error(
        codes.ARGUMENT_COUNT, call, function=name, expected="1 argument in a kernel",
        given=f"{len(call.args)} were given", signature=f"{name}(items)",
    )  # fmt: skip


def _zip(builder: FunctionBuilder, call: ast.Call) -> tuple[Value, ...]:
    columns = [_items_of(builder, argument) for argument in call.args]
    strict = False
    for keyword in call.keywords:
        value = builder.evaluate(keyword.value)
        if keyword.arg != "strict" or not isinstance(value, CompileTime):
            raise builder.error(codes.UNSUPPORTED_EXPRESSION, keyword.value, expression="this", remedy="`strict=True`")
        strict = bool(value.value)
    if strict and len({len(column) for column in columns}) > 1:
        raise builder.error(codes.CONSTANT_FAILS, call, message="the arguments of zip() differ in length")
    return tuple(TupleValue(row) for row in zip(*columns, strict=False))


def _reversed(builder: FunctionBuilder, call: ast.Call) -> tuple[Value, ...]:
    return tuple(reversed(_items_of(builder, _only_argument(builder, call, "reversed"))))


_STATIC_ITERABLES: Mapping[Hashable, Callable[[FunctionBuilder, ast.Call], tuple[Value, ...]]] = {
    enumerate: _enumerate,
    range: lambda builder, call: _static_items(builder, call),
    reversed: _reversed,
    zip: _zip,
}


def _unrolled(builder: FunctionBuilder, call: ast.Call) -> tuple[Range, int]:
    """`unroll(range(...))` asks for all rounds, `unroll(range(...), 4)` for four at a time."""
    inner = call.args[0] if call.args else call
    is_range = isinstance(inner, ast.Call) and builder.evaluate(inner.func) == CompileTime(range)
    if not is_range or len(call.args) > 2:
        raise builder.error(codes.LOOP_OVER, call, what="`unroll(...)` of something other than `range(...)`")
    factor = builder.evaluate(call.args[1]) if len(call.args) == 2 else CompileTime(-1)
    if not isinstance(factor, CompileTime) or not isinstance(factor.value, int):
        raise builder.error(codes.NOT_CONSTANT, call, what="the number of unrolled rounds")
    return Range(_bounds(builder, cast(ast.Call, inner))), factor.value


def _bounds(builder: FunctionBuilder, call: ast.Call) -> tuple[Value, Value, Value]:
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise builder.error(
            codes.ARGUMENT_COUNT,
            call,
            function="range",
            expected="1 to 3 arguments",
            given=f"{len(call.args)} were given",
            signature="range(stop), range(start, stop) or range(start, stop, step)",
        )
    values = builder.evaluate_all(call.args)
    for value, argument in zip(values, call.args, strict=True):
        type = value.type if isinstance(value, tree.Expression) else None
        is_integer = isinstance(type, Scalar) and type.is_integer
        if not is_integer and not (isinstance(value, CompileTime) and isinstance(value.value, int)):
            raise builder.error(codes.INDEX_TYPE, argument, type=describe(value), remedy="convert it: `i32(...)`")
    if values[2:] == [CompileTime(0)]:
        raise builder.error(codes.CONSTANT_FAILS, call, message="range() step must not be zero")
    start, stop = (CompileTime(0), values[0]) if len(values) == 1 else (values[0], values[1])
    return start, stop, values[2] if len(values) == 3 else CompileTime(1)


def _static_items(builder: FunctionBuilder, call: ast.Call) -> tuple[Value, ...]:
    bounds = _bounds(builder, call)
    if not all(isinstance(bound, CompileTime) for bound in bounds):
        place = call.args[0] if len(call.args) == 1 else call
        raise builder.error(codes.NOT_CONSTANT, place, what="a bound of `static_range`")
    start, stop, step = (cast(int, cast(CompileTime, bound).value) for bound in bounds)
    rounds = range(start, stop, step)
    if len(rounds) > MOST_ITEMS:
        raise builder.error(codes.STATIC_LOOP_LENGTH, call, rounds=len(rounds), limit=MOST_ITEMS)
    return tuple(CompileTime(i) for i in rounds)


def has_rounds(bounds: list[Value]) -> bool:
    """Whether constant bounds say that the loop has a round."""
    known = [bound.value for bound in bounds if isinstance(bound, CompileTime) and isinstance(bound.value, int)]
    return len(known) == len(bounds) and len(range(*known)) > 0
