"""Functions of real numbers that are instructions of the GPU, each for the types that LLVM can
select on amdgcn.

`amdgcn` has the instructions themselves, such as `amdgcn.sinf` and `amdgcn.cosf`, whose argument
counts full turns.

Sources: LLVM language reference, "Standard C/C++ Library Intrinsics" and "Floating-Point Test
Intrinsics"; RDNA4 ISA, `v_exp`, `v_log`, `v_rcp`, `v_rsq`, `v_sqrt`.
"""

from __future__ import annotations

import math

import numpy as np

from amdjit.declarations import LlvmCall, device_function, intrinsic
from amdjit.intrinsics.type_variables import FLOAT, HALF_OR_SINGLE, NATIVE_FLOAT
from amdjit.types import boolean, i32


@intrinsic(LlvmCall("llvm.floor.{x}"), isa="v_floor")
def floor(x: FLOAT) -> FLOAT:
    """Return the greatest whole number not above x, as a float (`llvm.floor`)."""
    return np.floor(x)


@intrinsic(LlvmCall("llvm.ceil.{x}"), isa="v_ceil")
def ceil(x: FLOAT) -> FLOAT:
    """Return the least whole number not below x, as a float (`llvm.ceil`)."""
    return np.ceil(x)


@intrinsic(LlvmCall("llvm.trunc.{x}"), isa="v_trunc")
def trunc(x: FLOAT) -> FLOAT:
    """Return x rounded toward zero, as a float (`llvm.trunc`)."""
    return np.trunc(x)


@intrinsic(LlvmCall("llvm.rint.{x}"), isa="v_rndne")
def rint(x: FLOAT) -> FLOAT:
    """Return the nearest whole number as a float, ties to even (`llvm.rint`)."""
    return np.rint(x)


@intrinsic(LlvmCall("llvm.fabs.{x}"))
def fabs(x: FLOAT) -> FLOAT:
    """Return x without its sign (`llvm.fabs`)."""
    return np.fabs(x)


@intrinsic(LlvmCall("llvm.amdgcn.rcp.{x}"), isa="v_rcp")
def rcp(x: NATIVE_FLOAT) -> NATIVE_FLOAT:
    """Return 1 / x to about 1 unit in the last place (f64: about 26 bits) (`llvm.amdgcn.rcp`)."""
    return 1 / x


@intrinsic(LlvmCall("llvm.amdgcn.rsq.{x}"), isa="v_rsq")
def rsq(x: NATIVE_FLOAT) -> NATIVE_FLOAT:
    """Return 1 / sqrt(x) to about 1 unit in the last place (f64: about 26 bits)
    (`llvm.amdgcn.rsq`)."""
    return 1 / np.sqrt(x)


@intrinsic(LlvmCall("llvm.amdgcn.fract.{x}"), isa="v_fract")
def fract(x: NATIVE_FLOAT) -> NATIVE_FLOAT:
    """Return x - floor(x) (`llvm.amdgcn.fract`)."""
    return x - np.floor(x)


@intrinsic(LlvmCall("llvm.amdgcn.exp2.{x}"), isa="v_exp")
def fast_exp2(x: HALF_OR_SINGLE) -> HALF_OR_SINGLE:
    """Return 2 to the power x by one instruction, f32 denormals as 0 (`llvm.amdgcn.exp2`)."""
    return np.exp2(x)


@intrinsic(LlvmCall("llvm.amdgcn.log.{x}"), isa="v_log")
def fast_log2(x: HALF_OR_SINGLE) -> HALF_OR_SINGLE:
    """Return the logarithm to base 2 by one instruction, f32 denormals as 0 (`llvm.amdgcn.log`)."""
    return np.log2(x)


@intrinsic(LlvmCall("llvm.amdgcn.sqrt.{x}"), isa="v_sqrt")
def fast_sqrt(x: NATIVE_FLOAT) -> NATIVE_FLOAT:
    """Return the square root by one instruction, to about 1 unit in the last place
    (`llvm.amdgcn.sqrt`)."""
    return np.sqrt(x)


@intrinsic(LlvmCall("llvm.sin.{x}"), isa="v_sin")
def fast_sin(x: HALF_OR_SINGLE) -> HALF_OR_SINGLE:
    """Return the sine of x radians by the instruction that counts turns; in f32 within 3e-7 +
    1.2e-7 * |x| (`llvm.sin`)."""
    return np.sin(x)


@intrinsic(LlvmCall("llvm.cos.{x}"), isa="v_cos")
def fast_cos(x: HALF_OR_SINGLE) -> HALF_OR_SINGLE:
    """Return the cosine of x radians, as accurate as `fast_sin` (`llvm.cos`)."""
    return np.cos(x)


@intrinsic(LlvmCall("llvm.copysign.{x}"))
def copysign(x: FLOAT, sign: FLOAT) -> FLOAT:
    """Return x with the sign of `sign` (`llvm.copysign`)."""
    return np.copysign(x, sign)


@intrinsic(LlvmCall("llvm.ldexp.{x}.i32"), isa="v_ldexp")
def ldexp(x: NATIVE_FLOAT, exponent: i32) -> NATIVE_FLOAT:
    """Return x times 2 to the power `exponent` (`llvm.ldexp`)."""
    return np.ldexp(x, exponent)


@intrinsic(LlvmCall("llvm.minnum.{x}"), isa="v_min_num")
def fmin(x: NATIVE_FLOAT, y: NATIVE_FLOAT) -> NATIVE_FLOAT:
    """Return the lesser value, ignoring a NaN beside a number (`llvm.minnum`)."""
    return np.fmin(x, y)


@intrinsic(LlvmCall("llvm.maxnum.{x}"), isa="v_max_num")
def fmax(x: NATIVE_FLOAT, y: NATIVE_FLOAT) -> NATIVE_FLOAT:
    """Return the greater value, ignoring a NaN beside a number (`llvm.maxnum`)."""
    return np.fmax(x, y)


# The test masks of llvm.is.fpclass: LLVM language reference, "llvm.is.fpclass".
_NAN, _INFINITE, _FINITE = 0x003, 0x204, 0x1F8


@intrinsic(LlvmCall("llvm.is.fpclass.{x}", ("x", _NAN)), isa="v_cmp")
def isnan(x: NATIVE_FLOAT) -> boolean:
    """Return whether x is not a number (`llvm.is.fpclass`)."""
    return np.isnan(x)


@intrinsic(LlvmCall("llvm.is.fpclass.{x}", ("x", _INFINITE)), isa="v_cmp")
def isinf(x: NATIVE_FLOAT) -> boolean:
    """Return whether x is plus or minus infinity (`llvm.is.fpclass`)."""
    return np.isinf(x)


@intrinsic(LlvmCall("llvm.is.fpclass.{x}", ("x", _FINITE)), isa="v_cmp")
def isfinite(x: NATIVE_FLOAT) -> boolean:
    """Return whether x is neither infinite nor NaN (`llvm.is.fpclass`)."""
    return np.isfinite(x)


@device_function
def floor_to_int(x):
    """Return the greatest integer not above x, as an i32 where Python's `math.floor` returns an
    int."""
    return i32(floor(x))


@device_function
def ceil_to_int(x):
    """Return the least integer not below x, as an i32 where Python's `math.ceil` returns an int."""
    return i32(ceil(x))


@device_function
def trunc_to_int(x):
    """Return x rounded toward zero, as an i32 where Python's `math.trunc` returns an int."""
    return i32(x)


@device_function
def round_to_int(x):
    """Return the integer nearest to x, ties to even, as an i32 where Python's `round` returns an
    int."""
    return i32(rint(x))


@device_function
def fast_tan(x):
    """Return the tangent of x radians as `fast_sin` over `fast_cos`."""
    return fast_sin(x) * rcp(fast_cos(x))


@device_function
def fast_exp(x):
    """Return e to the power x by a product and `fast_exp2`: within 3 + 1.3 * |x| units of the last
    place in f32."""
    return fast_exp2(x * (1 / math.log(2)))


@device_function
def fast_exp10(x):
    """Return 10 to the power x by a product and `fast_exp2`: within 3 + 3.2 * |x| units of the last
    place in f32."""
    return fast_exp2(x * math.log2(10))


@device_function
def fast_log(x):
    """Return the natural logarithm by `fast_log2` and a product: within 4 units of the last place
    in f32."""
    return fast_log2(x) * math.log(2)


@device_function
def fast_log10(x):
    """Return the logarithm to base 10 by `fast_log2` and a product: within 4 units of the last
    place in f32."""
    return fast_log2(x) * math.log10(2)


@device_function
def fast_power(x, y):
    """Return x to the power y for x above 0, by `fast_log2`, a product and `fast_exp2`.

    Within 3 + 2 * |y * log2(x)| units of the last place in f32.
    """
    return fast_exp2(y * fast_log2(x))


@device_function
def radians(x):
    """Return degrees as radians."""
    return x * (math.pi / 180)


@device_function
def degrees(x):
    """Return radians as degrees."""
    return x * (180 / math.pi)
