"""Conversions between floats, integers and 8-bit floats (RDNA 4 ISA, 16.7 and 16.12)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.emulator.model.eighth import decoded
from tests.emulator.model.integers import packed, unchanged
from tests.emulator.model.operation import Op, op
from tests.emulator.model.values import Numbers, choose, each, patterns

Float = Callable[..., Numbers]


def truncated(size: int, signed: bool) -> Callable[[float], int]:
    """Towards zero, saturated; NaN is 0."""
    low, high = (-(1 << size - 1), (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)

    def convert(x: float) -> int:
        if math.isnan(x):
            return 0
        return (low if x < 0 else high) if math.isinf(x) else min(max(math.trunc(x), low), high)

    return convert


def to_integer(
    size: int, signed: bool, before: Callable[[Numbers], Numbers] | None = None
) -> Float:
    def compute(x: Numbers) -> Numbers:
        wide = x.astype(np.float64)
        return each(truncated(size, signed), before(wide) if before else wide)

    return compute


def limit_by_sign(before: Callable[[Numbers], Numbers]) -> Float:
    """To i32, where a NaN is the limit on the side of its sign."""

    def compute(x: Numbers) -> Numbers:
        limit = np.where(negative(x), -(1 << 31), (1 << 31) - 1)
        return choose(np.isnan(x), limit, to_integer(32, True)(before(x)))

    return compute


def normalised(size: int, signed: bool) -> Callable[[float], int]:
    """[-1, 1] or [0, 1] to integers, to nearest even; NaN is 0."""
    top = (1 << size - 1) - 1 if signed else (1 << size) - 1

    def convert(x: float) -> int:
        limited = min(max(x, -1.0 if signed else 0.0), 1.0)
        return 0 if math.isnan(x) else round(Fraction(limited) * top)

    return convert


def to_norm(size: int, signed: bool) -> Float:
    return lambda x: each(normalised(size, signed), x.astype(np.float64))


def byte_of(kind: str, byte: int = 0) -> Float:
    return lambda x: np.array([decoded(int(v) >> 8 * byte & 255, kind) for v in x], np.float32)


def pair_of_bytes(kind: str) -> Float:
    def compute(x: Numbers) -> Numbers:
        low, high = (patterns(byte_of(kind, byte)(x), "f32").astype(object) for byte in (0, 1))
        return low | high << 32

    return compute


def towards_zero(x: Numbers) -> Numbers:
    """f32 to f16 patterns, rounded towards zero."""
    near = x.astype(np.float16)
    over = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    back = np.nextafter(near, np.asarray(0, np.float16))
    return patterns(np.where(over, back, near), "f16").astype(object)


CONVERSIONS: dict[str, Op] = {
    "v_cvt_i32_f64": op("i32", "f64", to_integer(32, True), clamps=True),
    "v_cvt_u32_f64": op("u32", "f64", to_integer(32, False), clamps=True),
    "v_cvt_i32_f32": op("i32", "f32", to_integer(32, True), clamps=True),
    "v_cvt_u32_f32": op("u32", "f32", to_integer(32, False), clamps=True),
    "v_cvt_u16_f16": op("u16", "f16", to_integer(16, False), clamps=True),
    "v_cvt_i16_f16": op("i16", "f16", to_integer(16, True), clamps=True),
    "v_cvt_nearest_i32_f32": op(
        "i32", "f32", limit_by_sign(lambda x: np.floor(x.astype(np.float64) + 0.5)), clamps=True
    ),
    "v_cvt_floor_i32_f32": op("i32", "f32", limit_by_sign(np.floor), clamps=True),
    "v_cvt_f64_i32": op("f64", "i32", lambda x: x.astype(np.float64)),
    "v_cvt_f64_u32": op("f64", "u32", lambda x: x.astype(np.float64)),
    "v_cvt_f32_i32": op("f32", "i32", lambda x: x.astype(np.float64).astype(np.float32)),
    "v_cvt_f32_u32": op("f32", "u32", lambda x: x.astype(np.float64).astype(np.float32)),
    "v_cvt_f16_u16": op("f16", "u16", lambda x: x.astype(np.float64).astype(np.float16)),
    "v_cvt_f16_i16": op("f16", "i16", lambda x: x.astype(np.float64).astype(np.float16)),
    "v_cvt_f16_f32": op("f16", "f32", lambda x: x.astype(np.float16)),
    "v_cvt_f32_f16": op("f32", "f16", lambda x: x.astype(np.float32)),
    "v_cvt_f32_f64": op("f32", "f64", lambda x: x.astype(np.float32)),
    "v_cvt_f64_f32": op("f64", "f32", lambda x: x.astype(np.float64)),
    "v_cvt_off_f32_i4": op("f32", "i4", lambda x: (x.astype(np.float64) / 16).astype(np.float32)),
    **{
        f"v_cvt_f32_ubyte{n}": op(
            "f32", "b32", lambda x, n=n: (x >> 8 * n & 255).astype(np.float32)
        )
        for n in range(4)
    },
    "v_cvt_norm_i16_f16": op("i16", "f16", to_norm(16, True), clamps=True),
    "v_cvt_norm_u16_f16": op("u16", "f16", to_norm(16, False), clamps=True),
    **{
        f"v_cvt_pk_norm_{sign}16_{code}": op(
            "b32",
            f"{code} {code}",
            lambda x, y, signed=sign == "i": packed(to_norm(16, signed)(x), to_norm(16, signed)(y)),
            clamped=unchanged,
        )
        for sign in "iu"
        for code in ("f16", "f32")
    },
    "v_cvt_pk_i16_f32": op(
        "b32",
        "f32 f32",
        lambda x, y: packed(to_integer(16, True)(x), to_integer(16, True)(y)),
        clamped=unchanged,
    ),
    "v_cvt_pk_u16_f32": op(
        "b32",
        "f32 f32",
        lambda x, y: packed(to_integer(16, False)(x), to_integer(16, False)(y)),
        clamped=unchanged,
    ),
    "v_cvt_pk_rtz_f16_f32": op(
        "2xf16",
        "f32 f32",
        lambda x, y: packed(towards_zero(x), towards_zero(y)),
        clamped=unchanged,
    ),
    "v_cvt_f32_fp8": op("f32", "b32", byte_of("fp8")),
    "v_cvt_f32_bf8": op("f32", "b32", byte_of("bf8")),
    "v_cvt_pk_f32_fp8": op("2xf32", "b16", pair_of_bytes("fp8")),
    "v_cvt_pk_f32_bf8": op("2xf32", "b16", pair_of_bytes("bf8")),
}


def negative(x: Numbers) -> Numbers:
    return np.signbit(x)
