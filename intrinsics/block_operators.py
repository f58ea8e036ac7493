"""The operators of reductions and scans of a workgroup: names, and functions of two values."""

from __future__ import annotations

from typing import Any

import numpy as np

import amdjit.intrinsics.math as functions
from amdjit.declarations import device_function
from amdjit.intrinsics.lanes.combinations import neutral
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar, Type, bf16, boolean

__all__ = ["combined", "is_added_in_f32", "is_built_in", "neutral_of"]

_NAMES = ("add", "mul", "min", "max", "minimum", "maximum", "and", "or", "xor")
_BITS = ("and", "or", "xor")
_COMPLEX = (np.complex64, np.complex128)  # what `type` returns of complex numbers
_NEUTRAL_COMPLEX = {"add": 0, "mul": 1}


def _check(op: Any, kind: Any) -> None:
    """Raise `Refused` for what is no operator, and for names that values of this type lack."""
    if isinstance(op, (Type, bool, int, float)):
        found = f"a value of type {op}" if isinstance(op, Type) else str(op)
        raise Refused(f"the operator is {found}", "write the operator first: `reduce(op, value)`")
    if not isinstance(op, str):
        return
    if op not in _NAMES:
        raise Refused(f"there is no operator {op!r}", f"write one of {', '.join(_NAMES)}")
    if kind in _COMPLEX and op in _NEUTRAL_COMPLEX:
        return
    if not isinstance(kind, Scalar) or kind.storage_only:
        raise Refused(f"{op!r} of {_named(kind)}", "write a function of two such values")
    if kind.is_float if op in _BITS else kind is boolean:
        raise Refused(f"{op!r} of {kind}", "write a function, or convert the value")


@compile_time
def is_built_in(compilation: Compilation, op: Any, kind: Any) -> bool:
    """Whether instructions combine a whole wave."""
    _check(op, kind)
    return isinstance(op, str) and kind not in _COMPLEX and compilation.target.isa[0] >= 10


@compile_time
def is_added_in_f32(compilation: Compilation, kind: Any) -> bool:
    """Whether `wave.reduce` adds values of this type as f32."""
    return kind is bf16


def _named(kind: Any) -> str:
    return str(kind) if isinstance(kind, Type) else getattr(kind, "__name__", "this value")


@compile_time
def neutral_of(compilation: Compilation, op: Any, kind: Any) -> Any:
    """Return the value that changes nothing under a named operator."""
    _check(op, kind)
    if not isinstance(op, str):
        raise Refused("a scan of this operator begins with nothing", "give `init`")
    if kind in _COMPLEX:
        return _NEUTRAL_COMPLEX[op]
    found = neutral(kind, op)
    return bool(found) if kind is boolean else found


@device_function
def combined(op, first, second):
    """Return the combination of two values, of their type."""
    kind = type(first)
    if isinstance(op, str):
        return kind(_by_name(op, first, second))
    result = op(first, second)
    if isinstance(first, complex):
        return kind(result)
    if isinstance(first, tuple):
        items = tuple(type(old)(new) for old, new in zip(first, result))  # noqa: B905
        return items if kind is tuple else kind(*items)
    return kind(result)


@device_function
def _by_name(op, first, second):
    if op == "add":
        return first + second
    if op == "mul":
        return first * second
    if op == "min":
        return functions.fmin(first, second) if type(first).is_float else min(first, second)
    if op == "max":
        return functions.fmax(first, second) if type(first).is_float else max(first, second)
    if op == "minimum":
        return min(first, second)
    if op == "maximum":
        return max(first, second)
    if op == "and":
        return first & second
    if op == "or":
        return first | second
    return first ^ second
