"""The page of how exact the functions of real numbers are: its text, and the rows of its table."""

from __future__ import annotations

import json
from pathlib import Path

EXACTNESS = """How far the functions of `amdjit.intrinsics.math` in f32 are from the true value at most, in units of the
last place (0.5: always the nearest f32), run on the emulator against float64: NumPy's functions, and Python's `math`
for `erf`, `erfc` and `remainder`. NaN, infinities and the signs of zeros count as wrong where they differ from C's.
*Inputs*: all 2**32, or 2**24 spread evenly over signs and exponents; pairs for functions of two numbers.
`python benchmarks/math_accuracy.py --all sin` measures again.

Functions whose error is 0.50 are evaluated in f64 and rounded once. That costs f64 instructions, which graphics GPUs
execute at a fraction of the rate of f32; where a few bits suffice, the instructions themselves (`amdgcn.sinf`,
`fast_exp2`, `rsq`) cost one each. 16-bit floats give the nearest of their type, except powers and what LLVM evaluates
(`exp`, `log` and their kin). Functions of f64, and `tgamma` and `lgamma` of every type, come from OCML, ROCm's device
library; AMDJIT_DEVICE_LIBS in [environment.md](environment.md) says where it is looked for."""


def measured_errors() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of the table, from what benchmarks/math_accuracy.py wrote."""
    measured = json.loads((Path(__file__).parent / "math_accuracy.json").read_text())
    rows = [
        (f"`{name}`", f"{row['ulp']:.4f}", f"`{row['at']}`", "all" if row["inputs"] == 2**32 else "2**24")
        for name, row in measured.items()
    ]
    return ("function", "largest error", "at", "inputs"), rows
