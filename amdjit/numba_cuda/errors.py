"""Numba's errors and warnings for `except` clauses and filters: what amdjit raises in these cases.

`numba.cuda.errors` and `numba.cuda.core.errors` are this module; `numba.core.errors` is if Numba is
not installed.
"""

from amdjit.diagnostics import (
    AmdjitError,
    CompileError,
    CompileWarning,
    KernelFault,
    PerformanceWarning,
)

NumbaError = AmdjitError
TypingError = LoweringError = UnsupportedError = CompileError
CudaLoweringError = UnsupportedBytecodeError = RequireLiteralValue = CompileError
KernelRuntimeError = KernelFault
NumbaWarning = NumbaDebugInfoWarning = CompileWarning
NumbaPerformanceWarning = PerformanceWarning
NumbaDeprecationWarning = NumbaPendingDeprecationWarning = CompileWarning
NumbaInvalidConfigWarning = NumbaTypeSafetyWarning = CompileWarning

__all__ = [
    "CudaLoweringError",
    "KernelRuntimeError",
    "LoweringError",
    "NumbaDebugInfoWarning",
    "NumbaDeprecationWarning",
    "NumbaError",
    "NumbaInvalidConfigWarning",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaTypeSafetyWarning",
    "NumbaWarning",
    "RequireLiteralValue",
    "TypingError",
    "UnsupportedBytecodeError",
    "UnsupportedError",
]
