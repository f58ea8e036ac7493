"""Makes a code object from a kernel's machine code, as an assembler and a linker would.

Sources: LLVM AMDGPU guide, "Code Object", "Kernel Descriptor" and "Code Object V5 Metadata".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import msgpack

from amdjit.backend.linking.plain import link_plain
from amdjit.code_object.target_flags import flags_of
from amdjit.target import TRIPLE, Feature, Target

__all__ = ["KernelFacts", "Mode", "descriptor", "make_code_object"]

KERNARG_SIZE = 16
_DESCRIPTOR = struct.Struct("<3I4xq20x3I2H4x")
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
# ELFABIVERSION_AMDGPU_HSA_V5.
_IDENTIFICATION = b"\x7fELF\x02\x01\x01\x40\x03".ljust(16, b"\0")
_REL64 = 5
_FUNCTION, _OBJECT = 0x12, 0x11
_PROTECTED = 3
_NOTE_TYPE = 32
_CODE_END, _NOP = bytes.fromhex("00009fbf"), bytes.fromhex("000080bf")
# gfx9 allocates SGPRs in these units; VCC, FLAT_SCRATCH and XNACK_MASK are above the others.
_GRANULE, _SPECIAL_SGPRS = 16, 6


@dataclass(frozen=True)
class Mode:
    """The MODE register at the start of a wave."""

    rounding_32: int = 0
    """How f32 is rounded: 0 to the nearest even, 1 up, 2 down, 3 towards zero."""
    rounding_16_64: int = 0
    """How f16 and f64 are rounded, in the same numbers."""
    denormals_32: int = 3
    """For f32, bit 0 preserves denormal sources, bit 1 denormal results."""
    denormals_16_64: int = 3
    """The same bits for f16 and f64."""
    overflow: bool = False
    """Whether f16 results are clamped to the largest number (FP16_OVFL)."""
    ieee: bool = True
    """IEEE mode, on processors that have it (not gfx12)."""
    dx10_clamp: bool = True
    """Whether clamping turns NaN into 0, on processors that have this bit (not gfx12)."""

    @property
    def bits(self) -> int:
        """The fields of COMPUTE_PGM_RSRC1 that every processor has."""
        return (
            self.rounding_32 << 12
            | self.rounding_16_64 << 14
            | self.denormals_32 << 16
            | self.denormals_16_64 << 18
            | int(self.overflow) << 26
        )


@dataclass(frozen=True)
class KernelFacts:
    """What a kernel needs."""

    name: str
    wave_size: int
    vgprs: int = 256
    """VGPRs of a wave, without accumulation VGPRs."""
    agprs: int = 0
    """Accumulation VGPRs, on processors that have them."""
    sgprs: int = 96
    lds: int = 0
    """LDS of a workgroup, in bytes."""
    scratch: int = 0
    """Scratch memory of a work-item, in bytes."""
    mode: Mode = Mode()
    max_group_size: int = 1024
    """The most work-items of a workgroup."""


def _is_gfx9(target: Target) -> bool:
    return target.isa[0] == 9


def has_unified_vgprs(target: Target) -> bool:
    """Whether AGPRs follow the VGPRs in the same register file (gfx90a and newer)."""
    return _is_gfx9(target) and target.isa >= (9, 0, 10)


def needs_scratch_init(target: Target) -> bool:
    """Whether the code must compute FLAT_SCRATCH itself (LLVM AMDGPU guide, "Flat Scratch")."""
    return _is_gfx9(target) and target.isa < (9, 4, 0)


def _rsrc1(target: Target, facts: KernelFacts) -> int:
    mode, registers = facts.mode, facts.vgprs
    value = mode.bits
    if target.isa[0] < 12:
        value |= int(mode.dx10_clamp) << 21 | int(mode.ieee) << 23
    if _is_gfx9(target):
        blocks = -(-(facts.sgprs + _SPECIAL_SGPRS) // _GRANULE)
        value |= 2 * (blocks - 1) << 6
        granule = 4
        if has_unified_vgprs(target):
            granule, registers = 8, facts.vgprs + facts.agprs
    else:
        granule = 8 if facts.wave_size == 32 else 4
        # WGP_MODE, MEM_ORDERED, FWD_PROGRESS.
        value |= 7 << 29
    return value | -(-registers // granule) - 1


def _rsrc2(target: Target, facts: KernelFacts) -> int:
    user = 4 if facts.scratch and needs_scratch_init(target) else 2
    return int(facts.scratch > 0) | user << 1 | 1 << 7


def _rsrc3(target: Target, facts: KernelFacts) -> int:
    return facts.vgprs // 4 - 1 if has_unified_vgprs(target) else 0


def descriptor(target: Target, facts: KernelFacts, entry_offset: int) -> bytes:
    """Return the 64 bytes of the kernel descriptor. entry_offset: the distance from it to the code,
    in bytes."""
    properties = 1 << 3 | int(facts.wave_size == 32) << 10
    if facts.scratch and needs_scratch_init(target):
        properties |= 1 << 5
    return _DESCRIPTOR.pack(
        facts.lds, facts.scratch, KERNARG_SIZE, entry_offset, _rsrc3(target, facts),
        _rsrc1(target, facts), _rsrc2(target, facts), properties, 0,
    )  # fmt: skip


def metadata(target: Target, facts: KernelFacts) -> bytes:
    """Return the map in the code object's note: it describes one kernel of two pointers, input and
    output."""
    arguments = [
        {
            ".address_space": "global",
            ".name": name,
            ".offset": offset,
            ".size": 8,
            ".value_kind": "global_buffer",
        }
        for name, offset in (("input", 0), ("output", 8))
    ]
    accumulation = {".agpr_count": facts.agprs} if Feature.MFMA in target.features else {}
    kernel = {
        **accumulation,
        ".args": arguments,
        ".group_segment_fixed_size": facts.lds,
        ".kernarg_segment_align": 8,
        ".kernarg_segment_size": KERNARG_SIZE,
        ".max_flat_workgroup_size": facts.max_group_size,
        ".name": facts.name,
        ".private_segment_fixed_size": facts.scratch,
        ".sgpr_count": facts.sgprs,
        ".symbol": f"{facts.name}.kd",
        ".vgpr_count": facts.vgprs,
        ".wavefront_size": facts.wave_size,
    }
    packed: bytes = msgpack.packb(
        {
            "amdhsa.kernels": [kernel],
            "amdhsa.target": f"{TRIPLE}--{target.id}",
            "amdhsa.version": [1, 2],
        }
    )
    return packed


def make_code_object(target: Target, facts: KernelFacts, code: bytes) -> bytes:
    """Return the linked code object of one kernel, as LLVM's assembler and linker would make it.

    code: all instructions of the kernel.
    """
    return link_plain(_relocatable(target, facts, code))


def padding(target: Target, size: int) -> bytes:
    """Return what follows `size` bytes of code so that the prefetcher reads mapped memory only:
    S_CODE_END, or S_NOP on CDNA (LLVM: EmitCodeEnd)."""
    if target.isa < (9, 0, 10):
        return b""
    line = 128 if target.isa[0] >= 11 else 64
    lines, word = (16, _NOP) if _is_gfx9(target) else (3, _CODE_END)
    return word * ((-size % line + lines * line) // 4)


def _note(target: Target, facts: KernelFacts) -> bytes:
    content = metadata(target, facts)
    head = struct.pack("<3I8s", len(b"AMDGPU\0"), len(content), _NOTE_TYPE, b"AMDGPU")
    return head + content + bytes(-len(content) % 4)


def _relocatable(target: Target, facts: KernelFacts, code: bytes) -> bytes:
    """Return the relocatable object: its sections, the kernel's two symbols, and the relocation of
    the entry point."""
    name = facts.name.encode()
    names = _Names()
    symbols = _SYMBOL.pack(0, 0, 0, 0, 0, 0)
    symbols += _SYMBOL.pack(names.of(name), _FUNCTION, _PROTECTED, 1, 0, len(code))
    symbols += _SYMBOL.pack(names.of(name + b".kd"), _OBJECT, _PROTECTED, 2, 0, _DESCRIPTOR.size)
    # The linker writes the distance to this field; REL64 adds the bytes before the field.
    relocation = _RELOCATION.pack(16, _REL64, 1, 16)
    sections = [
        (b".text", 1, 6, code + padding(target, len(code)), 0, 0, 256, 0),
        (b".rodata", 1, 2, descriptor(target, facts, 0), 0, 0, 64, 0),
        (b".rela.rodata", 4, 0x40, relocation, 5, 2, 8, _RELOCATION.size),
        (b".note", 7, 2, _note(target, facts), 0, 0, 4, 0),
        (b".symtab", 2, 0, symbols, 6, 1, 8, _SYMBOL.size),
    ]
    return _with_headers(target, sections, names)


class _Names:
    """A string table to which names are added."""

    def __init__(self) -> None:
        self.table = bytearray(1)

    def of(self, name: bytes) -> int:
        place = len(self.table)
        self.table += name + b"\0"
        return place


def _with_headers(
    target: Target,
    sections: list[tuple[bytes, int, int, bytes, int, int, int, int]],
    names: _Names,
) -> bytes:
    places = [names.of(section[0]) for section in sections]
    place_of_names = names.of(b".strtab")
    sections = [*sections, (b".strtab", 3, 0, bytes(names.table), 0, 0, 1, 0)]
    content, rows = bytearray(_HEADER.size), [bytes(_SECTION.size)]
    for place, section in zip([*places, place_of_names], sections, strict=True):
        _, kind, flags, data, link, info, alignment, entry = section
        content += bytes(-len(content) % alignment)
        rows.append(
            _SECTION.pack(
                place, kind, flags, 0, len(content), len(data), link, info, alignment, entry
            )
        )
        content += data
    content += bytes(-len(content) % 8)
    header = _HEADER.pack(
        _IDENTIFICATION, 1, 224, 1, 0, 0, len(content), flags_of(target),
        _HEADER.size, 0, 0, _SECTION.size, len(rows), len(rows) - 1,
    )  # fmt: skip
    content[: _HEADER.size] = header
    return bytes(content) + b"".join(rows)
