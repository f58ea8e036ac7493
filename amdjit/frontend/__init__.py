"""From Python source to the typed tree.

How a function passes through the rooms:

1. `program.type_kernel` reads the source (`source.reading`) and opens a `session.TypingSession`.
2. It binds the parameters to the argument types; a `Const` argument is bound to its value.
3. A `building.builder.FunctionBuilder` runs the statements in order; the table in
   `statement_typing` names the function for each node of `ast`.
4. Statements evaluate expressions (table in `expression_typing`). An expression becomes a
   `values.kinds.Value`: known now, or a node of the typed tree with a type.
5. Operators convert their operands to one type (`numbers.operands`); a name gets one binding where
   branches meet (`names.merging`); loops are typed again until their types are stable.
6. `calls.dispatch` types calls. For a device function the session types its body once for each
   combination of argument types, by the same steps.
7. The error of a refused statement is stored in the builder, and typing continues; all errors are
   raised together at the end.
8. The finished statements become the `tree.Program` that `tree.verifier` checks and the lowering
   takes; `numbers.width_warnings` adds warnings, and `values.dependencies` what the code depends
   on.
"""

from typing import TYPE_CHECKING

from amdjit.frontend.values.known import CompileTime
from amdjit.late import late_names

if TYPE_CHECKING:
    from amdjit.frontend.names.parameters import array_matches, at_annotation
    from amdjit.frontend.program import TypedKernel, kernel_annotations, type_kernel
    from amdjit.frontend.source.reading import definition_span
    from amdjit.frontend.values.dependencies import Content, Dependency, OutsideArray
    from amdjit.frontend.values.structures import element_of_dtype, field_types, structure_of
    from amdjit.frontend.values.types_of_numba import of_numba

__all__ = [
    "CompileTime",
    "Content",
    "Dependency",
    "OutsideArray",
    "TypedKernel",
    "array_matches",
    "at_annotation",
    "definition_span",
    "element_of_dtype",
    "field_types",
    "kernel_annotations",
    "of_numba",
    "structure_of",
    "type_kernel",
]

_MODULES = {
    "Content": "amdjit.frontend.values.dependencies",
    "Dependency": "amdjit.frontend.values.dependencies",
    "OutsideArray": "amdjit.frontend.values.dependencies",
    "TypedKernel": "amdjit.frontend.program",
    "array_matches": "amdjit.frontend.names.parameters",
    "at_annotation": "amdjit.frontend.names.parameters",
    "definition_span": "amdjit.frontend.source.reading",
    "element_of_dtype": "amdjit.frontend.values.structures",
    "field_types": "amdjit.frontend.values.structures",
    "kernel_annotations": "amdjit.frontend.program",
    "of_numba": "amdjit.frontend.values.types_of_numba",
    "structure_of": "amdjit.frontend.values.structures",
    "type_kernel": "amdjit.frontend.program",
}

# The front end is loaded when a kernel is first compiled.
__getattr__ = late_names(__name__, _MODULES)
