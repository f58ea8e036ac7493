"""Conversions of Numba's `cuda.bf16`: from and to floats and integers, rounded as the name says.

`_rn` rounds to the nearest, of two to the even one, `_rz` toward zero, `_rd` down and `_ru` up. An
integer beyond the limits of its type becomes the nearest limit, and NaN becomes 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, Form, SpecialForm, device_function
from amdjit.intrinsics.arithmetic import clz
from amdjit.types import Scalar, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64

__all__ = [
    "bfloat16_as_int16",
    "bfloat16_as_uint16",
    "bfloat16_to_float32",
    "bfloat16_to_int8_rz",
    "bfloat16_to_int16_rd",
    "bfloat16_to_int16_rn",
    "bfloat16_to_int16_ru",
    "bfloat16_to_int16_rz",
    "bfloat16_to_int32_rd",
    "bfloat16_to_int32_rn",
    "bfloat16_to_int32_ru",
    "bfloat16_to_int32_rz",
    "bfloat16_to_int64_rd",
    "bfloat16_to_int64_rn",
    "bfloat16_to_int64_ru",
    "bfloat16_to_int64_rz",
    "bfloat16_to_uint8_rz",
    "bfloat16_to_uint16_rd",
    "bfloat16_to_uint16_rn",
    "bfloat16_to_uint16_ru",
    "bfloat16_to_uint16_rz",
    "bfloat16_to_uint32_rd",
    "bfloat16_to_uint32_rn",
    "bfloat16_to_uint32_ru",
    "bfloat16_to_uint32_rz",
    "bfloat16_to_uint64_rd",
    "bfloat16_to_uint64_rn",
    "bfloat16_to_uint64_ru",
    "bfloat16_to_uint64_rz",
    "float32_to_bfloat16",
    "float32_to_bfloat16_rd",
    "float32_to_bfloat16_rn",
    "float32_to_bfloat16_ru",
    "float32_to_bfloat16_rz",
    "float64_to_bfloat16",
    "int16_as_bfloat16",
    "int16_to_bfloat16_rd",
    "int16_to_bfloat16_rn",
    "int16_to_bfloat16_ru",
    "int16_to_bfloat16_rz",
    "int32_to_bfloat16_rd",
    "int32_to_bfloat16_rn",
    "int32_to_bfloat16_ru",
    "int32_to_bfloat16_rz",
    "int64_to_bfloat16_rd",
    "int64_to_bfloat16_rn",
    "int64_to_bfloat16_ru",
    "int64_to_bfloat16_rz",
    "uint16_as_bfloat16",
    "uint16_to_bfloat16_rd",
    "uint16_to_bfloat16_rn",
    "uint16_to_bfloat16_ru",
    "uint16_to_bfloat16_rz",
    "uint32_to_bfloat16_rd",
    "uint32_to_bfloat16_rn",
    "uint32_to_bfloat16_ru",
    "uint32_to_bfloat16_rz",
    "uint64_to_bfloat16_rd",
    "uint64_to_bfloat16_rn",
    "uint64_to_bfloat16_ru",
    "uint64_to_bfloat16_rz",
]

_bitcast = SpecialForm(Form.BITCAST, "the same bits read as another type")
_EXACT_IN_F32: Any = (i8, i16, u8, u16)
_WIDE_UNSIGNED: Any = (u32, u64)
_I32: Any = i32
_LOW = 0xFFFF
_HIGH = 0xFFFF0000


@device_function
def bfloat16_to_float32(a):
    """Return the same number as an f32."""
    return f32(bf16(a))


@device_function
def float32_to_bfloat16_rn(a):
    """Return the nearest bf16."""
    return bf16(f32(a))


@device_function
def float64_to_bfloat16(a):
    """Return the nearest bf16, rounded once."""
    return bf16(f64(a))


@device_function
def _cut(a, outward):
    """Return an f32 without the bits that bf16 does not have, or with outward the next bf16 away
    from zero."""
    bits = _bitcast(a, u32)
    cut = bits & u32(_HIGH)
    if outward and bits & u32(_LOW):
        cut += u32(_LOW + 1)
    return bf16(a) if a != a else bf16(_bitcast(cut, f32))


@device_function
def float32_to_bfloat16_rz(a):
    """Return the next bf16 toward zero."""
    return _cut(f32(a), False)


@device_function
def float32_to_bfloat16_rd(a):
    """Return the next bf16 that is not above."""
    return _cut(f32(a), f32(a) < f32(0.0))


@device_function
def float32_to_bfloat16_ru(a):
    """Return the next bf16 that is not below."""
    return _cut(f32(a), f32(a) > f32(0.0))


float32_to_bfloat16 = float32_to_bfloat16_rn


@device_function
def _odd_f32(magnitude):
    """Return an unsigned integer as an f32 that every way of rounding takes to the same bf16 as the
    integer: of more than 24 bits, the last place tells whether any bit beyond it is 1."""
    bits = clz(type(magnitude)(0))
    shift = max(i32(bits) - i32(24) - i32(clz(magnitude)), i32(0))
    kept = magnitude >> type(magnitude)(shift)
    if kept << type(magnitude)(shift) != magnitude:
        kept |= type(magnitude)(1)
    return _bitcast(_bitcast(f32(kept), u32) + (u32(shift) << u32(23)), f32)


@device_function
def _single(a):
    """Return an integer as an f32 for rounding to bf16."""
    if isinstance(a, _EXACT_IN_F32):
        return f32(a)
    if isinstance(a, _WIDE_UNSIGNED):
        return _odd_f32(a)
    if isinstance(a, _I32):
        magnitude = _odd_f32(u32(-a) if a < 0 else u32(a))
    else:
        magnitude = _odd_f32(u64(-a) if a < 0 else u64(a))
    return -magnitude if a < 0 else magnitude


@device_function
def bfloat16_as_int16(a):
    """Return the bits as an i16."""
    return _bitcast(bf16(a), i16)


@device_function
def bfloat16_as_uint16(a):
    """Return the bits as a u16."""
    return _bitcast(bf16(a), u16)


@device_function
def int16_as_bfloat16(a):
    """Return the bf16 of these bits."""
    return _bitcast(i16(a), bf16)


@device_function
def uint16_as_bfloat16(a):
    """Return the bf16 of these bits."""
    return _bitcast(u16(a), bf16)


def _to_integer(kind: Scalar, rounded: Callable[..., Any]) -> DeviceFunction:
    def convert(a):
        return kind(rounded(f32(bf16(a))))

    return device_function(convert)


def _from_integer(kind: Scalar, rounded: DeviceFunction) -> DeviceFunction:
    def convert(a):
        return rounded(_single(kind(a)))

    return device_function(convert)


bfloat16_to_int8_rz = _to_integer(i8, np.trunc)
bfloat16_to_uint8_rz = _to_integer(u8, np.trunc)

bfloat16_to_int16_rn = _to_integer(i16, np.rint)
bfloat16_to_int16_rz = _to_integer(i16, np.trunc)
bfloat16_to_int16_rd = _to_integer(i16, np.floor)
bfloat16_to_int16_ru = _to_integer(i16, np.ceil)
int16_to_bfloat16_rn = _from_integer(i16, float32_to_bfloat16_rn)
int16_to_bfloat16_rz = _from_integer(i16, float32_to_bfloat16_rz)
int16_to_bfloat16_rd = _from_integer(i16, float32_to_bfloat16_rd)
int16_to_bfloat16_ru = _from_integer(i16, float32_to_bfloat16_ru)

bfloat16_to_uint16_rn = _to_integer(u16, np.rint)
bfloat16_to_uint16_rz = _to_integer(u16, np.trunc)
bfloat16_to_uint16_rd = _to_integer(u16, np.floor)
bfloat16_to_uint16_ru = _to_integer(u16, np.ceil)
uint16_to_bfloat16_rn = _from_integer(u16, float32_to_bfloat16_rn)
uint16_to_bfloat16_rz = _from_integer(u16, float32_to_bfloat16_rz)
uint16_to_bfloat16_rd = _from_integer(u16, float32_to_bfloat16_rd)
uint16_to_bfloat16_ru = _from_integer(u16, float32_to_bfloat16_ru)

bfloat16_to_int32_rn = _to_integer(i32, np.rint)
bfloat16_to_int32_rz = _to_integer(i32, np.trunc)
bfloat16_to_int32_rd = _to_integer(i32, np.floor)
bfloat16_to_int32_ru = _to_integer(i32, np.ceil)
int32_to_bfloat16_rn = _from_integer(i32, float32_to_bfloat16_rn)
int32_to_bfloat16_rz = _from_integer(i32, float32_to_bfloat16_rz)
int32_to_bfloat16_rd = _from_integer(i32, float32_to_bfloat16_rd)
int32_to_bfloat16_ru = _from_integer(i32, float32_to_bfloat16_ru)

bfloat16_to_uint32_rn = _to_integer(u32, np.rint)
bfloat16_to_uint32_rz = _to_integer(u32, np.trunc)
bfloat16_to_uint32_rd = _to_integer(u32, np.floor)
bfloat16_to_uint32_ru = _to_integer(u32, np.ceil)
uint32_to_bfloat16_rn = _from_integer(u32, float32_to_bfloat16_rn)
uint32_to_bfloat16_rz = _from_integer(u32, float32_to_bfloat16_rz)
uint32_to_bfloat16_rd = _from_integer(u32, float32_to_bfloat16_rd)
uint32_to_bfloat16_ru = _from_integer(u32, float32_to_bfloat16_ru)

bfloat16_to_int64_rn = _to_integer(i64, np.rint)
bfloat16_to_int64_rz = _to_integer(i64, np.trunc)
bfloat16_to_int64_rd = _to_integer(i64, np.floor)
bfloat16_to_int64_ru = _to_integer(i64, np.ceil)
int64_to_bfloat16_rn = _from_integer(i64, float32_to_bfloat16_rn)
int64_to_bfloat16_rz = _from_integer(i64, float32_to_bfloat16_rz)
int64_to_bfloat16_rd = _from_integer(i64, float32_to_bfloat16_rd)
int64_to_bfloat16_ru = _from_integer(i64, float32_to_bfloat16_ru)

bfloat16_to_uint64_rn = _to_integer(u64, np.rint)
bfloat16_to_uint64_rz = _to_integer(u64, np.trunc)
bfloat16_to_uint64_rd = _to_integer(u64, np.floor)
bfloat16_to_uint64_ru = _to_integer(u64, np.ceil)
uint64_to_bfloat16_rn = _from_integer(u64, float32_to_bfloat16_rn)
uint64_to_bfloat16_rz = _from_integer(u64, float32_to_bfloat16_rz)
uint64_to_bfloat16_rd = _from_integer(u64, float32_to_bfloat16_rd)
uint64_to_bfloat16_ru = _from_integer(u64, float32_to_bfloat16_ru)
