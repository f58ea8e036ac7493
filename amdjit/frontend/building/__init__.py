"""The state of typing one function, and the conversions that every other room uses.

`builder.FunctionBuilder` holds the names, the statements made so far and the errors, and evaluates
expressions in Python's order. `conversion` brings a value to a type, `operands` two values to the
type that they have in common, and `control_flow` records where branches, loops and functions are
left. Start at `builder`.

Imports: `values` and `source`.
"""
