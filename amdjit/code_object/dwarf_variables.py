"""The variables of debug information, with the places where they are from one address to another.

before: a DW_TAG_variable with a location list
after:  `total: f32` is in `v3` from 0x1600 to 0x1640, in `v[4:7]` to 0x1680
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from amdjit.code_object.dwarf_entries import Entry, Stored
from amdjit.code_object.dwarf_expressions import Location, read_location
from amdjit.code_object.dwarf_names import Attribute, Tag
from amdjit.code_object.dwarf_unit import BLOCK_FORMS, Unit

__all__ = ["Variable", "VariablePiece", "VariableReader"]

_VARIABLES = (Tag.FORMAL_PARAMETER, Tag.VARIABLE)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable at an address."""

    name: str
    type: str
    """As the debug information calls it, "void" if it names none."""
    registers: str
    """The registers that hold it, as the assembler writes them, such as `v[4:7]`; a number if it is
    constant there; `scratch[fp + 8]` in memory; an expression if it can be computed."""
    function: str = ""
    """The function in which it is declared."""
    vgprs: frozenset[int] = frozenset()
    """The numbers of the VGPRs that hold it."""
    sgprs: frozenset[int] = frozenset()
    """The numbers of the SGPRs that hold it."""


@dataclass(frozen=True, slots=True)
class VariablePiece:
    """A variable from an address to the one after the last."""

    start: int
    end: int
    variable: Variable


@dataclass(frozen=True)
class VariableReader:
    """Reads the variables of one unit. What many of them share is read once."""

    unit: Unit
    _types: dict[int, str] = field(default_factory=dict)
    _locations: dict[bytes, Location] = field(default_factory=dict)

    def read(
        self, entry: Entry, ranges: tuple[tuple[int, int], ...], function: str
    ) -> Iterator[VariablePiece]:
        """Yield the pieces of a variable, none if the entry is something else. ranges, function:
        the addresses and the name of the scope in which it stands."""
        if entry.tag not in _VARIABLES:
            return
        places = list(self._places(entry, ranges))
        if not places:
            return
        name, declared_type = self.unit.name(entry), self.type_of(entry)
        for start, end, location in places:
            if location.text and start < end:
                registers = location.registers
                yield VariablePiece(
                    start,
                    end,
                    Variable(
                        name,
                        declared_type,
                        registers=location.text,
                        function=function,
                        vgprs=frozenset(r.number for r in registers if r.bank == "v"),
                        sgprs=frozenset(r.number for r in registers if r.bank == "s"),
                    ),
                )

    def _places(
        self, entry: Entry, ranges: tuple[tuple[int, int], ...]
    ) -> Iterator[tuple[int, int, Location]]:
        constant = entry.attributes.get(Attribute.CONST_VALUE)
        stored = entry.attributes.get(Attribute.LOCATION)
        if stored is None and constant is not None:
            location = Location(_constant_text(constant))
            yield from ((start, end, location) for start, end in ranges)
        elif stored is not None and isinstance(stored.value, bytes):
            if stored.form in BLOCK_FORMS:
                location = self._location(stored.value)
                yield from ((start, end, location) for start, end in ranges)
        elif stored is not None:
            for start, end, expression in self.unit.locations(stored):
                yield start, end, self._location(expression)

    def _location(self, expression: bytes) -> Location:
        location = self._locations.get(expression)
        if location is None:
            location = self._locations[expression] = read_location(expression)
        return location

    def type_of(self, entry: Entry) -> str:
        holder: Entry | None = self.unit.origin_with(entry, Attribute.TYPE)
        kind = self.unit.reference(holder, Attribute.TYPE) if holder is not None else None
        if kind is None:
            return ""
        if kind.offset not in self._types:
            self._types[kind.offset] = type_name(self.unit, kind)
        return self._types[kind.offset]


def _constant_text(stored: Stored) -> str:
    value = stored.value
    return str(value if isinstance(value, int) else int.from_bytes(value, "little"))


# The names of types in debug information, as C writes them where the type has no name itself.

# No type that a person wrote is nested as deeply; broken entries may refer to each other in a
# circle.
_DEEPEST = 16
_POINTERS = {Tag.POINTER_TYPE: "*", Tag.REFERENCE_TYPE: "&", Tag.RVALUE_REFERENCE_TYPE: "&&"}
_QUALIFIERS = {
    Tag.CONST_TYPE: "const",
    Tag.VOLATILE_TYPE: "volatile",
    Tag.RESTRICT_TYPE: "restrict",
    Tag.ATOMIC_TYPE: "_Atomic",
}
_KINDS = {Tag.STRUCTURE_TYPE: "struct", Tag.UNION_TYPE: "union", Tag.SUBROUTINE_TYPE: "function"}


def type_name(unit: Unit, entry: Entry | None, depth: int = 0) -> str:
    """Return the name of a type, "void" without one, "" if it is not known."""
    if entry is None:
        return "void"
    name = unit.text(entry, Attribute.NAME)
    if name or depth > _DEEPEST:
        return name
    inner = unit.reference(entry, Attribute.TYPE)
    if entry.tag in _KINDS:
        return _KINDS[entry.tag]
    if entry.tag in _POINTERS:
        pointed = type_name(unit, inner, depth + 1)
        return f"{pointed}{'' if pointed.endswith(('*', '&')) else ' '}{_POINTERS[entry.tag]}"
    if entry.tag in _QUALIFIERS:
        return f"{_QUALIFIERS[entry.tag]} {type_name(unit, inner, depth + 1)}"
    if entry.tag == Tag.ARRAY_TYPE:
        return type_name(unit, inner, depth + 1) + "".join(
            f"[{extent}]" for extent in _extents(unit, entry)
        )
    return ""


def _extents(unit: Unit, array: Entry) -> list[str]:
    """Return the extents of an array's axes, "" where one is not known."""
    extents: list[str] = []
    for child in array.children:
        if child.tag == Tag.SUBRANGE_TYPE:
            count = unit.number(child, Attribute.COUNT)
            last = unit.number(child, Attribute.UPPER_BOUND)
            if count is None and last is not None:
                count = last + 1
            extents.append("" if count is None else str(count))
    return extents
