"""Numba's `cuda.bf16`: functions of bf16, most of them rows of `halves`. Conversions are in
`bf16_conversions`.

All results are rounded once: sums, products and quotients, and the functions of one number for each
of the 65,536 numbers. The CUDA Math API, "Bfloat16 Precision Intrinsics", defines NaN, saturation
and the types of results.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, device_function
from amdjit.intrinsics.numbers.floats import fma_bf16
from amdjit.numba_cuda.functions.halves import COMMON, ELEMENTARY, made, of_one, of_two
from amdjit.types import bf16, i32

bfloat16 = bf16


@device_function
def hfma(a, b, c):
    """Return a * b + c, rounded once."""
    return fma_bf16(bf16(a), bf16(b), bf16(c))


@device_function
def hfma_relu(a, b, c):
    """Return a * b + c, rounded once, or 0 where that is negative; NaN stays."""
    return np.maximum(hfma(a, b, c), bf16(0.0))


@device_function
def hisnan(a):
    """Return whether a number is NaN."""
    return bf16(a) != bf16(a)


@device_function
def hisinf(a):
    """Return 1 for infinity, -1 for minus infinity, else 0, an i32."""
    infinity = bf16(math.inf)
    return i32(bf16(a) == infinity) - i32(bf16(a) == -infinity)


@device_function
def _saturated(x):
    """Return the nearest number in [0, 1], 0 for NaN."""
    return min(np.fmax(x, bf16(0.0)), bf16(1.0))


@device_function
def hfma_sat(a, b, c):
    """Return a * b + c, rounded once and limited to [0, 1]; 0 for NaN."""
    return _saturated(hfma(a, b, c))


def _limited(compute: DeviceFunction) -> Callable[..., Any]:
    def function(a, b):
        return _saturated(compute(a, b))

    return function


def _negated(compute: DeviceFunction) -> Callable[..., Any]:
    def function(a, b):
        return not compute(a, b)

    return function


_MADE = {
    name: made(__name__, name, make(bf16), text)
    for name, (make, text) in {
        **COMMON,
        **{
            name: (of_one(operation), text)
            for name, (operation, text) in {
                **ELEMENTARY,
                "htanh": (math.tanh, "Return the hyperbolic tangent."),
            }.items()
        },
        "hneu": (of_two(operator.ne), "Return a != b; True if one is NaN."),
        "hmax_nan": (of_two(np.maximum), "Return the greater one; NaN if one is NaN."),
        "hmin_nan": (of_two(np.minimum), "Return the lesser one; NaN if one is NaN."),
    }.items()
}
_MADE |= {
    f"{name}_sat": made(
        __name__,
        f"{name}_sat",
        _limited(_MADE[name]),
        f"Return a {sign} b, limited to [0, 1]; 0 for NaN.",
    )
    for name, sign in (("hadd", "+"), ("hsub", "-"), ("hmul", "*"))
}
_MADE |= {
    name: made(__name__, name, _negated(_MADE[other]), f"Return a {sign} b; True if one is NaN.")
    for name, other, sign in (
        ("hequ", "hne", "=="),
        ("hgeu", "hlt", ">="),
        ("hgtu", "hle", ">"),
        ("hleu", "hgt", "<="),
        ("hltu", "hge", "<"),
    )
}
# Arithmetic that compilers must not fuse. amdjit fuses none.
_MADE |= {f"{name}_rn": _MADE[name] for name in ("hadd", "hsub", "hmul")}
_MADE["htanh_approx"] = _MADE["htanh"]
globals().update(_MADE)

__all__ = sorted([*_MADE, "bfloat16", "hfma", "hfma_relu", "hfma_sat", "hisinf", "hisnan"])
