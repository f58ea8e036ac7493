"""The microcode formats: the bits of the first dword that select one, and its fields.

Sources: RDNA 4 and RDNA 3 ISA documents, chapters "Microcode Formats". The formats of the ALUs and
VOPD are the same in both; those of memory instructions differ. Bit positions count from bit 0 of
the first dword, so that a whole instruction is one little-endian integer.
"""

from __future__ import annotations

from functools import cache

from amdjit.late_methods import dataclass, field


@dataclass(frozen=True, slots=True)
class Field:
    """A bit field. kind: v8 (VGPR number), s7 (scalar destination), s8 (scalar source), s9 (any
    source), d8 (VGPR or scalar destination), b6 (SGPR pair number), r9 (first SGPR of four), q5
    (number of four SGPRs), imm (a number)."""

    name: str
    shift: int
    bits: int
    kind: str = "imm"

    def read(self, bits: int) -> int:
        """Return the field's value in an instruction."""
        return (bits >> self.shift) & ((1 << self.bits) - 1)

    def read_signed(self, bits: int) -> int:
        """Return the field's value as a signed number."""
        value = self.read(bits)
        return value - (1 << self.bits) if value >> (self.bits - 1) else value


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """One microcode format."""

    name: str
    """Its name in the ISA documents, such as VOP3."""
    prefix: int
    """The top `prefix_bits` bits of the first dword."""
    prefix_bits: int
    size: int
    """Bytes, without a literal or a DPP word."""
    opcode: Field
    """The field of the opcode."""
    fields: tuple[Field, ...]
    """The other fields."""
    segment: int | None = None
    """The two bits from `segment_shift` of the first dword, if they select the format as well."""
    reserved: int = 0
    """Bits that must be 0."""
    segment_shift: int = 16
    alternative: str = ""
    """The format of the opcodes that this one lacks."""
    constant: int = 0
    """Bits that are always set, besides the prefix."""

    def field(self, name: str) -> Field:
        """Return a field by its name; KeyError if there is none."""
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def find(self, name: str) -> Field | None:
        """Return a field by its name, None if there is none."""
        return _fields_of(self).get(name)

    @property
    def leading_bits(self) -> int:
        """The bits of the first dword that select the format."""
        return self.prefix << (32 - self.prefix_bits) | (self.segment or 0) << self.segment_shift


@dataclass(frozen=True, slots=True)
class NotDecodedFormat:
    """A class of instructions that are known but not decoded.

    sizes: bytes if the first bit is clear, and if it is set.
    """

    prefix: int
    prefix_bits: int
    name: str
    sizes: tuple[int, int] = (8, 8)


@dataclass(frozen=True, slots=True, eq=False)
class Formats:
    """The formats of a processor family: those that are decoded, and the others."""

    listed: tuple[Format, ...]
    refused: tuple[NotDecodedFormat, ...]
    segment_shift: int = field(init=False)

    def __post_init__(self) -> None:
        shift = next((form.segment_shift for form in self.listed if form.segment is not None), 16)
        object.__setattr__(self, "segment_shift", shift)


@cache
def _fields_of(form: Format) -> dict[str, Field]:
    return {field.name: field for field in form.fields}


def opcode_field(shift: int, bits: int) -> Field:
    """Return the field of the opcode number."""
    return Field("op", shift, bits)


_VOP3_SOURCES = (Field("src0", 32, 9, "s9"), Field("src1", 41, 9, "s9"), Field("src2", 50, 9, "s9"))
SCALAR_FORMATS = (
    Format(
        "SOP1",
        0b101111101,
        prefix_bits=9,
        size=4,
        opcode=opcode_field(8, 8),
        fields=(Field("sdst", 16, 7, "s7"), Field("src0", 0, 8, "s8")),
    ),
    Format(
        "SOPC",
        0b101111110,
        prefix_bits=9,
        size=4,
        opcode=opcode_field(16, 7),
        fields=(Field("src0", 0, 8, "s8"), Field("src1", 8, 8, "s8")),
    ),
    Format(
        "SOPP",
        0b101111111,
        prefix_bits=9,
        size=4,
        opcode=opcode_field(16, 7),
        fields=(Field("simm16", 0, 16),),
    ),
    Format(
        "SOPK",
        0b1011,
        prefix_bits=4,
        size=4,
        opcode=opcode_field(23, 5),
        fields=(Field("sdst", 16, 7, "s7"), Field("simm16", 0, 16)),
    ),
    Format(
        "SOP2",
        0b10,
        prefix_bits=2,
        size=4,
        opcode=opcode_field(23, 7),
        fields=(Field("sdst", 16, 7, "s7"), Field("src0", 0, 8, "s8"), Field("src1", 8, 8, "s8")),
    ),
)

VECTOR_FORMATS = (
    Format(
        "VOP1",
        0b0111111,
        prefix_bits=7,
        size=4,
        opcode=opcode_field(9, 8),
        fields=(Field("vdst", 17, 8, "d8"), Field("src0", 0, 9, "s9")),
    ),
    Format(
        "VOPC",
        0b0111110,
        prefix_bits=7,
        size=4,
        opcode=opcode_field(17, 8),
        fields=(Field("src0", 0, 9, "s9"), Field("src1", 9, 8, "v8")),
    ),
    Format(
        "VOP2",
        0b0,
        prefix_bits=1,
        size=4,
        opcode=opcode_field(25, 6),
        fields=(Field("vdst", 17, 8, "v8"), Field("src0", 0, 9, "s9"), Field("src1", 9, 8, "v8")),
    ),
    Format(
        "VOP3",
        0b110101,
        prefix_bits=6,
        size=8,
        opcode=opcode_field(16, 10),
        fields=(
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
        prefix_bits=9,
        size=8,
        opcode=opcode_field(16, 7),
        fields=(
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
        prefix_bits=8,
        size=8,
        opcode=opcode_field(16, 8),
        fields=(
            Field("vdst", 0, 8, "v8"),
            *_VOP3_SOURCES,
            Field("wait_exp", 8, 3),
            Field("op_sel", 11, 4),
            Field("clamp", 15, 1),
            Field("neg", 61, 3),
        ),
    ),
)

DUAL_FORMATS = (
    Format(
        "VOPD",
        0b110010,
        prefix_bits=6,
        size=8,
        opcode=opcode_field(22, 4),
        fields=(
            Field("opy", 17, 5),
            Field("src0x", 0, 9, "s9"),
            Field("src1x", 9, 8, "v8"),
            Field("src0y", 32, 9, "s9"),
            Field("src1y", 41, 8, "v8"),
            Field("vdsty", 49, 7, "imm"),
            Field("vdstx", 56, 8, "v8"),
        ),
    ),
)


@cache
def format_named(formats: Formats, name: str) -> Format:
    """Return a format by its name; KeyError if there is none."""
    for candidate in formats.listed:
        if candidate.name == name:
            return candidate
    raise KeyError(name)


@cache
def format_of(formats: Formats, top: int, segment: int) -> Format | None:
    """Return the format selected by the top nine bits of the first dword and its segment, or
    None."""
    for candidate in formats.listed:
        selected = candidate.segment is None or candidate.segment == segment
        if selected and top >> (9 - candidate.prefix_bits) == candidate.prefix:
            return candidate
    return None


@cache
def refused_class(formats: Formats, top: int) -> NotDecodedFormat | None:
    """Return the class of an instruction that is deliberately not decoded, by the top bits of its
    first dword."""
    for refused in formats.refused:
        if top >> (9 - refused.prefix_bits) == refused.prefix:
            return refused
    return None
