"""Reference models: what instructions compute, on the host, in NumPy.

The body of a declaration is its reference model. This room has the models that several declarations
share: `dots` and `dot_steps` for dot products, `matrix_arithmetic` for WMMA and SWMMAC, `builtins`
for rows of the builtin table. `matrix_layouts` says which lane holds which element of a matrix
operand. Start with `dots`. The modules here import no other part of the intrinsics.
"""
