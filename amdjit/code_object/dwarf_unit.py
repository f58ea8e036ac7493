"""A compilation unit whose attributes are looked up: strings, addresses, ranges, locations.

Section numbers in comments are those of the DWARF 5 standard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from amdjit.code_object.bytes_reader import (
    BytesReader,
    MalformedCodeObject,
    slice_exactly,
    string_at,
)
from amdjit.code_object.dwarf_entries import Attribute, Entry, Form, RawUnit, Stored, read_units
from amdjit.code_object.elf import ElfFile
from amdjit.code_object.line_table import read_file_names
from amdjit.late_methods import dataclass, field

__all__ = ["BLOCK_FORMS", "Unit", "read_all_units"]

# Limits far beyond real debug information, so that damaged bytes cannot cause endless work.
_MOST_PIECES = 1 << 18
_MOST_ORIGINS = 16
BLOCK_FORMS = (Form.EXPRESSION, Form.BLOCK, Form.BLOCK1, Form.BLOCK2, Form.BLOCK4)
_STRING_INDICES = (
    Form.STRING_INDEX,
    Form.STRING_INDEX1,
    Form.STRING_INDEX2,
    Form.STRING_INDEX3,
    Form.STRING_INDEX4,
)
_ADDRESS_INDICES = (
    Form.ADDRESS_INDEX,
    Form.ADDRESS_INDEX1,
    Form.ADDRESS_INDEX2,
    Form.ADDRESS_INDEX3,
    Form.ADDRESS_INDEX4,
)
_UNIT_REFERENCES = (
    Form.REFERENCE1,
    Form.REFERENCE2,
    Form.REFERENCE4,
    Form.REFERENCE8,
    Form.REFERENCE_UNSIGNED,
)


class _Sections:
    """The debug sections of a file, each read once."""

    def __init__(self, elf: ElfFile) -> None:
        self.elf = elf
        self._read: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self._read:
            section = self.elf.section(name)
            self._read[name] = self.elf.section_data(section) if section is not None else b""
        return self._read[name]


@dataclass
class _Limit:
    """How many pieces of lists may still be read: entries may share a list, so that the file's size
    is no bound."""

    left: int = _MOST_PIECES


@dataclass
class Unit:
    """One compilation unit. by_offset: the entries of all units, by their offsets."""

    raw: RawUnit
    by_offset: dict[int, Entry] = field(repr=False)
    _sections: _Sections = field(repr=False)
    _limit: _Limit = field(repr=False)

    @property
    def root(self) -> Entry:
        """The unit's own entry."""
        return self.raw.entries[0]

    def text(self, entry: Entry, attribute: int) -> str:
        """Return an attribute's string, "" if the entry has none."""
        stored = entry.attributes.get(attribute)
        if stored is None:
            return ""
        form, value = stored
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace") if form == Form.STRING else ""
        if form == Form.STRING_OFFSET:
            return string_at(self._sections[".debug_str"], value, ".debug_str")
        if form == Form.LINE_STRING_OFFSET:
            return string_at(self._sections[".debug_line_str"], value, ".debug_line_str")
        if form in _STRING_INDICES:
            offset = self._indexed(".debug_str_offsets", Attribute.STRING_OFFSETS_BASE, value)
            return string_at(self._sections[".debug_str"], offset, ".debug_str")
        return ""

    def number(self, entry: Entry, attribute: int) -> int | None:
        """Return an attribute's number, None if the entry has none."""
        stored = entry.attributes.get(attribute)
        return stored.value if stored is not None and isinstance(stored.value, int) else None

    def reference(self, entry: Entry, attribute: int) -> Entry | None:
        """Return the entry that an attribute refers to; None if there is none, or if it is in
        another file."""
        stored = entry.attributes.get(attribute)
        if stored is None or not isinstance(stored.value, int):
            return None
        if stored.form in _UNIT_REFERENCES:
            return self.by_offset.get(self.raw.offset + stored.value)
        if stored.form == Form.REFERENCE_ADDRESS:
            return self.by_offset.get(stored.value)
        return None

    def origin_with(self, entry: Entry, attribute: int) -> Entry | None:
        """Return the entry that has an attribute: this one, or that whose inlined or specified copy
        it is."""
        found: Entry | None = entry
        for _ in range(_MOST_ORIGINS):
            if found is None or attribute in found.attributes:
                return found
            found = self.reference(found, Attribute.ABSTRACT_ORIGIN) or self.reference(
                found, Attribute.SPECIFICATION
            )
        return None

    def name(self, entry: Entry) -> str:
        """Return an entry's name, or that of its origin; "" if it has none."""
        for attribute in (Attribute.NAME, Attribute.LINKAGE_NAME):
            holder = self.origin_with(entry, attribute)
            if holder is not None:
                return self.text(holder, attribute)
        return ""

    def ranges(self, entry: Entry) -> tuple[tuple[int, int], ...]:
        """Return the addresses that an entry covers, as (first, after the last); () if it names
        none."""
        stored = entry.attributes.get(Attribute.RANGES)
        if stored is not None:
            pieces = self._list(stored, Form.RANGE_LIST_INDEX, has_locations=False)
            return tuple((start, end) for start, end, _ in pieces if start < end)
        low, high = (entry.attributes.get(kind) for kind in (Attribute.LOW_PC, Attribute.HIGH_PC))
        if low is None or high is None:
            return ()
        start, end = self._address_of(low), high.number
        # 2.17.2: an address, or the size.
        end = self._address_of(high) if _is_address(high) else start + end
        return ((start, end),) if start < end else ()

    def locations(self, stored: Stored) -> Iterator[Piece]:
        """Yield the pieces of a location list."""
        return self._list(stored, Form.LOCATION_LIST_INDEX, has_locations=True)

    def file(self, number: int) -> str:
        """Return the path of a file by its number in the unit's line table, "" if it has none."""
        index = number - self._files[1]
        files = self._files[0]
        return files[index] if 0 <= index < len(files) else ""

    @cached_property
    def _files(self) -> tuple[tuple[str, ...], int]:
        offset = self.number(self.root, Attribute.STATEMENT_LIST)
        return ((), 0) if offset is None else read_file_names(self._sections.elf, offset)

    @cached_property
    def _lists(self) -> ListContext:
        low = self.root.attributes.get(Attribute.LOW_PC)
        base = self._address_of(low) if low is not None else 0
        return ListContext(self.raw.address_size, base, self._indexed_address)

    def _list(self, stored: Stored, index_form: int, has_locations: bool) -> Iterator[Piece]:
        old = self.raw.version < 5
        names = (".debug_loc", ".debug_loclists") if has_locations else _RANGE_SECTIONS
        name, offset = names[0 if old else 1], stored.number
        if stored.form == index_form:
            base = Attribute.LOCATION_LISTS_BASE if has_locations else Attribute.RANGE_LISTS_BASE
            start = self._base(base)
            offset = start + self._indexed(name, base, offset)
        for piece in (read_old_list if old else read_list)(
            self._sections[name], offset, self._lists, has_locations
        ):
            self._limit.left -= 1
            if self._limit.left < 0:
                raise MalformedCodeObject(f"{name}: more than {_MOST_PIECES} pieces")
            yield piece

    def _address_of(self, stored: Stored) -> int:
        if stored.form in _ADDRESS_INDICES:
            return self._indexed_address(stored.number)
        return stored.number

    def _indexed_address(self, index: int) -> int:
        return self._indexed(".debug_addr", Attribute.ADDRESS_BASE, index, self.raw.address_size)

    def _indexed(self, section: str, base: int, index: int, size: int = 0) -> int:
        """Return an entry of a table of offsets or addresses."""
        size = size or self.raw.offset_size
        place = self._base(base) + index * size
        return int.from_bytes(
            slice_exactly(self._sections[section], place, size, section), "little"
        )

    def _base(self, attribute: int) -> int:
        base = self.number(self.root, attribute)
        if base is None:
            raise MalformedCodeObject(f".debug_info: the unit has no base {attribute:#x}")
        return base


_RANGE_SECTIONS = (".debug_ranges", ".debug_rnglists")


def _is_address(stored: Stored) -> bool:
    return stored.form == Form.ADDRESS or stored.form in _ADDRESS_INDICES


def read_all_units(elf: ElfFile) -> tuple[Unit, ...]:
    """Return the units of a file, () without debug information; MalformedCodeObject if they are
    broken."""
    sections, limit = _Sections(elf), _Limit()
    by_offset: dict[int, Entry] = {}
    units: list[Unit] = []
    for raw in read_units(sections[".debug_info"], sections[".debug_abbrev"]):
        by_offset.update((entry.offset, entry) for entry in raw.entries)
        if raw.entries:
            units.append(Unit(raw, by_offset, sections, limit))
    return tuple(units)


# Lists of address ranges and of locations: `.debug_rnglists` and `.debug_loclists` of DWARF 5, and
# `.debug_ranges` and `.debug_loc` before it.
#
# Section numbers in comments are those of the DWARF 5 standard.

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
