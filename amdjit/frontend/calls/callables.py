"""Which objects of Python a kernel can call, and what to write instead of the others."""

from __future__ import annotations

import math
import types
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.source.reading import is_library

__all__ = [
    "CALLABLE",
    "REMEDIES",
    "is_method_in_python",
    "is_method_of_constant",
    "remedy_for",
    "runs_on_host",
]

CALLABLE = (
    "call an amdjit intrinsic, a device function, or a plain Python function whose source "
    "can be read"
)

_OF_NUMBAS_COMPILER = (
    "it is an `@intrinsic` of Numba's compiler: write a function in Python and `overload` it, or "
    "declare an operation by `@amdjit.intrinsic`"
)


def runs_on_host(function: types.FunctionType) -> bool:
    """Whether this is a function of amdjit's that makes arrays, launches or compiles."""
    return (function.__module__ or "").partition(".")[0] == "amdjit" and not is_library(function)


def is_method_in_python(callee: object) -> bool:
    """Whether this is a bound method that a kernel can call, not one of C or of a generator."""
    return (
        isinstance(callee, types.MethodType)
        and isinstance(callee.__func__, (types.FunctionType, DeviceFunction))
        and not draws_numbers(callee)
    )


def is_method_of_constant(callee: Any) -> bool:
    """Whether this is `(3 + 4j).conjugate`, `"text".upper` or the like."""
    owner = getattr(callee, "__self__", None)
    return isinstance(callee, types.BuiltinMethodType) and isinstance(
        owner, (int, float, complex, str)
    )


def remedy_for(builder: FunctionBuilder, callee: object) -> str:
    """Suggest a replacement. NumPy's functions have no source, but some have a namesake that
    kernels can call."""
    if isinstance(callee, Hashable) and callee in REMEDIES:
        return REMEDIES[callee]
    if isinstance(callee, types.FunctionType) and runs_on_host(callee):
        return host_remedy(callee.__name__)
    if draws_numbers(callee):
        return RANDOM
    if type(callee).__module__ == "numba.core.extending":
        return _OF_NUMBAS_COMPILER
    name = getattr(callee, "__name__", "")
    namesake = next(
        (ours for ours in builder.session.builtins if ours.__name__ == name and ours is not callee),
        None,
    )
    return (
        CALLABLE
        if namesake is None
        else f"use Python's `{namesake.__module__}.{name}`".replace("builtins.", "")
    )


# What to write instead of well-known functions of Python and NumPy that kernels cannot call.

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
