"""Numba's driver exceptions for `except` clauses: the errors that amdjit raises in these cases."""

from amdjit.diagnostics import AmdjitError, BackendError, KernelFault

CudaAPIError = CudaDriverError = CudaRuntimeError = AmdjitError
"""What a launch or a call of the driver raises: LaunchError, BackendError and the others."""
NvvmError = LinkerError = BackendError
KernelRuntimeError = KernelFault


class CudaSupportError(ImportError):
    """There is no device. It is never raised, because there is an emulator."""


class NvvmSupportError(ImportError):
    """There is no compiler. It is never raised, because LLVM comes with amdjit."""


__all__ = [
    "CudaAPIError",
    "CudaDriverError",
    "CudaRuntimeError",
    "CudaSupportError",
    "KernelRuntimeError",
    "LinkerError",
    "NvvmError",
    "NvvmSupportError",
]
