"""Real functions of the machine under clang's builtin names: same arguments, order and types.

Public as `amdjit.intrinsics.amdgcn`. Sources: clang's AMDGPU builtins; LLVM AMDGPU guide, "LLVM IR Intrinsics";
RDNA4 ISA, 16 "Instructions".
"""

from __future__ import annotations

from amdjit.declarations import LlvmCall, intrinsic
from amdjit.types import f16, f32, f64, i32


@intrinsic(LlvmCall("llvm.amdgcn.rcp.f64"), isa="v_rcp_f64")
def rcp(x: f64) -> f64:
    """Return 1 / x, approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.rcp.f32"), isa="v_rcp_f32")
def rcpf(x: f32) -> f32:
    """Return 1 / x, approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.rcp.f16"), isa="v_rcp_f16")
def rcph(x: f16) -> f16:
    """Return 1 / x, approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.rsq.f64"), isa="v_rsq_f64")
def rsq(x: f64) -> f64:
    """Return 1 / sqrt(x), approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.rsq.f32"), isa="v_rsq_f32")
def rsqf(x: f32) -> f32:
    """Return 1 / sqrt(x), approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.rsq.f16"), isa="v_rsq_f16")
def rsqh(x: f16) -> f16:
    """Return 1 / sqrt(x), approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.sqrt.f64"), isa="v_sqrt_f64")
def sqrt(x: f64) -> f64:
    """Return sqrt(x), approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.sqrt.f32"), isa="v_sqrt_f32")
def sqrtf(x: f32) -> f32:
    """Return sqrt(x), approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.sqrt.f16"), isa="v_sqrt_f16")
def sqrth(x: f16) -> f16:
    """Return sqrt(x), approximately."""


@intrinsic(LlvmCall("llvm.amdgcn.sin.f32"), isa="v_sin_f32")
def sinf(x: f32) -> f32:
    """Return the sine of x full turns."""


@intrinsic(LlvmCall("llvm.amdgcn.sin.f16"), isa="v_sin_f16")
def sinh(x: f16) -> f16:
    """Return the sine of x full turns."""


@intrinsic(LlvmCall("llvm.amdgcn.cos.f32"), isa="v_cos_f32")
def cosf(x: f32) -> f32:
    """Return the cosine of x full turns."""


@intrinsic(LlvmCall("llvm.amdgcn.cos.f16"), isa="v_cos_f16")
def cosh(x: f16) -> f16:
    """Return the cosine of x full turns."""


@intrinsic(LlvmCall("llvm.amdgcn.exp2.f32"), isa="v_exp_f32")
def exp2f(x: f32) -> f32:
    """Return 2 to the power x, denormals as 0."""


@intrinsic(LlvmCall("llvm.amdgcn.log.f32"), isa="v_log_f32")
def logf(x: f32) -> f32:
    """Return the logarithm of x to base 2, denormals as 0."""


@intrinsic(LlvmCall("llvm.amdgcn.fract.f64"), isa="v_fract_f64")
def fract(x: f64) -> f64:
    """Return x - floor(x)."""


@intrinsic(LlvmCall("llvm.amdgcn.fract.f32"), isa="v_fract_f32")
def fractf(x: f32) -> f32:
    """Return x - floor(x)."""


@intrinsic(LlvmCall("llvm.amdgcn.fract.f16"), isa="v_fract_f16")
def fracth(x: f16) -> f16:
    """Return x - floor(x)."""


@intrinsic(LlvmCall("llvm.amdgcn.frexp.mant.f64"), isa="v_frexp_mant_f64")
def frexp_mant(x: f64) -> f64:
    """Return the mantissa of x, 0.5 to 1."""


@intrinsic(LlvmCall("llvm.amdgcn.frexp.mant.f32"), isa="v_frexp_mant_f32")
def frexp_mantf(x: f32) -> f32:
    """Return the mantissa of x, 0.5 to 1."""


@intrinsic(LlvmCall("llvm.amdgcn.frexp.mant.f16"), isa="v_frexp_mant_f16")
def frexp_manth(x: f16) -> f16:
    """Return the mantissa of x, 0.5 to 1."""


@intrinsic(LlvmCall("llvm.amdgcn.fmed3.f32"), isa="v_med3_num_f32")
def fmed3f(x: f32, y: f32, z: f32) -> f32:
    """Return the middle one of three values."""


@intrinsic(LlvmCall("llvm.amdgcn.fmed3.f16"), isa="v_med3_num_f16")
def fmed3h(x: f16, y: f16, z: f16) -> f16:
    """Return the middle one of three values."""


@intrinsic(LlvmCall("llvm.amdgcn.div.fixup.f64"), isa="v_div_fixup_f64")
def div_fixup(x: f64, y: f64, z: f64) -> f64:
    """Return the quotient x, with the special cases of z / y put right."""


@intrinsic(LlvmCall("llvm.amdgcn.div.fixup.f32"), isa="v_div_fixup_f32")
def div_fixupf(x: f32, y: f32, z: f32) -> f32:
    """Return the quotient x, with the special cases of z / y put right."""


@intrinsic(LlvmCall("llvm.amdgcn.div.fixup.f16"), isa="v_div_fixup_f16")
def div_fixuph(x: f16, y: f16, z: f16) -> f16:
    """Return the quotient x, with the special cases of z / y put right."""


@intrinsic(LlvmCall("llvm.ldexp.f64.i32"), isa="v_ldexp_f64")
def ldexp(x: f64, exponent: i32) -> f64:
    """Return x times 2 to the power `exponent`."""


@intrinsic(LlvmCall("llvm.ldexp.f32.i32"), isa="v_ldexp_f32")
def ldexpf(x: f32, exponent: i32) -> f32:
    """Return x times 2 to the power `exponent`."""


@intrinsic(LlvmCall("llvm.amdgcn.frexp.exp.i32.f64"), isa="v_frexp_exp_i32_f64")
def frexp_exp(x: f64) -> i32:
    """Return the exponent that belongs to `frexp_mant`."""


@intrinsic(LlvmCall("llvm.amdgcn.frexp.exp.i32.f32"), isa="v_frexp_exp_i32_f32")
def frexp_expf(x: f32) -> i32:
    """Return the exponent that belongs to `frexp_mantf`."""
