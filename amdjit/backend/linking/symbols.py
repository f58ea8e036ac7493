"""The symbol tables of the code object, and the tables by which a loader finds a symbol.

Sources: the ELF gABI for `.hash`, lld's GnuHashTableSection for `.gnu.hash`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from amdjit.backend.linking.objects import ABSOLUTE, LOCAL, NotPlain, Symbol
from amdjit.backend.linking.relocations import address_of

__all__ = ["SymbolTable", "dynamic_table", "full_table", "gnu_hash_table", "hash_table", "strings"]

_SYMBOL = struct.Struct("<IBBHQQ")
_SECTION_SYMBOL = 3
_HIDDEN = (1, 2)
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
            info = symbol.info & 15 if symbol.other in _HIDDEN else symbol.info
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
    hidden = [symbol for symbol in others if symbol.other in _HIDDEN]
    visible = [symbol for symbol in others if symbol.other not in _HIDDEN]
    first = [*local, *hidden, own]
    return SymbolTable([*first, *visible], [*local, *others, own], len(first) + 1)


def dynamic_table(full: SymbolTable) -> SymbolTable:
    """Return `.dynsym`, the symbols that loaders see, by the bucket of `.gnu.hash`; NotPlain if
    there is none."""
    seen = [
        symbol
        for _, symbol in full.rows
        if symbol.info >> 4 != LOCAL and symbol.other not in _HIDDEN
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
