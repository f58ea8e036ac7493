"""What to write instead of well-known functions of Python and NumPy that kernels cannot call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["REMEDIES"]

_FACTORIALS = (
    "take floats, `math.gamma(n + 1)` or `math.lgamma(n + 1)`, or multiply in a loop of i64"
)
_SUMS = "add in a loop; over a wave there is `amdjit.intrinsics.wave.reduce`"
_PRODUCTS = "write the loop over what is summed; for tiles there is `amdjit.intrinsics.matrix`"
_WHOLE = "write a loop: kernels compute single elements"

_OF_MATH: Mapping[str, str] = {
    "comb": _FACTORIALS,
    "factorial": _FACTORIALS,
    "perm": _FACTORIALS,
    "fsum": "add in f64, or keep what each addition loses: `rest += (total - new) + x`",
}
_OF_NUMPY: Mapping[str, str] = {
    **dict.fromkeys(("sum", "mean", "average", "nansum", "trace", "count_nonzero"), _SUMS),
    **dict.fromkeys(
        ("matmul", "vecdot", "matvec", "vecmat", "dot", "inner", "vdot", "tensordot", "einsum"),
        _PRODUCTS,
    ),
    **dict.fromkeys(
        ("prod", "max", "min", "any", "all", "argmax", "argmin", "sort", "cumsum", "std", "var"),
        _WHOLE,
    ),
    "isnat": "hand dates over as integers: `dates.view(np.int64)`",
    "interp": "find the interval in a loop; within it `a + t * (b - a)`, or `math.fma(t, b - a, "
    "a)`",
    "cross": "write the three differences of products",
    "i0": "write it as a device function; docs/extending.md links bitcode that has it",
}


def _by_function(module: Any, remedies: Mapping[str, str]) -> dict[Any, str]:
    return {
        getattr(module, name): remedy for name, remedy in remedies.items() if hasattr(module, name)
    }


REMEDIES: Mapping[Any, str] = {**_by_function(math, _OF_MATH), **_by_function(np, _OF_NUMPY)}
"""By the function."""
