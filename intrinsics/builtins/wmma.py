"""The dense wave32 WMMA instructions of gfx12 and gfx11 under clang's builtin names without
`__builtin_amdgcn_`.
"""

from __future__ import annotations

from typing import Annotated

from amdjit.declarations import As, LlvmCall
from amdjit.intrinsics.builtins.table import builtin
from amdjit.intrinsics.models.matrix_arithmetic import wave_product
from amdjit.types import Immediate, TypeVariable, bf8, bf16, f16, f32, fp8, i8, i16, i32, u8, vector

Flag = Annotated[bool, Immediate(0, 1)]

f16x8, bf16x8, i16x8, f32x8, i32x8 = (vector(element, 8) for element in (f16, bf16, i16, f32, i32))
f16x16, i32x2 = vector(f16, 16), vector(i32, 2)

# clang declares bf16 operands as short8 and 8-bit ones as int2; the types that these stand for are
# accepted too.
BF16_INPUT = TypeVariable("A", (bf16x8, i16x8))
BF16_ACCUMULATOR = TypeVariable("C", (bf16x8, i16x8))
BYTES_A = TypeVariable("A", (i32x2, vector(i8, 8), vector(u8, 8)))
BYTES_B = TypeVariable("B", (i32x2, vector(i8, 8), vector(u8, 8)))
FP8_A = TypeVariable("A", (i32x2, vector(fp8, 8)))
FP8_B = TypeVariable("B", (i32x2, vector(fp8, 8)))
BF8_A = TypeVariable("A", (i32x2, vector(bf8, 8)))
BF8_B = TypeVariable("B", (i32x2, vector(bf8, 8)))


@builtin(LlvmCall("llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16"))
def wmma_f32_16x16x16_f16_w32_gfx12(a: f16x8, b: f16x8, c: f32x8) -> f32x8:
    """Multiply f16 matrices, add in f32 (`v_wmma_f32_16x16x16_f16`)."""
    return wave_product("wmma_f32_16x16x16_f16_w32_gfx12", a, b, c)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16", (As("a", i16x8), As("b", i16x8), "c")
    ),
)
def wmma_f32_16x16x16_bf16_w32_gfx12(a: BF16_INPUT, b: BF16_INPUT, c: f32x8) -> f32x8:
    """Multiply bf16 matrices, add in f32 (`v_wmma_f32_16x16x16_bf16`)."""
    return wave_product("wmma_f32_16x16x16_bf16_w32_gfx12", a, b, c)


@builtin(
    LlvmCall("llvm.amdgcn.wmma.f16.16x16x16.f16.v8f16.v8f16", ("a", "b", "c", False)),
)
def wmma_f16_16x16x16_f16_w32_gfx12(a: f16x8, b: f16x8, c: f16x8) -> f16x8:
    """Multiply f16 matrices, add in f16 (`v_wmma_f16_16x16x16_f16`)."""
    return wave_product("wmma_f16_16x16x16_f16_w32_gfx12", a, b, c)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.bf16.16x16x16.bf16.v8i16.v8i16",
        (As("a", i16x8), As("b", i16x8), As("c", i16x8), False),
        result=i16x8,
    ),
)
def wmma_bf16_16x16x16_bf16_w32_gfx12(
    a: BF16_INPUT, b: BF16_INPUT, c: BF16_ACCUMULATOR
) -> BF16_ACCUMULATOR:
    """Multiply bf16 matrices, add in bf16 (`v_wmma_bf16_16x16x16_bf16`)."""
    return wave_product("wmma_bf16_16x16x16_bf16_w32_gfx12", a, b, c)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v2i32",
        ("a_signed", As("a", i32x2), "b_signed", As("b", i32x2), "c", "clamp"),
    ),
)
def wmma_i32_16x16x16_iu8_w32_gfx12(
    a_signed: Flag, a: BYTES_A, b_signed: Flag, b: BYTES_B, c: i32x8, clamp: Flag
) -> i32x8:
    """Multiply 8-bit integer matrices, add in i32 (`v_wmma_i32_16x16x16_iu8`)."""
    return wave_product("wmma_i32_16x16x16_iu8_w32_gfx12", a_signed, a, b_signed, b, c, clamp)


@builtin(LlvmCall("llvm.amdgcn.wmma.i32.16x16x16.iu4.v8i32.i32"))
def wmma_i32_16x16x16_iu4_w32_gfx12(
    a_signed: Flag, a: i32, b_signed: Flag, b: i32, c: i32x8, clamp: Flag
) -> i32x8:
    """Multiply 4-bit integer matrices, add in i32 (`v_wmma_i32_16x16x16_iu4`)."""
    return wave_product("wmma_i32_16x16x16_iu4_w32_gfx12", a_signed, a, b_signed, b, c, clamp)


@builtin(LlvmCall("llvm.amdgcn.wmma.i32.16x16x32.iu4.v8i32.v2i32"))
def wmma_i32_16x16x32_iu4_w32_gfx12(
    a_signed: Flag, a: i32x2, b_signed: Flag, b: i32x2, c: i32x8, clamp: Flag
) -> i32x8:
    """Multiply 4-bit integer matrices in dot products of 32, add in i32
    (`v_wmma_i32_16x16x32_iu4`)."""
    return wave_product("wmma_i32_16x16x32_iu4_w32_gfx12", a_signed, a, b_signed, b, c, clamp)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32", (As("a", i32x2), As("b", i32x2), "c")
    ),
)
def wmma_f32_16x16x16_fp8_fp8_w32_gfx12(a: FP8_A, b: FP8_B, c: f32x8) -> f32x8:
    """Multiply fp8 by fp8 matrices, add in f32, rounded by a model
    (`v_wmma_f32_16x16x16_fp8_fp8`)."""
    return wave_product("wmma_f32_16x16x16_fp8_fp8_w32_gfx12", a, b, c)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.f32.16x16x16.fp8.bf8.v8f32.v2i32", (As("a", i32x2), As("b", i32x2), "c")
    ),
)
def wmma_f32_16x16x16_fp8_bf8_w32_gfx12(a: FP8_A, b: BF8_B, c: f32x8) -> f32x8:
    """Multiply fp8 by bf8 matrices, add in f32, rounded by a model
    (`v_wmma_f32_16x16x16_fp8_bf8`)."""
    return wave_product("wmma_f32_16x16x16_fp8_bf8_w32_gfx12", a, b, c)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.f32.16x16x16.bf8.fp8.v8f32.v2i32", (As("a", i32x2), As("b", i32x2), "c")
    ),
)
def wmma_f32_16x16x16_bf8_fp8_w32_gfx12(a: BF8_A, b: FP8_B, c: f32x8) -> f32x8:
    """Multiply bf8 by fp8 matrices, add in f32, rounded by a model
    (`v_wmma_f32_16x16x16_bf8_fp8`)."""
    return wave_product("wmma_f32_16x16x16_bf8_fp8_w32_gfx12", a, b, c)


@builtin(
    LlvmCall(
        "llvm.amdgcn.wmma.f32.16x16x16.bf8.bf8.v8f32.v2i32", (As("a", i32x2), As("b", i32x2), "c")
    ),
)
def wmma_f32_16x16x16_bf8_bf8_w32_gfx12(a: BF8_A, b: BF8_B, c: f32x8) -> f32x8:
    """Multiply bf8 by bf8 matrices, add in f32, rounded by a model
    (`v_wmma_f32_16x16x16_bf8_bf8`)."""
    return wave_product("wmma_f32_16x16x16_bf8_bf8_w32_gfx12", a, b, c)


# The dense wave32 WMMA instructions of gfx11 under clang's builtin names without
# `__builtin_amdgcn_`.
#
# A and B are held twice: lanes 16..31 repeat lanes 0..15. `upper` chooses the half of each register
# that a 16-bit result is written to; the `_tied` forms keep the other half of C.
#
# The reference models take whole-wave operands, as those of gfx12 do.
#
# Sources: clang's AMDGPU builtins; RDNA3 ISA, 7.9 "Wave Matrix Multiply Accumulate".


bf16x16, i16x16, i32x4 = vector(bf16, 16), vector(i16, 16), vector(i32, 4)
BF16_TWICE = TypeVariable("A", (bf16x16, i16x16))
BF16_HALVES = TypeVariable("C", (bf16x16, i16x16))


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
def wmma_f32_16x16x16_bf16_w32(a: BF16_TWICE, b: BF16_TWICE, c: f32x8) -> f32x8:
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
    a: BF16_TWICE, b: BF16_TWICE, c: BF16_HALVES, upper: Flag
) -> BF16_HALVES:
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
    a: BF16_TWICE, b: BF16_TWICE, c: BF16_HALVES, upper: Flag
) -> BF16_HALVES:
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
