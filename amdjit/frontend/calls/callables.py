"""Which objects of Python a kernel can call, and what to write instead of the others."""

from __future__ import annotations

import types
from collections.abc import Hashable
from typing import Any

from amdjit.declarations import DeviceFunction
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.source.reading import is_library
from amdjit.frontend.source.unsupported_functions import (
    RANDOM,
    REMEDIES,
    draws_numbers,
    host_remedy,
)

__all__ = [
    "CALLABLE",
    "is_method_in_python",
    "is_method_of_constant",
    "remedy_for",
    "runs_on_host",
]

CALLABLE = (
    "call an amdjit intrinsic, a device function, or a plain Python function whose source "
    "can be read"
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
