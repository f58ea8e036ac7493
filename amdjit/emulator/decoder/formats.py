"""The microcode formats of gfx12: the bits of the first dword that select one, and its fields.

Source: RDNA 4 ISA document, chapter 15 "Microcode Formats". Bit positions count from bit 0 of the
first dword, so that a whole instruction is one little-endian integer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

# Source codes that do not stand for an operand (ISA document, section 15.3, SSRC and SRC tables).
LITERAL = 255
DPP16 = 250
DPP8 = 233
DPP8_FETCH_INACTIVE = 234
NULL = 124


@dataclass(frozen=True, slots=True)
class Field:
    """A bit field. kind: v8 (VGPR number), s7 (scalar destination), s8 (scalar source), s9 (any
    source), d8 (VGPR or scalar destination), b6 (SGPR pair number), imm (a number)."""

    name: str
    shift: int
    bits: int
    kind: str = "imm"


@dataclass(frozen=True, slots=True)
class Format:
    """One microcode format: `prefix` in the top `prefix_bits` bits of the first dword; size in
    bytes."""

    name: str
    prefix: int
    prefix_bits: int
    size: int
    opcode: Field
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field:
        """Return a field by its name; KeyError if there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)


def _opcode(shift: int, bits: int) -> Field:
    return Field("op", shift, bits)


_VOP3_SOURCES = (Field("src0", 32, 9, "s9"), Field("src1", 41, 9, "s9"), Field("src2", 50, 9, "s9"))
_CACHE_POLICY = (Field("scope", 50, 2), Field("th", 52, 3))
_FLAT_FIELDS = (
    Field("vdst", 32, 8, "v8"),
    Field("vdata", 55, 8, "v8"),
    Field("vaddr", 64, 8, "v8"),
    Field("saddr", 0, 7, "s7"),
    Field("sve", 49, 1),
    Field("offset", 72, 24),
    *_CACHE_POLICY,
)

FORMATS = (
    Format(
        "SOP1",
        0b101111101,
        9,
        4,
        _opcode(8, 8),
        (Field("sdst", 16, 7, "s7"), Field("src0", 0, 8, "s8")),
    ),
    Format(
        "SOPC",
        0b101111110,
        9,
        4,
        _opcode(16, 7),
        (Field("src0", 0, 8, "s8"), Field("src1", 8, 8, "s8")),
    ),
    Format("SOPP", 0b101111111, 9, 4, _opcode(16, 7), (Field("simm16", 0, 16),)),
    Format(
        "SOPK", 0b1011, 4, 4, _opcode(23, 5), (Field("sdst", 16, 7, "s7"), Field("simm16", 0, 16))
    ),
    Format(
        "SOP2",
        0b10,
        2,
        4,
        _opcode(23, 7),
        (Field("sdst", 16, 7, "s7"), Field("src0", 0, 8, "s8"), Field("src1", 8, 8, "s8")),
    ),
    Format(
        "SMEM",
        0b111101,
        6,
        8,
        _opcode(13, 6),
        (
            Field("sdst", 6, 7, "s7"),
            Field("sbase", 0, 6, "b6"),
            Field("soffset", 57, 7, "s7"),
            Field("offset", 32, 24),
            Field("scope", 21, 2),
            Field("th", 23, 2),
        ),
    ),
    Format(
        "VOP1",
        0b0111111,
        7,
        4,
        _opcode(9, 8),
        (Field("vdst", 17, 8, "d8"), Field("src0", 0, 9, "s9")),
    ),
    Format(
        "VOPC",
        0b0111110,
        7,
        4,
        _opcode(17, 8),
        (Field("src0", 0, 9, "s9"), Field("src1", 9, 8, "v8")),
    ),
    Format(
        "VOP2",
        0b0,
        1,
        4,
        _opcode(25, 6),
        (Field("vdst", 17, 8, "v8"), Field("src0", 0, 9, "s9"), Field("src1", 9, 8, "v8")),
    ),
    Format(
        "VOP3",
        0b110101,
        6,
        8,
        _opcode(16, 10),
        (
            Field("vdst", 0, 8, "d8"),
            Field("sdst", 8, 7, "s7"),
            *_VOP3_SOURCES,
            Field("abs", 8, 3),
            Field("op_sel", 11, 4),
            Field("clamp", 15, 1),
            Field("omod", 59, 2),
            Field("neg", 61, 3),
        ),
    ),
    Format(
        "VOP3P",
        0b110011000,
        9,
        8,
        _opcode(16, 7),
        (
            Field("vdst", 0, 8, "v8"),
            *_VOP3_SOURCES,
            Field("neg_hi", 8, 3),
            Field("op_sel", 11, 3),
            Field("op_sel_hi_2", 14, 1),
            Field("clamp", 15, 1),
            Field("op_sel_hi", 59, 2),
            Field("neg", 61, 3),
        ),
    ),
    Format(
        "VINTERP",
        0b11001101,
        8,
        8,
        _opcode(16, 8),
        (
            Field("vdst", 0, 8, "v8"),
            *_VOP3_SOURCES,
            Field("wait_exp", 8, 3),
            Field("op_sel", 11, 4),
            Field("clamp", 15, 1),
            Field("neg", 61, 3),
        ),
    ),
    Format(
        "LDSDIR",
        0b11001110,
        8,
        4,
        _opcode(20, 3),
        (
            Field("vdst", 0, 8, "v8"),
            Field("attr_chan", 8, 2),
            Field("attr", 10, 6),
            Field("wait_va_vdst", 16, 4),
            Field("wait_vm_vsrc", 23, 1),
        ),
    ),
    Format(
        "VOPD",
        0b110010,
        6,
        8,
        _opcode(22, 4),
        (
            Field("opy", 17, 5),
            Field("src0x", 0, 9, "s9"),
            Field("src1x", 9, 8, "v8"),
            Field("src0y", 32, 9, "s9"),
            Field("src1y", 41, 8, "v8"),
            Field("vdsty", 49, 7, "imm"),
            Field("vdstx", 56, 8, "v8"),
        ),
    ),
    Format(
        "DS",
        0b110110,
        6,
        8,
        _opcode(18, 8),
        (
            Field("vdst", 56, 8, "v8"),
            Field("addr", 32, 8, "v8"),
            Field("data0", 40, 8, "v8"),
            Field("data1", 48, 8, "v8"),
            Field("offset0", 0, 8),
            Field("offset1", 8, 8),
        ),
    ),
    Format("VFLAT", 0b11101100, 8, 12, _opcode(14, 8), _FLAT_FIELDS),
    Format("VSCRATCH", 0b11101101, 8, 12, _opcode(14, 8), _FLAT_FIELDS),
    Format("VGLOBAL", 0b11101110, 8, 12, _opcode(14, 8), _FLAT_FIELDS),
    Format(
        "VBUFFER",
        0b110001,
        6,
        12,
        _opcode(14, 8),
        (
            Field("vdata", 32, 8, "v8"),
            Field("vaddr", 64, 8, "v8"),
            Field("rsrc", 41, 9, "r9"),
            Field("soffset", 0, 7, "s7"),
            Field("offset", 72, 24),
            Field("tfe", 22, 1),
            Field("format", 55, 7),
            Field("offen", 62, 1),
            Field("idxen", 63, 1),
            *_CACHE_POLICY,
        ),
    ),
)

# Known formats that the decoder does not cover.
REFUSED_PREFIXES = (
    (0b110100, 6, "image (VIMAGE, BVH included)"),
    (0b111001, 6, "image (VSAMPLE)"),
    (0b111110, 6, "export"),
)


@cache
def format_named(name: str) -> Format:
    """Return a format by its name; KeyError if there is none."""
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    raise KeyError(name)


@cache
def format_of(top: int) -> Format | None:
    """Return the format selected by the top nine bits of the first dword, or None."""
    for candidate in FORMATS:
        if top >> (9 - candidate.prefix_bits) == candidate.prefix:
            return candidate
    return None


@cache
def refused_class(top: int) -> str | None:
    """Return the class of an instruction that is deliberately not decoded, by the top bits of its
    first dword."""
    for prefix, bits, name in REFUSED_PREFIXES:
        if top >> (9 - bits) == prefix:
            return name
    return None
