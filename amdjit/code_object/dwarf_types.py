"""The names of types in debug information, as C writes them where the type has no name itself."""

from __future__ import annotations

from amdjit.code_object.dwarf_entries import Entry
from amdjit.code_object.dwarf_names import Attribute, Tag
from amdjit.code_object.dwarf_unit import Unit

__all__ = ["type_name"]

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
