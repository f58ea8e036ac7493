"""Errors as values, their places in the source, and the exceptions that carry them.

`codes` is the table of errors in kernels; `errors` has the exceptions that users catch, and one
error at a place, rendered as text; `sanitizer` and `performance` what checks and advice
report; `notebooks` is how IPython shows errors. `source_files` keeps the texts that functions were
compiled from. This room imports nothing of amdjit. Start reading at `codes`.
"""

from amdjit.diagnostics.errors import (
    AmdjitError,
    BackendError,
    CompileError,
    Diagnostic,
    ErrorKind,
    InternalError,
    KernelFault,
    LaunchError,
    TargetError,
    TypeCheckError,
    UnsupportedSyntaxError,
    in_source_order,
    raise_all,
)
from amdjit.diagnostics.performance import (
    CompileWarning,
    DeviceWarning,
    Finding,
    LaunchWarning,
    PerformanceWarning,
)
from amdjit.diagnostics.span import SourceText, Span

__all__ = [
    "AmdjitError",
    "BackendError",
    "CompileError",
    "CompileWarning",
    "DeviceWarning",
    "Diagnostic",
    "ErrorKind",
    "Finding",
    "InternalError",
    "KernelFault",
    "LaunchError",
    "LaunchWarning",
    "PerformanceWarning",
    "SourceText",
    "Span",
    "TargetError",
    "TypeCheckError",
    "UnsupportedSyntaxError",
    "in_source_order",
    "raise_all",
]
