"""Faults: errors that a kernel reports to the host before it ends."""

from __future__ import annotations

import ast

from amdjit.abi.reports import FaultSite, KnownArgument, Raised, Text
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.formatted_text import text_of
from amdjit.tree import nodes as tree


def fault(
    builder: FunctionBuilder,
    node: ast.stmt | ast.expr,
    kind: str,
    message: list[ast.expr],
) -> tree.Fault:
    """Make a fault and its row of the table of reports. message: the expressions of its text."""
    text, values = text_of(builder, message)
    site = FaultSite(kind, text, builder.source.text.file, node.lineno)
    return reported(builder, node, site, values)


def reported(
    builder: FunctionBuilder,
    node: ast.stmt | ast.expr,
    site: FaultSite,
    values: tuple[tree.Expression, ...],
) -> tree.Fault:
    """Make the fault of a row of the table of reports."""
    builder.reports = max(builder.reports, 1)
    return tree.Fault(builder.span(node), builder.session.reports.add_fault(site), values)


def exception(
    builder: FunctionBuilder,
    node: ast.stmt | ast.expr,
    kind: type[Exception],
    message: str | Text,
    values: tuple[tree.Expression, ...] = (),
) -> tree.Fault:
    """Make the fault of an exception that Python itself would raise. values: those of its text."""
    argument = KnownArgument(message) if isinstance(message, str) else message
    parts = (message,) if isinstance(message, str) else message.parts
    site = FaultSite(
        "raise",
        Text((f"{kind.__name__}: ", *parts)),
        builder.source.text.file,
        node.lineno,
        raised=Raised(kind, (argument,)),
    )
    return reported(builder, node, site, values)


def check(
    builder: FunctionBuilder,
    failed: tree.Expression,
    message: str | Text,
    node: ast.stmt | ast.expr,
    kind: type[Exception] = ValueError,
    values: tuple[tree.Expression, ...] = (),
) -> None:
    """Report an exception that Python itself would raise if a condition holds; emit nothing with
    `asserts=False`."""
    if builder.compilation.asserts:
        raised = exception(builder, node, kind, message, values)
        builder.emit(tree.If(builder.span(node), failed, [raised], []))
