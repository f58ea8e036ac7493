"""Python functions as they are written.

`reading` finds the `def` of a function in its file, tells whether that is the one that Python
compiled, and gives every node its span; `bound_names` lists the names that statements bind. Nothing
here knows a type. Start at `reading.FunctionSource`.

Imports: no other room.
"""
