"""`if` and `match`. A compile-time condition types one branch, others both, and the names are
merged afterwards. `match` is on constants, enums, literals, tuples of those, `|`, guards and
`_`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import Exit
from amdjit.frontend.expressions.comparisons import compare
from amdjit.frontend.expressions.conditional import both, either, names_if, tested
from amdjit.frontend.names.merging import merge
from amdjit.frontend.numbers.conversion import truth
from amdjit.frontend.statements.recovery import condition_of
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, is_chosen_member
from amdjit.tree import nodes as tree
from amdjit.types import boolean


def branch(builder: FunctionBuilder, node: ast.If) -> None:
    """`if`: with a compile-time condition only one branch is typed."""
    condition = condition_of(builder, node.test)
    sides = (lambda: run_side(builder, node.body), lambda: run_side(builder, node.orelse))
    ends = (node.body[-1], node.orelse[-1] if node.orelse else node.test)
    meet(builder, type_sides(builder, condition, sides, ends), node)


OpenExits = list[Exit] | None
"""The ends of the paths through a branch, whose names are not merged yet; None where there is one
path, whose names are the builder's."""
Side = Callable[[], OpenExits]


def run_side(builder: FunctionBuilder, nodes: list[ast.stmt]) -> OpenExits:
    """Type the statements of a side. If they end with a branch, its paths meet those of the other
    side: a name gets the type that all its values have in common, which that of two may not hold.
    """
    last = nodes[-1] if nodes else None
    if not isinstance(last, (ast.If, ast.Match)):
        builder.run(nodes)
        return None
    builder.open_exits[last] = None
    try:
        builder.run(nodes)
    finally:
        exits = builder.open_exits.pop(last)
    return exits


def meet(builder: FunctionBuilder, exits: OpenExits, node: ast.stmt) -> None:
    """Merge the names of a branch's paths, or leave that to the branch that this one ends."""
    if node in builder.open_exits:
        builder.open_exits[node] = exits
    elif exits:
        builder.names = merge(builder, exits, node)


def type_sides(
    builder: FunctionBuilder,
    condition: Value,
    sides: tuple[Side, Side],
    ends: tuple[ast.AST, ast.AST],
) -> OpenExits:
    """Type both sides of a branch, and return the exits that go on after it.

    ends: the nodes that errors about merging the sides point to.
    """
    if isinstance(condition, CompileTime):
        return sides[0 if condition.value else 1]()
    assert isinstance(condition, tree.Expression)
    exits: list[Exit] = []
    bodies: list[list[tree.Statement]] = []
    for side, end, outcome in zip(sides, ends, (True, False), strict=True):
        with builder.block() as statements:
            builder.names = names_if(builder, condition, outcome)
            inner = side()
            bodies.append(statements)
            if inner is not None:
                exits += inner
            elif not builder.terminated:
                exits.append(Exit(builder.names, statements, end))
    builder.terminated = not exits
    builder.emit(tree.If(condition.span, condition, bodies[0], bodies[1]))
    return exits


# `match`: on constants, enums, literals, tuples of those, `|`, guards and `_`.


def match(builder: FunctionBuilder, node: ast.Match) -> None:
    """Type a `match`: the first case that fits is taken, and for compile-time subjects only that
    one is typed."""
    subject = builder.hold(builder.evaluate(node.subject), "subject", node.subject)
    meet(builder, _from_case(builder, subject, node.cases, node), node)


def _from_case(
    builder: FunctionBuilder, subject: Value, cases: Sequence[ast.match_case], node: ast.Match
) -> OpenExits:
    if not cases:
        return None
    case = cases[0]
    fits = _fits(builder, case.pattern, subject)
    guard = case.guard
    if guard is not None:
        place = guard
        fits = both(builder, fits, lambda: tested(builder, place), place)
    condition = truth(builder, fits, case.pattern)

    def otherwise() -> OpenExits:
        return _from_case(builder, subject, cases[1:], node)

    sides = (lambda: run_side(builder, case.body), otherwise)
    return type_sides(builder, condition, sides, (case.body[-1], node.subject))


def _fits(builder: FunctionBuilder, pattern: ast.pattern, subject: Value) -> Value:
    if isinstance(pattern, ast.MatchAs) and pattern.name is None:
        return CompileTime(True)
    if isinstance(pattern, ast.MatchOr):
        return _any(builder, pattern, subject)
    if isinstance(pattern, ast.MatchSequence):
        return _items_fit(builder, pattern, subject)
    if isinstance(pattern, ast.MatchSingleton):
        return _is(builder, subject, pattern)
    if isinstance(pattern, ast.MatchValue):
        return _equal(builder, subject, pattern.value)
    raise builder.error(
        codes.UNSUPPORTED_EXPRESSION,
        pattern,
        expression="this pattern",
        remedy="match constants, enums, tuples of them, `|` and `_`; assign names in separate "
        "statements",
    )


def _equal(builder: FunctionBuilder, subject: Value, node: ast.expr) -> Value:
    value = builder.evaluate(node)
    if isinstance(subject, (TupleValue, CompileTime)) and not isinstance(
        value, (CompileTime, tree.Expression)
    ):
        return CompileTime(False)
    if isinstance(subject, TupleValue) and not is_chosen_member(subject):
        return CompileTime(False)
    return compare(builder, ast.Eq, subject, value, node)


def _is(builder: FunctionBuilder, subject: Value, pattern: ast.MatchSingleton) -> Value:
    """Match `case None` or `case True`, which Python compares by identity; a run-time boolean is
    compared by value."""
    if isinstance(subject, CompileTime):
        return CompileTime(subject.value is pattern.value)
    if pattern.value is None or isinstance(subject, TupleValue):
        return CompileTime(False)
    assert isinstance(subject, tree.Expression)
    if subject.type is not boolean:
        return CompileTime(False)
    return compare(builder, ast.Eq, subject, CompileTime(pattern.value), pattern)


def _as_expression(node: ast.AST) -> ast.expr:
    return node if isinstance(node, ast.expr) else ast.copy_location(ast.Constant(None), node)


def _any(builder: FunctionBuilder, pattern: ast.MatchOr, subject: Value) -> Value:
    def from_index(index: int) -> Value:
        fits = _fits(builder, pattern.patterns[index], subject)
        if index + 1 == len(pattern.patterns):
            return fits
        return either(builder, fits, lambda: from_index(index + 1), _as_expression(pattern))

    return from_index(0)


def _items_fit(builder: FunctionBuilder, pattern: ast.MatchSequence, subject: Value) -> Value:
    if any(isinstance(item, ast.MatchStar) for item in pattern.patterns):
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            pattern,
            expression="`*` in a pattern",
            remedy="write the items out",
        )
    if not isinstance(subject, TupleValue) or len(subject.items) != len(pattern.patterns):
        return CompileTime(False)
    parts: list[Callable[[], Value]] = [
        lambda inner=inner, item=item: _fits(builder, inner, item)  # type: ignore[misc]
        for inner, item in zip(pattern.patterns, subject.items, strict=True)
    ]

    def from_index(index: int) -> Value:
        if index == len(parts):
            return CompileTime(True)
        return both(builder, parts[index](), lambda: from_index(index + 1), _as_expression(pattern))

    return from_index(0)
