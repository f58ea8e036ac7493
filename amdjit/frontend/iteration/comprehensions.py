"""Comprehensions over items that are known when compiling; the result is a tuple."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from amdjit.diagnostics import codes
from amdjit.frontend.assignment.targets import assign_target
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.conditional import tested
from amdjit.frontend.iteration.iterables import evaluated, items_of, static_items
from amdjit.frontend.names.scope import MOST_ITEMS, count_rounds, too_many_rounds
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.values.effects import may_act
from amdjit.frontend.values.kinds import Binding, CompileTime, FunctionValue, TupleValue, Value
from amdjit.late_methods import dataclass


def comprehension(builder: FunctionBuilder, node: ast.GeneratorExp | ast.ListComp) -> Value:
    """`(f(x) for x in items if c(x))`: a tuple. Its names are local to it, as in Python."""
    items: list[Value] = []
    rounds = generated(builder, node)
    while True:
        items, value = builder.after(items, lambda _: next(rounds, None), node.elt)
        if value is None:
            return TupleValue(tuple(items))
        if may_act(value):
            items, value = (
                [builder.evaluate_now(item, node.elt) for item in items],
                builder.hold(value, "item", node.elt),
            )
        items.append(value)


def generated(
    builder: FunctionBuilder, node: ast.GeneratorExp | ast.ListComp, user: ast.AST | None = None
) -> Iterator[Value]:
    """Type the values of a comprehension one by one, each when it is requested, as Python's
    generators do.

    user: the statement that consumes the values, if it does something between two of them.
    """
    scope = _Scope(builder, assigned_names([generator.target for generator in node.generators]))
    scope.enter()
    for number, value in enumerate(_rounds(builder, node, 0, user or node)):
        if number == MOST_ITEMS:
            raise too_many_rounds(builder, number + 1, node)
        _check_captured(builder, value, scope.targets, node.elt)
        scope.leave()
        yield value
        scope.enter()
    scope.leave()


@dataclass
class _Scope:
    """The names that are local to a comprehension; their outer bindings are restored whenever it is
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
    """Refuse functions that read the comprehension's names: they would run after its last
    iteration, where the names mean something else."""
    for item in value.items if isinstance(value, TupleValue) else (value,):
        if isinstance(item, TupleValue):
            _check_captured(builder, item, targets, node)
        elif isinstance(item, FunctionValue):
            _check_captured(builder, TupleValue(item.items), targets, node)
            caught = sorted(targets.intersection(item.names))
            if caught:
                remedy = f"bind its current value: `lambda ..., {caught[0]}={caught[0]}: ...`"
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
        count_rounds(builder, generator.iter)
        _forget(builder, generator.target)
        assign_target(builder, generator.target, item, generator.iter)
        if all(_holds(builder, test) for test in generator.ifs):
            yield from _rounds(builder, node, depth + 1, user)


def _known_items(builder: FunctionBuilder, node: ast.expr) -> tuple[Value, ...]:
    items = static_items(items_of(builder, node))
    if items is None:
        raise builder.error(
            codes.NOT_CONSTANT, node, what="the length of what a comprehension iterates over"
        )
    return items


def _forget(builder: FunctionBuilder, target: ast.expr) -> None:
    """Give each iteration its own variables, since items of earlier iterations may still read
    theirs."""
    for name in assigned_names([target]):
        builder.names.pop(name, None)


def _holds(builder: FunctionBuilder, test: ast.expr) -> bool:
    condition = tested(builder, test)
    if not isinstance(condition, CompileTime):
        raise builder.error(codes.NOT_CONSTANT, test, what="the condition of a comprehension")
    return bool(condition.value)
