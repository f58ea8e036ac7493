"""The state of typing one function.

`builder.FunctionBuilder` holds the names, the statements made so far and the errors, and evaluates
expressions in Python's order. `control_flow` records where branches, loops and functions are left,
and `special_methods` calls those of records. Start at `builder`.

Imports: `values` and `source`.
"""
