"""Bit fields, byte arithmetic and dot products under clang's builtin names: same arguments, order and types.

Public as `amdjit.intrinsics.amdgcn`. Sources: clang's AMDGPU builtins; LLVM AMDGPU guide, "LLVM IR Intrinsics";
RDNA4 ISA, 16 "Instructions".
"""

from __future__ import annotations

from typing import Annotated

from amdjit.declarations import LlvmCall, intrinsic
from amdjit.target import Feature
from amdjit.types import Immediate, f16, f32, i32, u32, vector

Flag = Annotated[bool, Immediate(0, 1)]
f16x2 = vector(f16, 2)
GFX12 = frozenset({Feature.WMMA_GFX12})
"""fp8 arithmetic came with the gfx12 matrix instructions."""


@intrinsic(LlvmCall("llvm.amdgcn.perm"), isa="v_perm_b32")
def perm(x: u32, y: u32, z: u32) -> u32:
    """Return bytes of x:y picked by the four selectors in z."""


@intrinsic(LlvmCall("llvm.fshr.i32"), isa="v_alignbit_b32")
def alignbit(x: u32, y: u32, z: u32) -> u32:
    """Return the lower word of x:y shifted right by z % 32 bits."""


@intrinsic(LlvmCall("llvm.amdgcn.alignbyte"), isa="v_alignbyte_b32")
def alignbyte(x: u32, y: u32, z: u32) -> u32:
    """Return the lower word of x:y shifted right by z % 4 bytes."""


@intrinsic(LlvmCall("llvm.amdgcn.ubfe.i32"), isa="v_bfe_u32")
def ubfe(x: u32, y: u32, z: u32) -> u32:
    """Return z bits of x from bit y on."""


@intrinsic(LlvmCall("llvm.amdgcn.lerp"), isa="v_lerp_u8")
def lerp(x: u32, y: u32, z: u32) -> u32:
    """Return the means of the bytes of x and y, rounded as the bits of z say."""


@intrinsic(LlvmCall("llvm.amdgcn.sad.u8"), isa="v_sad_u8")
def sad_u8(x: u32, y: u32, z: u32) -> u32:
    """Return z + the absolute differences of the bytes of x and y."""


@intrinsic(LlvmCall("llvm.amdgcn.sad.u16"), isa="v_sad_u16")
def sad_u16(x: u32, y: u32, z: u32) -> u32:
    """Return z + the absolute differences of the halves of x and y."""


@intrinsic(LlvmCall("llvm.amdgcn.msad.u8"), isa="v_msad_u8")
def msad_u8(x: u32, y: u32, z: u32) -> u32:
    """Return z + the absolute differences of the bytes of x and y where y's is not 0."""


@intrinsic(LlvmCall("llvm.amdgcn.sbfe.i32"), isa="v_bfe_i32")
def sbfe(x: u32, y: u32, z: u32) -> u32:
    """Return z bits of x from bit y on, sign-extended."""


@intrinsic(LlvmCall("llvm.amdgcn.sudot4"), isa="v_dot4_i32_iu8")
def sudot4(a_signed: Flag, a: i32, b_signed: Flag, b: i32, c: i32, clamp: Flag) -> i32:
    """Return c + the dot product of 4 8-bit integers."""


@intrinsic(LlvmCall("llvm.amdgcn.udot4"), isa="v_dot4_u32_u8")
def udot4(a: u32, b: u32, c: u32, clamp: Flag) -> u32:
    """Return c + the dot product of 4 unsigned 8-bit integers."""


@intrinsic(LlvmCall("llvm.amdgcn.sudot8"), isa="v_dot8_i32_iu4")
def sudot8(a_signed: Flag, a: i32, b_signed: Flag, b: i32, c: i32, clamp: Flag) -> i32:
    """Return c + the dot product of 8 4-bit integers."""


@intrinsic(LlvmCall("llvm.amdgcn.udot8"), isa="v_dot8_u32_u4")
def udot8(a: u32, b: u32, c: u32, clamp: Flag) -> u32:
    """Return c + the dot product of 8 unsigned 4-bit integers."""


@intrinsic(LlvmCall("llvm.amdgcn.fdot2"), isa="v_dot2_f32_f16")
def fdot2(a: f16x2, b: f16x2, c: f32, clamp: Flag) -> f32:
    """Return c + the dot product of two f16 pairs."""


@intrinsic(LlvmCall("llvm.amdgcn.dot4.f32.fp8.fp8"), isa="v_dot4_f32_fp8_fp8", features=GFX12)
def dot4_f32_fp8_fp8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 fp8 and 4 fp8."""


@intrinsic(LlvmCall("llvm.amdgcn.dot4.f32.fp8.bf8"), isa="v_dot4_f32_fp8_bf8", features=GFX12)
def dot4_f32_fp8_bf8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 fp8 and 4 bf8."""


@intrinsic(LlvmCall("llvm.amdgcn.dot4.f32.bf8.fp8"), isa="v_dot4_f32_bf8_fp8", features=GFX12)
def dot4_f32_bf8_fp8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 bf8 and 4 fp8."""


@intrinsic(LlvmCall("llvm.amdgcn.dot4.f32.bf8.bf8"), isa="v_dot4_f32_bf8_bf8", features=GFX12)
def dot4_f32_bf8_bf8(a: u32, b: u32, c: f32) -> f32:
    """Return c + the dot product of 4 bf8 and 4 bf8."""
