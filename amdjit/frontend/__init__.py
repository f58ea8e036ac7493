"""From Python source to the typed tree.

The way of a function through the rooms:

1. `program.type_kernel` reads the source (`source.reading`) and opens a `session.TypingSession`.
2. It binds the parameters to the argument types; a `Const` argument is bound to its value.
3. A `building.builder.FunctionBuilder` runs the statements in order; the table in
   `statement_typing` names the function for each node of `ast`.
4. Statements evaluate expressions (table in `expression_typing`). An expression becomes a
   `values.kinds.Value`: known now, or a node of the typed tree with a type.
5. Operators bring their operands to one type (`numbers.operands`); a name at a meeting of branches
   gets one binding (`names.merging`); loops are typed again until their types are stable.
6. `calls.dispatch` types calls. For a device function the session types its body once for each
   combination of argument types, by the same steps.
7. A statement that is refused leaves its error in the builder, and typing goes on after it; all
   errors are raised together at the end.
8. The finished statements become the `tree.Program` that `tree.verifier` checks and the lowering
   takes; `numbers.width_warnings` adds warnings, and `values.dependencies` what the code depends
   on.
"""

import importlib
from typing import TYPE_CHECKING, Any

from amdjit.frontend.values.known import CompileTime

if TYPE_CHECKING:
    from amdjit.frontend.names.annotation_places import at_annotation
    from amdjit.frontend.names.parameters import array_matches
    from amdjit.frontend.program import TypedKernel, kernel_annotations, type_kernel
    from amdjit.frontend.source.reading import definition_span
    from amdjit.frontend.values.dependencies import Content, Dependency, OutsideArray
    from amdjit.frontend.values.structures import element_of_dtype, field_types, structure_of

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
    "structure_of",
    "type_kernel",
]

_MODULES = {
    "Content": "values.dependencies",
    "Dependency": "values.dependencies",
    "OutsideArray": "values.dependencies",
    "TypedKernel": "program",
    "array_matches": "names.parameters",
    "at_annotation": "names.annotation_places",
    "definition_span": "source.reading",
    "element_of_dtype": "values.structures",
    "field_types": "values.structures",
    "kernel_annotations": "program",
    "structure_of": "values.structures",
    "type_kernel": "program",
}


def __getattr__(name: str) -> Any:
    # The front end is loaded when a kernel is first compiled.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
