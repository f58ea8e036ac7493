"""The page on the accuracy of functions of real numbers: its text, and the rows of its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXACTNESS = """\
How far the functions of `amdjit.intrinsics.math` in f32 can be from the true value, in units of the
last place (0.5: always the nearest f32), run on the emulator and compared with functions of
float64: the C library's (glibc, its vector forms where they exist), and NumPy's for functions of
two numbers. NaN, infinities and the signs of zeros count as wrong if they differ from C's.

*Inputs*: all 2**32, or that many spread evenly over signs and exponents; for functions of two
numbers pairs, including all pairs of 1024 special numbers. *Misrounded*: how many results are not
the nearest f32. *Time*: of one processor core, for all inputs. *Instructions*: of the compiled
function on gfx1201, counting both sides of branches, with those of f64 in parentheses; the last
column is OCML's, ROCm's device library. `python benchmarks/math_accuracy.py --all sin` measures
again, `--stale` everything that is evaluated differently since; a test fails as long as a row is
stale.

Functions of f32 are computed in f32 arithmetic: additions, products and `fma`, which yield the same
bits on every GPU. Where an approximate instruction is involved (`exp2` and the logarithms:
`v_exp_f32`, `v_log_f32`; `rsqrt`: `v_rsq_f32`; `erf`, `tanh`, `sinh`, `cosh`, `atan` and `cbrt`:
`v_exp_f32` or `v_rcp_f32`, whose error counts less than once; `tgamma`: `v_rcp_f32`, likewise),
the emulator returns the bits of a gfx1201; other hardware may differ in the last bit. `sqrt`,
`fmod` and `remainder` yield the same bits for any guess within 1 unit. Only `lgamma` of negative
numbers is computed in f64, in a branch, because graphics GPUs execute f64 at a fraction of the rate
of f32.

- 16-bit floats are rounded to the nearest of their type, with all 65,536 tested: the f32 result
  decides, except close to a tie (1 of 1000 numbers), where a branch computes again in f64.
- `denormals="flush"` reads and writes denormals as 0 and leaves everything else as it is; `exp2`
  and `log2` are then one instruction, `log` and `log10` three.
- `fastmath` does not rearrange the arithmetic of these functions; its flag `afn` turns `exp2`,
  `log`, `log2`, `log10` and `sqrt` into the `fast_` functions below, and makes divisions
  approximate.
- The instructions themselves, with one product where their unit is different, are `fast_sin`,
  `fast_cos`, `fast_tan`, `fast_exp`, `fast_exp2`, `fast_exp10`, `fast_log`, `fast_log2`,
  `fast_log10`, `fast_power`, `fast_sqrt`, `rcp` and `rsq`; their errors are in
  [intrinsics.md](intrinsics.md).

## f32
"""

OF_DOUBLES = """\
## f64

Functions of f64 are computed in f64 arithmetic, likewise. The reference is libquadmath, in 113
bits; mpmath confirms the largest error. *Inputs* are random: of all signs and exponents alike, of
those near 0, and of the intervals in which the function changes most; with them are numbers beside
which something changes, for functions of two numbers pairs of these. *Instructions* are again those
of both sides of branches, with those of f64 in parentheses: they are what counts, because graphics
GPUs execute f64 at a fraction of the rate of f32. `python benchmarks/double_accuracy.py` measures
again.

`v_rcp_f64` and `v_rsq_f64` are guesses; how good they are does not matter to the bounds. `fastmath`
and `denormals` leave functions of f64 as they are. `@amdjit.kernel(f64_math="ocml")` calls OCML's
functions instead, for which the last column is; AMDJIT_DEVICE_LIBS in
[environment.md](environment.md) says where it is looked for.
"""


HEAD = (
    "function",
    "largest error",
    "at",
    "inputs",
    "misrounded",
    "time",
    "instructions",
    "of OCML",
)
HEAD_OF_DOUBLES = ("function", "largest error", "at", "inputs", "misrounded", *HEAD[-2:])


def measured_errors() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of the table, from what benchmarks/math_accuracy.py wrote."""
    return HEAD, [_row(name, row) for name, row in _measured("math_accuracy.json")]


def measured_errors_of_doubles() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the same for f64, from what benchmarks/double_accuracy.py wrote."""
    rows = _measured("math_accuracy_f64.json")
    return HEAD_OF_DOUBLES, [_row_of_doubles(name, row) for name, row in rows]


def _measured(file: str) -> list[tuple[str, dict[str, Any]]]:
    return list(json.loads((Path(__file__).parents[1] / file).read_text()).items())


def _row(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    is_all = row["inputs"] == 2**32
    return (
        f"`{name}`",
        f"{row['ulp']:.4f}",
        f"`{row['at']}`",
        "all" if is_all else f"{row['inputs']:,}",
        f"{row['misrounded'] / row['inputs']:.2%}",
        f"{row['seconds']} s" if is_all else "",
        _counts(row["instructions"], row["of_f64"]),
        str(row.get("instructions_of_ocml", "")),
    )


def _row_of_doubles(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"`{name}`",
        f"{row['ulp']:.4f}",
        f"`{row['at']}`",
        f"{row['inputs']:,}",
        f"{row['misrounded'] / row['inputs']:.2%}",
        _counts(row["instructions"], row["of_f64"]),
        _counts(row["instructions_of_ocml"], row["of_f64_in_ocml"])
        if "of_f64_in_ocml" in row
        else "",
    )


def _counts(all_of_them: int, of_doubles: int) -> str:
    return f"{all_of_them} ({of_doubles})" if of_doubles else str(all_of_them)
