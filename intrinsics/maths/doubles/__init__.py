"""The functions of f64, in f64 arithmetic, within 1 unit of the last place (gamma and error
functions within 4).

A graphics GPU does f64 arithmetic at a fraction of its f32 rate, so what counts is the number of
f64 instructions: there are no tables, polynomials are short because arguments are reduced first,
and pairs of f64 stand where one has too few bits. `evaluation` has these building blocks. The
other modules have a function of one f64 (or two) under the name of each function of
`amdjit.intrinsics.math`, which calls it unless the kernel asks for ROCm's (`f64_math="ocml"`).

`v_rcp_f64` and `v_rsq_f64` are taken for guesses with a relative error of 2**-22; no result
depends on how good they are. The modules load with the first kernel that calls one of them. They
import `numbers`, and `native_math` and `float_evaluation` of `maths`.

Coefficients: `python tests/intrinsics/fit_doubles.py`. Errors: docs/reference/math.md, measured by
`python benchmarks/double_accuracy.py`.
"""
