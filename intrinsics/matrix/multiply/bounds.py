"""How far products of floats may be from the exact ones, by the rule that they are added by.

A step (see `dot_steps`) floors a few terms to its grid, whose unit is at most 2**-24 of the largest
product, 2**-26 of C, or 2**(L - 26), and rounds once. B, the sum of all magnitudes, bounds each of
these numbers; of subnormal factors the smallest normal number counts, since their exponent does. So
with each step an error E grows to at most E + q (B + E) + t.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.intrinsics.matrix.multiply.products import operands
from amdjit.intrinsics.models.dot_steps import smallest_normal
from amdjit.intrinsics.models.matrix_layouts import BITS, DTYPES, Array

# What rounding to a result costs, as a part of it and at least, and L. bf16 is cut.
_ROUNDING: Mapping[str, tuple[float, float, int]] = MappingProxyType(
    {
        "f32": (2.0**-24, 2.0**-149, -126),
        "f16": (2.0**-11, 2.0**-24, -14),
        "bf16": (2.0**-7 + 2.0**-23, 2.0**-132, -126),
    }
)


def error_bound(name: str, a: Any, b: Any, c: Any, index: Any = None) -> Array:
    """Return how far each element of `reference(name, a, b, c, index)` can be from the exact A B +
    C, as f64.

    It is a bound for every order of k, as long as nothing overflows and all operands are finite; of
    integers it is 0, unless they wrap or saturate. What the operands lose when they are converted
    to their types is not in it.
    """
    instruction, left, right, added, places = operands(name, a, b, c, index)
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
    q = floored * 2.0**-24 * (1 + part) + part
    t = floored * 2.0 ** (lowest - 26) * (1 + part) + least
    growth = (1 + q) ** (left.shape[1] // 4)
    bound: Array = (1 + 2.0**-20) * ((growth - 1) * total + left.shape[1] // 4 * t * growth)
    return bound


def _magnitudes(matrix: Array, kind: str) -> Array:
    values = np.abs(matrix.astype(np.float64))
    return np.where(values > 0, np.maximum(values, smallest_normal(DTYPES[kind])), 0)
