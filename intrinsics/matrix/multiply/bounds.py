"""How far products of floats may be from the exact ones, by the rule that adds them.

A step (see `isa.matrix_rounding`) floors a few terms to its grid, whose unit is at most 2**-24 of
the largest product, 2**-26 of C, or 2**(L - 26), and rounds once. B, the sum of all magnitudes,
bounds each of these numbers; a subnormal factor counts as the smallest normal number, whose
exponent it has. Each step makes an error E grow to at most E + q (B + E) + t.

On gfx11 a step has two products, and each of its terms is off by at most one
unit. What it takes for 0, subnormal factors of bf16 and subnormal numbers of f32,
is an error of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.intrinsics.matrix.multiply.products import operands
from amdjit.intrinsics.models.matrix_layouts import BITS, Array, Generation
from amdjit.isa.matrix_rounding import FORMATS

# The cost of rounding to a result type, relative and at least, and L. bf16 is truncated.
_ROUNDING: Mapping[str, tuple[float, float, int]] = MappingProxyType(
    {
        "f32": (2.0**-24, 2.0**-149, -126),
        "f16": (2.0**-11, 2.0**-24, -14),
        "bf16": (2.0**-7 + 2.0**-23, 2.0**-132, -126),
    }
)


def error_bound(
    name: str, a: Any, b: Any, c: Any, index: Any = None, *, target: str | None = None
) -> Array:
    """Return a bound, as f64, on the distance of each element of `reference(name, a, b, c, index,
    target=target)` from the exact A B + C.

    The bound holds for every order of k, as long as nothing overflows and all operands are finite.
    For integers it is 0, unless they wrap or saturate. It does not include errors of converting the
    operands to their types.
    """
    instruction, left, right, added, places = operands(name, a, b, c, index, target=target)
    if instruction.is_integer:
        return np.zeros(added.shape)
    x, y = _magnitudes(left, instruction.a), _magnitudes(right, instruction.b)
    total = np.abs(added.astype(np.float64))
    if places is None:
        total += x @ y
    else:
        for row, picked in enumerate(places):
            total[row] += x[row] @ y[picked]
    floored = 6 if BITS[instruction.a] == 8 else 3
    part, least, lowest = _ROUNDING[instruction.result]
    steps, lost = left.shape[1] // 4, 0.0
    if instruction.generation is Generation.GFX11:
        steps *= 2
        least = least if instruction.result == "f16" else 2.0**-126
        lost = _flushed(instruction.a, left, right) + 2.0**-126
    q = floored * 2.0**-24 * (1 + part) + part
    t = floored * 2.0 ** (lowest - 26) * (1 + part) + least
    growth = (1 + q) ** steps
    bound: Array = (1 + 2.0**-20) * ((growth - 1) * total + (steps * t + lost) * growth)
    return bound


def _flushed(kind: str, left: Array, right: Array) -> Any:
    """Return the sum of the magnitudes of products that gfx11 takes for 0."""
    if kind != "bf16":
        return 0.0
    smallest = 2.0 ** FORMATS[kind].lowest
    x, y = (np.abs(each.astype(np.float64)) for each in (left, right))
    return x @ y - np.where(x < smallest, 0, x) @ np.where(y < smallest, 0, y)


def _magnitudes(matrix: Array, kind: str) -> Array:
    values = np.abs(matrix.astype(np.float64))
    return np.where(values > 0, np.maximum(values, 2.0 ** FORMATS[kind].lowest), 0)
