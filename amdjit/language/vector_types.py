"""The vector types that have names of their own: f16x8, i32x2, ... Others: `vector(f16, 5)`.

The package `amdjit` takes every public name of this module.
"""

from amdjit import types as _types

_LENGTHS = (2, 3, 4, 8, 16, 32)


def _named(element: _types.Scalar) -> list[_types.Vector]:
    return [_types.vector(element, length) for length in _LENGTHS]


i8x2, i8x3, i8x4, i8x8, i8x16, i8x32 = _named(_types.i8)
i16x2, i16x3, i16x4, i16x8, i16x16, i16x32 = _named(_types.i16)
i32x2, i32x3, i32x4, i32x8, i32x16, i32x32 = _named(_types.i32)
i64x2, i64x3, i64x4, i64x8, i64x16, i64x32 = _named(_types.i64)
u8x2, u8x3, u8x4, u8x8, u8x16, u8x32 = _named(_types.u8)
u16x2, u16x3, u16x4, u16x8, u16x16, u16x32 = _named(_types.u16)
u32x2, u32x3, u32x4, u32x8, u32x16, u32x32 = _named(_types.u32)
u64x2, u64x3, u64x4, u64x8, u64x16, u64x32 = _named(_types.u64)
f16x2, f16x3, f16x4, f16x8, f16x16, f16x32 = _named(_types.f16)
bf16x2, bf16x3, bf16x4, bf16x8, bf16x16, bf16x32 = _named(_types.bf16)
f32x2, f32x3, f32x4, f32x8, f32x16, f32x32 = _named(_types.f32)
f64x2, f64x3, f64x4, f64x8, f64x16, f64x32 = _named(_types.f64)
fp8x2, fp8x3, fp8x4, fp8x8, fp8x16, fp8x32 = _named(_types.fp8)
bf8x2, bf8x3, bf8x4, bf8x8, bf8x16, bf8x32 = _named(_types.bf8)
