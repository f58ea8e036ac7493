"""Numbers: the type, the width and the sign of literals, of the launch's numbers and of what is
computed with them.

`conversion` brings a value to a type, `operands` two values to the type that they have in common,
and `results` types calls of numbers. `launch_arithmetic` computes what the launch knows, and
`width_warnings` says where a width was lost. What they decide by are `values.promotion` (which type
two types have in common) and `values.weak_numbers` (which numbers have no width yet). The way of a
literal through them is a section of ARCHITECTURE.md. Start at `operands.pair`.

Imports: `building`, `values` and `source`.
"""
