"""Faults: errors that a kernel reports to the host before it ends."""

from __future__ import annotations

import ast

from amdjit.abi.reports import FaultSite, Text
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.formatted_text import text_of
from amdjit.tree import nodes as tree


def fault(
    builder: FunctionBuilder,
    node: ast.stmt | ast.expr,
    kind: str,
    message: list[ast.expr],
    prefix: str = "",
) -> tree.Fault:
    """Make a fault and its row of the table of reports. message: the expressions of its text."""
    text, values = text_of(builder, message)
    builder.reports = max(builder.reports, 1)
    site = FaultSite(
        kind, Text((prefix, *text.parts)) if prefix else text, builder.source.text.file, node.lineno
    )
    return tree.Fault(builder.span(node), builder.session.reports.add_fault(site), values)


def check(builder: FunctionBuilder, failed: tree.Expression, message: str, node: ast.expr) -> None:
    """Report an exception that Python itself would raise if a condition holds; emit nothing with
    `asserts=False`."""
    if builder.compilation.asserts:
        raised = fault(builder, node, "raise", [], message)
        builder.emit(tree.If(builder.span(node), failed, [raised], []))
