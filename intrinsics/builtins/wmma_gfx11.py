"""The dense wave32 WMMA instructions of gfx11 under clang's builtin names without
`__builtin_amdgcn_`.

A and B are held twice: lanes 16..31 repeat lanes 0..15. `upper` chooses the half of each register
that a 16-bit result is written to; the `_tied` forms keep the other half of C.

The reference models take whole-wave operands, as those of gfx12 do.

Sources: clang's AMDGPU builtins; RDNA3 ISA, 7.9 "Wave Matrix Multiply Accumulate".
"""

from __future__ import annotations

from typing import Annotated

from amdjit.declarations import As, LlvmCall
from amdjit.intrinsics.builtins.table import builtin
from amdjit.intrinsics.models.matrix_arithmetic import wave_product
from amdjit.types import Immediate, TypeVariable, bf16, f16, f32, i16, i32, vector

Flag = Annotated[bool, Immediate(0, 1)]

f16x16, bf16x16, i16x16 = (vector(element, 16) for element in (f16, bf16, i16))
f32x8, i32x8, i32x4, i32x2 = vector(f32, 8), vector(i32, 8), vector(i32, 4), vector(i32, 2)
BF16_INPUT = TypeVariable("A", (bf16x16, i16x16))
BF16_ACCUMULATOR = TypeVariable("C", (bf16x16, i16x16))


@builtin(
    LlvmCall("llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16"),
)
def wmma_f32_16x16x16_f16_w32(a: f16x16, b: f16x16, c: f32x8) -> f32x8:
    """Multiply f16 matrices, add in f32 (`v_wmma_f32_16x16x16_f16`)."""
    return wave_product("wmma_f32_16x16x16_f16_w32", a, b, c)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16", (As("a", i16x16), As("b", i16x16), "c")
    ),
)
def wmma_f32_16x16x16_bf16_w32(a: BF16_INPUT, b: BF16_INPUT, c: f32x8) -> f32x8:
    """Multiply bf16 matrices, add in f32 (`v_wmma_f32_16x16x16_bf16`)."""
    return wave_product("wmma_f32_16x16x16_bf16_w32", a, b, c)


@builtin(
    LlvmCall("llvm.amdgcn.wmma.f16.16x16x16.f16.v16f16.v16f16"),
)
def wmma_f16_16x16x16_f16_w32(a: f16x16, b: f16x16, c: f16x16, upper: Flag) -> f16x16:
    """Multiply f16 matrices, add in f16 (`v_wmma_f16_16x16x16_f16`)."""
    return wave_product("wmma_f16_16x16x16_f16_w32", a, b, c, upper)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.bf16.16x16x16.bf16.v16i16.v16i16",
        (As("a", i16x16), As("b", i16x16), As("c", i16x16), "upper"),
        result=i16x16,
    ),
)
def wmma_bf16_16x16x16_bf16_w32(
    a: BF16_INPUT, b: BF16_INPUT, c: BF16_ACCUMULATOR, upper: Flag
) -> BF16_ACCUMULATOR:
    """Multiply bf16 matrices, add in bf16 (`v_wmma_bf16_16x16x16_bf16`)."""
    return wave_product("wmma_bf16_16x16x16_bf16_w32", a, b, c, upper)


@builtin(
    LlvmCall("llvm.amdgcn.wmma.f16.16x16x16.f16.tied.v16f16.v16f16"),
)
def wmma_f16_16x16x16_f16_tied_w32(a: f16x16, b: f16x16, c: f16x16, upper: Flag) -> f16x16:
    """Multiply f16 matrices, add in f16, keep the other halves of C (`v_wmma_f16_16x16x16_f16`)."""
    return wave_product("wmma_f16_16x16x16_f16_tied_w32", a, b, c, upper)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.bf16.16x16x16.bf16.tied.v16i16.v16i16",
        (As("a", i16x16), As("b", i16x16), As("c", i16x16), "upper"),
        result=i16x16,
    ),
)
def wmma_bf16_16x16x16_bf16_tied_w32(
    a: BF16_INPUT, b: BF16_INPUT, c: BF16_ACCUMULATOR, upper: Flag
) -> BF16_ACCUMULATOR:
    """Multiply bf16 matrices, add in bf16, keep the other halves of C
    (`v_wmma_bf16_16x16x16_bf16`)."""
    return wave_product("wmma_bf16_16x16x16_bf16_tied_w32", a, b, c, upper)


@builtin(
    LlvmCall("llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32"),
)
def wmma_i32_16x16x16_iu8_w32(
    a_signed: Flag, a: i32x4, b_signed: Flag, b: i32x4, c: i32x8, clamp: Flag
) -> i32x8:
    """Multiply 8-bit integer matrices, add in i32 (`v_wmma_i32_16x16x16_iu8`)."""
    return wave_product("wmma_i32_16x16x16_iu8_w32", a_signed, a, b_signed, b, c, clamp)


@builtin(
    LlvmCall("llvm.amdgcn.wmma.i32.16x16x16.iu4.v8i32.v2i32"),
)
def wmma_i32_16x16x16_iu4_w32(
    a_signed: Flag, a: i32x2, b_signed: Flag, b: i32x2, c: i32x8, clamp: Flag
) -> i32x8:
    """Multiply 4-bit integer matrices, add in i32 (`v_wmma_i32_16x16x16_iu4`)."""
    return wave_product("wmma_i32_16x16x16_iu4_w32", a_signed, a, b_signed, b, c, clamp)
