"""The vector types that have a name of their own: f16x8, i32x2, ... Others: `vector(f16, 5)`."""

from __future__ import annotations

from amdjit.types import (
    Vector,
    bf8,
    bf16,
    f16,
    f32,
    f64,
    fp8,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    vector,
)

i8x2 = vector(i8, 2)
i8x3 = vector(i8, 3)
i8x4 = vector(i8, 4)
i8x8 = vector(i8, 8)
i8x16 = vector(i8, 16)
i8x32 = vector(i8, 32)
i16x2 = vector(i16, 2)
i16x3 = vector(i16, 3)
i16x4 = vector(i16, 4)
i16x8 = vector(i16, 8)
i16x16 = vector(i16, 16)
i16x32 = vector(i16, 32)
i32x2 = vector(i32, 2)
i32x3 = vector(i32, 3)
i32x4 = vector(i32, 4)
i32x8 = vector(i32, 8)
i32x16 = vector(i32, 16)
i32x32 = vector(i32, 32)
i64x2 = vector(i64, 2)
i64x3 = vector(i64, 3)
i64x4 = vector(i64, 4)
i64x8 = vector(i64, 8)
i64x16 = vector(i64, 16)
i64x32 = vector(i64, 32)
u8x2 = vector(u8, 2)
u8x3 = vector(u8, 3)
u8x4 = vector(u8, 4)
u8x8 = vector(u8, 8)
u8x16 = vector(u8, 16)
u8x32 = vector(u8, 32)
u16x2 = vector(u16, 2)
u16x3 = vector(u16, 3)
u16x4 = vector(u16, 4)
u16x8 = vector(u16, 8)
u16x16 = vector(u16, 16)
u16x32 = vector(u16, 32)
u32x2 = vector(u32, 2)
u32x3 = vector(u32, 3)
u32x4 = vector(u32, 4)
u32x8 = vector(u32, 8)
u32x16 = vector(u32, 16)
u32x32 = vector(u32, 32)
u64x2 = vector(u64, 2)
u64x3 = vector(u64, 3)
u64x4 = vector(u64, 4)
u64x8 = vector(u64, 8)
u64x16 = vector(u64, 16)
u64x32 = vector(u64, 32)
f16x2 = vector(f16, 2)
f16x3 = vector(f16, 3)
f16x4 = vector(f16, 4)
f16x8 = vector(f16, 8)
f16x16 = vector(f16, 16)
f16x32 = vector(f16, 32)
bf16x2 = vector(bf16, 2)
bf16x3 = vector(bf16, 3)
bf16x4 = vector(bf16, 4)
bf16x8 = vector(bf16, 8)
bf16x16 = vector(bf16, 16)
bf16x32 = vector(bf16, 32)
f32x2 = vector(f32, 2)
f32x3 = vector(f32, 3)
f32x4 = vector(f32, 4)
f32x8 = vector(f32, 8)
f32x16 = vector(f32, 16)
f32x32 = vector(f32, 32)
f64x2 = vector(f64, 2)
f64x3 = vector(f64, 3)
f64x4 = vector(f64, 4)
f64x8 = vector(f64, 8)
f64x16 = vector(f64, 16)
f64x32 = vector(f64, 32)
fp8x2 = vector(fp8, 2)
fp8x3 = vector(fp8, 3)
fp8x4 = vector(fp8, 4)
fp8x8 = vector(fp8, 8)
fp8x16 = vector(fp8, 16)
fp8x32 = vector(fp8, 32)
bf8x2 = vector(bf8, 2)
bf8x3 = vector(bf8, 3)
bf8x4 = vector(bf8, 4)
bf8x8 = vector(bf8, 8)
bf8x16 = vector(bf8, 16)
bf8x32 = vector(bf8, 32)

NAMED_VECTORS: tuple[Vector, ...] = (
    i8x2, i8x3, i8x4, i8x8, i8x16, i8x32,
    i16x2, i16x3, i16x4, i16x8, i16x16, i16x32,
    i32x2, i32x3, i32x4, i32x8, i32x16, i32x32,
    i64x2, i64x3, i64x4, i64x8, i64x16, i64x32,
    u8x2, u8x3, u8x4, u8x8, u8x16, u8x32,
    u16x2, u16x3, u16x4, u16x8, u16x16, u16x32,
    u32x2, u32x3, u32x4, u32x8, u32x16, u32x32,
    u64x2, u64x3, u64x4, u64x8, u64x16, u64x32,
    f16x2, f16x3, f16x4, f16x8, f16x16, f16x32,
    bf16x2, bf16x3, bf16x4, bf16x8, bf16x16, bf16x32,
    f32x2, f32x3, f32x4, f32x8, f32x16, f32x32,
    f64x2, f64x3, f64x4, f64x8, f64x16, f64x32,
    fp8x2, fp8x3, fp8x4, fp8x8, fp8x16, fp8x32,
    bf8x2, bf8x3, bf8x4, bf8x8, bf8x16, bf8x32,
)  # fmt: skip
