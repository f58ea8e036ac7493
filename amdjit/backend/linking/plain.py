"""Link one object to the code object that devices load."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable

from amdjit.backend.linking.objects import (
    ABSOLUTE,
    ALLOCATED,
    EXECUTABLE,
    LOCAL,
    NO_BITS,
    NOTE,
    WRITE,
    InputSection,
    NotPlain,
    ObjectFile,
    Symbol,
    read_object,
)
from amdjit.backend.linking.sections import OutputSection, group, is_relro

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
    dynamic = InputSection(
        ".dynamic", _DYNAMIC, flags=ALLOCATED | WRITE, data=b"", size=0, alignment=8, entry_size=16
    )
    full = full_table(
        file.symbols, Symbol(b"_DYNAMIC", 0, other=_HIDDEN, section=dynamic, value=0, size=0)
    )
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


# Where the code object's sections are in memory and in the file, and its program headers.
#
# Each segment begins in a page of its own, at the same offset in the page as in the file. Source:
# lld's createPhdrs, fixSectionAlignments and computeFileOffset.

# The sizes of Elf64_Ehdr and of a page (`-z max-page-size` of lld for AMDGPU).
HEADER_SIZE = 64
_PAGE = 4096
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
PROGRAM_HEADER_SIZE = _PROGRAM_HEADER.size
# PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_PHDR, PT_GNU_STACK, PT_GNU_RELRO; then PF_X, PF_W, PF_R.
_LOAD, _LAYOUT_DYNAMIC, _NOTE, _HEADERS = 1, 2, 4, 6
_STACK, _RELRO = 0x6474E551, 0x6474E552
_EXECUTE, _WRITE, _READ = 1, 2, 4


def segments(sections: list[OutputSection]) -> list[list[OutputSection]]:
    """Return the sections that are loaded, by segment: those with one kind of access; data after
    those that only the loader writes."""
    found: list[list[OutputSection]] = []
    for section in sections:
        if not section.flags & ALLOCATED:
            break
        last = found[-1][-1] if found else None
        if (
            last is None
            or _access(last) != _access(section)
            or is_relro(last) != is_relro(section)
            or (last.type == NO_BITS and section.type != NO_BITS)
        ):
            found.append([])
        found[-1].append(section)
    if _access(found[0][0]) != _READ or any(not sum(s.size for s in each) for each in found):
        raise NotPlain("it has an empty segment")
    return found


def lay_out(loaded: list[list[OutputSection]], others: list[OutputSection]) -> int:
    """Give each section its address and its offset in the file; return where the file's content
    ends.

    loaded: the segments' sections. others: those that take no memory.
    """
    # The headers' own, those of .dynamic and of the stack; segments, notes, what the loader writes.
    headers = 3 + len(loaded) + len(_notes(loaded)) + sum(is_relro(each[0]) for each in loaded)
    address = offset = HEADER_SIZE + headers * _PROGRAM_HEADER.size
    for number, segment in enumerate(loaded):
        if number:
            address = _aligned(address, _PAGE) + address % _PAGE
        address = _aligned(address, segment[0].alignment)
        alignment = max(_PAGE, *(section.alignment for section in segment))
        if number:
            offset += (address - offset) % alignment
            start = offset - address
        else:
            start = 0
        for section in segment:
            address = _aligned(address, section.alignment)
            section.address = address
            if section.type != NO_BITS:
                offset = address + start
            section.offset = offset
            if section.name == ".relro_padding":
                # It only fills the page: what follows goes on as if it were not there.
                section.size = -address % _PAGE
            else:
                address += section.size
            if section.type != NO_BITS:
                offset += section.size
    for section in others:
        section.offset = _aligned(offset, section.alignment)
        offset = section.offset + section.size
    return offset


def program_headers(loaded: list[list[OutputSection]], dynamic: OutputSection) -> bytes:
    """Return the program headers: the headers themselves, the loaded segments, and what a loader
    looks for in them."""
    rows: list[tuple[int, ...]] = [()]  # the headers' own row, when their number is known
    for number, segment in enumerate(loaded):
        alignment = max(_PAGE, *(section.alignment for section in segment))
        first = (0, 0) if number == 0 else (segment[0].offset, segment[0].address)
        rows.append((_LOAD, _access(segment[0]), *first, *_sizes(*first, segment[-1]), alignment))
    rows.append(_row(_LAYOUT_DYNAMIC, _READ | _WRITE, [dynamic], dynamic.alignment))
    for segment in loaded:
        if is_relro(segment[0]):
            rows.append(_row(_RELRO, _READ, segment, 1))
    rows.append((_STACK, _READ | _WRITE, 0, 0, 0, 0, 0))
    rows += [_row(_NOTE, _READ, [note], note.alignment) for note in _notes(loaded)]
    size = len(rows) * _PROGRAM_HEADER.size
    rows[0] = (_HEADERS, _READ, HEADER_SIZE, HEADER_SIZE, size, size, 8)
    return b"".join(
        _PROGRAM_HEADER.pack(kind, flags, offset, address, address, *sizes)
        for kind, flags, offset, address, *sizes in rows
    )


def _notes(loaded: list[list[OutputSection]]) -> list[OutputSection]:
    """Return the sections of notes, of which there is at most one: `.note`."""
    return [section for section in loaded[0] if section.type == NOTE]


def _row(kind: int, flags: int, part: list[OutputSection], alignment: int) -> tuple[int, ...]:
    first = part[0]
    sizes = _sizes(first.offset, first.address, part[-1])
    return kind, flags, first.offset, first.address, *sizes, alignment


def _sizes(offset: int, address: int, last: OutputSection) -> tuple[int, int]:
    """Return the sizes in the file and in memory of what ends with a section."""
    in_file = last.offset - offset + (0 if last.type == NO_BITS else last.size)
    return in_file, last.address + last.size - address


def _access(section: OutputSection) -> int:
    return (
        _READ
        | (_WRITE if section.flags & WRITE else 0)
        | (_EXECUTE if section.flags & EXECUTABLE else 0)
    )


def _aligned(value: int, alignment: int) -> int:
    return value + -value % alignment


# The symbol tables of the code object, and the tables by which a loader finds a symbol.
#
# Sources: the ELF gABI for `.hash`, lld's GnuHashTableSection for `.gnu.hash`.

_SYMBOL = struct.Struct("<IBBHQQ")
_SECTION_SYMBOL = 3
_SYMBOLS_HIDDEN = (1, 2)
# lld's Shift2 for the Bloom filter, and the bits of its words in ELF64.
_BLOOM_SHIFT, _WORD_BITS = 26, 64


class SymbolTable:
    """A symbol table. rows: each symbol with the offset of its name; the empty first one is not
    among them. first_global: the number of the first that is not local. names: the strings."""

    __slots__ = ("first_global", "names", "rows")

    def __init__(self, listed: list[Symbol], named: list[Symbol], first_global: int) -> None:
        self.names, offsets = strings(symbol.name for symbol in named)
        places = dict(zip(map(id, named), offsets, strict=True))
        self.rows = [(places[id(symbol)], symbol) for symbol in listed]
        self.first_global = first_global

    @property
    def size(self) -> int:
        """The size of the table in bytes."""
        return (len(self.rows) + 1) * _SYMBOL.size

    def write(self) -> bytes:
        """Return the table's bytes, when all addresses are known."""
        written = [bytes(_SYMBOL.size)]
        for name, symbol in self.rows:
            number = ABSOLUTE if symbol.section is None else symbol.section.number
            # What is hidden is local in a code object.
            info = symbol.info & 15 if symbol.other in _SYMBOLS_HIDDEN else symbol.info
            value = address_of(symbol)
            written.append(_SYMBOL.pack(name, info, symbol.other, number, value, symbol.size))
        return b"".join(written)


def full_table(symbols: Iterable[Symbol | None], own: Symbol) -> SymbolTable:
    """Return `.symtab`: local symbols, hidden ones, the linker's own, and the others."""
    local: list[Symbol] = []
    others: list[Symbol] = []
    for symbol in symbols:
        if symbol is not None and symbol.info & 15 != _SECTION_SYMBOL:
            (others if symbol.info >> 4 else local).append(symbol)
            if symbol.name == own.name:
                raise NotPlain(f"it defines {own.name.decode()}")
    hidden = [symbol for symbol in others if symbol.other in _SYMBOLS_HIDDEN]
    visible = [symbol for symbol in others if symbol.other not in _SYMBOLS_HIDDEN]
    first = [*local, *hidden, own]
    return SymbolTable([*first, *visible], [*local, *others, own], len(first) + 1)


def dynamic_table(full: SymbolTable) -> SymbolTable:
    """Return `.dynsym`, the symbols that loaders see, by the bucket of `.gnu.hash`; NotPlain if
    there is none."""
    seen = [
        symbol
        for _, symbol in full.rows
        if symbol.info >> 4 != LOCAL and symbol.other not in _SYMBOLS_HIDDEN
    ]
    if not seen:
        raise NotPlain("it exports nothing")
    buckets = _buckets(len(seen))
    ordered = sorted(seen, key=lambda symbol: _gnu_hash(symbol.name) % buckets)
    return SymbolTable(ordered, seen, 1)


def gnu_hash_table(table: SymbolTable) -> bytes:
    """Return `.gnu.hash` for `.dynsym`."""
    count = len(table.rows)
    buckets = _buckets(count)
    words = 1 << (count * 12 // _WORD_BITS).bit_length()
    bloom, starts, chain = [0] * words, [0] * buckets, [0] * count
    values = [_gnu_hash(symbol.name) for _, symbol in table.rows]
    for i, value in enumerate(values):
        bits = 1 << value % _WORD_BITS | 1 << (value >> _BLOOM_SHIFT) % _WORD_BITS
        bloom[value // _WORD_BITS & words - 1] |= bits
        bucket = value % buckets
        is_last = i + 1 == count or values[i + 1] % buckets != bucket
        chain[i] = value | 1 if is_last else value & ~1
        starts[bucket] = starts[bucket] or i + 1
    head = struct.pack("<4I", buckets, 1, words, _BLOOM_SHIFT)
    return head + struct.pack(f"<{words}Q{buckets + count}I", *bloom, *starts, *chain)


def hash_table(table: SymbolTable) -> bytes:
    """Return `.hash` for `.dynsym`."""
    count = len(table.rows) + 1
    buckets, chains = [0] * count, [0] * count
    for number, (_, symbol) in enumerate(table.rows, 1):
        bucket = _system_v_hash(symbol.name) % count
        chains[number] = buckets[bucket]
        buckets[bucket] = number
    return struct.pack(f"<{2 + 2 * count}I", count, count, *buckets, *chains)


def strings(texts: Iterable[bytes]) -> tuple[bytes, list[int]]:
    """Return a string table and where each text begins in it."""
    table, offsets = bytearray(1), []
    for text in texts:
        offsets.append(len(table) if text else 0)
        table += text + b"\0" if text else b""
    return bytes(table), offsets


def _buckets(count: int) -> int:
    return max(count // 4, 1)


def _gnu_hash(name: bytes) -> int:
    value = 5381
    for byte in name:
        value = value * 33 + byte & 0xFFFFFFFF
    return value


def _system_v_hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value << 4) + byte
        value ^= value >> 24 & 0xF0
        value &= 0x0FFFFFFF
    return value


# What in a code object depends on addresses: relocations that are done here, and those that the
# loader does.
#
# Source: the LLVM AMDGPU guide, "Relocation Records".


# R_AMDGPU_* (LLVM AMDGPU guide, "Relocation Records"); what loaders do is R_AMDGPU_RELATIVE64.
_ABS64, _REL32, _REL64, _ABS32, _REL32_LOW, _REL32_HIGH = 3, 4, 5, 6, 10, 11
_RELATIVE64 = 13
_RELATIVE = (_REL32, _REL64, _REL32_LOW, _REL32_HIGH)

_RELOCATION = struct.Struct("<QQq")
RELATIVE_SIZE = _RELOCATION.size
_HALF, _WORD = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def loader_relocations(file: ObjectFile) -> list[tuple[InputSection, int, Symbol, int]]:
    """Return the section, offset, symbol and addend of each address that the loader writes;
    NotPlain for relocations of kinds that are not known."""
    found = []
    for section in file.sections:
        for offset, kind, number, addend in section.relocations:
            symbol = _symbol(file, number)
            if not section.flags & ALLOCATED:
                known = kind in (_ABS32, _ABS64)
            elif symbol.section is None or (symbol.info >> 4 != LOCAL and not symbol.other):
                known = False
            elif kind == _ABS64 and section.flags & WRITE:
                known = True
                found.append((section, offset, symbol, addend))
            else:
                known = kind in _RELATIVE
            if not known:
                name = symbol.name.decode("utf-8", "replace")
                raise NotPlain(
                    f"its section {section.name} has a relocation of type {kind} to {name!r}"
                )
    return found


def write_relative(found: list[tuple[InputSection, int, Symbol, int]]) -> bytes:
    """Return `.rela.dyn`: addresses that move with the code object, in their order."""
    rows = [
        (section.address + offset, _RELATIVE64, _target(symbol, addend))
        for section, offset, symbol, addend in found
    ]
    return b"".join(_RELOCATION.pack(*row) for row in sorted(rows))


def relocate(content: bytearray, section: InputSection, file: ObjectFile) -> None:
    """Write what the section's relocations say into the bytes of the code object."""
    symbols, base, loaded = file.symbols, section.address, section.flags & ALLOCATED
    for offset, kind, number, addend in section.relocations:
        symbol = symbols[number]
        assert symbol is not None
        if kind == _ABS64 and loaded:
            continue
        value = _target(symbol, addend)
        if kind in _RELATIVE:
            value -= base + offset
        place = section.offset + offset
        if not 0 <= offset <= section.size - (8 if kind in (_ABS64, _REL64) else 4):
            raise NotPlain(f"a relocation lies outside its section {section.name}")
        if kind in (_ABS64, _REL64):
            content[place : place + 8] = (value & _WORD).to_bytes(8, "little")
        else:
            half = value >> 32 if kind == _REL32_HIGH else value
            content[place : place + 4] = (half & _HALF).to_bytes(4, "little")


def address_of(symbol: Symbol) -> int:
    """Return a symbol's value in the code object."""
    if symbol.section is None:
        return symbol.value
    return symbol.section.address + _moved(symbol.section, symbol.value)


def _symbol(file: ObjectFile, number: int) -> Symbol:
    symbol = file.symbols[number]
    if symbol is None:
        raise NotPlain("it has a relocation without a symbol")
    return symbol


def _target(symbol: Symbol, addend: int) -> int:
    section = symbol.section
    if section is None:
        return symbol.value + addend
    if section.positions is not None and symbol.info & 15 == _SECTION_SYMBOL:
        # Each piece of a merged section has moved by another distance.
        return section.address + _moved(section, symbol.value + addend)
    return section.address + _moved(section, symbol.value) + addend


def _moved(section: InputSection, offset: int) -> int:
    """Return an offset in a section as that in the merged section, if it was merged."""
    if section.positions is None:
        return offset
    if not 0 <= offset < section.size:
        raise NotPlain(f"an offset lies outside its section {section.name}")
    starts, places = section.positions
    piece = bisect_right(starts, offset) - 1
    return places[piece] + offset - starts[piece]
