"""Arithmetic of integers and of their bits.

Sources: LLVM language reference, "Bit Manipulation Intrinsics" and "Saturation Arithmetic
Intrinsics"; RDNA4 ISA, `v_perm_b32`, `v_bfe_u32`, `v_sad_u8`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.declarations import Emit, EmitContext, LlvmCall, device_function, intrinsic
from amdjit.intrinsics.type_variables import INTEGER, WORD
from amdjit.types import Scalar, TypeVariable, Vector, i16, i32, i64, u16, u32, u64, vector

__all__ = [
    "add_saturating",
    "bfe",
    "bit_reverse",
    "clz",
    "ctz",
    "ffs",
    "funnel_shift_left",
    "funnel_shift_right",
    "mul24",
    "mulhi",
    "perm",
    "popcount",
    "sad",
    "subtract_saturating",
]

WORDS = TypeVariable("W", (i32, u32, i64, u64))
OFFSET, WIDTH = TypeVariable("O", (u32, i32)), TypeVariable("N", (u32, i32))
INTEGER_OR_PAIR = TypeVariable("I", (*INTEGER.constraints, vector(i16, 2), vector(u16, 2)))


def _emit_saturating(context: EmitContext, x: Any, y: Any, operation: str) -> Any:
    type = context.types[0]
    assert isinstance(type, (Scalar, Vector))
    element = type.element if isinstance(type, Vector) else type
    name = f"v{type.length}i{element.bits}" if isinstance(type, Vector) else f"i{element.bits}"
    sign = "s" if element.is_signed else "u"
    return context.call(f"llvm.{sign}{operation}.sat.{name}", context.llvm_type(type), [x, y])


def _emit_add_saturating(context: EmitContext, x: Any, y: Any) -> Any:
    return _emit_saturating(context, x, y, "add")


def _emit_subtract_saturating(context: EmitContext, x: Any, y: Any) -> Any:
    return _emit_saturating(context, x, y, "sub")


def _emit_mulhi(context: EmitContext, x: Any, y: Any) -> Any:
    type = context.types[0]
    assert isinstance(type, Scalar)
    builder = context.builder
    if type.bits == 64:
        return _emit_wide_mulhi(context, x, y, type)
    # LLVM recognises the widened product as one v_mul_hi_{i32,u32}.
    extend, wide = (builder.sext if type.is_signed else builder.zext), context.llvm_type(i64)
    product = builder.mul(extend(x, wide), extend(y, wide))
    return builder.trunc(builder.lshr(product, context.constant(i64, 32)), context.llvm_type(type))


def _emit_wide_mulhi(context: EmitContext, x: Any, y: Any, type: Scalar) -> Any:
    """Multiply by halves. For a negative factor, subtract the other one: read as unsigned, the
    factor is 2**64 too large."""
    builder, half, zero = context.builder, context.constant(i64, 32), context.constant(i64, 0)

    def low(value: Any) -> Any:
        return builder.and_(value, context.constant(i64, 0xFFFFFFFF))

    def high(value: Any) -> Any:
        return builder.lshr(value, half)

    middle = builder.add(builder.mul(high(x), low(y)), high(builder.mul(low(x), low(y))))
    other = builder.add(builder.mul(low(x), high(y)), low(middle))
    total = builder.add(builder.add(builder.mul(high(x), high(y)), high(middle)), high(other))
    if type.is_signed:
        for one, factor in ((x, y), (y, x)):
            negative = builder.icmp_signed("<", one, zero)
            total = builder.sub(total, builder.select(negative, factor, zero))
    return total


def _bits_of(x: Any) -> str:
    """Return the bits of an integer as text, the highest first; a plain int has 32."""
    width = 8 * np.asarray(x).dtype.itemsize if isinstance(x, np.generic) else 32
    return format(int(x) % 2**width, f"0{width}b")


def _like(x: Any, value: int) -> Any:
    """Return a number as an integer of x's type."""
    if not isinstance(x, np.generic):
        return value
    return np.array(value % 2 ** (8 * x.dtype.itemsize), np.uint64).astype(x.dtype)[()]


def _saturated_sum(x: Any, y: Any, sign: int) -> Any:
    limits = np.iinfo(np.asarray(x).dtype)
    sums = np.asarray(x).astype(object) + sign * np.asarray(y).astype(object)
    clamped = np.asarray(np.clip(sums, int(limits.min), int(limits.max)), object)
    return clamped.astype(np.asarray(x).dtype)[()]


@intrinsic(LlvmCall("llvm.ctpop.{x}"), isa="v_bcnt_u32_b32")
def popcount(x: INTEGER) -> INTEGER:
    """Return the number of bits that are 1 (`llvm.ctpop`)."""
    return _like(x, _bits_of(x).count("1"))


@intrinsic(LlvmCall("llvm.ctlz.{x}", ("x", False)), isa="v_clz_i32_u32")
def clz(x: INTEGER) -> INTEGER:
    """Return the number of zero bits above the highest 1, the type's width for 0 (`llvm.ctlz`)."""
    bits = _bits_of(x)
    return _like(x, len(bits) - len(bits.lstrip("0")))


@intrinsic(LlvmCall("llvm.cttz.{x}", ("x", False)), isa="v_ctz_i32_b32")
def ctz(x: INTEGER) -> INTEGER:
    """Return the number of zero bits below the lowest 1, the type's width for 0 (`llvm.cttz`)."""
    bits = _bits_of(x)
    return _like(x, len(bits) - len(bits.rstrip("0")))


@device_function
def ffs(x):
    """Return the position of the lowest 1, counted from 1, or 0 for 0 (CUDA's `__ffs`, POSIX
    `ffs`)."""
    return ctz(x) + 1 if x != 0 else x


@intrinsic(LlvmCall("llvm.bitreverse.{x}"), isa="v_bfrev_b32")
def bit_reverse(x: INTEGER) -> INTEGER:
    """Return the bits in reverse order (`llvm.bitreverse`)."""
    return _like(x, int(_bits_of(x)[::-1], 2))


@intrinsic(LlvmCall("llvm.fshl.{high}"))
def funnel_shift_left(high: WORD, low: WORD, count: WORD) -> WORD:
    """Return the upper word of high:low shifted left by count % 32 (`llvm.fshl`)."""
    high, low, count = (int(np.uint32(value)) for value in (high, low, count))
    return np.uint32((((high << 32 | low) << count % 32) >> 32) & 0xFFFFFFFF)


@intrinsic(LlvmCall("llvm.fshr.{high}"), isa="v_alignbit_b32")
def funnel_shift_right(high: WORD, low: WORD, count: WORD) -> WORD:
    """Return the lower word of high:low shifted right by count % 32 (`llvm.fshr`)."""
    high, low, count = (int(np.uint32(value)) for value in (high, low, count))
    return np.uint32(((high << 32 | low) >> count % 32) & 0xFFFFFFFF)


@intrinsic(Emit(_emit_mulhi), isa="v_mul_hi")
def mulhi(x: WORDS, y: WORDS) -> WORDS:
    """Return the upper half of the product of 32-bit or 64-bit integers (`v_mul_hi_i32`,
    `v_mul_hi_u32`; eight instructions for 64 bits)."""
    return (int(x) * int(y)) >> (64 if isinstance(x, (np.int64, np.uint64)) else 32)


@intrinsic(Emit(_emit_add_saturating))
def add_saturating(x: INTEGER_OR_PAIR, y: INTEGER_OR_PAIR) -> INTEGER_OR_PAIR:
    """Return x + y, clamped to the type's range (`llvm.sadd.sat`, `llvm.uadd.sat`); pairs:
    `v_pk_add_i16 clamp`."""
    return _saturated_sum(x, y, 1)


@intrinsic(Emit(_emit_subtract_saturating))
def subtract_saturating(x: INTEGER_OR_PAIR, y: INTEGER_OR_PAIR) -> INTEGER_OR_PAIR:
    """Return x - y, clamped to the type's range (`llvm.ssub.sat`, `llvm.usub.sat`); pairs:
    `v_pk_sub_i16 clamp`."""
    return _saturated_sum(x, y, -1)


def _named_by_sign(context: EmitContext, name: str, *arguments: Any) -> Any:
    """Call LLVM's function for signed or for unsigned words, by the first argument's type."""
    type = context.types[0]
    sign = "i" if isinstance(type, Scalar) and type.is_signed else "u"
    return context.call(
        f"llvm.amdgcn.{name.format(sign)}", context.llvm_type(type), list(arguments)
    )


def _emit_bfe(context: EmitContext, x: Any, offset: Any, width: Any) -> Any:
    type = context.types[0]
    sign = "s" if isinstance(type, Scalar) and type.is_signed else "u"
    return context.call(f"llvm.amdgcn.{sign}bfe.i32", context.llvm_type(type), [x, offset, width])


def _emit_mul24(context: EmitContext, x: Any, y: Any) -> Any:
    return _named_by_sign(context, "mul.{}24", x, y)


@intrinsic(Emit(_emit_bfe), isa="v_bfe")
def bfe(x: WORD, offset: OFFSET, width: WIDTH) -> WORD:
    """Return `width` bits from bit `offset` on, sign-extended if x is signed; offset and width
    modulo 32."""
    offset, width = int(offset) % 32, int(width) % 32
    field = (int(x) % 2**32 if isinstance(x, np.unsignedinteger) else int(x)) >> offset & (
        (1 << width) - 1
    )
    negative = not isinstance(x, np.unsignedinteger) and width > 0 and field >> (width - 1)
    return field - (1 << width) if negative else field


@intrinsic(LlvmCall("llvm.amdgcn.perm"), isa="v_perm_b32")
def perm(high: u32, low: u32, selectors: u32) -> u32:
    """Return four bytes, chosen by the bytes of `selectors`: 0..7 are the bytes of high:low, from
    the lowest of `low` on.

    8..11 repeat the sign of bytes 1, 3, 5, 7; 12 is all zeros, 13 and above all ones
    (`v_perm_b32`).
    """
    data = (int(high) << 32 | int(low)).to_bytes(8, "little")
    signs = [255 * (data[place] >> 7) for place in (1, 3, 5, 7)]
    table = [*data, *signs, 0]
    chosen = [table[s] if s < 13 else 255 for s in int(selectors).to_bytes(4, "little")]
    return np.uint32(int.from_bytes(bytes(chosen), "little"))


@intrinsic(Emit(_emit_mul24), isa="v_mul")
def mul24(x: WORD, y: WORD) -> WORD:
    """Return the lower 32 bits of the product of the lower 24 bits of x and y, signed if the type
    is."""
    sign = 0 if isinstance(x, np.unsignedinteger) else 1 << 23
    left, right = (((int(value) % 2**24) ^ sign) - sign for value in (x, y))
    return (left * right + (1 << 31 if sign else 0)) % 2**32 - (1 << 31 if sign else 0)


@intrinsic(LlvmCall("llvm.amdgcn.sad.u8"), isa="v_sad_u8")
def sad(x: u32, y: u32, total: u32) -> u32:
    """Return total + the absolute differences of the four bytes of x and y (`v_sad_u8`)."""
    left, right = (
        np.frombuffer(np.uint32(value).tobytes(), np.uint8).astype(np.int64) for value in (x, y)
    )
    return np.uint32((int(total) + int(np.abs(left - right).sum())) % 2**32)
