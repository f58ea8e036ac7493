"""Recovery from an error in the head of a branch or loop, so that errors in its body are found,
too.

Everything that is unknown because of the error is poisoned or left out, so that no spurious error
is reported.
"""

from __future__ import annotations

import ast

from amdjit.diagnostics import CompileError
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import Loop
from amdjit.frontend.expressions.conditional import tested
from amdjit.frontend.source.bound_names import bound_names
from amdjit.frontend.values.kinds import Value
from amdjit.tree import nodes as tree
from amdjit.types import Array, Scalar, boolean


def condition_of(builder: FunctionBuilder, test: ast.expr) -> Value:
    """Type a condition. A refused one becomes a run-time boolean if it certainly would have been
    one.

    If it might have been known when compiling, the code that depends on it might never be typed, so
    the error ends the statement.
    """
    try:
        return tested(builder, test)
    except CompileError as failure:
        if not _is_run_time(builder, test):
            raise
        builder.refuse(failure)
        builder.poison(bound_names([test]))
        return tree.Constant(builder.span(test), boolean, True)


def _is_run_time(builder: FunctionBuilder, node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(_is_run_time(builder, value) for value in node.values)
    if isinstance(node, ast.Compare) and not isinstance(
        node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)
    ):
        return any(_is_run_time(builder, operand) for operand in (node.left, *node.comparators))
    if isinstance(node, ast.UnaryOp):
        return _is_run_time(builder, node.operand)
    if isinstance(node, ast.BinOp):
        return _is_run_time(builder, node.left) or _is_run_time(builder, node.right)
    if isinstance(node, ast.Subscript):
        array = builder.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        return isinstance(array, tree.Variable) and isinstance(array.type, Array)
    number = builder.names.get(node.id) if isinstance(node, ast.Name) else None
    return isinstance(number, tree.Variable) and isinstance(number.type, Scalar)


def unknown_rounds(builder: FunctionBuilder, node: ast.For, failure: CompileError) -> None:
    """Type the body of a loop over something that was refused; the names that it carries are
    unknown."""
    builder.refuse(failure)
    names = bound_names([node])
    builder.poison(names)
    builder.loops.append(Loop({}))
    with builder.block():
        builder.run(node.body)
    builder.loops.pop()
