"""Python's own `sum`, `min`, `max`, `any` and `all` of an array's elements."""

from __future__ import annotations

from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.arrays.reductions import all_true, any_true, checked, folded, ordered
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Array, Record, boolean, i32

__all__ = ["python_all", "python_any", "python_max", "python_min", "python_sum"]


@compile_time
def _one_axis(compilation: Compilation, a: Array, name: str, numpys: str) -> bool:
    """Refuse Python's functions of matrices, whose items are rows."""
    if a.ndim > 1:
        raise Refused(f"Python's `{name}` of a matrix", f"use `a.{numpys}()` for all its elements")
    return True


@compile_time
def _python_zero(compilation: Compilation, a: Array) -> Any:
    """Return the type of `0 + a[0]`."""
    if isinstance(a.element, Record):
        return a.element
    return i32 if a.element is boolean else a.element


@device_function
def python_sum(a, start=0):
    """Return Python's sum of the elements, in their own type."""
    if not checked(a, "sum") or not _one_axis(a, "sum", "sum"):
        return None
    kind = _python_zero(a)
    return folded(a, lambda value, x: value + kind(x), start + kind(0))


@device_function
def python_min(a):
    """Return the least element, NaN if one is NaN."""
    if not ordered(a, "min") or not _one_axis(a, "min", "min"):
        return None
    if a.size == 0:
        raise ValueError("min() arg is an empty sequence")
    return folded(a, lambda value, x: min(value, x), a[0])


@device_function
def python_max(a):
    """Return the greatest element, NaN if one is NaN."""
    if not ordered(a, "max") or not _one_axis(a, "max", "max"):
        return None
    if a.size == 0:
        raise ValueError("max() arg is an empty sequence")
    return folded(a, lambda value, x: max(value, x), a[0])


@device_function
def python_any(a):
    """Return whether an element is not 0."""
    if not checked(a, "any") or not _one_axis(a, "any", "any"):
        return None
    return any_true(a)


@device_function
def python_all(a):
    """Return whether no element is 0."""
    if not checked(a, "all") or not _one_axis(a, "all", "all"):
        return None
    return all_true(a)
