"""Conversions of Numba's `cuda.bf16`: from and to floats and integers, rounded as the name says.

`_rn` rounds to the nearest even, `_rz` toward zero, `_rd` down and `_ru` up. A result beyond the
limits of an integer type becomes the nearest limit, and NaN becomes 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, Form, SpecialForm, device_function
from amdjit.intrinsics.arithmetic import clz
from amdjit.numba_cuda.functions.halves import made
from amdjit.types import Scalar, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64

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
    """Return an f32 without the bits that bf16 does not have, or if `outward`, the next bf16 away
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
    """Return an f32 that every rounding mode rounds to the same bf16 as the unsigned integer. If
    the integer has more than 24 bits, the last bit of the f32 says whether any lower bit is 1."""
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


def _to_integer(kind: Scalar, rounded: Callable[..., Any]) -> Callable[..., Any]:
    def convert(a):
        return kind(rounded(f32(bf16(a))))

    return convert


def _from_integer(kind: Scalar, rounded: DeviceFunction) -> Callable[..., Any]:
    def convert(a):
        return rounded(_single(kind(a)))

    return convert


# For each rounding mode: the function to integers, the function to bf16, and the words for it.
_WAYS: Mapping[str, tuple[Callable[..., Any], DeviceFunction, str]] = {
    "rn": (np.rint, float32_to_bfloat16_rn, "the nearest {}, of two the even one"),
    "rz": (np.trunc, float32_to_bfloat16_rz, "the next {} toward zero"),
    "rd": (np.floor, float32_to_bfloat16_rd, "the next {} that is not above"),
    "ru": (np.ceil, float32_to_bfloat16_ru, "the next {} that is not below"),
}
_INTEGERS = {
    ("u" if not kind.is_signed else "") + f"int{kind.bits}": kind
    for kind in (i8, u8, i16, u16, i32, u32, i64, u64)
}


def _conversions() -> Iterator[DeviceFunction]:
    """Yield the conversions between bf16 and integers. Those to 8 bits only round toward zero."""
    for integer, kind in _INTEGERS.items():
        for way, (to_integer, to_bf16, words) in _WAYS.items():
            if kind.bits > 8 or way == "rz":
                name = f"bfloat16_to_{integer}_{way}"
                text = f"Return {words.format(kind)}, within its limits."
                yield made(__name__, name, _to_integer(kind, to_integer), text)
            if kind.bits > 8:
                name = f"{integer}_to_bfloat16_{way}"
                text = f"Return {words.format('bf16')}."
                yield made(__name__, name, _from_integer(kind, to_bf16), text)


_MADE = {each.function.__name__: each for each in _conversions()}
globals().update(_MADE)

__all__ = sorted(
    [
        *_MADE,
        "bfloat16_as_int16",
        "bfloat16_as_uint16",
        "bfloat16_to_float32",
        "float32_to_bfloat16",
        "float32_to_bfloat16_rd",
        "float32_to_bfloat16_rn",
        "float32_to_bfloat16_ru",
        "float32_to_bfloat16_rz",
        "float64_to_bfloat16",
        "int16_as_bfloat16",
        "uint16_as_bfloat16",
    ]
)
