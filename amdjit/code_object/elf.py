"""A reader of 64-bit little-endian ELF files, as far as AMDGPU code objects use them.

Nothing here trusts the file: each offset, size and count is checked against the bytes there are
before it is used. Layouts are those of the ELF gABI; AMDGPU's own values are in the LLVM AMDGPU
guide, "Code Object" > "ELF Header".
"""

from __future__ import annotations

import struct
from dataclasses import field
from itertools import pairwise

from amdjit.code_object.bytes_reader import MalformedCodeObject, slice_exactly, string_at, unpack_at
from amdjit.late_methods import dataclass

__all__ = ["ElfFile", "Note", "Relocation", "Section", "Segment", "Symbol", "read_elf"]

ELF_TYPE_RELOCATABLE = 1
ELF_TYPE_SHARED = 3
# EM_AMDGPU, ELFOSABI_AMDGPU_HSA (LLVM AMDGPU guide, "ELF Header").
MACHINE_AMDGPU = 224
OSABI_AMDGPU_HSA = 64

SECTION_SYMBOL_TABLE = 2
SECTION_RELA = 4
SECTION_NOTE = 7
SECTION_NO_BITS = 8
SECTION_DYNAMIC_SYMBOLS = 11

SEGMENT_LOAD = 1
SEGMENT_NOTE = 4

SYMBOL_FUNCTION = 2
_ABSOLUTE = 0xFFF1
_ALLOCATED = 2

_IDENT = struct.Struct("<4s5B7x")
_HEADER = struct.Struct("<HHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_NOTE = struct.Struct("<III")

# Code objects have about 5 segments and 20 sections, and the host's object files a section for each
# function, up to those for which the header has no number (gABI, SHN_LORESERVE); the bounds keep
# hostile counts from costing time or memory.
_MOST_SEGMENTS = 64
_MOST_SECTIONS = 0xFEFF
_LARGEST_SEGMENT = 1 << 30
_HIGHEST_ADDRESS = 1 << 48


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `data` is empty for sections that take no room in the file (.bss)."""

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    entry_size: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A loadable piece: `memory_size` bytes at `address`, the first of them `data`, the rest
    zeros."""

    address: int
    memory_size: int
    data: bytes = field(repr=False)
    readable: bool
    writable: bool
    executable: bool

    @property
    def end(self) -> int:
        """The first address after the segment."""
        return self.address + self.memory_size


@dataclass(frozen=True, slots=True)
class Symbol:
    """One symbol; `section` 0 means undefined. `binding`: 0 local, 1 global, 2 weak."""

    name: str
    address: int
    size: int
    type: int
    binding: int
    section: int

    @property
    def is_function(self) -> bool:
        """Whether the symbol names code."""
        return self.type == SYMBOL_FUNCTION

    @property
    def is_absolute(self) -> bool:
        """Whether the address does not move with the code object."""
        return self.section == _ABSOLUTE


@dataclass(frozen=True, slots=True)
class Note:
    """One entry of a note section or segment."""

    owner: str
    type: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Relocation:
    """One RELA entry: write what `type` says at `address`. `symbol` indexes the table the section
    links to."""

    address: int
    type: int
    symbol: int
    addend: int


@dataclass(frozen=True, slots=True)
class ElfFile:
    """The parsed headers of one ELF file and its bytes."""

    data: bytes = field(repr=False)
    type: int
    machine: int
    flags: int
    osabi: int
    abi_version: int
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    note_ranges: tuple[tuple[int, int], ...]

    def section(self, name: str) -> Section | None:
        """Return the first section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    def section_data(self, section: Section) -> bytes:
        """Return the section's bytes in the file."""
        if section.type == SECTION_NO_BITS:
            return b""
        return slice_exactly(
            self.data, section.offset, section.size, f"section {section.name or 'without name'}"
        )

    def symbols(self) -> tuple[Symbol, ...]:
        """Return the full symbol table, or the dynamic one of a stripped file."""
        for wanted in (SECTION_SYMBOL_TABLE, SECTION_DYNAMIC_SYMBOLS):
            table = next((section for section in self.sections if section.type == wanted), None)
            if table is not None:
                return _read_symbols(self, table)
        return ()

    def dynamic_symbols(self) -> tuple[Symbol, ...]:
        """Return the symbols that the loader sees."""
        table = next(
            (section for section in self.sections if section.type == SECTION_DYNAMIC_SYMBOLS), None
        )
        return _read_symbols(self, table) if table is not None else ()

    def dynamic_relocations(self) -> tuple[Relocation, ...]:
        """Return what the loader has to patch: the relocations that are loaded (`.rela.dyn`)."""
        return tuple(
            relocation
            for section in self.sections
            if section.type == SECTION_RELA and section.flags & _ALLOCATED
            for relocation in _read_relocations(self, section)
        )

    def notes(self) -> tuple[Note, ...]:
        """Return all notes, in file order."""
        return tuple(
            note
            for offset, size in self.note_ranges
            for note in _read_notes(self.data, offset, size)
        )


def read_elf(data: bytes) -> ElfFile:
    """Parse the headers of an ELF file; MalformedCodeObject if it is not a sound 64-bit
    little-endian one."""
    if data[:4] != b"\x7fELF":
        raise MalformedCodeObject("not an ELF file: the first bytes are not 0x7f 'ELF'")
    ident = slice_exactly(data, 0, _IDENT.size, "ELF identification")
    _, elf_class, encoding, _, osabi, abi_version = _IDENT.unpack(ident)
    if (elf_class, encoding) != (2, 1):
        raise MalformedCodeObject("not a 64-bit little-endian ELF file")
    header = unpack_at(_HEADER, data, _IDENT.size, "ELF header")
    (
        elf_type,
        machine,
        _,
        _,
        segment_offset,
        section_offset,
        flags,
        _,
        phentsize,
        phnum,
        shentsize,
        shnum,
        names,
    ) = header
    sections = _read_sections(data, section_offset, shentsize, shnum, names)
    segments, note_ranges = _read_segments(data, segment_offset, phentsize, phnum)
    if not note_ranges:
        note_ranges = tuple((s.offset, s.size) for s in sections if s.type == SECTION_NOTE)[
            :_MOST_SEGMENTS
        ]
    return ElfFile(
        data,
        elf_type,
        machine=machine,
        flags=flags,
        osabi=osabi,
        abi_version=abi_version,
        sections=sections,
        segments=segments,
        note_ranges=note_ranges,
    )


def _read_sections(
    data: bytes, offset: int, entry_size: int, count: int, names_index: int
) -> tuple[Section, ...]:
    if count == 0:
        return ()
    if entry_size != _SECTION.size or count > _MOST_SECTIONS:
        raise MalformedCodeObject(f"section headers: {count} entries of {entry_size} bytes")
    table = slice_exactly(data, offset, count * _SECTION.size, "section headers")
    rows = list(_SECTION.iter_unpack(table))
    if names_index >= count:
        raise MalformedCodeObject(f"section headers: no section {names_index} for the names")
    names = slice_exactly(data, rows[names_index][4], rows[names_index][5], "section names")
    return tuple(
        Section(
            string_at(names, name, "section name"),
            kind,
            flags=flags,
            address=address,
            offset=start,
            size=size,
            link=link,
            entry_size=entry,
        )
        for name, kind, flags, address, start, size, link, _, _, entry in rows
    )


def _read_segments(
    data: bytes, offset: int, entry_size: int, count: int
) -> tuple[tuple[Segment, ...], tuple[tuple[int, int], ...]]:
    if count == 0:
        return (), ()
    if entry_size != _SEGMENT.size or count > _MOST_SEGMENTS:
        raise MalformedCodeObject(f"program headers: {count} entries of {entry_size} bytes")
    table = slice_exactly(data, offset, count * _SEGMENT.size, "program headers")
    segments: list[Segment] = []
    notes: list[tuple[int, int]] = []
    for kind, flags, start, address, _, file_size, memory_size, _ in _SEGMENT.iter_unpack(table):
        if kind == SEGMENT_LOAD:
            segments.append(
                _read_segment(
                    data,
                    flags,
                    start=start,
                    address=address,
                    file_size=file_size,
                    memory_size=memory_size,
                )
            )
        elif kind == SEGMENT_NOTE:
            notes.append((start, file_size))
    return _in_order(segments), tuple(notes)


def _read_segment(
    data: bytes, flags: int, start: int, address: int, file_size: int, memory_size: int
) -> Segment:
    if memory_size < file_size or memory_size > _LARGEST_SEGMENT or address > _HIGHEST_ADDRESS:
        raise MalformedCodeObject(
            f"segment at {address:#x}: {file_size} bytes in the file, {memory_size} in memory"
        )
    content = slice_exactly(data, start, file_size, f"segment at {address:#x}")
    return Segment(
        address,
        memory_size,
        data=content,
        readable=bool(flags & 4),
        writable=bool(flags & 2),
        executable=bool(flags & 1),
    )


def _in_order(segments: list[Segment]) -> tuple[Segment, ...]:
    ordered = sorted(segments, key=lambda segment: segment.address)
    for before, after in pairwise(ordered):
        if after.address < before.end:
            raise MalformedCodeObject(
                f"segments at {before.address:#x} and {after.address:#x} overlap"
            )
    return tuple(ordered)


def _read_symbols(elf: ElfFile, table: Section) -> tuple[Symbol, ...]:
    if table.entry_size != _SYMBOL.size or table.link >= len(elf.sections):
        raise MalformedCodeObject(
            f"symbol table {table.name}: entries of {table.entry_size} bytes, link {table.link}"
        )
    names = elf.section_data(elf.sections[table.link])
    data = elf.section_data(table)
    usable = len(data) - len(data) % _SYMBOL.size
    return tuple(
        Symbol(
            string_at(names, name, "symbol name"),
            address,
            size=size,
            type=info & 15,
            binding=info >> 4,
            section=section,
        )
        for name, info, _, section, address, size in _SYMBOL.iter_unpack(data[:usable])
    )


def _read_relocations(elf: ElfFile, section: Section) -> list[Relocation]:
    data = elf.section_data(section)
    usable = len(data) - len(data) % _RELA.size
    return [
        Relocation(offset, info & 0xFFFFFFFF, info >> 32, addend)
        for offset, info, addend in _RELA.iter_unpack(data[:usable])
    ]


def _read_notes(data: bytes, offset: int, size: int) -> list[Note]:
    content = slice_exactly(data, offset, size, "notes")
    notes: list[Note] = []
    position = 0
    while position + _NOTE.size <= len(content):
        name_size, payload_size, kind = unpack_at(_NOTE, content, position, "note")
        position += _NOTE.size
        name = slice_exactly(content, position, name_size, "note name")
        position += -(-name_size // 4) * 4
        payload = slice_exactly(content, position, payload_size, "note")
        position += -(-payload_size // 4) * 4
        notes.append(Note(name.rstrip(b"\0").decode("ascii", "replace"), kind, payload))
    return notes
