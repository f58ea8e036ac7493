"""The element types of matrices: from the low bits of dwords to f32, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from amdjit.isa.arithmetic import Arithmetic, Value, like
from amdjit.late_methods import dataclass

Convert = Callable[[Arithmetic, Value], Value]


@dataclass(frozen=True, slots=True)
class Element:
    """bits: the width. widen: the low bits of i32 lanes to f32. narrow: f32 to the low bits of i32;
    the other bits are 0."""

    bits: int
    widen: Convert
    narrow: Convert


def half_to_single(b: Arithmetic, lanes: Value) -> Value:
    """Convert the low 16 bits from half precision."""
    return b.convert("fpext", b.bitcast(b.resize(lanes, 16), "half"), "float")


def single_to_half(b: Arithmetic, value: Value) -> Value:
    """Convert to half precision, rounding to nearest even."""
    return b.resize(b.bitcast(b.convert("fptrunc", value, "half"), "i16"), 32)


def brain_to_single(b: Arithmetic, lanes: Value) -> Value:
    """Convert the low 16 bits from bfloat16."""
    return b.bitcast(b.shift("shl", lanes, 16), "float")


def single_to_brain(b: Arithmetic, value: Value) -> Value:
    """Convert to bfloat16, rounding to nearest even; a NaN stays one."""
    bits = b.bitcast(value, "i32")
    odd = b.mask(b.shift("lshr", bits, 16), 1)
    rounded = b.shift("lshr", b.add(b.add(bits, b.const(bits, 0x7FFF)), odd), 16)
    quiet = b.or_(b.shift("lshr", bits, 16), b.const(bits, 0x40))
    return b.select(b.compare("uno", value, value), quiet, rounded)


def fp8_to_single(b: Arithmetic, lanes: Value) -> Value:
    """Convert the low 8 bits from OCP E4M3: half precision has the same bits with another bias;
    0x7f is NaN."""
    byte = b.mask(lanes, 8)
    magnitude = b.mask(byte, 7)
    sign = b.shift("shl", b.shift("lshr", byte, 7), 15)
    bits = b.or_(sign, b.shift("shl", magnitude, 7))
    scaled = half_to_single(b, bits)
    number = b.binary("fmul", scaled, b.const(scaled, 256.0))
    nan = b.bitcast(b.or_(b.shift("shl", sign, 16), b.const(byte, 0x7FC00000)), "float")
    return b.select(b.compare("eq", magnitude, b.const(byte, 0x7F)), nan, number)


def bf8_to_single(b: Arithmetic, lanes: Value) -> Value:
    """Convert the low 8 bits from OCP E5M2, the upper byte of half precision."""
    return half_to_single(b, b.shift("shl", b.mask(lanes, 8), 8))


def fnuz_to_single(b: Arithmetic, lanes: Value, exponent_bits: int) -> Value:
    """Convert the low 8 bits from E4M3 or E5M2 as gfx942 has them: the bias is one larger, and the
    bits of -0 are NaN (CDNA 3 ISA, 7.2)."""
    fraction = 7 - exponent_bits
    bias = 1 << exponent_bits - 1
    byte = b.mask(lanes, 8)
    magnitude = b.mask(byte, 7)
    moved = b.shift("shl", magnitude, 23 - fraction)
    normal = b.bitcast(b.add(moved, b.const(byte, 127 - bias << 23)), "float")
    units = b.convert("uitofp", magnitude, "float")
    small = b.binary("fmul", units, b.const(units, 2.0 ** (1 - bias - fraction)))
    is_small = b.compare("ult", magnitude, b.const(byte, 1 << fraction))
    sign = b.shift("shl", b.shift("lshr", byte, 7), 31)
    bits = b.or_(b.bitcast(b.select(is_small, small, normal), "i32"), sign)
    is_nan = b.compare("eq", byte, b.const(byte, 0x80))
    return b.bitcast(b.select(is_nan, b.const(byte, 0x7FC00000), bits), "float")


def _small(bits: int, mantissa: int, bias: int) -> Convert:
    """Convert a format without infinities and NaNs: half precision has the same bits with another
    bias."""

    def widen(b: Arithmetic, lanes: Value) -> Value:
        sign = b.mask(b.shift("lshr", lanes, bits - 1), 1)
        magnitude = b.shift("shl", b.mask(lanes, bits - 1), 10 - mantissa)
        scaled = half_to_single(b, b.or_(b.shift("shl", sign, 15), magnitude))
        return b.binary("fmul", scaled, b.const(scaled, 2.0 ** (15 - bias)))

    return widen


def _integer(bits: int, signed: bool) -> Convert:
    def widen(b: Arithmetic, lanes: Value) -> Value:
        narrow = b.resize(lanes, bits)
        wide = b.resize(narrow, 32, signed)
        return b.cast("sitofp", wide, like(lanes.type, "float"))

    return widen


def _refuse(b: Arithmetic, value: Value) -> Value:
    raise AssertionError("this element type is never a result")


ELEMENTS: Mapping[str, Element] = {
    "f16": Element(16, half_to_single, single_to_half),
    "bf16": Element(16, brain_to_single, single_to_brain),
    "fp8": Element(8, fp8_to_single, _refuse),
    "bf8": Element(8, bf8_to_single, _refuse),
    "fp8_fnuz": Element(8, partial(fnuz_to_single, exponent_bits=4), _refuse),
    "bf8_fnuz": Element(8, partial(fnuz_to_single, exponent_bits=5), _refuse),
    "fp6": Element(6, _small(6, 3, 1), _refuse),
    "bf6": Element(6, _small(6, 2, 3), _refuse),
    "fp4": Element(4, _small(4, 1, 1), _refuse),
    "i8": Element(8, _integer(8, True), _refuse),
    "u8": Element(8, _integer(8, False), _refuse),
    "i4": Element(4, _integer(4, True), _refuse),
    "u4": Element(4, _integer(4, False), _refuse),
}
