"""The calls on the way to what reports to the host."""

from __future__ import annotations

import ast

from amdjit.abi.reports import CallSite
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.report_sites import ReportSites
from amdjit.tree import nodes as tree


def site_of_call(
    builder: FunctionBuilder, reports: ReportSites, function: tree.Function, node: ast.expr
) -> int:
    """Return the number of a call for reports, 0 for a function that reports nothing."""
    if not function.reports:
        return 0
    builder.reports = max(builder.reports, function.reports + 1)
    source = builder.source
    text = source.text.line(node.lineno).strip()
    return reports.add_call(
        CallSite(source.node.name, source.text.file, node.lineno, text, source.is_library)
    )
