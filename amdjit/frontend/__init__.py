"""From Python source to the typed tree."""

from amdjit.frontend.builder import Limits
from amdjit.frontend.outside import OutsideRead
from amdjit.frontend.parameters import array_matches
from amdjit.frontend.program import TypedKernel, kernel_annotations, type_kernel
from amdjit.frontend.values import CompileTime

__all__ = [
    "CompileTime",
    "Limits",
    "OutsideRead",
    "TypedKernel",
    "array_matches",
    "kernel_annotations",
    "type_kernel",
]
