"""A relocatable object, as far as LLVM uses the format for kernels; NotPlain for all else."""

from __future__ import annotations

import struct

from amdjit.diagnostics.errors import AmdjitError, BackendError

__all__ = ["InputSection", "NotPlain", "ObjectFile", "Symbol", "read_object"]

# The ELF gABI's SHT_*, SHF_*, STB_LOCAL and special section indices (SHN_UNDEF, SHN_ABS).
NO_BITS, NOTE, PROGRAM_BITS = 8, 7, 1
WRITE, ALLOCATED, EXECUTABLE, MERGED, STRINGS = 1, 2, 4, 16, 32
LOCAL = 0
UNDEFINED, ABSOLUTE = 0, 0xFFF1

# SHT_SYMTAB, SHT_STRTAB, SHT_RELA, and LLVM's SHT_LLVM_ADDRSIG: lld writes its own tables.
_SYMBOL_TABLE, _STRING_TABLE, _RELOCATIONS = 2, 3, 4
_ADDRESS_SIGNIFICANCE = 0x6FFF4C03
_LEFT_OUT = (0, PROGRAM_BITS, _SYMBOL_TABLE, _STRING_TABLE, _RELOCATIONS, _ADDRESS_SIGNIFICANCE)
# Symbols that lld defines where nothing else does; and those that begin so.
_FROM_LINKER = (
    "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "__bss_start", "__dso_handle", "__ehdr_start",
    "__executable_start", "_edata", "_end", "_etext", "edata", "end", "etext",
)  # fmt: skip
_FROM_LINKER_PREFIXES = (
    "__start_", "__stop_", "__preinit_array_", "__init_array_", "__fini_array_",
)  # fmt: skip
_KNOWN_FLAGS = WRITE | ALLOCATED | EXECUTABLE | MERGED | STRINGS
_ELF64_LITTLE = b"\x7fELF\x02\x01\x01\x40"
_RELOCATABLE, _AMDGPU = 1, 224
_HIGHEST_ALIGNMENT = 1 << 16

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")


class NotPlain(AmdjitError):
    """The object holds something that needs lld; the text says what."""


class InputSection:
    """A section of the object that becomes part of the code object.

    relocations: offset, type, symbol's number and addend of each. address, offset, number: the
    section's address in the code object, its offset in the file, and the number of the section
    that it became part of, once they are known. positions: in sections that are merged, where each
    of their pieces begins, and where it begins in the code object's section.
    """

    __slots__ = (
        "address",
        "alignment",
        "data",
        "entry_size",
        "flags",
        "name",
        "number",
        "offset",
        "positions",
        "relocations",
        "size",
        "type",
    )

    def __init__(
        self,
        name: str,
        type: int,
        flags: int,
        data: bytes,
        size: int,
        alignment: int,
        entry_size: int,
    ) -> None:
        self.name = name
        self.type = type
        self.flags = flags
        self.data = data
        self.size = size
        self.alignment = alignment
        self.entry_size = entry_size
        self.relocations: list[tuple[int, int, int, int]] = []
        self.positions: tuple[list[int], list[int]] | None = None
        self.offset = self.address = self.number = 0


class Symbol:
    """A symbol. section: None for absolute ones."""

    __slots__ = ("info", "name", "other", "section", "size", "value")

    def __init__(
        self,
        name: bytes,
        info: int,
        other: int,
        section: InputSection | None,
        value: int,
        size: int,
    ) -> None:
        self.name = name
        self.info = info
        self.other = other
        self.section = section
        self.value = value
        self.size = size


class ObjectFile:
    """What is linked. symbols: all, by their number; None where a symbol is not one of the code
    object's."""

    __slots__ = ("flags", "identification", "sections", "symbols")

    def __init__(
        self,
        identification: bytes,
        flags: int,
        sections: list[InputSection],
        symbols: list[Symbol | None],
    ) -> None:
        self.identification = identification
        self.flags = flags
        self.sections = sections
        self.symbols = symbols


def read_object(data: bytes) -> ObjectFile:
    """Return the parts of a relocatable object; NotPlain if it holds others, BackendError if it
    needs a symbol that nothing defines."""
    header = _HEADER.unpack_from(data)
    identification, kind, machine, _, _, _, table, flags = header[:8]
    count, names = header[-2:]
    if identification[:8] != _ELF64_LITTLE or (kind, machine) != (_RELOCATABLE, _AMDGPU):
        raise NotPlain("it is no relocatable object for amdgcn-amd-amdhsa")
    if not 0 < names < count < 0xFF00 or table + count * _SECTION.size > len(data):
        raise NotPlain("its section headers are unusual")
    rows = list(_SECTION.iter_unpack(data[table : table + count * _SECTION.size]))
    sections = _sections(data, rows, _content(data, rows[names]))
    _attach_relocations(data, rows, sections)
    tables = [row for row in rows if row[1] == _SYMBOL_TABLE]
    if len(tables) != 1 or not 0 < tables[0][6] < count:
        raise NotPlain("it has not exactly one symbol table")
    strings = _content(data, rows[tables[0][6]])
    symbols = _symbols(_content(data, tables[0]), strings, sections)
    return ObjectFile(identification, flags, [s for s in sections if s is not None], symbols)


def _sections(data: bytes, rows: list[tuple[int, ...]], names: bytes) -> list[InputSection | None]:
    """Return the sections that the code object has too, by their number."""
    found: list[InputSection | None] = []
    for row in rows:
        kind, flags = row[1], row[2]
        name = _string(names, row[0]).decode()
        section = None
        if kind in (PROGRAM_BITS, NO_BITS, NOTE) and name != ".note.GNU-stack":
            if flags & ~_KNOWN_FLAGS or row[6] or row[7]:
                raise NotPlain(f"its section {name} has flags or links that are unusual")
            content = b"" if kind == NO_BITS else _content(data, row)
            alignment = row[8] or 1
            if alignment & alignment - 1 or alignment > _HIGHEST_ALIGNMENT:
                raise NotPlain(f"its section {name} is aligned to {alignment} bytes")
            section = InputSection(
                name,
                kind,
                flags=flags,
                data=content,
                size=row[5],
                alignment=alignment,
                entry_size=row[9],
            )
        elif kind not in _LEFT_OUT:
            raise NotPlain(f"its section {name} is of type {kind:#x}")
        found.append(section)
    return found


def _attach_relocations(
    data: bytes, rows: list[tuple[int, ...]], sections: list[InputSection | None]
) -> None:
    for row in rows:
        if row[1] == _RELOCATIONS:
            section = sections[row[7]]
            if section is None or section.relocations or section.flags & MERGED:
                raise NotPlain("a section is relocated that is not expected to be")
            section.relocations = list(_RELOCATION.iter_unpack(_content(data, row)))


def _symbols(
    table: bytes, strings: bytes, sections: list[InputSection | None]
) -> list[Symbol | None]:
    symbols: list[Symbol | None] = [None]
    undefined: list[str] = []
    for name, info, other, place, value, size in _SYMBOL.iter_unpack(table[_SYMBOL.size :]):
        text = _string(strings, name)
        section = None if place == ABSOLUTE else sections[place] if place < len(sections) else None
        if place == UNDEFINED:
            undefined.append(text.decode("utf-8", "replace"))
        elif place != ABSOLUTE and section is None:
            raise NotPlain(f"its symbol {text.decode()!r} is in no section of the code object")
        if other > 3 or info >> 4 > 2 or (info & 15) > 4 or b"@" in text:
            raise NotPlain(f"its symbol {text.decode()!r} is of an unusual kind")
        symbols.append(Symbol(text, info, other=other, section=section, value=value, size=size))
    if undefined and not any(map(_is_from_linker, undefined)):
        raise BackendError(f"the kernel needs {', '.join(undefined)}, which nothing defines")
    if undefined:
        raise NotPlain(f"it needs {', '.join(undefined)} of the linker")
    return symbols


def _is_from_linker(name: str) -> bool:
    """Return whether lld defines a symbol that nothing else does."""
    return name in _FROM_LINKER or name.startswith(_FROM_LINKER_PREFIXES)


def _content(data: bytes, row: tuple[int, ...]) -> bytes:
    content = data[row[4] : row[4] + row[5]]
    if len(content) != row[5]:
        raise NotPlain("it ends before its sections do")
    return content


def _string(table: bytes, offset: int) -> bytes:
    return table[offset : table.index(0, offset)]
