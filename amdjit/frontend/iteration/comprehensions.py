"""Comprehensions over what is known when compiling, which give tuples, and Python's functions of
tuples."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder, describe
from amdjit.frontend.building.conversion import truth
from amdjit.frontend.calls.special_forms import Arguments
from amdjit.frontend.expressions.conditional import both, either, tested
from amdjit.frontend.expressions.operators import binary, fold
from amdjit.frontend.iteration.iterables import evaluated, items_of, static_items
from amdjit.frontend.names.scope import MOST_ITEMS, outside_value
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.statements.assignments import assign_target
from amdjit.frontend.values.effects import may_act
from amdjit.frontend.values.kinds import (
    Binding,
    CompileTime,
    FunctionValue,
    TupleValue,
    Value,
    static_value,
)


def comprehension(builder: FunctionBuilder, node: ast.GeneratorExp | ast.ListComp) -> Value:
    """`(f(x) for x in items if c(x))`: a tuple. Its names are its own, as in Python."""
    items: list[Value] = []
    rounds = generated(builder, node)
    while True:
        items, value = builder.after(items, lambda _: next(rounds, None), node.elt)
        if value is None:
            return TupleValue(tuple(items))
        if may_act(value):
            items, value = (
                [builder.settle(item, node.elt) for item in items],
                builder.hold(value, "item", node.elt),
            )
        items.append(value)


def generated(
    builder: FunctionBuilder, node: ast.GeneratorExp | ast.ListComp, user: ast.AST | None = None
) -> Iterator[Value]:
    """Type the values of a comprehension one by one, each when it is asked for, as Python's
    generators do.

    user: the statement that takes them, if it does something between two of them.
    """
    scope = _Scope(builder, assigned_names([generator.target for generator in node.generators]))
    scope.enter()
    for number, value in enumerate(_rounds(builder, node, 0, user or node)):
        if number == MOST_ITEMS:
            raise builder.error(codes.STATIC_LOOP_LENGTH, node, rounds=number + 1, limit=MOST_ITEMS)
        _check_captured(builder, value, scope.targets, node.elt)
        scope.leave()
        yield value
        scope.enter()
    scope.leave()


@dataclass
class _Scope:
    """The names that are a comprehension's own; what they mean around it comes back whenever it is
    left."""

    builder: FunctionBuilder
    targets: frozenset[str]
    inside: dict[str, Binding] = field(default_factory=dict)
    outside: dict[str, Binding] = field(default_factory=dict)

    def enter(self) -> None:
        self.outside = self._exchange(self.inside)

    def leave(self) -> None:
        self.inside = self._exchange(self.outside)

    def _exchange(self, wanted: dict[str, Binding]) -> dict[str, Binding]:
        names = self.builder.names
        taken = {name: names.pop(name) for name in self.targets if name in names}
        names.update(wanted)
        return taken


def _check_captured(
    builder: FunctionBuilder, value: Value, targets: frozenset[str], node: ast.expr
) -> None:
    """Functions read the comprehension's names after its last round; outside of it these mean
    something else."""
    for item in value.items if isinstance(value, TupleValue) else (value,):
        if isinstance(item, TupleValue):
            _check_captured(builder, item, targets, node)
        elif isinstance(item, FunctionValue):
            _check_captured(builder, TupleValue(item.items), targets, node)
            caught = sorted(targets.intersection(item.names))
            if caught:
                remedy = (
                    "give the function the value that it has now: `lambda ..., "
                    f"{caught[0]}={caught[0]}: ...`"
                )
                what = f"a function that reads `{caught[0]}` after the comprehension"
                raise builder.error(
                    codes.UNSUPPORTED_EXPRESSION, node, expression=what, remedy=remedy
                )


def _rounds(
    builder: FunctionBuilder, node: ast.GeneratorExp | ast.ListComp, depth: int, user: ast.AST
) -> Iterator[Value]:
    if depth == len(node.generators):
        yield builder.evaluate(node.elt)
        return
    generator = node.generators[depth]
    for item in evaluated(builder, _known_items(builder, generator.iter), generator.iter, user):
        _forget(builder, generator.target)
        assign_target(builder, generator.target, item, generator.iter)
        if all(_holds(builder, test) for test in generator.ifs):
            yield from _rounds(builder, node, depth + 1, user)


def _known_items(builder: FunctionBuilder, node: ast.expr) -> tuple[Value, ...]:
    items = static_items(items_of(builder, node))
    if items is None:
        raise builder.error(
            codes.NOT_CONSTANT, node, what="the length of what a comprehension goes over"
        )
    return items


def _forget(builder: FunctionBuilder, target: ast.expr) -> None:
    """Give each round variables of its own: items of earlier rounds may still read theirs."""
    for name in assigned_names([target]):
        builder.names.pop(name, None)


def _holds(builder: FunctionBuilder, test: ast.expr) -> bool:
    condition = tested(builder, test)
    if not isinstance(condition, CompileTime):
        raise builder.error(codes.NOT_CONSTANT, test, what="the condition of a comprehension")
    return bool(condition.value)


def _items(
    builder: FunctionBuilder, arguments: Arguments, node: ast.Call, name: str
) -> tuple[Value, ...]:
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


def test_of_generator(builder: FunctionBuilder, callee: Value, node: ast.Call) -> Value | None:
    """Type `all(... for ...)` or `any(...)`, which ask for no more values than they need; None for
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


def _sorted(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    arguments.exactly(builder, node, "sorted", ("items", "reverse"), optional=1)
    known = static_value(TupleValue(_items(builder, arguments, node, "sorted")))
    reverse = static_value(arguments.keywords.get("reverse", CompileTime(False)))
    if known is None or reverse is None or len(arguments.positional) > 1:
        raise builder.error(codes.NOT_CONSTANT, node, what="what `sorted` puts in order")
    result = fold(
        builder, node, lambda items: tuple(sorted(items, reverse=bool(reverse.value))), known.value
    )
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
