"""Reference models: what instructions compute, on the host, in NumPy.

The body of a declaration is its reference model. This room has the models that several declarations
share: `dots` for dot products, `matrix_arithmetic` for WMMA and SWMMAC, `mfma_arithmetic` for MFMA
and SMFMAC, `builtins` for rows of the builtin table. Sums of floats are `sums_of_products`, by the
rules of `isa.matrix_rounding`. `matrix_layouts` says which lane holds which element of a matrix
operand. `vector_arithmetic` has a row for each instruction of the vector unit whose results were
looked into, `certainty` the words for how well results are known. Start with `dots`. The modules
here import no other part of the intrinsics.
"""
