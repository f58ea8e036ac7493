"""One object to the code object that devices load."""

from __future__ import annotations

import struct

from amdjit.backend.linking.layout import (
    HEADER_SIZE,
    PROGRAM_HEADER_SIZE,
    lay_out,
    program_headers,
    segments,
)
from amdjit.backend.linking.objects import (
    ALLOCATED,
    NO_BITS,
    WRITE,
    InputSection,
    NotPlain,
    ObjectFile,
    Symbol,
    read_object,
)
from amdjit.backend.linking.relocations import (
    RELATIVE_SIZE,
    loader_relocations,
    relocate,
    write_relative,
)
from amdjit.backend.linking.sections import OutputSection, group
from amdjit.backend.linking.symbols import (
    SymbolTable,
    dynamic_table,
    full_table,
    gnu_hash_table,
    hash_table,
    strings,
)

__all__ = ["COMMENT", "link_plain"]

COMMENT = b"Linker: amdjit\0"
"""What `.comment` says who linked; lld writes its own name and version."""

_SHARED, _AMDGPU = 3, 224
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_ENTRY = struct.Struct("<QQ")
_SYMBOLS, _STRINGS, _RELA, _HASH, _DYNAMIC = 2, 3, 4, 5, 6
_DYNAMIC_SYMBOLS, _GNU_HASH = 11, 0x6FFFFFF6
_HIDDEN = 2
_LINKS = {
    ".dynsym": ".dynstr",
    ".gnu.hash": ".dynsym",
    ".hash": ".dynsym",
    ".rela.dyn": ".dynsym",
    ".dynamic": ".dynstr",
    ".symtab": ".strtab",
}


def link_plain(relocatable: bytes, comment: bytes = COMMENT) -> bytes:
    """Return the shared ELF that `ld.lld -shared --no-undefined` makes of one object.

    comment: what `.comment` says who linked, with a zero at its end. NotPlain if the object holds
    anything that only lld knows.
    """
    try:
        return _linked(read_object(relocatable), comment)
    except (struct.error, IndexError, ValueError) as error:
        raise NotPlain(f"it is malformed: {error}") from error


def _linked(file: ObjectFile, comment: bytes) -> bytes:
    relative = loader_relocations(file)
    dynamic = InputSection(".dynamic", _DYNAMIC, ALLOCATED | WRITE, b"", 0, 8, 16)
    full = full_table(file.symbols, Symbol(b"_DYNAMIC", 0, _HIDDEN, dynamic, 0, 0))
    seen = dynamic_table(full)
    sections = group(file.sections, comment)
    sections += _made(full, seen, len(relative) * RELATIVE_SIZE, dynamic)
    sections.sort(key=lambda section: section.rank)
    named = _named(sections)
    for name, link in _LINKS.items():
        if name in named:
            named[name].link = named[link].number
    named[".dynsym"].info, named[".symtab"].info = seen.first_global, full.first_global
    loaded = segments(sections)
    end = lay_out(loaded, [each for each in sections if not each.flags & ALLOCATED])
    for section in sections:
        section.place_inputs()
    named[".dynsym"].fill(seen.write())
    named[".symtab"].fill(full.write())
    named[".dynamic"].fill(_loader_entries(named))
    if relative:
        named[".rela.dyn"].fill(write_relative(relative))
    return _written(file, sections, program_headers(loaded, named[".dynamic"]), end)


def _made(
    full: SymbolTable, seen: SymbolTable, relative_size: int, dynamic: InputSection
) -> list[OutputSection]:
    """Return the sections that the linker makes, in lld's order; some get their content later."""
    entries = 11 if relative_size else 7
    return [
        OutputSection(".dynsym", _DYNAMIC_SYMBOLS, ALLOCATED, 8, 24).fill(bytes(seen.size)),
        OutputSection(".gnu.hash", _GNU_HASH, ALLOCATED, 8, 0).fill(gnu_hash_table(seen)),
        OutputSection(".hash", _HASH, ALLOCATED, 4, 4).fill(hash_table(seen)),
        OutputSection(".dynstr", _STRINGS, ALLOCATED, 1, 0).fill(seen.names),
        *(
            [OutputSection(".rela.dyn", _RELA, ALLOCATED, 8, 24).fill(bytes(relative_size))]
            if relative_size
            else []
        ),
        OutputSection(".dynamic", _DYNAMIC, ALLOCATED | WRITE, 8, 16).fill(
            bytes(entries * _ENTRY.size), [dynamic]
        ),
        OutputSection(".relro_padding", NO_BITS, ALLOCATED | WRITE, 1, 0),
        OutputSection(".symtab", _SYMBOLS, 0, 8, 24).fill(bytes(full.size)),
        OutputSection(".shstrtab", _STRINGS, 0, 1, 0),
        OutputSection(".strtab", _STRINGS, 0, 1, 0).fill(full.names),
    ]


def _named(sections: list[OutputSection]) -> dict[str, OutputSection]:
    """Number the sections, write down their names, and return them by name."""
    content, offsets = strings(section.name.encode() for section in sections)
    for number, section in enumerate(sections, 1):
        section.number, section.name_offset = number, offsets[number - 1]
    named = {section.name: section for section in sections}
    named[".shstrtab"].fill(content)
    return named


def _loader_entries(named: dict[str, OutputSection]) -> bytes:
    """Return `.dynamic`: what a loader must find."""
    entries = []
    relative = named.get(".rela.dyn")
    if relative is not None:
        count = relative.size // RELATIVE_SIZE
        entries += [(7, relative.address), (8, relative.size), (9, RELATIVE_SIZE)]
        entries += [(0x6FFFFFF9, count)]
    entries += [(6, named[".dynsym"].address), (11, named[".dynsym"].entry_size)]
    entries += [(5, named[".dynstr"].address), (10, named[".dynstr"].size)]
    entries += [(0x6FFFFEF5, named[".gnu.hash"].address), (4, named[".hash"].address), (0, 0)]
    return b"".join(_ENTRY.pack(*entry) for entry in entries)


def _written(file: ObjectFile, sections: list[OutputSection], headers: bytes, end: int) -> bytes:
    table = end + -end % 8
    code_object = bytearray(table)
    names = next(section.number for section in sections if section.name == ".shstrtab")
    count = len(headers) // PROGRAM_HEADER_SIZE
    code_object[: HEADER_SIZE + len(headers)] = (
        _HEADER.pack(
            file.identification, _SHARED, _AMDGPU, 1, 0, HEADER_SIZE, table, file.flags,
            HEADER_SIZE, PROGRAM_HEADER_SIZE, count, _SECTION.size, len(sections) + 1, names,
        )
        + headers
    )  # fmt: skip
    rows = [bytes(_SECTION.size)]
    for each in sections:
        rows.append(
            _SECTION.pack(
                each.name_offset, each.type, each.flags, each.address, each.offset, each.size,
                each.link, each.info, each.alignment, each.entry_size,
            )
        )  # fmt: skip
        for start, content, _ in each.pieces:
            place = each.offset + start
            code_object[place : place + len(content)] = content
    for section in file.sections:
        if section.relocations:
            relocate(code_object, section, file)
    return bytes(code_object) + b"".join(rows)
