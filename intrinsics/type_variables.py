"""Type variables that the declarations share: a parameter of one of these takes any of its
types."""

from __future__ import annotations

from amdjit.types import (
    SCALARS,
    AddressSpace,
    Type,
    TypeVariable,
    Vector,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)

SHORT_VECTOR_LENGTHS = (2, 3, 4, 8, 16)

FLOAT = TypeVariable("F", (f16, bf16, f32, f64))
"""All floats that have arithmetic."""

NATIVE_FLOAT = TypeVariable("F", (f16, f32, f64))
"""Floats that machine instructions take."""

HALF_OR_SINGLE = TypeVariable("F", (f16, f32))
"""Floats of the transcendental unit."""

SINGLE_OR_DOUBLE = TypeVariable("F", (f32, f64))
"""Floats of 32 and 64 bits; those of 16 are widened."""

INTEGER = TypeVariable("I", (i8, i16, i32, i64, u8, u16, u32, u64))
"""Integers of 8 to 64 bits."""

WORD = TypeVariable("W", (i32, u32))
"""32-bit integers."""


def _float_vectors() -> tuple[Type, ...]:
    return tuple(
        Vector(element, length)
        for element in (f16, bf16, f32, f64)
        for length in SHORT_VECTOR_LENGTHS
    )


FLOAT_OR_VECTOR = TypeVariable("V", (f16, bf16, f32, f64, *_float_vectors()))
"""Floats and short vectors of them."""


def _lane_values() -> tuple[Type, ...]:
    vectors = [
        Vector(element, length)
        for element in SCALARS
        if element is not boolean
        for length in SHORT_VECTOR_LENGTHS
        if element.bits * length % 32 == 0
    ]
    return (*SCALARS, *vectors)


LANE_VALUE = TypeVariable("T", _lane_values())
"""Values that lanes can exchange: scalars, and vectors that fill whole registers."""

GLOBAL_AND_LDS = (AddressSpace.GLOBAL, AddressSpace.LDS)
