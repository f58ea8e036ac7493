"""`assert` and `raise`, which a kernel reports to the host."""

from __future__ import annotations

import ast

from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import negated
from amdjit.frontend.expressions.conditional import names_if, tested
from amdjit.frontend.expressions.exceptions import exception_of, raised_fault
from amdjit.frontend.expressions.faults import fault
from amdjit.frontend.values.kinds import CompileTime
from amdjit.tree import nodes as tree


def assert_statement(builder: FunctionBuilder, node: ast.Assert) -> None:
    """`assert condition, "message"`; it emits nothing with `asserts=False`, like Python's -O."""
    if not builder.compilation.asserts:
        return
    condition = tested(builder, node.test)
    failed = negated(builder, condition, node.test)
    if isinstance(failed, CompileTime):
        if failed.value:
            builder.emit(fault(builder, node, "assert", [node.msg] if node.msg else []))
            builder.terminated = True
        return
    assert isinstance(failed, tree.Expression)
    with builder.block() as statements:
        builder.emit(fault(builder, node, "assert", [node.msg] if node.msg else []))
    builder.emit(tree.If(builder.span(node), failed, statements, []))
    builder.names = names_if(builder, condition, True)


def raise_statement(builder: FunctionBuilder, node: ast.Raise) -> None:
    """`raise ValueError("message", value)`.

    With `asserts=False` it is left out too, except in functions that return a value: there is no
    other value to return, so it still ends the wave, silently.
    """
    raised = exception_of(builder, node)
    if builder.compilation.asserts:
        builder.emit(raised_fault(builder, node, raised))
    elif _returns_a_value(builder.source.node):
        builder.emit(tree.Fault(builder.span(node), -1))
    else:
        return
    builder.terminated = True


def _returns_a_value(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function)
    )
