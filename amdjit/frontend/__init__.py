"""From Python source to the typed tree."""

from amdjit.frontend.building.compilation import Limits
from amdjit.frontend.names.annotation_places import at_annotation
from amdjit.frontend.names.parameters import array_matches
from amdjit.frontend.program import TypedKernel, kernel_annotations, type_kernel
from amdjit.frontend.source.reading import definition_span
from amdjit.frontend.values.dependencies import OutsideRead
from amdjit.frontend.values.kinds import CompileTime
from amdjit.frontend.values.structures import element_of_dtype, field_types, structure_of
from amdjit.language.complex_types import COMPLEX64, COMPLEX128

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
