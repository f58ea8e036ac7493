"""Comprehensions over what is known when compiling, which give tuples, and Python's functions of tuples."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.bound_names import assigned_names
from amdjit.frontend.builder import FunctionBuilder, describe
from amdjit.frontend.choices import both, either
from amdjit.frontend.conversion import truth
from amdjit.frontend.effects import has_effects
from amdjit.frontend.forms import Arguments
from amdjit.frontend.iterables import items_of, static_items
from amdjit.frontend.operators import binary, fold
from amdjit.frontend.scope import MOST_ITEMS, outside_value
from amdjit.frontend.statements import assign_target
from amdjit.frontend.values import Binding, CompileTime, TupleValue, Value, static_value


def comprehension(builder: FunctionBuilder, node: ast.GeneratorExp | ast.ListComp) -> Value:
    """`(f(x) for x in items if c(x))`: a tuple. Its names are its own, as in Python."""
    targets = assigned_names([generator.target for generator in node.generators])
    outer: dict[str, Binding] = {name: builder.names[name] for name in targets if name in builder.names}
    items: list[Value] = []
    _rounds(builder, node, 0, items)
    for name in targets:
        builder.names.pop(name, None)
    builder.names.update(outer)
    return TupleValue(tuple(items))


def _rounds(builder: FunctionBuilder, node: ast.GeneratorExp | ast.ListComp, depth: int, items: list[Value]) -> None:
    if depth == len(node.generators):
        items[:], value = builder.evaluate_after(items, node.elt)
        items.append(builder.hold(value, "item", node.elt) if has_effects(value) else value)
        if len(items) > MOST_ITEMS:
            raise builder.error(codes.STATIC_LOOP_LENGTH, node, rounds=len(items), limit=MOST_ITEMS)
        return
    generator = node.generators[depth]
    for item in _known_items(builder, generator.iter):
        _forget(builder, generator.target)
        assign_target(builder, generator.target, item, generator.iter)
        if all(_holds(builder, test) for test in generator.ifs):
            _rounds(builder, node, depth + 1, items)


def _known_items(builder: FunctionBuilder, node: ast.expr) -> tuple[Value, ...]:
    items = static_items(items_of(builder, node))
    if items is None:
        raise builder.error(codes.NOT_CONSTANT, node, what="the length of what a comprehension goes over")
    return items


def _forget(builder: FunctionBuilder, target: ast.expr) -> None:
    """Give each round variables of its own: items of earlier rounds may still read theirs."""
    for name in assigned_names([target]):
        builder.names.pop(name, None)


def _holds(builder: FunctionBuilder, test: ast.expr) -> bool:
    condition = truth(builder, builder.evaluate(test), test)
    if not isinstance(condition, CompileTime):
        raise builder.error(codes.NOT_CONSTANT, test, what="the condition of a comprehension")
    return bool(condition.value)


def _items(builder: FunctionBuilder, arguments: Arguments, node: ast.Call, name: str) -> tuple[Value, ...]:
    values = arguments.positional[:1]
    if not values or not isinstance(values[0], TupleValue):
        found = describe(values[0]) if values else "nothing"
        raise builder.error(
            codes.ARGUMENT_TYPE, node, parameter="items", function=name, expected="a tuple", found=found,
            remedy="pass a tuple or a comprehension; over an array write a loop",
        )  # fmt: skip
    return values[0].items


def _sum(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    _, first = arguments.exactly(builder, node, "sum", ("items", "start"), optional=1)
    items = _items(builder, arguments, node, "sum")
    start = CompileTime(0) if first == CompileTime(None) else first
    return functools.reduce(lambda total, item: binary(builder, ast.Add, total, item, node), items, start)


def _product(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    _, first = arguments.exactly(builder, node, "prod", ("items", "start"), optional=1)
    items = _items(builder, arguments, node, "prod")
    start = CompileTime(1) if first == CompileTime(None) else first
    return functools.reduce(lambda product, item: binary(builder, ast.Mult, product, item, node), items, start)


def _all(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    arguments.exactly(builder, node, "all", ("items",))
    return _chain(builder, _items(builder, arguments, node, "all"), both, True, node)


def _any(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    arguments.exactly(builder, node, "any", ("items",))
    return _chain(builder, _items(builder, arguments, node, "any"), either, False, node)


def _chain(builder: FunctionBuilder, items: tuple[Value, ...], combine: Any, empty: bool, node: ast.Call) -> Value:
    if not items:
        return CompileTime(empty)
    first = truth(builder, items[0], node)
    if len(items) == 1:
        return first
    result: Value = combine(builder, first, lambda: _chain(builder, items[1:], combine, empty, node), node)
    return result


def _sorted(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    arguments.exactly(builder, node, "sorted", ("items", "reverse"), optional=1)
    known = static_value(TupleValue(_items(builder, arguments, node, "sorted")))
    reverse = static_value(arguments.keywords.get("reverse", CompileTime(False)))
    if known is None or reverse is None or len(arguments.positional) > 1:
        raise builder.error(codes.NOT_CONSTANT, node, what="what `sorted` puts in order")
    result = fold(builder, node, lambda items: tuple(sorted(items, reverse=bool(reverse.value))), known.value)
    return outside_value(builder, result.value, "sorted", node)


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
