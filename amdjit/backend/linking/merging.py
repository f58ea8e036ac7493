"""Sections whose strings or constants are written once: their content in lld's order.

lld spreads the pieces over 32 tables by their XXH3 hash and writes the tables one after another,
each in the order in which its pieces came. Source: lld's MergeNoTailSection, which is what -O1
uses.
"""

from __future__ import annotations

from collections.abc import Sequence

from xxhash import xxh3_64_intdigest

from amdjit.backend.linking.objects import STRINGS, InputSection, NotPlain

__all__ = ["merge"]

_TABLES = 32


def merge(sections: Sequence[InputSection]) -> bytes:
    """Return the merged content of sections of one kind, and write down where their pieces are."""
    alignment = max(section.alignment for section in sections)
    is_strings = bool(sections[0].flags & STRINGS)
    pieces = [_strings(each) if is_strings else _constants(each) for each in sections]
    tables: list[list[bytes]] = [[] for _ in range(_TABLES)]
    seen: set[bytes] = set()
    for found in pieces:
        for piece in found:
            if piece not in seen:
                seen.add(piece)
                key = piece[:-1] if is_strings else piece
                tables[(xxh3_64_intdigest(key) & 0xFFFFFFFF) >> 27].append(piece)
    content = bytearray()
    places: dict[bytes, int] = {}
    for table in tables:
        for piece in table:
            content += bytes(-len(content) % alignment)
            places[piece] = len(content)
            content += piece
    for section, found in zip(sections, pieces, strict=True):
        section.positions = _starts(found), [places[piece] for piece in found]
    return bytes(content)


def _starts(pieces: list[bytes]) -> list[int]:
    starts, position = [], 0
    for piece in pieces:
        starts.append(position)
        position += len(piece)
    return starts


def _strings(section: InputSection) -> list[bytes]:
    if section.entry_size != 1 or not section.data.endswith(b"\0"):
        raise NotPlain(f"its section {section.name} holds no strings of bytes")
    return [text + b"\0" for text in section.data[:-1].split(b"\0")]


def _constants(section: InputSection) -> list[bytes]:
    size = section.entry_size
    if not size or section.size % size:
        raise NotPlain(f"its section {section.name} holds no constants of one size")
    return [section.data[i : i + size] for i in range(0, section.size, size)]
