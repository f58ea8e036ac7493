"""The formats of each processor family: those of the ALUs, and its own of memory instructions.

Sources: RDNA 4 ISA document, sections 15.5 to 15.9; RDNA 3 ISA document, sections 15.4 to 15.8.
"""

from __future__ import annotations

from amdjit.isa.formats import (
    DUAL_FORMATS,
    SCALAR_FORMATS,
    VECTOR_FORMATS,
    Field,
    Format,
    Formats,
    NotDecodedFormat,
    opcode_field,
)

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

# Bits that are unused, or that have a meaning only on gfx1250 (nv, scale_offset), although the
# disassembler shows them on gfx1201.
_FLAT_RESERVED = 1 << 7 | 1 << 48


GFX12_FORMATS = Formats(
    (
        *SCALAR_FORMATS,
        Format(
            "SMEM",
            0b111101,
            prefix_bits=6,
            size=8,
            opcode=opcode_field(13, 6),
            fields=(
                Field("sdst", 6, 7, "s7"),
                Field("sbase", 0, 6, "b6"),
                Field("soffset", 57, 7, "s7"),
                Field("offset", 32, 24),
                Field("scope", 21, 2),
                Field("th", 23, 2),
            ),
            reserved=1 << 20 | 1 << 25 | 1 << 56,
        ),
        *VECTOR_FORMATS,
        Format(
            "LDSDIR",
            0b11001110,
            prefix_bits=8,
            size=4,
            opcode=opcode_field(20, 3),
            fields=(
                Field("vdst", 0, 8, "v8"),
                Field("attr_chan", 8, 2),
                Field("attr", 10, 6),
                Field("wait_va_vdst", 16, 4),
                Field("wait_vm_vsrc", 23, 1),
            ),
        ),
        *DUAL_FORMATS,
        Format(
            "DS",
            0b110110,
            prefix_bits=6,
            size=8,
            opcode=opcode_field(18, 8),
            fields=(
                Field("vdst", 56, 8, "v8"),
                Field("addr", 32, 8, "v8"),
                Field("data0", 40, 8, "v8"),
                Field("data1", 48, 8, "v8"),
                Field("offset0", 0, 8),
                Field("offset1", 8, 8),
            ),
            reserved=3 << 16,
        ),
        Format(
            "VFLAT",
            0b11101100,
            prefix_bits=8,
            size=12,
            opcode=opcode_field(14, 8),
            fields=_FLAT_FIELDS,
            reserved=_FLAT_RESERVED,
        ),
        Format(
            "VSCRATCH",
            0b11101101,
            prefix_bits=8,
            size=12,
            opcode=opcode_field(14, 8),
            fields=_FLAT_FIELDS,
            reserved=_FLAT_RESERVED,
        ),
        Format(
            "VGLOBAL",
            0b11101110,
            prefix_bits=8,
            size=12,
            opcode=opcode_field(14, 8),
            fields=_FLAT_FIELDS,
            reserved=_FLAT_RESERVED,
        ),
        Format(
            "VBUFFER",
            0b110001,
            prefix_bits=6,
            size=12,
            opcode=opcode_field(14, 8),
            fields=(
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
            reserved=1 << 7,
        ),
    ),
    (
        NotDecodedFormat(0b110100, 6, "image (VIMAGE, BVH included)", (12, 12)),
        NotDecodedFormat(0b111001, 6, "image (VSAMPLE)", (12, 12)),
        NotDecodedFormat(0b111110, 6, "export"),
    ),
)

_GFX11_POLICY = (Field("slc", 15, 1), Field("glc", 14, 1), Field("dlc", 13, 1))
_GFX11_FLAT_FIELDS = (
    Field("vdst", 56, 8, "v8"),
    Field("vdata", 40, 8, "v8"),
    Field("vaddr", 32, 8, "v8"),
    Field("saddr", 48, 7, "s7"),
    Field("sve", 55, 1),
    Field("offset", 0, 13),
    *_GFX11_POLICY,
)
_GFX11_BUFFER_FIELDS = (
    Field("vdata", 40, 8, "v8"),
    Field("vaddr", 32, 8, "v8"),
    Field("rsrc", 48, 5, "q5"),
    Field("soffset", 56, 8, "s8"),
    Field("offset", 0, 12),
    Field("tfe", 53, 1),
    Field("offen", 54, 1),
    Field("idxen", 55, 1),
    Field("slc", 12, 1),
    Field("glc", 14, 1),
    Field("dlc", 13, 1),
)


def _gfx11_flat(name: str, segment: int) -> Format:
    return Format(
        name,
        0b110111,
        prefix_bits=6,
        size=8,
        opcode=opcode_field(18, 7),
        fields=_GFX11_FLAT_FIELDS,
        segment=segment,
        reserved=1 << 25,
    )


GFX11_FORMATS = Formats(
    (
        *SCALAR_FORMATS,
        Format(
            "SMEM",
            0b111101,
            prefix_bits=6,
            size=8,
            opcode=opcode_field(18, 8),
            fields=(
                Field("sdst", 6, 7, "s7"),
                Field("sbase", 0, 6, "b6"),
                Field("soffset", 57, 7, "s7"),
                Field("offset", 32, 21),
                Field("glc", 14, 1),
                Field("dlc", 13, 1),
            ),
            reserved=3 << 16 | 1 << 15 | 0xF << 53,
        ),
        *VECTOR_FORMATS,
        Format(
            "LDSDIR",
            0b11001110,
            prefix_bits=8,
            size=4,
            opcode=opcode_field(20, 3),
            fields=(
                Field("vdst", 0, 8, "v8"),
                Field("attr_chan", 8, 2),
                Field("attr", 10, 6),
                Field("wait_vdst", 16, 4),
            ),
            reserved=1 << 23,
        ),
        *DUAL_FORMATS,
        Format(
            "DS",
            0b110110,
            prefix_bits=6,
            size=8,
            opcode=opcode_field(18, 8),
            fields=(
                Field("vdst", 56, 8, "v8"),
                Field("addr", 32, 8, "v8"),
                Field("data0", 40, 8, "v8"),
                Field("data1", 48, 8, "v8"),
                Field("offset0", 0, 8),
                Field("offset1", 8, 8),
                Field("gds", 17, 1),
            ),
            reserved=1 << 16,
        ),
        _gfx11_flat("VFLAT", segment=0),
        _gfx11_flat("VSCRATCH", segment=1),
        _gfx11_flat("VGLOBAL", segment=2),
        Format(
            "VBUFFER",
            0b111000,
            prefix_bits=6,
            size=8,
            opcode=opcode_field(18, 8),
            fields=_GFX11_BUFFER_FIELDS,
            reserved=7 << 15,
        ),
        Format(
            "VTBUFFER",
            0b111010,
            prefix_bits=6,
            size=8,
            opcode=opcode_field(15, 4),
            fields=(*_GFX11_BUFFER_FIELDS, Field("format", 19, 7)),
        ),
    ),
    (
        # The first bit is NSA: addresses in several registers take one more dword.
        NotDecodedFormat(0b111100, 6, "image (MIMG, BVH included)", (8, 12)),
        NotDecodedFormat(0b111110, 6, "export"),
    ),
)
