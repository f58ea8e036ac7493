"""Conversions between scalar types, elementwise between vectors, and between registers and memory.

before: `i32(x)` of f32
after:  `call i32 @llvm.fptosi.sat.i32.f32(float %x)`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from amdjit.diagnostics.errors import InternalError
from amdjit.late_methods import dataclass
from amdjit.lowering.builder import Builder
from amdjit.lowering.types import (
    BFLOAT,
    DOUBLE,
    FLOAT,
    HALF,
    I1,
    I8,
    I16,
    I32,
    I64,
    Literal,
    element_type,
    like,
    literal,
    llvm_type,
    mangled,
    undefined,
)
from amdjit.types import Scalar, ScalarKind, Type, Vector, boolean

__all__ = ["bitcast", "convert", "from_memory", "resize", "scalar_of", "to_memory"]

_WIDTH = {HALF: 16, BFLOAT: 16, FLOAT: 32, DOUBLE: 64}


def scalar_of(type: Type) -> Scalar:
    """Return the scalar type of a scalar, or of a vector's elements."""
    scalar = type.element if isinstance(type, Vector) else type
    if not isinstance(scalar, Scalar):
        raise InternalError(f"{type} is neither scalar nor vector")
    return scalar


def convert(builder: Builder, value: Any, source: Type, target: Type) -> Any:
    """Convert as `tree.Convert` says.

    Integers become f16 and bf16 through f32, as NumPy and ml_dtypes convert them: for bf16 that
    rounds twice.
    """
    old, new = scalar_of(source), scalar_of(target)
    if old == new:
        return value
    llvm = llvm_type(target)
    if new == boolean:
        return _to_boolean(builder, value, old)
    if new.is_float:
        return (
            _float_to_float(builder, value, old, new)
            if old.is_float
            else _to_float(builder, value, old, new, llvm)
        )
    if old.is_float:
        return _float_to_integer(builder, value, old, new, llvm)
    return resize(builder, value, old, llvm)


def resize(builder: Builder, value: Any, scalar: Scalar, llvm: Any) -> Any:
    """Convert an integer of type `scalar` to another width; a value that does not fit wraps."""
    if isinstance(value, Literal) and value.text.lstrip("-").isdecimal():
        return _resize_constant(int(value.text), scalar, llvm)
    old, new = element_type(value.type).width, element_type(llvm).width
    if old == new:
        return value
    if new < old:
        return builder.trunc(value, llvm)
    return builder.sext(value, llvm) if scalar.is_signed else builder.zext(value, llvm)


def _resize_constant(value: int, scalar: Scalar, llvm: Any) -> Any:
    return literal(llvm, value if scalar.is_signed else value & ((1 << scalar.bits) - 1))


def to_memory(builder: Builder, value: Any, type: Type) -> Any:
    """Return the representation of a value in memory: a boolean is a byte, 0 or 1."""
    return builder.zext(value, I8) if type == boolean else value


def from_memory(builder: Builder, value: Any, type: Type) -> Any:
    """Return the value of its representation in memory: a boolean is true if its byte is not 0."""
    return builder.icmp_unsigned("!=", value, literal(I8, 0)) if type == boolean else value


def bitcast(builder: Builder, value: Any, llvm: Any) -> Any:
    """Return the same bits as another type of the same size, or the same place as a pointer in
    another address space, or as an address for flat memory, an i64."""
    if value.type == llvm:
        return value
    if isinstance(value.type, ir.PointerType) and llvm == I64:
        flat = bitcast(builder, value, ir.PointerType())
        return builder.text(llvm, "ptrtoint", (flat,), f" to {llvm}")
    if isinstance(llvm, ir.PointerType):
        return builder.text(llvm, "addrspacecast", (value,), f" to {llvm}")
    return builder.bitcast(value, llvm)


def _to_boolean(builder: Builder, value: Any, old: Scalar) -> Any:
    if old.is_float:
        wide = _widened(builder, value, old)
        return builder.fcmp_unordered("!=", wide, _zero(wide.type))
    return builder.icmp_unsigned("!=", value, literal(value.type, 0))


def _zero(llvm: Any) -> Any:
    return Literal(llvm, "zeroinitializer")


def _to_float(builder: Builder, value: Any, old: Scalar, new: Scalar, llvm: Any) -> Any:
    name = "sitofp" if old.is_signed else "uitofp"
    if new.bits >= 32:
        return builder.text(llvm, name, (value,), f" to {llvm}")
    wide = like(llvm, FLOAT)
    single = builder.text(wide, name, (value,), f" to {wide}")
    return _narrowed(builder, single, new)


def _float_to_integer(builder: Builder, value: Any, old: Scalar, new: Scalar, llvm: Any) -> Any:
    value = _widened(builder, value, old)
    name = "llvm.fptosi.sat" if new.kind is ScalarKind.SIGNED else "llvm.fptoui.sat"
    return builder.invoke_name(f"{name}.{mangled(llvm)}.{mangled(value.type)}", llvm, [value])


def _float_to_float(builder: Builder, value: Any, old: Scalar, new: Scalar) -> Any:
    if old.bits == 64 and new.storage_only:
        return _narrowed(builder, _round_to_odd(builder, value), new)
    value = _widened(builder, value, old)
    return _narrowed(builder, value, new)


def _widened(builder: Builder, value: Any, old: Scalar) -> Any:
    """Return bf16, fp8 and bf8 as f32, which represents them exactly; others unchanged."""
    if old.storage_only:
        return from_eight_bits(builder, value, old)
    return builder.fpext(value, like(value.type, FLOAT)) if old.name == "bf16" else value


def _narrowed(builder: Builder, value: Any, new: Scalar) -> Any:
    if new.storage_only:
        single = (
            value
            if element_type(value.type) == FLOAT
            else builder.fpext(value, like(value.type, FLOAT))
        )
        return to_eight_bits(builder, single, new)
    llvm = like(value.type, llvm_type(new))
    old_width, new_width = _WIDTH[element_type(value.type)], new.bits
    if value.type == llvm:
        return value
    if old_width == new_width:
        # f16 to bf16, through f32, which represents every f16; a bf16 is already an f32 here.
        return builder.fptrunc(builder.fpext(value, like(value.type, FLOAT)), llvm)
    return builder.fptrunc(value, llvm) if new_width < old_width else builder.fpext(value, llvm)


def _round_to_odd(builder: Builder, value: Any) -> Any:
    """Return an f64 as f32 such that rounding the result once more equals rounding the f64 once.

    Where f32 is not exact, its last bit is set after rounding toward zero (Boldo and Melquiond,
    "Emulation of a FMA and Correctly-Rounded Sums: Proved Algorithms Using Rounding to Odd").
    """
    single = builder.fptrunc(value, like(value.type, FLOAT))
    back = builder.fpext(single, value.type)
    bits = builder.bitcast(single, like(value.type, I32))
    magnitude = builder.intrinsic("llvm.fabs", back)
    too_far = builder.fcmp_ordered(">", magnitude, builder.intrinsic("llvm.fabs", value))
    toward_zero = builder.sub(bits, builder.zext(too_far, bits.type))
    odd = builder.or_(toward_zero, literal(bits.type, 1))
    inexact = builder.fcmp_ordered("!=", back, value)
    return builder.bitcast(builder.select(inexact, odd, bits), single.type)


# Conversions between f32 and 8-bit floats, which LLVM has no types for: OCP's fp8 (E4M3) and bf8
# (E5M2) by the processor's instructions, or where it lacks them, by integer arithmetic with the
# same results; those of gfx942, `fp8_fnuz` and `bf8_fnuz`, always by arithmetic.
#
# before: `f32(x)` of fp8
# after:  `call float @llvm.amdgcn.cvt.f32.fp8(i32 %x, i32 0)`


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
    return _eight_bit_floats_widened(builder, value, form)


def _eight_bit_floats_widened(builder: Builder, value: Any, form: _Format) -> Any:
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
