"""Conversions that have instructions of their own; `f16(x)` and the like need no intrinsic.

Sources: clang's AMDGPU builtins; RDNA4 ISA, `v_cvt_*`.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from amdjit.declarations import (
    Emit,
    EmitContext,
    Form,
    LlvmCall,
    SpecialForm,
    device_function,
    intrinsic,
)
from amdjit.intrinsics.builtins.table import builtin
from amdjit.target import TARGETS, Feature, with_builtins_of
from amdjit.types import (
    Immediate,
    Scalar,
    TypeVariable,
    bf8,
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

f16x2 = vector(f16, 2)
i16x2 = vector(i16, 2)
u16x2 = vector(u16, 2)
fp8x4, bf8x4 = vector(fp8, 4), vector(bf8, 4)
NUMBER = TypeVariable("N", (f16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64))
Flag = Annotated[bool, Immediate(0, 1)]
Byte = Annotated[int, Immediate(0, 3)]
_bitcast = SpecialForm(Form.BITCAST, "the same bits read as another type")
# fp8 of the OCP kind is what gfx12 converts to; gfx942's has another bias (RDNA4 ISA, "FP8 and
# BF8").
_OCP = tuple(target.name for target in TARGETS if Feature.OCP_FLOATS in target.features)
_SOFTWARE = "amdjit.fp8(x) and amdjit.bf8(x), which convert in software"


def round_toward_zero_to_f16(value: Any) -> Any:
    """Return f32 values as f16, rounded toward zero: values that are too large become 65504, not
    infinity."""
    value = np.asarray(value, np.float32)
    with np.errstate(over="ignore"):
        nearest = value.astype(np.float16)
    away = np.abs(nearest.astype(np.float32)) > np.abs(value)
    return np.where(away, np.nextafter(nearest, np.float16(0)), nearest).astype(np.float16)


@builtin(LlvmCall("llvm.amdgcn.cvt.pkrtz"))
def cvt_pkrtz(x: f32, y: f32) -> f16x2:
    """Return x and y as f16, rounded toward zero (`__builtin_amdgcn_cvt_pkrtz`)."""
    return round_toward_zero_to_f16(np.stack([x, y], axis=-1))


@builtin(LlvmCall("llvm.amdgcn.cvt.pknorm.i16"))
def cvt_pknorm_i16(x: f32, y: f32) -> i16x2:
    """Return x and y, clamped to -1..1, times 32767 (`__builtin_amdgcn_cvt_pknorm_i16`)."""


@builtin(LlvmCall("llvm.amdgcn.cvt.pknorm.u16"))
def cvt_pknorm_u16(x: f32, y: f32) -> u16x2:
    """Return x and y, clamped to 0..1, times 65535 (`__builtin_amdgcn_cvt_pknorm_u16`)."""


@builtin(LlvmCall("llvm.amdgcn.cvt.pk.i16"))
def cvt_pk_i16(x: i32, y: i32) -> i16x2:
    """Return x and y clamped to the range of an i16 (`__builtin_amdgcn_cvt_pk_i16`)."""
    return np.clip(np.stack([x, y], axis=-1), -32768, 32767).astype(np.int16)


@builtin(LlvmCall("llvm.amdgcn.cvt.pk.u16"))
def cvt_pk_u16(x: u32, y: u32) -> u16x2:
    """Return x and y clamped to the range of a u16 (`__builtin_amdgcn_cvt_pk_u16`)."""
    return np.clip(np.stack([x, y], axis=-1), 0, 65535).astype(np.uint16)


@intrinsic(
    LlvmCall("llvm.amdgcn.cvt.pk.fp8.f32"),
    isa="v_cvt_pk_fp8_f32",
    targets=_OCP,
    alternative=_SOFTWARE,
)
def _pair_to_fp8(x: f32, y: f32, old: i32, upper: Flag) -> i32:
    """Return `old` with x and y as fp8 in its lower or upper half."""


@intrinsic(
    LlvmCall("llvm.amdgcn.cvt.pk.bf8.f32"),
    isa="v_cvt_pk_bf8_f32",
    targets=_OCP,
    alternative=_SOFTWARE,
)
def _pair_to_bf8(x: f32, y: f32, old: i32, upper: Flag) -> i32:
    """Return `old` with x and y as bf8 in its lower or upper half."""


def _emit_within(context: EmitContext, x: Any, low: Any, high: Any) -> Any:
    llvm = context.llvm_type(f32)
    return context.call(
        "llvm.maximum.f32", llvm, [context.call("llvm.minimum.f32", llvm, [x, high]), low]
    )


@intrinsic(
    Emit(_emit_within),
    isa="v_minimummaximum_f32",
    targets=with_builtins_of("gfx1200", "gfx1201"),
    alternative=_SOFTWARE,
)
def _within(x: f32, low: f32, high: f32) -> f32:
    """Return x, at least `low` and at most `high`; NaN stays (`v_minimummaximum_f32`)."""
    return x if np.isnan(x) else min(max(x, low), high)


@device_function
def pack_fp8(a, b, c, d, saturate=False):
    """Return four f32 as fp8 (e4m3), rounded to nearest even: two `v_cvt_pk_fp8_f32`.

    Values that are too large, and infinities, become NaN; with saturate they become 448, at one
    more instruction each. NaN stays.
    """
    if saturate:
        low, high = f32(-448.0), f32(448.0)
        a, b, c, d = (
            _within(a, low, high),
            _within(b, low, high),
            _within(c, low, high),
            _within(d, low, high),
        )
    return _bitcast(_pair_to_fp8(c, d, _pair_to_fp8(a, b, 0, False), True), fp8x4)


@device_function
def pack_bf8(a, b, c, d, saturate=False):
    """Return four f32 as bf8 (e5m2), rounded to nearest even: two `v_cvt_pk_bf8_f32`.

    Values that are too large, and infinities, become infinity; with saturate they become 57344, at
    one more instruction each. NaN stays.
    """
    if saturate:
        low, high = f32(-57344.0), f32(57344.0)
        a, b, c, d = (
            _within(a, low, high),
            _within(b, low, high),
            _within(c, low, high),
            _within(d, low, high),
        )
    return _bitcast(_pair_to_bf8(c, d, _pair_to_bf8(a, b, 0, False), True), bf8x4)


def _stochastic(x: float, random: int, fraction_bits: int, bias: int, largest: int) -> int:
    """Return the byte of an 8-bit float: the upper bits of `random` are added below its last bit,
    and the rest is cut off."""
    sign = 128 if np.signbit(np.float32(x)) else 0
    if not np.isfinite(x):
        return sign | (0x7C if bias == 15 and np.isinf(x) else 0x7E if bias == 15 else 0x7F)
    magnitude = abs(float(np.float32(x)))
    exponent = max(int(np.frexp(magnitude)[1]) - 1 if magnitude else -99, 1 - bias)
    steps = magnitude * 2.0 ** (fraction_bits - exponent)
    whole = int(np.floor(steps)) + (steps % 1 + (int(random) >> 12) * 2.0**-20 >= 1)
    code = (exponent + bias - 1 << fraction_bits) + whole
    return sign | (code if code <= largest else 0x7C if bias == 15 else 0x7F)


def _in_byte(value: int, old: int, byte: int) -> Any:
    kept = int(old) % 2**32 & ~(255 << 8 * byte)
    return np.array(kept | value << 8 * byte, np.uint32).astype(np.int32)[()]


@intrinsic(
    LlvmCall("llvm.amdgcn.cvt.sr.fp8.f32"),
    isa="v_cvt_sr_fp8_f32",
    targets=_OCP,
    alternative=_SOFTWARE,
)
def stochastic_fp8(x: f32, random: u32, old: i32 = 0, byte: Byte = 0) -> i32:
    """Return `old` with x as fp8 in one byte, rounded stochastically: up with the probability of
    the remainder if `random` is uniform.

    Source: `v_cvt_sr_fp8_f32`, which adds the upper bits of `random` below the last bit that is
    kept.
    """
    return _in_byte(_stochastic(float(x), int(random), 3, 7, 0x7E), int(old), byte)


@intrinsic(
    LlvmCall("llvm.amdgcn.cvt.sr.bf8.f32"),
    isa="v_cvt_sr_bf8_f32",
    targets=_OCP,
    alternative=_SOFTWARE,
)
def stochastic_bf8(x: f32, random: u32, old: i32 = 0, byte: Byte = 0) -> i32:
    """Return `old` with x as bf8 in one byte, rounded stochastically: up with the probability of
    the remainder if `random` is uniform."""
    return _in_byte(_stochastic(float(x), int(random), 2, 15, 0x7B), int(old), byte)


def _emit_saturate(context: EmitContext, x: Any) -> Any:
    source, result = context.types[0], context.result_type
    assert isinstance(source, Scalar)
    assert isinstance(result, Scalar)
    if source.is_float:
        name = f"llvm.fpto{'s' if result.is_signed else 'u'}i.sat.i{result.bits}.f{source.bits}"
        return context.call(name, context.llvm_type(result), [x])
    return _emit_clamp(context, x, source, result)


def _emit_clamp(context: EmitContext, x: Any, source: Scalar, result: Scalar) -> Any:
    """Clamp an integer in its own type, then resize it to the result's."""
    llvm, sign = context.llvm_type(source), "s" if source.is_signed else "u"
    if result.minimum > source.minimum:
        x = context.call(
            f"llvm.smax.i{source.bits}", llvm, [x, context.constant(source, result.minimum)]
        )
    if result.maximum < source.maximum:
        x = context.call(
            f"llvm.{sign}min.i{source.bits}", llvm, [x, context.constant(source, result.maximum)]
        )
    if result.bits == source.bits:
        return x
    if result.bits < source.bits:
        return context.builder.trunc(x, context.llvm_type(result))
    return (context.builder.sext if source.is_signed else context.builder.zext)(
        x, context.llvm_type(result)
    )


def _saturated(x: Any, dtype: type) -> Any:
    limits = np.iinfo(dtype)
    if np.issubdtype(np.asarray(x).dtype, np.integer):
        inside = np.clip(np.asarray(x, object), int(limits.min), int(limits.max))
        return np.asarray(inside, object).astype(dtype)[()]
    wide = np.trunc(np.nan_to_num(np.asarray(x, np.float64), nan=0.0))
    inside = np.clip(wide, float(limits.min), float(limits.max))
    return np.where(
        wide >= limits.max,
        limits.max,
        np.where(wide <= limits.min, limits.min, inside.astype(dtype)),
    )


@intrinsic(Emit(_emit_saturate))
def saturate_i8(x: NUMBER) -> i8:
    """Return x, a float rounded toward zero or an integer, clamped to the range of i8; 0 for
    NaN."""
    return _saturated(x, np.int8)


@intrinsic(Emit(_emit_saturate))
def saturate_u8(x: NUMBER) -> u8:
    """Return x, a float rounded toward zero or an integer, clamped to the range of u8; 0 for
    NaN."""
    return _saturated(x, np.uint8)


@intrinsic(Emit(_emit_saturate))
def saturate_i16(x: NUMBER) -> i16:
    """Return x, a float rounded toward zero or an integer, clamped to the range of i16; 0 for
    NaN."""
    return _saturated(x, np.int16)


@intrinsic(Emit(_emit_saturate))
def saturate_u16(x: NUMBER) -> u16:
    """Return x, a float rounded toward zero or an integer, clamped to the range of u16; 0 for
    NaN."""
    return _saturated(x, np.uint16)


@intrinsic(Emit(_emit_saturate), isa="v_cvt_i32_f32")
def saturate_i32(x: NUMBER) -> i32:
    """Return x, a float rounded toward zero or an integer, clamped to the range of i32; 0 for
    NaN."""
    return _saturated(x, np.int32)


@intrinsic(Emit(_emit_saturate), isa="v_cvt_u32_f32")
def saturate_u32(x: NUMBER) -> u32:
    """Return x, a float rounded toward zero or an integer, clamped to the range of u32; 0 for
    NaN."""
    return _saturated(x, np.uint32)
