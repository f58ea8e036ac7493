"""Constants as values, by the operand's type."""

from __future__ import annotations

import math
import struct

from amdjit.emulator.host.builder import Builder, Value, bits_of, constant, like
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
