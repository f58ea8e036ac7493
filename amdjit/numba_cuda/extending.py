"""Numba's `cuda.extending`: `overload` for functions in Python. What extends Numba's compiler
itself is refused."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from amdjit.diagnostics import LaunchError
from amdjit.language.overloading import add_overload
from amdjit.numba_cuda.absent import stand_in

__all__ = ["overload", "register_jitable"]


def overload(
    func: Any,
    jit_options: Any = None,
    strict: bool = True,
    inline: Any = "never",
    prefer_literal: bool = False,
    target: str = "cuda",
) -> Callable[[Any], Any]:
    """Let the decorated function implement `func` in kernels. It gets the types of the arguments,
    and returns the implementation, or None for types that it does not implement.

    For the target "cuda" or "generic"; others mean no kernels. LaunchError for functions that are
    not written in Python.
    """
    if not isinstance(func, types.FunctionType):
        raise LaunchError(
            f"overload: {func!r} is no function in Python, and kernels have amdjit's own: call a "
            "function of another name"
        )
    if prefer_literal:
        raise LaunchError(
            "overload: prefer_literal=True: literal types exist only inside Numba's compiler; pass "
            "a Const[...] parameter"
        )

    def decorate(choose: Any) -> Any:
        if target in ("cuda", "generic", "gpu"):
            add_overload(func, choose, is_first=target != "generic")
        return choose

    return decorate


def register_jitable(*function: Any, **options: Any) -> Any:
    """Return the function: kernels call functions in Python as they are."""
    return function[0] if function else lambda each: each


def __getattr__(name: str) -> Any:
    """Return the object that stands for what extends Numba's compiler."""
    found = stand_in(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
