"""What to write instead of well-known functions of Python and NumPy that kernels cannot call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["RANDOM", "REMEDIES", "draws_numbers", "host_remedy"]

_SUMS = "add in a loop, or over a wave with `amdjit.intrinsics.wave.reduce`"
_PRODUCTS = (
    "write the loop over the summed index, or multiply tiles with `amdjit.intrinsics.matrix`"
)
_WHOLE = "write a loop: kernels compute one element at a time"

_ARRAYS = (
    "use `amdjit.local.array(shape, dtype)` for an array of the work-item, "
    "`amdjit.shared.array(shape, dtype)` for one of the workgroup (fill it in a loop), or make the "
    "array on the host and pass it"
)

RANDOM = (
    "draw them on the host, or use amdjit.random: `xoroshiro128p_uniform_float32(states, i)`, with "
    "`states = create_xoroshiro128p_states(n, seed=1)` as an argument"
)

_OF_MATH: Mapping[str, str] = {
    "fsum": "add in f64, or keep the rounding error of each addition: `rest += (total - new) + x`",
}
_OF_NUMPY: Mapping[str, str] = {
    **dict.fromkeys(("average", "trace"), _SUMS),
    **dict.fromkeys(
        ("matmul", "vecdot", "matvec", "vecmat", "dot", "inner", "vdot", "tensordot", "einsum"),
        _PRODUCTS,
    ),
    **dict.fromkeys(("sort", "cumsum", "cumprod", "median", "diff"), _WHOLE),
    **dict.fromkeys(
        (*("frombuffer", "fromfunction", "stack", "concatenate", "tile", "repeat"),),
        _ARRAYS,
    ),
    "interp": "find the interval in a loop, then compute `a + t * (b - a)` or `math.fma(t, b - a, "
    "a)`",
    "cross": "write out the three differences of products",
    "i0": "write it as a device function; docs/extending.md shows how to link bitcode that has it",
}


def _by_function(module: Any, remedies: Mapping[str, str]) -> dict[Any, str]:
    return {
        getattr(module, name): remedy for name, remedy in remedies.items() if hasattr(module, name)
    }


def draws_numbers(callee: object) -> bool:
    """Whether this is a function of Python's or NumPy's random numbers."""
    owner = type(getattr(callee, "__self__", None)).__module__
    return owner == "random" or owner.startswith("numpy.random")


def host_remedy(name: str) -> str:
    """Return what to write instead of a function of amdjit's that runs on the host."""
    return _ARRAYS if name in _OF_NUMPY else "call it on the host, before or after the launch"


REMEDIES: Mapping[Any, str] = {**_by_function(math, _OF_MATH), **_by_function(np, _OF_NUMPY)}
"""By the function."""
