"""The formats of each processor family: those of the ALUs, and its own of memory instructions.

Sources: RDNA 4 ISA document, sections 15.5 to 15.9; RDNA 3 ISA document, sections 15.4 to 15.8.
"""

from __future__ import annotations

from dataclasses import replace

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


# The formats of gfx906, gfx908, gfx90a, gfx942 and gfx950.
#
# Sources: the Vega 7nm, CDNA, CDNA 2 and CDNA 3 ISA documents, chapters "Microcode Formats". They
# differ in which bits of a memory access name caches, in whether its data may lie in accumulation
# VGPRs, and in matrix instructions, which gfx906 lacks.


_SOURCES = (Field("src0", 32, 9, "s9"), Field("src1", 41, 9, "s9"), Field("src2", 50, 9, "s9"))
_SHORT_VECTOR_FORMATS = tuple(
    form for form in VECTOR_FORMATS if form.name in ("VOP1", "VOPC", "VOP2")
)

# One prefix: an opcode of VOP3P is a matrix instruction if the table of MAI has it.
_PACKED = Format(
    "VOP3P",
    0b110100111,
    prefix_bits=9,
    size=8,
    opcode=opcode_field(16, 7),
    fields=(
        Field("vdst", 0, 8, "v8"),
        *_SOURCES,
        Field("neg_hi", 8, 3),
        Field("op_sel", 11, 3),
        Field("op_sel_hi_2", 14, 1),
        Field("clamp", 15, 1),
        Field("op_sel_hi", 59, 2),
        Field("neg", 61, 3),
    ),
    alternative="MAI",
)
_PACKED_ONLY = replace(_PACKED, alternative="")
_MATRIX = Format(
    "MAI",
    0b110100111,
    prefix_bits=9,
    size=8,
    opcode=opcode_field(16, 7),
    fields=(
        Field("vdst", 0, 8, "v8"),
        *_SOURCES,
        Field("cbsz", 8, 3),
        Field("abid", 11, 4),
        Field("acc_cd", 15, 1),
        Field("acc", 59, 2),
        Field("blgp", 61, 3),
    ),
)
# Two instructions of eight bytes that are one: V_MFMA_LD_SCALE_B32, and the product that the scales
# are of, whose bit 11 says so.
_LOAD_SCALES = 0x2C
_SCALED_MATRIX = Format(
    "MAIX",
    0b110100111,
    prefix_bits=9,
    size=16,
    opcode=opcode_field(80, 7),
    fields=(
        Field("vdst", 64, 8, "v8"),
        Field("src0", 96, 9, "s9"),
        Field("src1", 105, 9, "s9"),
        Field("src2", 114, 9, "s9"),
        Field("scale0", 32, 9, "s9"),
        Field("scale1", 41, 9, "s9"),
        Field("op_sel", 11, 2),
        Field("op_sel_hi", 59, 2),
        Field("cbsz", 72, 3),
        Field("blgp", 125, 3),
        Field("acc_cd", 79, 1),
        Field("acc", 123, 2),
    ),
    reserved=3 << 13,
    constant=_LOAD_SCALES << 16 | 0b110100111 << (64 + 23) | 1 << (64 + 11),
)
_LONG_VECTOR = (
    Format(
        "VOP3",
        0b110100,
        prefix_bits=6,
        size=8,
        opcode=opcode_field(16, 10),
        fields=(
            Field("vdst", 0, 8, "d8"),
            Field("sdst", 8, 7, "s7"),
            *_SOURCES,
            Field("abs", 8, 3),
            Field("op_sel", 11, 4),
            Field("clamp", 15, 1),
            Field("omod", 59, 2),
            Field("neg", 61, 3),
        ),
    ),
)
_SCALAR_MEMORY = Format(
    "SMEM",
    0b110000,
    prefix_bits=6,
    size=8,
    opcode=opcode_field(18, 8),
    fields=(
        Field("sdst", 6, 7, "s7"),
        Field("sbase", 0, 6, "b6"),
        Field("soffset", 57, 7, "s7"),
        Field("offset", 32, 21),
        Field("soffset_en", 14, 1),
        Field("glc", 16, 1),
        Field("imm", 17, 1),
    ),
)
_REFUSED = (
    NotDecodedFormat(0b110101, 6, "interpolation (VINTRP)", (4, 4)),
    NotDecodedFormat(0b111100, 6, "image (MIMG)"),
    NotDecodedFormat(0b110001, 6, "export"),
)
_LDS_FIELDS = (
    Field("vdst", 56, 8, "v8"),
    Field("addr", 32, 8, "v8"),
    Field("data0", 40, 8, "v8"),
    Field("data1", 48, 8, "v8"),
    Field("offset0", 0, 8),
    Field("offset1", 8, 8),
    Field("gds", 16, 1),
)


def _lds(accumulates: bool) -> Format:
    fields = (*_LDS_FIELDS, Field("acc", 25, 1)) if accumulates else _LDS_FIELDS
    return Format("DS", 0b110110, prefix_bits=6, size=8, opcode=opcode_field(17, 8), fields=fields)


def _flat(name: str, segment: int, extra: tuple[Field, ...], policy: tuple[Field, ...]) -> Format:
    scalar = (Field("saddr", 48, 7, "s7"),) if segment else ()
    fields = (
        Field("vdst", 56, 8, "v8"),
        Field("vdata", 40, 8, "v8"),
        Field("vaddr", 32, 8, "v8"),
        *scalar,
        Field("offset", 0, 13),
        *extra,
        *policy,
    )
    return Format(
        name,
        0b110111,
        prefix_bits=6,
        size=8,
        opcode=opcode_field(18, 7),
        fields=fields,
        segment=segment,
        reserved=0 if segment else 0x7F << 48,
        segment_shift=14,
    )


def _buffer(name: str, extra: tuple[Field, ...], policy: tuple[Field, ...]) -> Format:
    is_typed = name == "VTBUFFER"
    typed = (Field("format", 19, 7),) if is_typed else (Field("lds", 16, 1),)
    return Format(
        name,
        0b111010 if is_typed else 0b111000,
        prefix_bits=6,
        size=8,
        opcode=opcode_field(15, 4) if is_typed else opcode_field(18, 7),
        fields=(
            Field("vdata", 40, 8, "v8"),
            Field("vaddr", 32, 8, "v8"),
            Field("rsrc", 48, 5, "q5"),
            Field("soffset", 56, 8, "s8"),
            Field("offset", 0, 12),
            Field("offen", 12, 1),
            Field("idxen", 13, 1),
            *typed,
            *extra,
            *policy,
        ),
    )


_ACC = (Field("acc", 55, 1),)
_TFE = (Field("tfe", 55, 1),)


def _formats(
    flat: tuple[Field, ...],
    buffer: tuple[Field, ...],
    typed: tuple[Field, ...],
    accumulates: bool,
    has_scratch_address_bit: bool,
    packed: tuple[Format, ...] = (_PACKED, _MATRIX),
) -> Formats:
    data = _ACC if accumulates else ()
    direct = () if has_scratch_address_bit else (Field("lds", 13, 1),)
    flat = (*flat, *direct)
    scratch = (*data, Field("sve", 13, 1)) if has_scratch_address_bit else data
    registers = _ACC if accumulates else _TFE
    return Formats(
        (
            *SCALAR_FORMATS,
            _SCALAR_MEMORY,
            *_SHORT_VECTOR_FORMATS,
            *packed,
            *_LONG_VECTOR,
            _lds(accumulates),
            _flat("VFLAT", 0, data, flat),
            _flat("VSCRATCH", 1, scratch, flat),
            _flat("VGLOBAL", 2, data, flat),
            _buffer("VBUFFER", registers, buffer),
            _buffer("VTBUFFER", registers, typed),
        ),
        _REFUSED,
    )


_GFX906_POLICIES = (
    (Field("glc", 16, 1), Field("slc", 17, 1)),
    (Field("glc", 14, 1), Field("slc", 17, 1)),
    (Field("glc", 14, 1), Field("slc", 54, 1)),
)
GFX906_FORMATS = _formats(
    *_GFX906_POLICIES, accumulates=False, has_scratch_address_bit=False, packed=(_PACKED_ONLY,)
)
GFX908_FORMATS = _formats(*_GFX906_POLICIES, accumulates=False, has_scratch_address_bit=False)
GFX90A_FORMATS = _formats(
    (Field("glc", 16, 1), Field("slc", 17, 1), Field("scc", 25, 1)),
    (Field("glc", 14, 1), Field("slc", 17, 1), Field("scc", 15, 1)),
    (Field("glc", 14, 1), Field("slc", 54, 1), Field("scc", 53, 1)),
    accumulates=True,
    has_scratch_address_bit=False,
)
_GFX942_POLICIES = (
    (Field("sc0", 16, 1), Field("nt", 17, 1), Field("sc1", 25, 1)),
    (Field("sc0", 14, 1), Field("nt", 17, 1), Field("sc1", 15, 1)),
    (Field("sc0", 14, 1), Field("nt", 54, 1), Field("sc1", 53, 1)),
)
GFX942_FORMATS = _formats(*_GFX942_POLICIES, accumulates=True, has_scratch_address_bit=True)
GFX950_FORMATS = _formats(
    *_GFX942_POLICIES,
    accumulates=True,
    has_scratch_address_bit=True,
    packed=(_PACKED, _MATRIX, _SCALED_MATRIX),
)
