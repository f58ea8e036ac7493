"""Declarations for the namespace `amdgcn`: clang's `__builtin_amdgcn_*`.

`table` reads amdgcn_builtins.tsv, where each builtin is a row that says where the builtin exists
and what it becomes. A builtin with a reference model or wider types of its own is declared in
`numbers`, `wave` or `wmma`; `irregular` lowers the few that are not one call of an LLVM
function. Start with `table`. The modules here import only `models`.

`python tests/intrinsics/generate_builtin_table.py` writes the table, `python docs/generate.py` the
stub amdgcn.pyi from it.
"""
