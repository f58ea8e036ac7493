"""Python's functions of tuples: 00000     0, `all`, `any`, `sorted`, `tuple`, `math.prod`."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.conditional import both, either, tested
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.operators import binary
from amdjit.frontend.iteration.comprehensions import generated
from amdjit.frontend.names.scope import value_of_object
from amdjit.frontend.numbers.conversion import truth
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value


def _items(
    builder: FunctionBuilder, arguments: Arguments, node: ast.Call, name: str
) -> tuple[Value, ...]:
    values = arguments.positional[:1]
    if not values or not isinstance(values[0], TupleValue):
        found = describe(values[0]) if values else "nothing"
        raise builder.error(
            codes.ARGUMENT_TYPE,
            node,
            parameter="items",
            function=name,
            expected="a tuple",
            found=found,
            remedy="pass a tuple or a comprehension; over an array write a loop",
        )
    return values[0].items


def _sum(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    _, first = arguments.exactly(builder, node, "sum", ("items", "start"), optional=1)
    *items, first = builder.in_order((*_items(builder, arguments, node, "sum"), first), node)
    start = CompileTime(0) if first == CompileTime(None) else first
    return functools.reduce(
        lambda total, item: binary(builder, ast.Add, total, item, node), items, start
    )


def _product(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    _, first = arguments.exactly(builder, node, "prod", ("items", "start"), optional=1)
    *items, first = builder.in_order((*_items(builder, arguments, node, "prod"), first), node)
    start = CompileTime(1) if first == CompileTime(None) else first
    return functools.reduce(
        lambda product, item: binary(builder, ast.Mult, product, item, node), items, start
    )


def _all(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    arguments.exactly(builder, node, "all", ("items",))
    return _chain(builder, _items(builder, arguments, node, "all"), both, True, node)


def _any(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    arguments.exactly(builder, node, "any", ("items",))
    return _chain(builder, _items(builder, arguments, node, "any"), either, False, node)


def _chain(
    builder: FunctionBuilder, items: tuple[Value, ...], combine: Any, empty: bool, node: ast.Call
) -> Value:
    if not items:
        return CompileTime(empty)
    first = truth(builder, items[0], node)
    if len(items) == 1:
        return first
    result: Value = combine(
        builder, first, lambda: _chain(builder, items[1:], combine, empty, node), node
    )
    return result


def all_or_any(builder: FunctionBuilder, callee: Value, node: ast.Call) -> Value | None:
    """Type `all(... for ...)` or `any(...)`, which evaluate no more values than they need; None for
    other calls."""
    known = callee.value if isinstance(callee, CompileTime) else None
    argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if not (known is all or known is any) or not isinstance(argument, ast.GeneratorExp):
        return None
    rounds, combine = generated(builder, argument), both if known is all else either

    def from_next() -> Value:
        value = next(rounds, None)
        if value is None:
            return CompileTime(known is all)
        return combine(builder, truth(builder, value, node), from_next, node)

    return from_next()


def tested_only(builder: FunctionBuilder, callee: Value, node: ast.Call) -> Value | None:
    """Type `bool(a and b)` as a condition, whose operands may differ in type; None for other
    calls."""
    argument = node.args[0] if len(node.args) == 1 and not node.keywords else None
    is_bool = isinstance(callee, CompileTime) and callee.value is bool
    is_condition = isinstance(argument, (ast.BoolOp, ast.IfExp, ast.UnaryOp, ast.Compare))
    return tested(builder, argument) if is_bool and argument and is_condition else None


def _sorted(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    arguments.exactly(builder, node, "sorted", ("items", "reverse"), optional=1)
    known = static_value(TupleValue(_items(builder, arguments, node, "sorted")))
    reverse = static_value(arguments.keywords.get("reverse", CompileTime(False)))
    if known is None or reverse is None or len(arguments.positional) > 1:
        raise builder.error(codes.NOT_CONSTANT, node, what="what `sorted` puts in order")
    result = fold(
        builder, node, lambda items: tuple(sorted(items, reverse=bool(reverse.value))), known.value
    )
    return value_of_object(builder, result.value, "sorted", node)


def _tuple(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    return TupleValue(_items(builder, arguments, node, "tuple") if arguments.positional else ())


TUPLE_FUNCTIONS: Mapping[Any, Callable[[FunctionBuilder, Arguments, ast.Call], Value]] = {
    all: _all,
    any: _any,
    math.prod: _product,
    sorted: _sorted,
    sum: _sum,
    tuple: _tuple,
}
