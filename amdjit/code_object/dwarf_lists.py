"""Lists of address ranges and of locations: `.debug_rnglists` and `.debug_loclists` of DWARF 5, and
`.debug_ranges` and `.debug_loc` before it.

Section numbers in comments are those of the DWARF 5 standard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from amdjit.code_object.bytes_reader import BytesReader
from amdjit.code_object.errors import MalformedCodeObject

__all__ = ["ListContext", "Piece", "read_list", "read_old_list"]

# From an address to the one after the last; the expression of a location, empty in a list of
# ranges.
Piece = tuple[int, int, bytes]

# 7.7.3, table 7.10: kinds of entries in a location list.
_END, _BASE_INDEX, _START_END_INDEX, _START_LENGTH_INDEX, _OFFSETS = 0, 1, 2, 3, 4
_DEFAULT, _BASE, _START_END, _START_LENGTH = 5, 6, 7, 8
_VIEWS = 9  # GNU's and LLVM's pairs of view numbers, which say nothing about addresses

# 7.25, table 7.30: kinds of entries in a range list are the same without the default location.
_AS_LOCATION_KIND = {5: _BASE, 6: _START_END, 7: _START_LENGTH} | {n: n for n in range(5)}


@dataclass(frozen=True, slots=True)
class ListContext:
    """What the lists of a unit refer to. base: the address that offsets count from; address: the
    address of an index into `.debug_addr`."""

    address_size: int
    base: int
    address: Callable[[int], int]


def read_list(
    data: bytes, offset: int, context: ListContext, has_locations: bool
) -> Iterator[Piece]:
    """Yield the pieces of a list of DWARF 5."""
    what = ".debug_loclists" if has_locations else ".debug_rnglists"
    reader = BytesReader(data, min(offset, len(data)), len(data), what)
    base = context.base
    while True:
        kind = reader.unsigned(1)
        if not has_locations:
            kind = _AS_LOCATION_KIND.get(kind, -1)
        if kind == _END:
            return
        if kind == _BASE_INDEX:
            base = context.address(reader.uleb())
        elif kind == _BASE:
            base = reader.unsigned(context.address_size)
        elif kind == _VIEWS:
            reader.uleb(), reader.uleb()
        else:
            start, end = _bounds(reader, kind, base, context)
            yield start, end, reader.take(reader.uleb()) if has_locations else b""


def _bounds(reader: BytesReader, kind: int, base: int, context: ListContext) -> tuple[int, int]:
    size = context.address_size
    if kind == _OFFSETS:
        return base + reader.uleb(), base + reader.uleb()
    if kind == _START_END_INDEX:
        return context.address(reader.uleb()), context.address(reader.uleb())
    if kind == _START_END:
        return reader.unsigned(size), reader.unsigned(size)
    if kind == _START_LENGTH_INDEX:
        start = context.address(reader.uleb())
        return start, start + reader.uleb()
    if kind == _START_LENGTH:
        start = reader.unsigned(size)
        return start, start + reader.uleb()
    if kind == _DEFAULT:
        # For all addresses that no other piece of the list covers, which no compiler makes use of
        # for registers.
        return 0, 0
    raise MalformedCodeObject(f"{reader.what}: an entry of an unknown kind")


def read_old_list(
    data: bytes, offset: int, context: ListContext, has_locations: bool
) -> Iterator[Piece]:
    """Yield the pieces of a list of DWARF 3 and 4 (DWARF 4, 2.17.3 and 2.6.2)."""
    what = ".debug_loc" if has_locations else ".debug_ranges"
    reader = BytesReader(data, min(offset, len(data)), len(data), what)
    size, base = context.address_size, context.base
    selects_base = (1 << 8 * size) - 1
    while True:
        start, end = reader.unsigned(size), reader.unsigned(size)
        if start == end == 0:
            return
        if start == selects_base:
            base = end
            continue
        yield base + start, base + end, reader.take(reader.unsigned(2)) if has_locations else b""
