"""The typed tree: what the front end makes and the lowering takes.

`nodes` defines it, with `array_views` for views of arrays, `printer` prints it, and
`verifier` checks it before it is lowered. `walk`, `lds_arrays` and `parameter_uses` answer
questions about a program. Start at `nodes`.

Imports: types, declarations and the table of reports; neither the front end nor the lowering.
"""
