"""The steps of correctly rounded division: scale, multiply-add, fix up (RDNA 4 ISA, V_DIV_*)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.ir import Builder, Value, bits_of, like, vector
from amdjit.emulator.translate import float_expressions as fx
from amdjit.emulator.translate.frame import Frame
from amdjit.emulator.translate.long_expressions import long_symbol
from amdjit.emulator.translate.operands import ELEMENTS
from amdjit.emulator.translate.operation import Emitter, vector_op
from amdjit.emulator.translate.rounding import NEAREST, RoundingBuilder, rounding_of


@dataclass(frozen=True, slots=True)
class Format:
    """What division needs to know of a format. far: exponent difference beyond which quotients overflow soon."""

    code: str
    scale: int
    far: int
    tiny: int
    bias: int
    mantissa: int


_SINGLE = Format("f32", 64, 96, 23, 127, 23)
_DOUBLE = Format("f64", 128, 768, 53, 1023, 52)
SCALES: Mapping[str, Format] = {form.code: form for form in (_SINGLE, _DOUBLE)}


def _is_denormal(b: Builder, value: Value, form: Format) -> Value:
    magnitude = b.intrinsic("fabs", value)
    smallest = b.const(value, 2.0 ** (1 - form.bias))
    nonzero = b.compare("ogt", magnitude, b.const(value, 0.0))
    return b.and_(nonzero, b.compare("olt", magnitude, smallest))


def scale_symbol(form: Format) -> str:
    """Return the name of the native function of V_DIV_SCALE."""
    return long_symbol(f"v_div_scale_{form.code}")


def scaled_type(form: Format) -> str:
    """Return the type of its result: the scaled operand, and the lanes of the mask."""
    return f"{{ {vector(ELEMENTS[form.code])}, i32 }}"


def scale_expression(b: Builder, form: Format, s0: Value, s1: Value, s2: Value) -> tuple[Value, Value]:
    """S0 is the numerator S2 or the denominator S1; the lane mask says that the quotient needs scaling back."""
    up = b.binary("fmul", s0, b.const(s0, 2.0**form.scale))
    down = b.binary("fmul", s0, b.const(s0, 2.0**-form.scale))
    zero = b.const(s0, 0.0)
    invalid = b.or_(b.compare("oeq", s1, zero), b.compare("oeq", s2, zero))
    e1, e2 = (fx.unbiased_exponent(b, value) for value in (s1, s2))
    far = b.compare("sge", b.sub(e2, e1), b.const(e1, form.far))
    denormal = _is_denormal(b, s1, form)
    reciprocal = _is_denormal(b, b.binary("fdiv", b.const(s1, 1.0), s1), form)
    quotient = _is_denormal(b, b.binary("fdiv", s2, s1), form)
    tiny = b.compare("sle", e2, b.const(e2, form.tiny))
    is_denominator, is_numerator = b.compare("oeq", s0, s1), b.compare("oeq", s0, s2)
    up_denominator = b.select(is_denominator, up, s0)
    up_numerator = b.select(is_numerator, up, s0)
    # The last condition of the ISA's chain first; each select overrides what stands further down there.
    result = b.select(tiny, up, s0)
    result = b.select(quotient, up_numerator, result)
    result = b.select(reciprocal, down, result)
    # The ISA document prints the denominator times 2**scale here, which overflows and would need the other
    # factor in V_DIV_FMAS; 1 / FLT_MAX comes out right only if it is scaled down.
    both = b.and_(reciprocal, quotient)
    result = b.select(both, b.select(is_denominator, down, s0), result)
    result = b.select(denormal, up, result)
    result = b.select(far, up_denominator, result)
    nan = _quiet_nan(b, s0)
    result = b.select(invalid, nan, result)
    scaled_back = b.or_(far, b.and_(b.not_(denormal), quotient))
    return result, b.and_(b.not_(invalid), scaled_back)


def _scale(form: Format) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        both = frame.native(
            scale_symbol(form), scaled_type(form), [frame.source(instruction, index, form.code) for index in (2, 3, 4)]
        )
        result = b.emit(vector(ELEMENTS[form.code]), f"extractvalue {both.type} {both.text}, 0")
        frame.write(instruction, 0, result)
        back = b.emit("i32", f"extractvalue {both.type} {both.text}, 1")
        frame.write_conditions(instruction.operands[1], b.lane_mask(back))

    return emit


def _quiet_nan(b: Builder, shape: Value) -> Value:
    width = bits_of(shape.type)
    bits = {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8000000000000}[width]
    integer = Value(like(shape.type, f"i{width}"), "zeroinitializer")
    return b.bitcast(b.const(integer, bits), {16: "half", 32: "float", 64: "double"}[width])


def _directed(b: Builder, form: Format, operands: tuple[Value, Value, Value], scaled: Value) -> Value | None:
    """The same in another rounding mode: there two roundings in a row are one. None if the mode is the nearest."""
    rounding = rounding_of(b)
    if rounding is None:
        return None
    x, y, z = operands
    plain = fx.fma(b, x, y, z)
    factors = (b.binary("fmul", plain, b.const(z, 2.0**power)) for power in (form.scale, -form.scale))
    large = b.compare("sgt", fx.unbiased_exponent(b, z), b.const(fx.unbiased_exponent(b, z), form.bias))
    directed = b.select(scaled, b.select(large, *factors), plain)
    if not rounding.text.startswith("%"):
        return directed
    assert isinstance(b, RoundingBuilder)
    b.rounding = None
    nearest = _multiply_add_nearest(b, form, operands, scaled)
    b.rounding = rounding
    return b.select(b.compare("eq", rounding, NEAREST), nearest, directed)


def _multiply_add_nearest(b: Builder, form: Format, operands: tuple[Value, Value, Value], scaled: Value) -> Value:
    x, y, z = operands
    plain = fx.fma(b, x, y, z)
    large = b.compare("sgt", fx.unbiased_exponent(b, z), b.const(fx.unbiased_exponent(b, z), form.bias))
    up = b.binary("fmul", plain, b.const(z, 2.0**form.scale))
    down = _scaled_down_once(b, operands, plain, form)
    return b.select(scaled, b.select(large, up, down), plain)


def _multiply_add(form: Format) -> Emitter:
    """fma, times 2**scale or 2**-scale in lanes that VCC names: away from the addend's side of 1.

    The ISA document prints one factor for both directions; hardware and the division sequence need the sign.
    """

    def expression(b: Builder, x: Value, y: Value, z: Value, scaled: Value) -> Value:
        directed = _directed(b, form, (x, y, z), scaled)
        if directed is not None:
            return directed
        return _multiply_add_nearest(b, form, (x, y, z), scaled)

    return vector_op(expression, f"{form.code} {form.code} {form.code} mask")


def _two_sum(b: Builder, x: Value, y: Value) -> tuple[Value, Value]:
    """The rounded sum and its exact error (Knuth)."""
    total = b.binary("fadd", x, y)
    back = b.binary("fsub", total, x)
    left = b.binary("fsub", x, b.binary("fsub", total, back))
    return total, b.binary("fadd", left, b.binary("fsub", y, back))


def _fma_error(b: Builder, operands: tuple[Value, Value, Value], plain: Value) -> Value:
    """The error of a fused multiply-add, rounded (Boldo and Muller, "Exact and approximated error of the FMA")."""
    x, y, z = operands
    product = b.binary("fmul", x, y)
    rest = b.intrinsic("fma", x, y, b.emit(product.type, f"fneg {product.type} {product.text}"))
    first, second = _two_sum(b, z, rest)
    third, fourth = _two_sum(b, product, first)
    return b.binary("fadd", b.binary("fadd", b.binary("fsub", third, plain), fourth), second)


def _scaled_down_once(b: Builder, operands: tuple[Value, Value, Value], plain: Value, form: Format) -> Value:
    """(x * y + z) * 2**-scale, rounded once: where the rounded sum lies between two denormals, its error decides."""
    result = b.binary("fmul", plain, b.const(plain, 2.0**-form.scale))
    back = b.binary("fmul", result, b.const(plain, 2.0**form.scale))
    rest = b.binary("fsub", plain, back)
    half_step = 2.0 ** (form.scale - form.bias - form.mantissa)
    tie = b.compare("oeq", b.intrinsic("fabs", rest), b.const(plain, half_step))
    error, zero = _fma_error(b, operands, plain), b.const(plain, 0.0)
    above = b.and_(b.compare("ogt", error, zero), b.compare("ogt", rest, zero))
    below = b.and_(b.compare("olt", error, zero), b.compare("olt", rest, zero))
    same_side = b.or_(above, below)
    step = b.intrinsic("copysign", b.const(plain, 2.0 ** (1 - form.bias - form.mantissa)), rest)
    return b.select(b.and_(tie, same_side), b.binary("fadd", result, step), result)


# Exponent differences of numerator and denominator below and from which a quotient is 0 or infinite for certain.
_RANGE = {32: (-150, 129), 64: (-1075, 1025)}


def _certain_range_errors(b: Builder, denominator: Value, numerator: Value) -> tuple[Value, Value]:
    """Where the quotient must underflow or overflow: the steps before have lost it to NaN there.

    The ISA document's condition for overflow, exponent(S1) == 255, cannot be meant: S1 is Inf or NaN then.
    """
    difference = b.sub(fx.unbiased_exponent(b, numerator), fx.unbiased_exponent(b, denominator))
    low, high = _RANGE[bits_of(numerator.type)]
    under = b.compare("slt", difference, b.const(difference, low))
    return under, b.compare("sge", difference, b.const(difference, high))


def _fix_up(b: Builder, quotient: Value, denominator: Value, numerator: Value) -> Value:
    """The special cases of numerator / denominator; else the quotient with the right sign."""
    width = bits_of(quotient.type)
    element = {16: "half", 32: "float", 64: "double"}[width]

    def bits(value: Value) -> Value:
        return b.bitcast(value, f"i{width}")

    sign = b.and_(b.xor(bits(numerator), bits(denominator)), b.const(bits(quotient), 1 << (width - 1)))

    def signed(magnitude: Value) -> Value:
        cleared = b.and_(bits(magnitude), b.const(sign, (1 << (width - 1)) - 1))
        return b.bitcast(b.or_(cleared, sign), element)

    zero, infinity = b.const(quotient, 0.0), b.const(quotient, float("inf"))
    top, bottom = b.intrinsic("fabs", numerator), b.intrinsic("fabs", denominator)
    under, over = _certain_range_errors(b, denominator, numerator)
    result = signed(quotient)
    to_zero = b.or_(under, b.or_(b.compare("oeq", bottom, infinity), b.compare("oeq", top, zero)))
    to_infinity = b.or_(over, b.or_(b.compare("oeq", bottom, zero), b.compare("oeq", top, infinity)))
    result = b.select(to_infinity, signed(infinity), result)
    result = b.select(to_zero, signed(zero), result)
    zeros = b.and_(b.compare("oeq", top, zero), b.compare("oeq", bottom, zero))
    infinities = b.and_(b.compare("oeq", top, infinity), b.compare("oeq", bottom, infinity))
    result = b.select(b.or_(zeros, infinities), _quiet_nan(b, quotient), result)
    quiet_bit = 1 << {16: 9, 32: 22, 64: 51}[width]
    for operand in (denominator, numerator):
        quiet = b.bitcast(b.or_(bits(operand), b.const(sign, quiet_bit)), element)
        result = b.select(b.compare("uno", operand, operand), quiet, result)
    return result


def _fix_up_half(b: Builder, quotient: Value, denominator: Value, numerator: Value) -> Value:
    return fx.through_float(_fix_up)(b, quotient, denominator, numerator)


VECTOR_DIVISION: Mapping[str, Emitter] = {
    "v_div_scale_f32": _scale(_SINGLE),
    "v_div_scale_f64": _scale(_DOUBLE),
    "v_div_fmas_f32": _multiply_add(_SINGLE),
    "v_div_fmas_f64": _multiply_add(_DOUBLE),
    "v_div_fixup_f16": vector_op(_fix_up_half, "f16 f16 f16"),
    "v_div_fixup_f32": vector_op(_fix_up, "f32 f32 f32"),
    "v_div_fixup_f64": vector_op(_fix_up, "f64 f64 f64"),
}
