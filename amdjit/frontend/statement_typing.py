"""Statements: the table from nodes of `ast` to the functions that type them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder, StatementHandler
from amdjit.frontend.calls.closures import define
from amdjit.frontend.expressions.exceptions import assert_statement, raise_statement
from amdjit.frontend.names.scope import read_name
from amdjit.frontend.statements.assignments import assign, assign_annotated, assign_augmented
from amdjit.frontend.statements.branches import branch, match
from amdjit.frontend.statements.loops import LOOPS
from amdjit.frontend.statements.returns import leave_function
from amdjit.frontend.values.kinds import Undefined
from amdjit.tree import nodes as tree


def evaluate(builder: FunctionBuilder, node: ast.Expr) -> None:
    """An expression statement, evaluated for its effect; a docstring or `...` has none."""
    if isinstance(node.value, ast.Constant):
        return
    value = builder.evaluate(node.value)
    if isinstance(value, tree.Expression) and not isinstance(value, (tree.Constant, tree.Read)):
        builder.emit(tree.Evaluate(builder.span(node), value))


def delete(builder: FunctionBuilder, node: ast.Delete) -> None:
    """`del name`: reading it afterwards is an error."""
    for target in node.targets:
        if not isinstance(target, ast.Name):
            raise builder.error(
                codes.UNSUPPORTED_TARGET,
                target,
                what=f"`del {ast.unparse(target)}`",
                remedy="`del` takes names",
            )
        read_name(builder, target.id, target)
        builder.names[target.id] = Undefined("was deleted")


def skip(builder: FunctionBuilder, node: ast.Pass) -> None:
    """`pass`."""


STATEMENTS: Mapping[type[ast.stmt], StatementHandler] = {
    **LOOPS,
    ast.AnnAssign: assign_annotated,
    ast.Assert: assert_statement,
    ast.Assign: assign,
    ast.AugAssign: assign_augmented,
    ast.Delete: delete,
    ast.Expr: evaluate,
    ast.FunctionDef: define,
    ast.If: branch,
    ast.Match: match,
    ast.Pass: skip,
    ast.Raise: raise_statement,
    ast.Return: leave_function,
}
