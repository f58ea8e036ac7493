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
    builder: FunctionBuilder, node: ast.stmt | ast.expr, kind: type[Exception], message: str
) -> tree.Fault:
    """Make the fault of an exception that Python itself would raise."""
    raised = Raised(kind, (KnownArgument(message),))
    return reported(
        builder,
        node,
        FaultSite(
            "raise",
            Text((f"{kind.__name__}: {message}",)),
            builder.source.text.file,
            node.lineno,
            raised=raised,
        ),
        (),
    )


def check(
    builder: FunctionBuilder,
    failed: tree.Expression,
    message: str,
    node: ast.stmt | ast.expr,
    kind: type[Exception] = ValueError,
) -> None:
    """Report an exception that Python itself would raise if a condition holds; emit nothing with
    `asserts=False`."""
    if builder.compilation.asserts:
        raised = exception(builder, node, kind, message)
        builder.emit(tree.If(builder.span(node), failed, [raised], []))
