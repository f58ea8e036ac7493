"""From Python source to the typed tree."""

from amdjit.frontend.names.annotation_places import at_annotation
from amdjit.frontend.names.dependencies import Dependency
from amdjit.frontend.names.parameters import array_matches
from amdjit.frontend.program import TypedKernel, kernel_annotations, type_kernel
from amdjit.frontend.source.reading import definition_span
from amdjit.frontend.values.kinds import CompileTime
from amdjit.frontend.values.structures import element_of_dtype, field_types, structure_of

__all__ = [
    "CompileTime",
    "Dependency",
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
