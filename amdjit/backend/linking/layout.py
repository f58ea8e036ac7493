"""Where the code object's sections are in memory and in the file, and its program headers.

Each segment begins in a page of its own, at the same offset in the page as in the file. Source:
lld's createPhdrs, fixSectionAlignments and computeFileOffset.
"""

from __future__ import annotations

import struct

from amdjit.backend.linking.objects import (
    ALLOCATED,
    EXECUTABLE,
    NO_BITS,
    NOTE,
    WRITE,
    NotPlain,
)
from amdjit.backend.linking.sections import OutputSection, is_relro

__all__ = ["HEADER_SIZE", "PROGRAM_HEADER_SIZE", "lay_out", "program_headers", "segments"]

HEADER_SIZE = 64
_PAGE = 4096
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
PROGRAM_HEADER_SIZE = _PROGRAM_HEADER.size
_LOAD, _DYNAMIC, _NOTE, _HEADERS = 1, 2, 4, 6
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
    rows.append(_row(_DYNAMIC, _READ | _WRITE, [dynamic], dynamic.alignment))
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
