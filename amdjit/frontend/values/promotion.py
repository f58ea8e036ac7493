"""The type that two operands have in common. The table in docs/types.md is checked against these
functions.

Python literals are weak: they take the other operand's type. On their own they are i32 and f32.
"""

from __future__ import annotations

import math

import numpy as np

from amdjit.types import (
    Scalar,
    ScalarKind,
    Type,
    Vector,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)


def common_type(left: Type, right: Type) -> Type | None:
    """Return the type in which an operator works on both, None if the kernel language asks for a
    conversion."""
    if left == right:
        return left
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return common_scalar(left, right)
    if isinstance(left, Vector) and isinstance(right, Scalar):
        return left if common_scalar(left.element, right) == left.element else None
    if isinstance(left, Scalar) and isinstance(right, Vector):
        return common_type(right, left)
    return None


def common_scalar(left: Scalar, right: Scalar) -> Scalar | None:
    """Promote two scalar types: floats win over integers, wider types over narrower ones; two signs
    give the narrowest signed type that holds both, which a u64 does not have."""
    if left == right:
        return left
    if left.storage_only or right.storage_only:
        return None
    if left is boolean or right is boolean:
        return right if left is boolean else left
    if left.is_float and right.is_float:
        return _common_float(left, right)
    if left.is_float or right.is_float:
        return left if left.is_float else right
    if left.kind is right.kind:
        return left if left.bits > right.bits else right
    signed, unsigned = (left, right) if left.is_signed else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    return _HOLDING.get(unsigned)


_HOLDING = {u8: i16, u16: i32, u32: i64}
"""The narrowest signed type that holds an unsigned one."""


def _common_float(left: Scalar, right: Scalar) -> Scalar:
    if {left, right} == {f16, bf16}:
        return f32
    return left if left.bits > right.bits else right


def default_type(value: bool | int | float) -> Scalar | None:
    """Return the type of a literal on its own, None for an integer that no type holds."""
    if isinstance(value, bool):
        return boolean
    if isinstance(value, float):
        return f32
    return next(
        (scalar for scalar in (i32, i64, u64) if scalar.minimum <= value <= scalar.maximum), None
    )


def literal_type(value: bool | int | float, other: Type) -> Scalar | None:
    """Return the scalar type that a literal takes beside an operand of type `other`."""
    scalar = other.element if isinstance(other, Vector) else other
    if not isinstance(scalar, Scalar):
        return None
    if isinstance(value, bool) or scalar.is_float:
        return scalar
    if isinstance(value, int):
        return i32 if scalar is boolean else scalar
    return f64 if scalar.bits == 64 else f32


# The smallest integer that Python refuses to convert to a float.
_TOO_LARGE = 2**1024 - 2**970


def literal_fits(value: bool | int | float, scalar: Scalar) -> bool:
    """Whether a type can hold a literal: integers exactly, floats rounded but not to infinity."""
    if isinstance(value, bool):
        return True
    if scalar is boolean:
        return value in (0, 1)
    if scalar.is_integer:
        return isinstance(value, int) and scalar.minimum <= value <= scalar.maximum
    if isinstance(value, float) and not math.isfinite(value):
        return True
    with np.errstate(over="ignore"):
        return (
            bool(np.isfinite(np.float64(scalar.dtype.type(float(value)))))
            if abs(value) < _TOO_LARGE
            else False
        )


def widens_exactly(source: Type, target: Type) -> bool:
    """Whether every value of `source` is also a value of `target`, so that the conversion may be
    implicit."""
    if source == target:
        return True
    if not (isinstance(source, Scalar) and isinstance(target, Scalar)) or target is boolean:
        return False
    if source is boolean:
        return not target.storage_only
    if source.is_float:
        return target.is_float and common_scalar(source, target) == target
    if target.is_float:
        return source.bits <= {f16: 8, bf16: 8, f32: 16, f64: 32}.get(target, 0)
    return common_scalar(source, target) == target


def assignable(source: Type, target: Type) -> bool:
    """Whether a store converts implicitly, as NumPy's item assignment does: never a float to an
    integer."""
    if source == target:
        return True
    if isinstance(source, Vector) and isinstance(target, Vector):
        return source.length == target.length and assignable(source.element, target.element)
    if not (isinstance(source, Scalar) and isinstance(target, Scalar)):
        return False
    if target.kind is ScalarKind.BOOLEAN:
        return False
    return target.is_float or not source.is_float
