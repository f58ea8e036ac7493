"""Numba's names of types, each for one of amdjit's types.

`float32` is `amdjit.f32` itself: `float32[:]` is an array type, and `float32(x)` in a kernel
converts. The classes of types, such as `Array` and `Integer`, are those of `type_classes`.
"""

from __future__ import annotations

from typing import Any

from amdjit.language.named_types import complex64, complex128
from amdjit.numba_cuda.absent import stand_in
from amdjit.numba_cuda.type_classes import *  # noqa: F403
from amdjit.types import (
    VOID,
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

int8, int16, int32, int64 = i8, i16, i32, i64
uint8, uint16, uint32, uint64 = u8, u16, u32, u64
float16, bfloat16, float32, float64 = f16, bf16, f32, f64
void = none = VOID
bool_ = bool8 = boolean
intp = int64
uintp = uint64
byte = uchar = uint8
char = int8
short, ushort = int16, uint16
intc, uintc = int32, uint32
int_, uint = int64, uint64
long_, ulong = int64, uint64
longlong, ulonglong = int64, uint64
float_, double = float32, float64
i1, i2, i4, u1, u2, u4 = i8, i16, i32, u8, u16, u32
b1 = boolean
f2, f4, f8 = f16, f32, f64
c8, c16 = complex64, complex128


def __getattr__(name: str) -> Any:
    """Return the object that stands for a type that has no meaning here."""
    found = stand_in(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


__all__ = [
    "b1",
    "bfloat16",
    "bool8",
    "bool_",
    "boolean",
    "byte",
    "c8",
    "c16",
    "char",
    "complex64",
    "complex128",
    "double",
    "f2",
    "f4",
    "f8",
    "float16",
    "float32",
    "float64",
    "float_",
    "i1",
    "i2",
    "i4",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "intc",
    "intp",
    "long_",
    "longlong",
    "none",
    "short",
    "u1",
    "u2",
    "u4",
    "uchar",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "ushort",
    "void",
]
