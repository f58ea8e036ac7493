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
    sides = (lambda: builder.run(node.body), lambda: builder.run(node.orelse))
    ends = (node.body[-1], node.orelse[-1] if node.orelse else node.test)
    branch_on(builder, condition, sides, ends, node)


Side = Callable[[], None]


def branch_on(
    builder: FunctionBuilder,
    condition: Value,
    sides: tuple[Side, Side],
    ends: tuple[ast.AST, ast.AST],
    node: ast.stmt,
) -> None:
    """Type both sides of a branch. ends: the nodes that errors about merging the sides point to."""
    if isinstance(condition, CompileTime):
        sides[0 if condition.value else 1]()
        return
    assert isinstance(condition, tree.Expression)
    ways: list[Exit] = []
    bodies: list[list[tree.Statement]] = []
    for side, end, outcome in zip(sides, ends, (True, False), strict=True):
        with builder.block() as statements:
            builder.names = names_if(builder, condition, outcome)
            side()
            bodies.append(statements)
            if not builder.terminated:
                ways.append(Exit(builder.names, statements, end))
    if ways:
        builder.names = merge(builder, ways, node)
    builder.terminated = not ways
    builder.emit(tree.If(condition.span, condition, bodies[0], bodies[1]))
