"""The machine's functions of real numbers under clang's builtin names: same arguments, order and
types.

Public as `amdjit.intrinsics.amdgcn`. Sources: clang's AMDGPU builtins; LLVM AMDGPU guide, "LLVM IR
Intrinsics"; RDNA4 ISA, 16 "Instructions".
"""

from __future__ import annotations

from amdjit.declarations import LlvmCall
from amdjit.intrinsics.builtins.table import builtin
from amdjit.types import f16, f32, f64, i32


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
