"""Python functions as they are written, and what the kernel language lacks.

`reading` finds the `def` of a function in its file and gives every node its span, `bound_names`
lists the names that statements bind, and the two `unsupported_*` modules hold the remedies that
error messages suggest. Nothing here knows a type. Start at `reading.FunctionSource`.

Imports: no other room.
"""
