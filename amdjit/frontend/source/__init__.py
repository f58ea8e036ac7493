"""Python functions as they are written, and what the kernel language lacks.

`reading` finds the `def` of a function in its file and gives every node its span, `bound_names`
lists the names that statements bind, and `unsupported_statements` has the remedies that error
messages suggest. `same_code` tells whether a definition is the one that Python compiled. Nothing
here knows a type. Start at `reading.FunctionSource`.

Imports: no other room.
"""
