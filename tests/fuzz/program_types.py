"""The types that random programs compute with."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np

from amdjit.types import (
    Scalar,
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

INTEGERS = (i8, i16, i32, i64, u8, u16, u32, u64)
FLOATS = (f16, bf16, f32, f64)
NUMBERS = (*INTEGERS, *FLOATS)
PARAMETERS = (i8, u8, i16, i32, u32, i64, u64, f16, bf16, f32, f64)
"""Each program reads and writes one array of each of these types: `a_i8` and `o_i8` ..."""

ITEMS = 32
"""Elements of each input, and of each table of constants: `T_i8`, an array outside the program."""

UNIFORM = 5
"""What the parameter `u` is in all lanes, where `i` is the lane's own number."""

SLOTS = 4
"""Results that a lane has in each array: `o_i8[i * 4]` to `o_i8[i * 4 + 3]`."""


class Member(enum.IntEnum):
    """An enumeration outside of the programs."""

    THREE = 3


CONSTANTS = {"LAST": np.int64(-1), "TWO": np.int16(2), "THREE": Member.THREE}
"""Integers outside of the programs that are not Python's own."""

PYTHON_NUMBERS: dict[str, int | float] = {"p": 5, "q": -3, "r": 0.1, "t": -2.75}
"""What each program gets as arguments that are Python's own numbers."""

VECTORS = (
    Vector(f32, 4),
    Vector(i32, 2),
    Vector(f16, 2),
    Vector(u8, 4),
    Vector(f64, 2),
    Vector(i16, 8),
    Vector(bf16, 4),
)


@dataclass(frozen=True)
class ComplexType:
    """complex64 or complex128."""

    name: str
    part: Scalar


COMPLEX = (ComplexType("complex64", f32), ComplexType("complex128", f64))


@dataclass(frozen=True)
class TupleType:
    """A tuple of these."""

    items: tuple[Kind, ...]


@dataclass(frozen=True)
class RecordType:
    """A class that the program defines. methods: their names, the type of their one argument, and
    of the result."""

    name: str
    fields: tuple[tuple[str, Kind], ...]
    methods: tuple[tuple[str, Kind, Kind], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class MemoryType:
    """Memory of the work-item's own: `m[k]` of a local array, `m[i, k]` of one in LDS. length: how
    many k there are."""

    element: Scalar
    length: int
    in_lds: bool

    def place(self, name: str, index: str) -> str:
        """Write an element of the memory that has this name."""
        return f"{name}[i, {index}]" if self.in_lds else f"{name}[{index}]"


Kind = Scalar | Vector | ComplexType | TupleType | RecordType | MemoryType
SIMPLE: tuple[Kind, ...] = (*NUMBERS, boolean, *VECTORS, *COMPLEX)
