"""Declarations for the namespace `math`: functions of real numbers.

`native_math` has the functions that are single instructions. The others are device functions over
them: for f32 in f32 arithmetic (`single_evaluation`), for 16-bit floats near a tie in f64
(`float_evaluation`, `double_functions`), for f64 by ROCm's device library (`device_library`). Start
with `exponentials`, which shows all of these. The modules here import `numbers` and each other, and
no public namespace.

`python tests/intrinsics/fit_polynomials.py` fits the polynomials; docs/reference/math.md has the
measured errors. Changing how a function is evaluated makes its measurement stale, and a test says
so.
"""
