"""The C types of values of the kernel language, with which members of structs are declared.

Floats of 8 and 16 bits are passed as their bits, with types that `header` declares; a boolean is a
byte. A record in an array is a struct whose gaps are members, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.ahead_of_time.c_names import CNames, c_identifier
from amdjit.diagnostics.errors import InternalError, LaunchError
from amdjit.types import Element, Record, Scalar, Type, Vector

__all__ = ["declared", "element_type", "gap", "record_struct", "scalar_type"]

_NAMES = {
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "f16": "amdjit_f16", "bf16": "amdjit_bf16", "f32": "float", "f64": "double",
    "fp8": "amdjit_fp8", "bf8": "amdjit_bf8",
    "fp8_fnuz": "amdjit_fp8_fnuz", "bf8_fnuz": "amdjit_bf8_fnuz", "boolean": "amdjit_boolean",
}  # fmt: skip


def scalar_type(type: Scalar) -> str:
    """Return the C type of a scalar."""
    return _NAMES[type.name]


def declared(type: Type, name: str) -> str:
    """Return the declaration of a member that holds a scalar or a vector."""
    if isinstance(type, Vector):
        return f"{scalar_type(type.element)} {name}[{type.length}]"
    if not isinstance(type, Scalar):
        raise InternalError(f"{type} is no value of a struct")
    return f"{scalar_type(type)} {name}"


def element_type(element: Element, record: str) -> str:
    """Return the C type of an array's elements. record: the name of the struct for a record."""
    return record if isinstance(element, Record) else scalar_type(_scalar(element))


def _scalar(element: Element) -> Scalar:
    if not isinstance(element, Scalar):
        raise InternalError(f"arrays of {element} are not passed to kernels")
    return element


def gap(names: CNames, nbytes: int) -> list[str]:
    """Return the member that fills a gap of a struct, or nothing for a gap of no bytes."""
    return [f"uint8_t {names.take('gap')}[{nbytes}];"] if nbytes else []


def record_struct(record: Record, name: str) -> list[str]:
    """Return the lines that define the struct of a record, packed and with all gaps as members, and
    that assert its offsets."""
    lines = [f"typedef struct {name} {{", *_indented(_members(record)), f"}} {name};"]
    if _is_packed(record):
        lines = ["#pragma pack(push, 1)", *lines, "#pragma pack(pop)"]
    checks = [f"AMDJIT_ASSERT({name}_is_whole, sizeof({name}) == {record.nbytes});"]
    names = CNames()
    for field in record.fields:
        member = names.take(c_identifier(field.name))
        checks.append(
            f"AMDJIT_ASSERT({name}_{member}_offset, offsetof({name}, {member}) == {field.offset});"
        )
    return [*lines, *checks]


def _members(record: Record) -> list[str]:
    names, lines, end = CNames(), [], 0
    members = {id(field): names.take(c_identifier(field.name)) for field in record.fields}
    for field in sorted(record.fields, key=lambda each: each.offset):
        if field.offset < end:
            raise LaunchError(
                f"{field.name} and another field of {record} share memory, which a C struct cannot "
                "say: give each field its own place"
            )
        lines += gap(names, field.offset - end)
        shape = "".join(f"[{extent}]" for extent in field.shape)
        member = members[id(field)]
        if isinstance(field.type, Record):
            inner = _indented(_members(field.type))
            lines += ["struct {", *inner, f"}} {member}{shape};"]
        else:
            lines.append(f"{scalar_type(field.type)} {member}{shape};")
        count = 1
        for extent in field.shape:
            count *= extent
        end = field.offset + count * field.type.nbytes
    return [*lines, *gap(names, record.nbytes - end)]


def _is_packed(record: Record) -> bool:
    """Whether a C compiler would place the members differently from the record."""
    if record.nbytes % _alignment(record):
        return True
    return any(
        field.offset % _alignment(field.type)
        or (isinstance(field.type, Record) and _is_packed(field.type))
        for field in record.fields
    )


def _alignment(type: Scalar | Record) -> int:
    """Return the alignment that C gives a member."""
    if isinstance(type, Scalar):
        return type.nbytes
    return max((_alignment(field.type) for field in type.fields), default=1)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
