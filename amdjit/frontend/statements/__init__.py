"""Assignments, branches, loops, `match`, `return`, `assert` and `raise`.

`loops` types a body again until the types of its names are stable, `unrolling` handles loops of
compile-time length and their exits, and `recovery` goes on after an error in a condition so that
errors in the body are found too. The table from nodes of `ast` to these functions is
`frontend/statement_typing.py`. Start at `branches`, then `loops`.

Imports: `calls` and the rooms below it.
"""
