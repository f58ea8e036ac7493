"""The places of a kernel's annotations, for errors about arguments that are raised outside the
kernel."""

from __future__ import annotations

import types
from dataclasses import replace

from amdjit.diagnostics import CompileError, Diagnostic
from amdjit.frontend.names.parameters import arguments_of
from amdjit.frontend.source.reading import read_source


def at_annotation(failure: CompileError, function: types.FunctionType) -> CompileError:
    """Return the error with the spans of the annotations of its parameters."""
    source = read_source(function)
    nodes = {argument.arg: argument for argument in arguments_of(source.node)}

    def located(diagnostic: Diagnostic) -> Diagnostic:
        name = dict(diagnostic.fields).get("parameter", "").partition(".")[0]
        if diagnostic.span is not None or name not in nodes:
            return diagnostic
        return replace(diagnostic, span=source.span(nodes[name]))

    return type(failure)(*map(located, failure.diagnostics))
