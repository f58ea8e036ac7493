"""`assert` and `raise`, which a kernel reports to the host."""

from __future__ import annotations

import ast

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import negated
from amdjit.frontend.expressions.conditional import tested
from amdjit.frontend.expressions.faults import fault
from amdjit.frontend.values.kinds import CompileTime
from amdjit.tree import nodes as tree


def assert_statement(builder: FunctionBuilder, node: ast.Assert) -> None:
    """`assert condition, "message"`; it emits nothing with `asserts=False`, like Python's -O."""
    if not builder.compilation.asserts:
        return
    failed = negated(builder, tested(builder, node.test), node.test)
    if isinstance(failed, CompileTime):
        if failed.value:
            builder.emit(fault(builder, node, "assert", [node.msg] if node.msg else []))
            builder.terminated = True
        return
    assert isinstance(failed, tree.Expression)
    with builder.block() as statements:
        builder.emit(fault(builder, node, "assert", [node.msg] if node.msg else []))
    builder.emit(tree.If(builder.span(node), failed, statements, []))


def raise_statement(builder: FunctionBuilder, node: ast.Raise) -> None:
    """`raise ValueError("message")`.

    With `asserts=False` it is left out too, except in functions that return a value: there is no
    other value to return, so it still ends the wave, silently.
    """
    name, arguments = _exception(builder, node)
    if builder.compilation.asserts:
        builder.emit(
            fault(builder, node, "raise", arguments, prefix=f"{name}: " if arguments else name)
        )
    elif _returns_a_value(builder.source.node):
        builder.emit(tree.Fault(builder.span(node), -1))
    else:
        return
    builder.terminated = True


def _exception(builder: FunctionBuilder, node: ast.Raise) -> tuple[str, list[ast.expr]]:
    """Return the exception's name and the nodes of its message."""
    call = node.exc
    callee = call.func if isinstance(call, ast.Call) else call
    value = None if callee is None else builder.evaluate(callee)
    kind = value.value if isinstance(value, CompileTime) else None
    arguments = call.args if isinstance(call, ast.Call) else []
    keywords = call.keywords if isinstance(call, ast.Call) else []
    is_exception = isinstance(kind, type) and issubclass(kind, BaseException)
    if not is_exception or node.cause is not None or keywords or len(arguments) > 1:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node,
            expression="this form of `raise`",
            remedy='write `raise ValueError("message")`, with any exception and at most one '
            "message",
        )
    assert isinstance(kind, type)
    return kind.__name__, list(arguments)


def _returns_a_value(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function)
    )
