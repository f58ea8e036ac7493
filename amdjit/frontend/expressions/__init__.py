"""Operators, conditions, subscripts, attributes and text.

Each module types one family of expressions: `operators`, `comparisons` and `conditional` on
numbers, `complexes` and `records` on values of several parts, `subscripts`, `views` and `fields` on
arrays. `index_checks` and `faults` make what a kernel reports to the host when an expression fails.
The table from nodes of `ast` to these functions is `frontend/expression_typing.py`. Start at
`operators`.

Imports: `names` and the rooms below it.
"""
