"""Functions of integers and of real numbers under clang's builtin names: bit fields, byte
arithmetic, dot products, the machine's own approximations. Arguments, order and types are the same.

Public as `amdjit.intrinsics.amdgcn`. Sources: clang's AMDGPU builtins; LLVM AMDGPU guide, "LLVM IR
Intrinsics"; RDNA4 ISA, 16 "Instructions".
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from amdjit.declarations import LlvmCall
from amdjit.intrinsics.builtins.table import builtin
from amdjit.intrinsics.models.dots import BF8, F16, F32, FP8, clamped_unit, dot_of_bits, integer_dot
from amdjit.types import Immediate, f16, f32, f64, i32, u32, vector

Flag = Annotated[bool, Immediate(0, 1)]
f16x2 = vector(f16, 2)
"""fp8 arithmetic came with the gfx12 matrix instructions."""


@builtin(LlvmCall("llvm.amdgcn.perm"))
def perm(x: u32, y: u32, z: u32) -> u32:
    """Return bytes of x:y picked by the four selectors in z."""


@builtin(LlvmCall("llvm.fshr.i32"))
def alignbit(x: u32, y: u32, z: u32) -> u32:
    """Return the lower word of x:y shifted right by z % 32 bits."""


@builtin(LlvmCall("llvm.amdgcn.alignbyte"))
def alignbyte(x: u32, y: u32, z: u32) -> u32:
    """Return the lower word of x:y shifted right by z % 4 bytes."""


@builtin(LlvmCall("llvm.amdgcn.ubfe.i32"))
def ubfe(x: u32, y: u32, z: u32) -> u32:
    """Return z bits of x from bit y on."""


@builtin(LlvmCall("llvm.amdgcn.lerp"))
def lerp(x: u32, y: u32, z: u32) -> u32:
    """Return the means of the bytes of x and y, rounded as the bits of z say."""


@builtin(LlvmCall("llvm.amdgcn.sad.u8"))
def sad_u8(x: u32, y: u32, z: u32) -> u32:
    """Return z + the absolute differences of the bytes of x and y."""


@builtin(LlvmCall("llvm.amdgcn.sad.u16"))
def sad_u16(x: u32, y: u32, z: u32) -> u32:
    """Return z + the absolute differences of the halves of x and y."""


@builtin(LlvmCall("llvm.amdgcn.msad.u8"))
def msad_u8(x: u32, y: u32, z: u32) -> u32:
    """Return z + the absolute differences of the bytes of x and y where y's is not 0."""


@builtin(LlvmCall("llvm.amdgcn.sbfe.i32"))
def sbfe(x: u32, y: u32, z: u32) -> u32:
    """Return z bits of x from bit y on, sign-extended."""


@builtin(LlvmCall("llvm.amdgcn.sudot4"))
def sudot4(a_signed: Flag, a: i32, b_signed: Flag, b: i32, c: i32, clamp: Flag) -> i32:
    """Return c + the dot product of 4 8-bit integers."""
    return integer_dot(a, b, c=c, bits=8, signs=(a_signed, b_signed), clamp=clamp, result=np.int32)


@builtin(LlvmCall("llvm.amdgcn.udot4"))
def udot4(a: u32, b: u32, c: u32, clamp: Flag) -> u32:
    """Return c + the dot product of 4 unsigned 8-bit integers."""
    return integer_dot(a, b, c=c, bits=8, signs=(False, False), clamp=clamp, result=np.uint32)


@builtin(LlvmCall("llvm.amdgcn.sudot8"))
def sudot8(a_signed: Flag, a: i32, b_signed: Flag, b: i32, c: i32, clamp: Flag) -> i32:
    """Return c + the dot product of 8 4-bit integers."""
    return integer_dot(a, b, c=c, bits=4, signs=(a_signed, b_signed), clamp=clamp, result=np.int32)


@builtin(LlvmCall("llvm.amdgcn.udot8"))
def udot8(a: u32, b: u32, c: u32, clamp: Flag) -> u32:
    """Return c + the dot product of 8 unsigned 4-bit integers."""
    return integer_dot(a, b, c=c, bits=4, signs=(False, False), clamp=clamp, result=np.uint32)


@builtin(LlvmCall("llvm.amdgcn.fdot2"))
def fdot2(a: f16x2, b: f16x2, c: f32, clamp: Flag) -> f32:
    """Return c + the dot product of two f16 pairs; the model rounds as gfx12 does."""
    return clamped_unit(dot_of_bits(a, b, c, (F16, F16), F32), clamp)


@builtin(LlvmCall("llvm.amdgcn.dot4.f32.fp8.fp8"))
def dot4_f32_fp8_fp8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 fp8 and 4 fp8, rounded by a model."""
    return dot_of_bits(a, b, c, (FP8, FP8), F32)


@builtin(LlvmCall("llvm.amdgcn.dot4.f32.fp8.bf8"))
def dot4_f32_fp8_bf8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 fp8 and 4 bf8, rounded by a model."""
    return dot_of_bits(a, b, c, (FP8, BF8), F32)


@builtin(LlvmCall("llvm.amdgcn.dot4.f32.bf8.fp8"))
def dot4_f32_bf8_fp8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 bf8 and 4 fp8, rounded by a model."""
    return dot_of_bits(a, b, c, (BF8, FP8), F32)


@builtin(LlvmCall("llvm.amdgcn.dot4.f32.bf8.bf8"))
def dot4_f32_bf8_bf8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 bf8 and 4 bf8, rounded by a model."""
    return dot_of_bits(a, b, c, (BF8, BF8), F32)


# The machine's functions of real numbers under clang's builtin names: same arguments, order and
# types.
#
# Public as `amdjit.intrinsics.amdgcn`. Sources: clang's AMDGPU builtins; LLVM AMDGPU guide, "LLVM
# IR Intrinsics"; RDNA4 ISA, 16 "Instructions".


@builtin(LlvmCall("llvm.amdgcn.rcp.f64"))
def rcp(x: f64) -> f64:
    """Return 1 / x, approximately."""


@builtin(LlvmCall("llvm.amdgcn.rcp.f32"))
def rcpf(x: f32) -> f32:
    """Return 1 / x, approximately."""


@builtin(LlvmCall("llvm.amdgcn.rcp.f16"))
def rcph(x: f16) -> f16:
    """Return 1 / x, approximately."""


@builtin(LlvmCall("llvm.amdgcn.rsq.f64"))
def rsq(x: f64) -> f64:
    """Return 1 / sqrt(x), approximately."""


@builtin(LlvmCall("llvm.amdgcn.rsq.f32"))
def rsqf(x: f32) -> f32:
    """Return 1 / sqrt(x), approximately."""


@builtin(LlvmCall("llvm.amdgcn.rsq.f16"))
def rsqh(x: f16) -> f16:
    """Return 1 / sqrt(x), approximately."""


@builtin(LlvmCall("llvm.amdgcn.sqrt.f64"))
def sqrt(x: f64) -> f64:
    """Return sqrt(x), approximately."""


@builtin(LlvmCall("llvm.amdgcn.sqrt.f32"))
def sqrtf(x: f32) -> f32:
    """Return sqrt(x), approximately."""


@builtin(LlvmCall("llvm.amdgcn.sqrt.f16"))
def sqrth(x: f16) -> f16:
    """Return sqrt(x), approximately."""


@builtin(LlvmCall("llvm.amdgcn.sin.f32"))
def sinf(x: f32) -> f32:
    """Return the sine of x full turns."""


@builtin(LlvmCall("llvm.amdgcn.sin.f16"))
def sinh(x: f16) -> f16:
    """Return the sine of x full turns."""


@builtin(LlvmCall("llvm.amdgcn.cos.f32"))
def cosf(x: f32) -> f32:
    """Return the cosine of x full turns."""


@builtin(LlvmCall("llvm.amdgcn.cos.f16"))
def cosh(x: f16) -> f16:
    """Return the cosine of x full turns."""


@builtin(LlvmCall("llvm.amdgcn.exp2.f32"))
def exp2f(x: f32) -> f32:
    """Return 2 to the power x, denormals as 0."""


@builtin(LlvmCall("llvm.amdgcn.log.f32"))
def logf(x: f32) -> f32:
    """Return the logarithm of x to base 2, denormals as 0."""


@builtin(LlvmCall("llvm.amdgcn.fract.f64"))
def fract(x: f64) -> f64:
    """Return x - floor(x)."""


@builtin(LlvmCall("llvm.amdgcn.fract.f32"))
def fractf(x: f32) -> f32:
    """Return x - floor(x)."""


@builtin(LlvmCall("llvm.amdgcn.fract.f16"))
def fracth(x: f16) -> f16:
    """Return x - floor(x)."""


@builtin(LlvmCall("llvm.amdgcn.frexp.mant.f64"))
def frexp_mant(x: f64) -> f64:
    """Return the mantissa of x, 0.5 to 1."""


@builtin(LlvmCall("llvm.amdgcn.frexp.mant.f32"))
def frexp_mantf(x: f32) -> f32:
    """Return the mantissa of x, 0.5 to 1."""


@builtin(LlvmCall("llvm.amdgcn.frexp.mant.f16"))
def frexp_manth(x: f16) -> f16:
    """Return the mantissa of x, 0.5 to 1."""


@builtin(LlvmCall("llvm.amdgcn.fmed3.f32"))
def fmed3f(x: f32, y: f32, z: f32) -> f32:
    """Return the middle one of three values."""


@builtin(LlvmCall("llvm.amdgcn.fmed3.f16"))
def fmed3h(x: f16, y: f16, z: f16) -> f16:
    """Return the middle one of three values."""


@builtin(LlvmCall("llvm.amdgcn.div.fixup.f64"))
def div_fixup(x: f64, y: f64, z: f64) -> f64:
    """Return the quotient x, with the special cases of z / y put right."""


@builtin(LlvmCall("llvm.amdgcn.div.fixup.f32"))
def div_fixupf(x: f32, y: f32, z: f32) -> f32:
    """Return the quotient x, with the special cases of z / y put right."""


@builtin(LlvmCall("llvm.amdgcn.div.fixup.f16"))
def div_fixuph(x: f16, y: f16, z: f16) -> f16:
    """Return the quotient x, with the special cases of z / y put right."""


@builtin(LlvmCall("llvm.ldexp.f64.i32"))
def ldexp(x: f64, exponent: i32) -> f64:
    """Return x times 2 to the power `exponent`."""


@builtin(LlvmCall("llvm.ldexp.f32.i32"))
def ldexpf(x: f32, exponent: i32) -> f32:
    """Return x times 2 to the power `exponent`."""


@builtin(LlvmCall("llvm.amdgcn.frexp.exp.i32.f64"))
def frexp_exp(x: f64) -> i32:
    """Return the exponent that belongs to `frexp_mant`."""


@builtin(LlvmCall("llvm.amdgcn.frexp.exp.i32.f32"))
def frexp_expf(x: f32) -> i32:
    """Return the exponent that belongs to `frexp_mantf`."""
