"""What an expression can be while a function is typed, and the rules about types alone.

A `Value` is known now (`CompileTime`) or computed later (a node of the typed tree); tuples,
methods, slices and inner functions are made of these. `promotion` says which type two operands have
in common, `typing_rules` has the two policies, `weak_numbers` notes the numbers
without a width of their own, `structures` describes the Python classes that are records, and
`dependencies` decide whether compiled code still fits what it read from outside. Start at `kinds`.

Imports: no other room.
"""
