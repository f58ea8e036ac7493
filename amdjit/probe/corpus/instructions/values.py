"""Operands for many lanes: special values of their type against each other, then random ones."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

__all__ = ["Dwords", "ElementType", "element_type", "operand_rows", "special_bits", "value_text"]

Dwords = NDArray[np.uint32]
"""Registers by lanes."""

_TYPE = re.compile(r"^(?:v(\d+))?([a-z]+?)(\d+)$")
# Bits per element; what the rest is called.
_NARROW = {"fp8": ("fp", 8), "bf8": ("bf", 8), "bf16": ("bf", 16)}
# Zeros, ones, infinities, quiet and signalling NaNs with payloads, extremes, denormals, halves,
# numbers whose sums and products are ties, and those at the limits of integers.
_SPECIAL: dict[str, tuple[int, ...]] = {
    "f32": (
        0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC12345, 0xFFC00001,
        0x7F812345, 0xFF900002, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, 0x80800001, 0x00000001,
        0x807FFFFF, 0x3F000000, 0x40200000, 0x4B800001, 0xCF000000,
    ),
    "f16": (
        0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E12, 0xFE01, 0x7D23, 0xFC45, 0x7BFF, 0xFBFF,
        0x0400, 0x8401, 0x0001, 0x83FF, 0x3800, 0x4100, 0x6801, 0xF800,
    ),
    "bf16": (
        0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC1, 0xFFC3, 0x7F81, 0xFF92, 0x7F7F, 0xFF7F,
        0x0080, 0x8081, 0x0001, 0x807F, 0x3F00, 0x4020, 0x4B81, 0xCF00,
    ),
    "f64": (
        0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8000012345678,
        0xFFF8000000000001, 0x7FF0000012345678, 0xFFF4000000000002, 0x7FEFFFFFFFFFFFFF,
        0xFFEFFFFFFFFFFFFF, 1 << 52, 0x8010000000000001, 1, 0x800FFFFFFFFFFFFF, 0x3FE << 52,
        0x4004 << 48, 0x4340000000000001, 0xC1E << 52,
    ),
}  # fmt: skip
_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i8": np.int8,
}
_UNSIGNED: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
# Lanes of the grid of special values, and of numbers of moderate size at the end; the rest has
# random bits.
_GRID, _MODERATE = 0.75, 0.9


@dataclass(frozen=True)
class ElementType:
    """What a register holds side by side. name: f16, i32, ...; bits: of each element."""

    name: str
    bits: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of an element; of elements that it lacks, the dwords."""
        found: np.dtype[Any] = np.dtype(_DTYPES.get(self.name, _UNSIGNED.get(self.bits, np.uint32)))
        return found


@cache
def element_type(type: str) -> ElementType:
    """Return the elements of an operand of a type of the decoder's tables (v2f16, u32, b128, ...);
    lane masks are dwords."""
    if type == "mask":
        return ElementType("u32", 32)
    match = _TYPE.match(type)
    assert match is not None, type
    name = f"{match[2]}{match[3]}"
    bits = int(match[3])
    return ElementType("u32", 32) if bits > 64 or (bits < 8) else ElementType(name, bits)


@cache
def special_bits(name: str, bits: int) -> tuple[int, ...]:
    """Return the values of a type that tell most, as bits."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    top = 1 << (bits - 1)
    whole = (1 << bits) - 1
    small = (0, 1, 2, 3, 7, bits - 1, bits, bits + 1, 0x55 & whole, 0x80 & whole)
    wide = (top, top - 1, top + 1, whole, whole - 1, 0x5555555555555555 & whole,
            0xAAAAAAAAAAAAAAAA & whole, 0x123456789ABCDEF0 & whole, 0xFF00FF00FF00FF00 & whole,
            top >> 1)  # fmt: skip
    return tuple(dict.fromkeys((*small, *wide)))


def operand_rows(types: tuple[tuple[str, int], ...], lanes: int) -> list[Dwords]:
    """Return each source's registers: their dwords by lanes.

    types: type and dwords of each source. Special values of the first two sources meet in pairs,
    those of the others in a fixed disorder; then come random bits, and numbers of moderate size.
    """
    return [_rows(type, dwords, place, lanes) for place, (type, dwords) in enumerate(types)]


@cache
def _rows(type: str, dwords: int, place: int, lanes: int) -> Dwords:
    element = element_type(type)
    count = max(1, 32 * dwords // element.bits)
    seed = zlib.crc32(f"{type} {dwords} {place}".encode())
    generator = np.random.default_rng(seed)
    columns = [_column(element, place, lanes, number, generator) for number in range(count)]
    unsigned = _UNSIGNED[element.bits]
    packed = np.ascontiguousarray(np.stack(columns, axis=1).astype(unsigned))
    rows = np.ascontiguousarray(packed.view(np.uint32).reshape(lanes, dwords).T)
    rows.flags.writeable = False
    return rows


def _column(
    element: ElementType, place: int, lanes: int, number: int, generator: np.random.Generator
) -> NDArray[np.uint64]:
    """Return one element of each lane. number: which of the elements side by side."""
    special = np.array(special_bits(element.name, element.bits), np.uint64)
    grid, moderate = int(lanes * _GRID), int(lanes * _MODERATE)
    found = generator.integers(0, 1 << 64, lanes, np.uint64)
    index = np.arange(grid)
    if number or place > 1:
        index = generator.permutation(grid)
    chosen = index % len(special) if place != 1 else index // len(special) % len(special)
    found[:grid] = special[chosen]
    found[moderate:] = _moderate(element, lanes - moderate, generator)
    found &= np.uint64((1 << element.bits) - 1)
    return found


def _moderate(
    element: ElementType, count: int, generator: np.random.Generator
) -> NDArray[np.uint64]:
    dtype = element.dtype
    if dtype.kind == "f" or element.name in ("bf16", "fp8", "bf8"):
        values = (generator.standard_normal(count) * 4).astype(dtype)
        bits: NDArray[np.uint64] = values.view(_UNSIGNED[element.bits]).astype(np.uint64)
        return bits
    return generator.integers(0, 100, count, np.uint64)


def value_text(bits: int, element: ElementType) -> str:
    """Return an element in words: its bits, and the number that they are."""
    digits = element.bits // 4
    dtype = element.dtype
    if dtype.kind not in "fiV":
        return f"0x{bits:0{digits}x}"
    number = np.array([bits], _UNSIGNED[element.bits]).view(dtype)[0]
    return f"0x{bits:0{digits}x} ({number})"
