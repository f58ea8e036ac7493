"""`if`: a compile-time condition types one branch, others both, and the names are merged
afterwards."""

from __future__ import annotations

import ast
from collections.abc import Callable

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import Exit
from amdjit.frontend.expressions.conditional import names_if
from amdjit.frontend.names.merging import merge
from amdjit.frontend.statements.recovery import condition_of
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree


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
