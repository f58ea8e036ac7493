"""Reductions and scans over the lanes of a wave, whole or by segments.

Inactive lanes take no part. `operation` is one of "add", "mul", "min", "max", "minimum", "maximum",
and for integers and booleans also "and", "or", "xor". For floats, "min" and "max" ignore NaN, while
"minimum" and "maximum" propagate it, like NumPy's `fmin` and `minimum`. Integers wrap. Floats are
combined in the order of a tree; bf16 is combined in f32 and rounded once. Vectors are combined
element by element.

`lanes.combinations` describes how they become instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from amdjit.declarations import Emit, device_function, intrinsic
from amdjit.intrinsics.lanes.combinations import emit_reduce, emit_scan, emit_segmented, neutral
from amdjit.intrinsics.type_variables import SHORT_VECTOR_LENGTHS
from amdjit.types import (
    Choice,
    Scalar,
    TypeVariable,
    Vector,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    from_dtype,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)

__all__ = [
    "exclusive_scan",
    "inclusive_scan",
    "reduce",
    "segmented_exclusive_scan",
    "segmented_inclusive_scan",
]

_INTEGERS = (i8, u8, i16, u16, i32, u32, i64, u64)
_FLOATS = (f16, bf16, f32, f64)


def _with_vectors(*scalars: Scalar) -> tuple[Scalar | Vector, ...]:
    return (
        *scalars,
        *(Vector(scalar, length) for scalar in scalars for length in SHORT_VECTOR_LENGTHS),
    )


NUMBER = TypeVariable("N", _with_vectors(*_INTEGERS, *_FLOATS))
INTEGER = TypeVariable("I", (*_with_vectors(*_INTEGERS), boolean))
Arithmetic = Annotated[str, Choice("add", "mul", "min", "max", "minimum", "maximum")]
Bitwise = Annotated[str, Choice("and", "or", "xor")]

_REFERENCES: Mapping[str, np.ufunc] = MappingProxyType(
    {
        "add": np.add,
        "mul": np.multiply,
        "min": np.fmin,
        "max": np.fmax,
        "minimum": np.minimum,
        "maximum": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
)


def _reduced(value: Any, operation: str) -> Any:
    value = np.asarray(value)
    wide = _as_combined(value)
    with np.errstate(over="ignore"):
        total = _REFERENCES[operation].reduce(wide, axis=0, dtype=wide.dtype)
    return np.broadcast_to(total.astype(value.dtype), value.shape)


def _scanned(value: Any, operation: str, *, exclusive: bool) -> Any:
    value = np.asarray(value)
    wide = _as_combined(value)
    combine = _REFERENCES[operation]
    with np.errstate(over="ignore"):
        totals = combine.accumulate(wide, axis=0, dtype=wide.dtype)
        if not exclusive:
            return totals.astype(value.dtype)
        type = from_dtype(value.dtype)
        if type is None:
            raise TypeError(f"lanes hold no {value.dtype}")
        start = np.full_like(wide[:1], neutral(type, operation))
        return np.concatenate([start, combine(start, totals[:-1])]).astype(value.dtype)


def _as_combined(value: Any) -> Any:
    """Return bf16 as f32: NumPy would round at every step."""
    return value.astype(np.float32) if value.dtype == bf16.dtype else value


def _segmented(value: Any, head: Any, model: Callable[[Any], Any]) -> Any:
    parts = np.split(np.asarray(value), np.flatnonzero(np.asarray(head)[1:]) + 1)
    return np.concatenate([model(part) for part in parts])


@intrinsic(Emit(emit_reduce), isa="row_xmask")
def _reduce(value: NUMBER, operation: Arithmetic) -> NUMBER:
    """Combine the values of all active lanes by an operator of arithmetic."""
    return _reduced(value, operation)


@intrinsic(Emit(emit_reduce), isa="row_xmask")
def _reduce_bits(value: INTEGER, operation: Bitwise) -> INTEGER:
    """Combine the values of all active lanes by an operator on bits."""
    return _reduced(value, operation)


@device_function
def reduce(value, operation="add"):
    """Return the combination of all active lanes' values, in all active lanes."""
    if operation in ("and", "or", "xor"):
        return _reduce_bits(value, operation)
    return _reduce(value, operation)


def _scans(exclusive: bool) -> Emit:
    return Emit(partial(emit_scan, exclusive=exclusive))


@intrinsic(_scans(False), isa="row_shr")
def _inclusive(value: NUMBER, operation: Arithmetic) -> NUMBER:
    """Combine the values of the active lanes up to this one by an operator of arithmetic."""
    return _scanned(value, operation, exclusive=False)


@intrinsic(_scans(False), isa="row_shr")
def _inclusive_bits(value: INTEGER, operation: Bitwise) -> INTEGER:
    """Combine the values of the active lanes up to this one by an operator on bits."""
    return _scanned(value, operation, exclusive=False)


@device_function
def inclusive_scan(value, operation="add"):
    """Return the combination of the values of the active lanes up to and including this one."""
    if operation in ("and", "or", "xor"):
        return _inclusive_bits(value, operation)
    return _inclusive(value, operation)


@intrinsic(_scans(True), isa="row_shr")
def _exclusive(value: NUMBER, operation: Arithmetic) -> NUMBER:
    """Combine the values of the active lanes below this one by an operator of arithmetic."""
    return _scanned(value, operation, exclusive=True)


@intrinsic(_scans(True), isa="row_shr")
def _exclusive_bits(value: INTEGER, operation: Bitwise) -> INTEGER:
    """Combine the values of the active lanes below this one by an operator on bits."""
    return _scanned(value, operation, exclusive=True)


@device_function
def exclusive_scan(value, operation="add"):
    """Return the combination of the values of the active lanes below this one; the lowest lane gets
    the neutral value."""
    if operation in ("and", "or", "xor"):
        return _exclusive_bits(value, operation)
    return _exclusive(value, operation)


def _segments(exclusive: bool) -> Emit:
    return Emit(partial(emit_segmented, exclusive=exclusive))


@intrinsic(_segments(False), isa="row_shr")
def _segmented_inclusive(value: NUMBER, head: boolean, operation: Arithmetic) -> NUMBER:
    """Combine the values of the segment's active lanes up to this one by an operator of
    arithmetic."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=False))


@intrinsic(_segments(False), isa="row_shr")
def _segmented_inclusive_bits(value: INTEGER, head: boolean, operation: Bitwise) -> INTEGER:
    """Combine the values of the segment's active lanes up to this one by an operator on bits."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=False))


@device_function
def segmented_inclusive_scan(value, head, operation="add"):
    """Return `inclusive_scan` within segments: a new segment begins at each active lane where
    `head` is true."""
    if operation in ("and", "or", "xor"):
        return _segmented_inclusive_bits(value, head, operation)
    return _segmented_inclusive(value, head, operation)


@intrinsic(_segments(True), isa="row_shr")
def _segmented_exclusive(value: NUMBER, head: boolean, operation: Arithmetic) -> NUMBER:
    """Combine the values of the segment's active lanes below this one by an operator of
    arithmetic."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=True))


@intrinsic(_segments(True), isa="row_shr")
def _segmented_exclusive_bits(value: INTEGER, head: boolean, operation: Bitwise) -> INTEGER:
    """Combine the values of the segment's active lanes below this one by an operator on bits."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=True))


@device_function
def segmented_exclusive_scan(value, head, operation="add"):
    """Return `exclusive_scan` within segments: a new segment begins at each active lane where
    `head` is true."""
    if operation in ("and", "or", "xor"):
        return _segmented_exclusive_bits(value, head, operation)
    return _segmented_exclusive(value, head, operation)
