"""From Python source to the typed tree."""

from amdjit.complex_types import COMPLEX64, COMPLEX128
from amdjit.frontend.annotation_places import at_annotation
from amdjit.frontend.limits import Limits
from amdjit.frontend.outside import OutsideRead
from amdjit.frontend.parameters import array_matches
from amdjit.frontend.program import TypedKernel, kernel_annotations, type_kernel
from amdjit.frontend.source import definition_span
from amdjit.frontend.structures import element_of_dtype, field_types, structure_of
from amdjit.frontend.values import CompileTime

__all__ = [
    "COMPLEX64",
    "COMPLEX128",
    "CompileTime",
    "Limits",
    "OutsideRead",
    "TypedKernel",
    "array_matches",
    "at_annotation",
    "definition_span",
    "element_of_dtype",
    "field_types",
    "kernel_annotations",
    "structure_of",
    "type_kernel",
]
