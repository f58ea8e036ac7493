"""Buffer instructions (RDNA 4 ISA, chapter 9): bounds, addresses and formats, one lane at a
time."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.emulator.model import gfx9_buffers
from tests.emulator.model.families import is_gfx9

# RDNA 4 ISA, table "Buffer and Image Data Formats": components are named from the highest bits
# down.
_NUMBERS = (
    (1, "8", "UNORM SNORM USCALED SSCALED UINT SINT"),
    (7, "16", "UNORM SNORM USCALED SSCALED UINT SINT FLOAT"),
    (14, "8_8", "UNORM SNORM USCALED SSCALED UINT SINT"),
    (20, "32", "UINT SINT FLOAT"),
    (23, "16_16", "UNORM SNORM USCALED SSCALED UINT SINT FLOAT"),
    (30, "10_11_11", "FLOAT"),
    (31, "11_11_10", "FLOAT"),
    (32, "10_10_10_2", "UNORM SNORM UINT SINT"),
    (36, "2_10_10_10", "UNORM SNORM USCALED SSCALED UINT SINT"),
    (42, "8_8_8_8", "UNORM SNORM USCALED SSCALED UINT SINT"),
    (48, "32_32", "UINT SINT FLOAT"),
    (51, "16_16_16_16", "UNORM SNORM USCALED SSCALED UINT SINT FLOAT"),
    (58, "32_32_32", "UINT SINT FLOAT"),
    (61, "32_32_32_32", "UINT SINT FLOAT"),
)
FORMATS: dict[int, tuple[str, list[int]]] = {
    first + number: (kind, [int(width) for width in name.split("_")][::-1])
    for first, name, kinds in _NUMBERS
    for number, kind in enumerate(kinds.split())
}


def formats() -> dict[int, tuple[str, list[int]]]:
    """Return the family's formats by their numbers: kind, and widths from the lowest bits up."""
    return gfx9_buffers.FORMATS if is_gfx9() else FORMATS


def format_size(number: int) -> int:
    return sum(formats()[number][1]) // 8


@dataclass(frozen=True)
class Address:
    """What one lane gives: index, its own offset, the instruction's, the scalar one, its number in
    the wave."""

    index: int
    offset: int
    ioffset: int
    soffset: int
    lane: int

    @property
    def own_offset(self) -> int:
        """The lane's offset and the instruction's, whose sum wraps: see
        `amdjit.emulator.instructions.buffers.addresses`."""
        return (self.offset + self.ioffset) & 0xFFFFFFFF


@dataclass(frozen=True)
class Resource:
    """The fields of the table "Buffer Resource Descriptor", as they are encoded; select: four
    codes."""

    stride: int = 0
    swizzle: int = 0
    records: int = 0
    select: tuple[int, int, int, int] = (4, 5, 6, 7)
    format: int = 20
    scale: int = 0
    index_stride: int = 0
    add_tid: int = 0
    check: int = 3

    @property
    def record_bytes(self) -> int:
        return self.stride * (1, 4, 8, 32)[self.scale]

    def is_settled(self, where: Address, payload: int) -> bool:
        """Return whether the documents say if these bytes are inside."""
        return True

    def high_words(self) -> tuple[int, int, int]:
        """Dword 1 without the base, dwords 2 and 3."""
        selects = sum(code << 3 * number for number, code in enumerate(self.select))
        last = selects | self.format << 12 | self.scale << 18 | self.index_stride << 21
        return (
            self.stride << 16 | self.swizzle << 30,
            self.records,
            last | self.add_tid << 23 | self.check << 28,
        )

    def inside(self, where: Address, first: int, payload: int) -> bool:
        """Table "Buffer Out Of Bounds Selection": `payload` bytes from byte `first` of what the
        lane transfers on."""
        index = where.index + (where.lane if self.add_tid else 0)
        end = where.own_offset + first + payload
        structured = self.check == 0 or (self.check == 3 and self.swizzle and self.record_bytes)
        if structured:
            return index < self.records and end <= self.record_bytes
        if self.check == 1:
            return index < self.records
        if self.check == 2:
            return self.records != 0
        return end <= max(self.records - where.soffset, 0)

    def byte_of(self, where: Address) -> int:
        """9.4.1 and 9.4.2: the first byte after the base."""
        index = where.index + (where.lane if self.add_tid else 0)
        offset = where.own_offset
        if not self.swizzle:
            return where.soffset + offset + self.record_bytes * index
        element = {1: 4, 3: 16}[self.swizzle]
        total = (offset + where.soffset) & 0xFFFFFFFF
        many = (8, 16, 32, 64)[self.index_stride]
        rows = index // many * self.record_bytes + total // element * element
        return rows * many + index % many * element + total % element


def _small_float(bits: int, width: int) -> float:
    """Floats of 10 and 11 bits: five of exponent, no sign."""
    fraction = width - 5
    exponent, mantissa = bits >> fraction, bits & (1 << fraction) - 1
    if exponent == 31:
        return float("nan") if mantissa else float("inf")
    if exponent == 0:
        return mantissa * 2.0 ** (-14 - fraction)
    return (1 + mantissa / 2.0**fraction) * 2.0 ** (exponent - 15)


def value_of(bits: int, kind: str, width: int) -> int | float | Fraction:
    """The meaning of a component's bits."""
    negative = bits >> width - 1
    integer = bits - (1 << width) if kind[0] == "S" and negative else bits
    if kind == "FLOAT":
        if width < 16:
            return _small_float(bits, width)
        return struct.unpack("<f" if width == 32 else "<e", bits.to_bytes(width // 8, "little"))[0]
    if kind == "UNORM":
        return Fraction(integer, (1 << width) - 1)
    if kind == "SNORM":
        return max(Fraction(integer, (1 << width - 1) - 1), Fraction(-1))
    return float(integer) if kind.endswith("SCALED") else integer


def _single(value: float | Fraction) -> int:
    with np.errstate(over="ignore"):
        return int(np.float32(float(value)).view(np.uint32))


def _half(value: float | Fraction, truncate: bool) -> int:
    with np.errstate(over="ignore"):
        nearest = np.float16(float(value))
    if truncate and abs(float(nearest)) > abs(float(value)):
        nearest = np.nextafter(nearest, np.float16(0))
    return int(nearest.view(np.uint16))


def loaded(bits: int, kind: str, width: int, narrow: bool) -> int:
    """A component as a register has it: 32 bits, or 16 in D16 forms (9.3.1: single precision is
    truncated)."""
    value = value_of(bits, kind, width)
    if isinstance(value, int):
        return value & (0xFFFF if narrow else 0xFFFFFFFF)
    if kind == "FLOAT" and width == 32 and not narrow:
        return bits
    return _half(value, kind == "FLOAT" and width == 32) if narrow else _single(value)


def stored(register: int, kind: str, width: int, narrow: bool) -> int:
    """The bits in memory of a register's channel; what does not fit the format is not asked for."""
    mask = (1 << width) - 1
    if kind in ("UINT", "SINT"):
        # D16 forms have an int16 for SINT.
        extended = (register ^ 0x8000) - 0x8000 if narrow and kind == "SINT" else register
        return extended & mask
    if kind == "FLOAT" and (width == 32 and not narrow):
        return register
    kind_of = "<e" if narrow else "<f"
    value = struct.unpack(kind_of, register.to_bytes(2 if narrow else 4, "little"))[0]
    if kind == "FLOAT":
        if width == 32:
            return _single(value)
        half = _half(value, False)
        return half if width == 16 else half >> 15 - width
    low, largest = (0, mask) if kind == "UNORM" else (-1, mask >> 1)
    exact = Fraction(min(max(value, low), 1))
    return round(exact * largest) & mask


def one_of(kind: str, narrow: bool) -> int:
    """The constant 1 of a channel selection."""
    if kind in ("UINT", "SINT"):
        return 1
    return 0x3C00 if narrow else 0x3F800000
