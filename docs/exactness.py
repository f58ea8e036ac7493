"""The page of how exact the functions of real numbers are: its text, and the rows of its table."""

from __future__ import annotations

import json
from pathlib import Path

EXACTNESS = """How far the functions of `amdjit.intrinsics.math` in f32 are from the true value at most, in units of the
last place (0.5: always the nearest f32), run on the emulator against float64: NumPy's functions, and the C library's
for `erf`, `erfc` and `remainder`. NaN, infinities and the signs of zeros count as wrong where they differ from C's.
*Inputs*: all 2**32, or 2**24 spread evenly over signs and exponents; pairs for functions of two numbers. *Misrounded*:
how many results are not the nearest f32. *Time*: of one processor core, for all inputs.
`python benchmarks/math_accuracy.py --all sin` measures again, `--stale` what is evaluated differently since.

Functions of f32 are computed in f32 arithmetic: additions, products, `fma`, which give the same bits on every GPU.
Where one of the approximate instructions enters (`exp2` and the logarithms: `v_exp_f32`, `v_log_f32`; `rsqrt`:
`v_rsq_f32`; `erf`, `tanh`, `sinh`, `cosh`, `atan` and `cbrt`: `v_exp_f32` or `v_rcp_f32`, whose error counts less than
once), hardware may differ from the emulator in the last bit: the ISA allows 1 unit. Where a few bits suffice, the
instructions themselves (`amdgcn.sinf`, `fast_exp2`, `rsq`) cost one each. `remainder`, `tgamma` and `lgamma` are
computed in f64.

16-bit floats give the nearest of their type: the f32 result decides, except close to a tie of two (1 of 1000 numbers),
where a branch computes again in f64. Functions of f64, and `tgamma` and `lgamma` of every type, come from OCML, ROCm's
device library; AMDJIT_DEVICE_LIBS in [environment.md](environment.md) says where it is looked for."""


def measured_errors() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of the table, from what benchmarks/math_accuracy.py wrote."""
    measured = json.loads((Path(__file__).parent / "math_accuracy.json").read_text())
    rows = [
        (
            f"`{name}`",
            f"{row['ulp']:.4f}",
            f"`{row['at']}`",
            "all" if row["inputs"] == 2**32 else "2**24",
            f"{row['misrounded'] / row['inputs']:.2%}",
            f"{row['seconds']} s" if row["inputs"] == 2**32 else "",
        )
        for name, row in measured.items()
    ]
    return ("function", "largest error", "at", "inputs", "misrounded", "time"), rows
