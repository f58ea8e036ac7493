"""The entries of `.debug_info`: a compilation unit's tree, with its attributes as they are stored.

Section numbers in comments are those of the DWARF 5 standard; versions 3 to 5 are read. A read may
go beyond a unit by one entry, and is refused then; every other number is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from amdjit.code_object.bytes_reader import BytesReader, MalformedCodeObject
from amdjit.late_methods import dataclass, field

__all__ = ["Attribute", "Entry", "Form", "RawUnit", "Stored", "Tag", "read_units", "uleb_at"]


# Numbers of DWARF that readers need, by their names in the standard (DWARF 5, section 7.5).


class Tag:
    """Table 7.3: kinds of entries."""

    ARRAY_TYPE = 0x01
    FORMAL_PARAMETER = 0x05
    LEXICAL_BLOCK = 0x0B
    POINTER_TYPE = 0x0F
    REFERENCE_TYPE = 0x10
    STRUCTURE_TYPE = 0x13
    SUBROUTINE_TYPE = 0x15
    UNION_TYPE = 0x17
    INLINED_SUBROUTINE = 0x1D
    SUBRANGE_TYPE = 0x21
    CONST_TYPE = 0x26
    SUBPROGRAM = 0x2E
    VARIABLE = 0x34
    VOLATILE_TYPE = 0x35
    RESTRICT_TYPE = 0x37
    RVALUE_REFERENCE_TYPE = 0x42
    ATOMIC_TYPE = 0x47


class Attribute:
    """Table 7.5: attributes of entries."""

    LOCATION = 0x02
    NAME = 0x03
    STATEMENT_LIST = 0x10
    LOW_PC = 0x11
    HIGH_PC = 0x12
    CONST_VALUE = 0x1C
    PRODUCER = 0x25
    UPPER_BOUND = 0x2F
    ABSTRACT_ORIGIN = 0x31
    COUNT = 0x37
    SPECIFICATION = 0x47
    TYPE = 0x49
    RANGES = 0x55
    CALL_FILE = 0x58
    CALL_LINE = 0x59
    LINKAGE_NAME = 0x6E
    STRING_OFFSETS_BASE = 0x72
    ADDRESS_BASE = 0x73
    RANGE_LISTS_BASE = 0x74
    LOCATION_LISTS_BASE = 0x8C


class Form:
    """Table 7.6: how attributes are stored."""

    ADDRESS = 0x01
    BLOCK2 = 0x03
    BLOCK4 = 0x04
    DATA2 = 0x05
    DATA4 = 0x06
    DATA8 = 0x07
    STRING = 0x08
    BLOCK = 0x09
    BLOCK1 = 0x0A
    DATA1 = 0x0B
    FLAG = 0x0C
    SIGNED_DATA = 0x0D
    STRING_OFFSET = 0x0E
    UNSIGNED_DATA = 0x0F
    REFERENCE_ADDRESS = 0x10
    REFERENCE1 = 0x11
    REFERENCE2 = 0x12
    REFERENCE4 = 0x13
    REFERENCE8 = 0x14
    REFERENCE_UNSIGNED = 0x15
    INDIRECT = 0x16
    SECTION_OFFSET = 0x17
    EXPRESSION = 0x18
    FLAG_PRESENT = 0x19
    STRING_INDEX = 0x1A
    ADDRESS_INDEX = 0x1B
    REFERENCE_SUPPLEMENT4 = 0x1C
    STRING_SUPPLEMENT = 0x1D
    DATA16 = 0x1E
    LINE_STRING_OFFSET = 0x1F
    REFERENCE_SIGNATURE = 0x20
    IMPLICIT_CONSTANT = 0x21
    LOCATION_LIST_INDEX = 0x22
    RANGE_LIST_INDEX = 0x23
    REFERENCE_SUPPLEMENT8 = 0x24
    STRING_INDEX1 = 0x25
    STRING_INDEX2 = 0x26
    STRING_INDEX3 = 0x27
    STRING_INDEX4 = 0x28
    ADDRESS_INDEX1 = 0x29
    ADDRESS_INDEX2 = 0x2A
    ADDRESS_INDEX3 = 0x2B
    ADDRESS_INDEX4 = 0x2C


# Limits far beyond real debug information, so that damaged bytes cannot cause endless work.
_MOST_ENTRIES = 1 << 20
_MOST_ATTRIBUTES = 128
_DEEPEST = 1024
_COMPILE_UNIT, _PARTIAL_UNIT = 1, 3  # 7.5.1, table 7.2

_FIXED = {
    Form.DATA1: 1,
    Form.DATA2: 2,
    Form.DATA4: 4,
    Form.DATA8: 8,
    Form.DATA16: 16,
    Form.FLAG: 1,
    Form.REFERENCE1: 1,
    Form.REFERENCE2: 2,
    Form.REFERENCE4: 4,
    Form.REFERENCE8: 8,
    Form.REFERENCE_SIGNATURE: 8,
    Form.REFERENCE_SUPPLEMENT4: 4,
    Form.REFERENCE_SUPPLEMENT8: 8,
    Form.STRING_INDEX1: 1,
    Form.STRING_INDEX2: 2,
    Form.STRING_INDEX3: 3,
    Form.STRING_INDEX4: 4,
    Form.ADDRESS_INDEX1: 1,
    Form.ADDRESS_INDEX2: 2,
    Form.ADDRESS_INDEX3: 3,
    Form.ADDRESS_INDEX4: 4,
}
_OFFSETS = (
    Form.SECTION_OFFSET,
    Form.STRING_OFFSET,
    Form.LINE_STRING_OFFSET,
    Form.REFERENCE_ADDRESS,
    Form.STRING_SUPPLEMENT,
)
_ULEB = (
    Form.UNSIGNED_DATA,
    Form.REFERENCE_UNSIGNED,
    Form.STRING_INDEX,
    Form.ADDRESS_INDEX,
    Form.LOCATION_LIST_INDEX,
    Form.RANGE_LIST_INDEX,
)
_ULEB_BLOCKS = (Form.BLOCK, Form.EXPRESSION)
_FIXED_BLOCKS = {Form.BLOCK1: 1, Form.BLOCK2: 2, Form.BLOCK4: 4}


class Stored(NamedTuple):
    """The value of an attribute: a number or the bytes of a block or string, and its form."""

    form: int
    value: int | bytes

    @property
    def number(self) -> int:
        """The value if it is a number; MalformedCodeObject if it is a block."""
        if isinstance(self.value, int):
            return self.value
        raise MalformedCodeObject(f".debug_info: form {self.form:#x} where a number belongs")


@dataclass(slots=True, eq=False)
class Entry:
    """A debugging information entry. offset: in the section. attributes: by number. children: in
    their order."""

    offset: int
    tag: int
    parent: Entry | None
    attributes: dict[int, Stored]
    children: list[Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RawUnit:
    """A compilation unit. offset: of its header. entries: in the order of the section, each after
    its parent; the first is the unit's own."""

    offset: int
    version: int
    offset_size: int
    address_size: int
    entries: tuple[Entry, ...] = field(repr=False)


class _Abbreviation(NamedTuple):
    tag: int
    has_children: bool
    # Attribute, form and implicit constant.
    attributes: tuple[tuple[int, int, int], ...]


def read_units(info: bytes, abbreviations: bytes) -> Iterator[RawUnit]:
    """Yield the compilation units of `.debug_info`, without units of types and of split files;
    MalformedCodeObject if they are broken."""
    reader = BytesReader(info, 0, len(info), ".debug_info")
    tables: dict[int, dict[int, _Abbreviation]] = {}
    while not reader.exhausted:
        offset = reader.position
        length, offset_size = reader.unsigned(4), 4
        if length == 0xFFFFFFFF:
            length, offset_size = reader.unsigned(8), 8
        unit = BytesReader(info, reader.position, reader.position + length, ".debug_info unit")
        reader.take(length)
        version = unit.unsigned(2)
        if not 3 <= version <= 5:
            raise MalformedCodeObject(f".debug_info: version {version}")
        kind = unit.unsigned(1) if version == 5 else _COMPILE_UNIT
        if version == 5:
            address_size, table = unit.unsigned(1), unit.unsigned(offset_size)
        else:
            table, address_size = unit.unsigned(offset_size), unit.unsigned(1)
        if address_size not in (4, 8):
            raise MalformedCodeObject(f".debug_info: addresses of {address_size} bytes")
        if kind not in (_COMPILE_UNIT, _PARTIAL_UNIT):
            continue
        if table not in tables:
            tables[table] = _read_abbreviations(abbreviations, table)
        entries = _EntryReader(info, unit.end, offset_size, address_size, tables[table])
        yield RawUnit(
            offset, version, offset_size, address_size, tuple(entries.read(unit.position))
        )


def _read_abbreviations(data: bytes, offset: int) -> dict[int, _Abbreviation]:
    """Read one table of 7.5.3."""
    reader = BytesReader(data, offset, len(data), ".debug_abbrev")
    table: dict[int, _Abbreviation] = {}
    while code := reader.uleb():
        tag, has_children = reader.uleb(), bool(reader.unsigned(1))
        attributes: list[tuple[int, int, int]] = []
        while True:
            name, form = reader.uleb(), reader.uleb()
            constant = reader.sleb() if form == Form.IMPLICIT_CONSTANT else 0
            if not name and not form:
                break
            attributes.append((name, form, constant))
        if len(attributes) > _MOST_ATTRIBUTES:
            raise MalformedCodeObject(f".debug_abbrev: {len(attributes)} attributes")
        table[code] = _Abbreviation(tag, has_children, tuple(attributes))
    return table


@dataclass(frozen=True, slots=True)
class _EntryReader:
    """Reads the entries of one unit, which ends at `end`."""

    data: bytes
    end: int
    offset_size: int
    address_size: int
    table: dict[int, _Abbreviation]

    def read(self, position: int) -> list[Entry]:
        """Return the entries from a position to the end."""
        entries: list[Entry] = []
        # The entries around the next one; before the unit's own entry, and after its end, none.
        parents: list[Entry] = []
        while position < self.end:
            start = position
            code, position = uleb_at(self.data, position)
            if code == 0:  # the end of a parent's children, or padding after the last entry
                if parents:
                    parents.pop()
                continue
            abbreviation = self.table.get(code)
            if abbreviation is None:
                raise MalformedCodeObject(f".debug_info: no abbreviation {code} at {start:#x}")
            parent = parents[-1] if parents else None
            entry = Entry(start, abbreviation.tag, parent, {})
            if parent is not None:
                parent.children.append(entry)
            position = self._attributes(entry.attributes, abbreviation, position)
            entries.append(entry)
            if abbreviation.has_children:
                parents.append(entry)
            self._check(start, position, len(entries), len(parents))
        return entries

    def _check(self, start: int, position: int, entries: int, depth: int) -> None:
        if position > self.end:
            raise MalformedCodeObject(f".debug_info: the entry at {start:#x} leaves its unit")
        if entries > _MOST_ENTRIES or depth > _DEEPEST:
            raise MalformedCodeObject(f".debug_info: {entries} entries, {depth} deep")

    def _attributes(
        self, attributes: dict[int, Stored], abbreviation: _Abbreviation, position: int
    ) -> int:
        data = self.data
        for name, form, constant in abbreviation.attributes:
            size = _FIXED.get(form)
            if size is not None:
                stop = position + size
                attributes[name] = Stored(form, int.from_bytes(data[position:stop], "little"))
                position = stop
            elif form == Form.FLAG_PRESENT:
                attributes[name] = Stored(form, 1)
            elif form == Form.IMPLICIT_CONSTANT:
                attributes[name] = Stored(form, constant)
            else:
                attributes[name], position = self._variable(form, position)
        return position

    def _variable(self, form: int, position: int) -> tuple[Stored, int]:
        """Read a value whose size depends on the unit or on the value."""
        data = self.data
        if form in _ULEB:
            value, position = uleb_at(data, position)
            return Stored(form, value), position
        if form in _OFFSETS or form == Form.ADDRESS:
            stop = position + (self.address_size if form == Form.ADDRESS else self.offset_size)
            return Stored(form, int.from_bytes(data[position:stop], "little")), stop
        if form in _ULEB_BLOCKS:
            size, position = uleb_at(data, position)
            return Stored(form, data[position : position + size]), position + size
        if form in _FIXED_BLOCKS:
            start = position + _FIXED_BLOCKS[form]
            size = int.from_bytes(data[position:start], "little")
            return Stored(form, data[start : start + size]), start + size
        return self._rare(form, position)

    def _rare(self, form: int, position: int) -> tuple[Stored, int]:
        data = self.data
        if form == Form.SIGNED_DATA:
            reader = BytesReader(data, min(position, len(data)), len(data), ".debug_info")
            return Stored(form, reader.sleb()), reader.position
        if form == Form.STRING:
            stop = data.find(b"\0", position, self.end)
            if stop < 0:
                raise MalformedCodeObject(f".debug_info: the string at {position:#x} does not end")
            return Stored(form, data[position:stop]), stop + 1
        if form == Form.INDIRECT:
            inner, position = uleb_at(data, position)
            size = _FIXED.get(inner)
            if size is not None:
                number = int.from_bytes(data[position : position + size], "little")
                return Stored(inner, number), position + size
            if inner not in (Form.INDIRECT, Form.IMPLICIT_CONSTANT):
                return self._variable(inner, position)
        raise MalformedCodeObject(f".debug_info: form {form:#x} at {position:#x}")


def uleb_at(data: bytes, position: int) -> tuple[int, int]:
    """Return the unsigned LEB128 number at a position, below 2**70, and the position after it."""
    try:
        value = data[position]
        if value < 0x80:
            return value, position + 1
        value, shift = value & 0x7F, 7
        while shift < 70:
            position += 1
            byte = data[position]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, position + 1
            shift += 7
    except IndexError:
        raise MalformedCodeObject(f"LEB128 number beyond the end, at {position:#x}") from None
    raise MalformedCodeObject(f"a LEB128 number of more than 10 bytes at {position:#x}")
