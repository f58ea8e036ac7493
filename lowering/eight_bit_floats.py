"""Conversions between f32 and 8-bit floats, which LLVM has no types for: OCP's fp8 (E4M3) and bf8
(E5M2) by the processor's instructions, or where it lacks them, by integer arithmetic with the same
results; those of gfx942, `fp8_fnuz` and `bf8_fnuz`, always by arithmetic.

before: `f32(x)` of fp8
after:  `call float @llvm.amdgcn.cvt.f32.fp8(i32 %x, i32 0)`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amdjit.lowering.builder import Builder
from amdjit.lowering.types import FLOAT, HALF, I1, I8, I16, I32, Literal, like, literal, undefined
from amdjit.types import Scalar

__all__ = ["from_eight_bits", "to_eight_bits"]


@dataclass(frozen=True)
class _Format:
    """mantissa: its bits. bias: of the exponent. overflow: what too large numbers become, infinity
    among them, and nan, as codes without their sign. is_fnuz: whether the code of -0 is the only
    NaN."""

    mantissa: int
    bias: int
    overflow: int
    nan: int
    is_fnuz: bool = False


# OCP 8-bit Floating Point Specification; the codes of NaN are gfx12's (RDNA4 ISA, "FP8 and BF8").
# FNUZ: Noune et al., "8-bit Numerical Formats for Deep Neural Networks"; CDNA3 ISA, "FP8 and BF8".
_FORMATS = {
    "fp8": _Format(3, 7, 0x7F, 0x7F), "bf8": _Format(2, 15, 0x7C, 0x7E),
    "fp8_fnuz": _Format(3, 8, 0x80, 0x80, True), "bf8_fnuz": _Format(2, 16, 0x80, 0x80, True),
}  # fmt: skip


def from_eight_bits(builder: Builder, value: Any, old: Scalar) -> Any:
    """Return 8-bit floats as f32, which represents them exactly."""
    form = _FORMATS[old.name]
    if builder.has_eight_bit_floats and not form.is_fnuz:
        name = f"llvm.amdgcn.cvt.f32.{old.name}"
        return _each(
            builder,
            value,
            FLOAT,
            lambda byte: builder.invoke_name(
                name, FLOAT, [builder.zext(byte, I32), literal(I32, 0)]
            ),
        )
    half = like(value.type, I16)
    wide = builder.zext(value, half)
    if old.name == "bf8":  # the upper byte of f16
        bits = builder.shl(wide, literal(half, 8))
        return builder.fpext(builder.bitcast(bits, like(half, HALF)), like(half, FLOAT))
    return _widened(builder, value, form)


def _widened(builder: Builder, value: Any, form: _Format) -> Any:
    """The exponent's field of f32 is that of the format plus the difference of the biases; numbers
    without a leading one are their mantissa times the smallest number."""
    word, single = like(value.type, I32), like(value.type, FLOAT)
    code = builder.zext(value, word)
    magnitude = builder.and_(code, literal(word, 0x7F))
    shifted = builder.shl(magnitude, literal(word, 23 - form.mantissa))
    normal = builder.add(shifted, literal(word, (127 - form.bias) << 23))
    unit = _number(builder, single, 2.0 ** (1 - form.bias - form.mantissa))
    small = builder.fmul(builder.uitofp(magnitude, single), unit)
    is_small = builder.icmp_unsigned("<", magnitude, literal(word, 1 << form.mantissa))
    bits = builder.select(is_small, builder.bitcast(small, word), normal)
    tested = code if form.is_fnuz else magnitude
    is_nan = builder.icmp_unsigned("==", tested, literal(word, form.nan))
    bits = builder.select(is_nan, literal(word, 0x7FC00000), bits)
    sign = builder.shl(builder.lshr(code, literal(word, 7)), literal(word, 31))
    return builder.bitcast(builder.or_(bits, sign), single)


def to_eight_bits(builder: Builder, value: Any, new: Scalar) -> Any:
    """Round f32 to nearest even (RDNA4 ISA, V_CVT_PK_FP8_F32, V_CVT_PK_BF8_F32, with the mode's
    FP16_OVFL at 0)."""
    form = _FORMATS[new.name]
    if form.is_fnuz or not builder.has_eight_bit_floats:
        return _rounded(builder, value, form)
    name = f"llvm.amdgcn.cvt.pk.{new.name}.f32"

    def one(single: Any) -> Any:
        word = builder.invoke_name(name, I32, [single, single, undefined(I32), literal(I1, 0)])
        return builder.trunc(word, I8)

    return _each(builder, value, I8, one)


def _rounded(builder: Builder, value: Any, form: _Format) -> Any:
    word = like(value.type, I32)
    bits = builder.bitcast(value, word)
    magnitude = builder.and_(bits, literal(word, 0x7FFFFFFF))
    cut = 23 - form.mantissa
    # To nearest even: half of the last kept bit less one is added, and one if that bit is odd.
    odd = builder.and_(builder.lshr(magnitude, literal(word, cut)), literal(word, 1))
    raised = builder.add(builder.add(magnitude, literal(word, (1 << cut - 1) - 1)), odd)
    rebased = builder.sub(raised, literal(word, (127 - form.bias) << 23))
    normal = builder.lshr(rebased, literal(word, cut))
    # Below the smallest normal number all steps are as large as there.
    scale = _number(builder, value.type, 2.0 ** (form.bias - 1 + form.mantissa))
    positive = builder.bitcast(magnitude, value.type)
    steps = builder.intrinsic("llvm.roundeven", builder.fmul(positive, scale))
    least_normal = literal(word, (127 - form.bias + 1) << 23)
    is_small = builder.icmp_unsigned("<", magnitude, least_normal)
    # What is not small may be too large to be an integer.
    steps = builder.select(is_small, steps, _number(builder, value.type, 0.0))
    code = builder.select(is_small, builder.fptoui(steps, word), normal)
    is_over = builder.icmp_unsigned(">=", raised, literal(word, _first_too_large(form)))
    code = builder.select(is_over, literal(word, form.overflow), code)
    is_nan = builder.icmp_unsigned(">", magnitude, literal(word, 0x7F800000))
    code = builder.select(is_nan, literal(word, form.nan), code)
    sign = builder.and_(builder.lshr(bits, literal(word, 24)), literal(word, 0x80))
    if form.is_fnuz:
        is_zero = builder.icmp_unsigned("==", code, literal(word, 0))
        sign = builder.select(is_zero, literal(word, 0), sign)
    return builder.trunc(builder.or_(code, sign), like(value.type, I8))


def _first_too_large(form: _Format) -> int:
    """Return the least f32, as bits, with the code of overflow or a greater one."""
    return (form.overflow << 23 - form.mantissa) + ((127 - form.bias) << 23)


def _number(builder: Builder, llvm: Any, value: float) -> Any:
    """Return a constant of f32, or a vector of it."""
    scalar = Literal(FLOAT, FLOAT.format_constant(value))
    return scalar if llvm == FLOAT else builder.splat(scalar, llvm)


def _each(builder: Builder, value: Any, element: Any, one: Callable[[Any], Any]) -> Any:
    """Apply a scalar operation to a scalar, or to a vector's elements one by one."""
    llvm = like(value.type, element)
    if llvm == element:
        return one(value)
    result = undefined(llvm)
    for index in range(llvm.count):
        position = literal(I32, index)
        result = builder.insert_element(
            result, one(builder.extract_element(value, position)), position
        )
    return result
