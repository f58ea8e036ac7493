"""Operands as values: constants by the operand's type, input modifiers, result modifiers."""

from __future__ import annotations

import math
import struct

from amdjit.emulator.host.builder import Builder, Value, bits_of, constant, element_of, like
from amdjit.isa.arithmetic import element_type, is_packed
from amdjit.isa.instruction import InlineConstant, Literal

_FLOAT_FORMATS = {16: "<e", 32: "<f", 64: "<d"}
_INVERSE_TWO_PI_BITS = {16: 0x3118, 32: 0x3E22F983, 64: 0x3FC45F306DC9C882}


def _float_bits(value: float, width: int) -> int:
    if value == 0.15915494309189535:
        return _INVERSE_TWO_PI_BITS[width]
    return int.from_bytes(struct.pack(_FLOAT_FORMATS[width], value), "little")


def constant_bits(operand: InlineConstant | Literal, code: str) -> int:
    """Return the bits of a constant as an operand of type `code` reads them (RDNA 4 ISA, 15.3 and
    6.2.4).

    Integers sign-extend. A float has the operand's format; 16-bit integer operands and packed ones
    read the low bits of the single-precision pattern, or the half-precision pattern with
    zero-extension. A literal is 32 bits: the high half of an f64, sign-extended for i64,
    zero-extended for other 64-bit types.
    """
    width = bits_of(element_type(code))
    if isinstance(operand, Literal):
        return _literal_bits(operand.value, code, width)
    if isinstance(operand.value, int):
        return operand.value & ((1 << width) - 1)
    if code in ("v2f16", "f16"):
        return _float_bits(operand.value, 16)
    if code in ("v2bf16", "bf16"):
        return _float_bits(operand.value, 32) >> 16
    if width == 16 or is_packed(code):
        return _float_bits(operand.value, 32) & ((1 << width) - 1)
    return _float_bits(operand.value, width)


def _literal_bits(value: int, code: str, width: int) -> int:
    if code == "f64":
        return value << 32
    if code == "i64" and value >> 31:
        return value | 0xFFFFFFFF00000000
    return value & ((1 << width) - 1)


def constant_value(builder: Builder, shape: str, element: str, bits: int) -> Value:
    """Return bits as a constant of `element`, a scalar or vector like the type `shape`."""
    type_name = like(shape, element)
    if element[0] == "i":
        return constant(type_name, bits)
    width = bits_of(element)
    number = struct.unpack(_FLOAT_FORMATS[width], bits.to_bytes(width // 8, "little"))[0]
    if math.isnan(number):
        return builder.bitcast(constant(like(shape, f"i{width}"), bits), element)
    return constant(type_name, number)


def modify_input(builder: Builder, value: Value, negate: bool, absolute: bool) -> Value:
    """Apply `abs`, then `neg`; on integers they change the sign bit (v_cndmask)."""
    if not (negate or absolute):
        return value
    width = bits_of(value.type)
    element = element_of(value.type)
    bits = builder.bitcast(value, f"i{width}")
    if absolute:
        bits = builder.and_(bits, builder.const(bits, (1 << (width - 1)) - 1))
    if negate:
        bits = builder.xor(bits, builder.const(bits, 1 << (width - 1)))
    return builder.bitcast(bits, element)


_EXPONENTS = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
_OUTPUT_FACTORS = {1: 2.0, 2: 4.0, 3: 0.5}


def scale_result(builder: Builder, value: Value, omod: int) -> Value:
    """Apply `omod` (x2, x4, /2): zeros and denormals become +0; a result that becomes denormal is a
    zero of its sign."""
    width = bits_of(value.type)
    scaled = builder.binary("fmul", value, builder.const(value, _OUTPUT_FACTORS[omod]))
    bits = builder.bitcast(value, f"i{width}")
    exponent = builder.and_(bits, builder.const(bits, _EXPONENTS[width]))
    result = builder.bitcast(scaled, f"i{width}")
    if _OUTPUT_FACTORS[omod] < 1:
        smallest = builder.const(bits, _EXPONENTS[width] & -_EXPONENTS[width])
        zero = builder.and_(bits, builder.const(bits, 1 << width - 1))
        result = builder.select(builder.compare("eq", exponent, smallest), zero, result)
    result = builder.select(
        builder.compare("eq", exponent, builder.const(bits, _EXPONENTS[width])), bits, result
    )
    result = builder.select(
        builder.compare("eq", exponent, builder.const(bits, 0)), builder.const(bits, 0), result
    )
    return builder.bitcast(result, element_of(value.type))
