"""What in a code object depends on addresses: relocations that are done here, and those that the
loader does.

Source: the LLVM AMDGPU guide, "Relocation Records".
"""

from __future__ import annotations

import struct
from bisect import bisect_right

from amdjit.backend.linking.objects import (
    ALLOCATED,
    LOCAL,
    WRITE,
    InputSection,
    NotPlain,
    ObjectFile,
    Symbol,
)

__all__ = ["RELATIVE_SIZE", "address_of", "loader_relocations", "relocate", "write_relative"]

# R_AMDGPU_* (LLVM AMDGPU guide, "Relocation Records"); what loaders do is R_AMDGPU_RELATIVE64.
_ABS64, _REL32, _REL64, _ABS32, _REL32_LOW, _REL32_HIGH = 3, 4, 5, 6, 10, 11
_RELATIVE64 = 13
_RELATIVE = (_REL32, _REL64, _REL32_LOW, _REL32_HIGH)
_SECTION_SYMBOL = 3
_ENTRY = struct.Struct("<QQq")
RELATIVE_SIZE = _ENTRY.size
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
    return b"".join(_ENTRY.pack(*row) for row in sorted(rows))


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
