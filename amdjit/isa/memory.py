"""Scalar memory, LDS, flat, global, scratch and buffer instructions, and the LDS-direct loads.

Sources: RDNA 4 ISA document, section 15.5 to 15.9 (SMEM, VDS, VDSDIR, VBUFFER, VFLAT, VGLOBAL,
VSCRATCH); RDNA 3 ISA document, sections 15.4 to 15.8. Where fields lie is in `memory_formats.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from amdjit.isa.errors import InvalidField, NotDecoded
from amdjit.isa.formats import LITERAL, NULL, Field, Format
from amdjit.isa.instruction import Instruction, Operand
from amdjit.isa.operands import scalar_register, source_operand, vector_register
from amdjit.isa.rows import OperandRow, Row
from amdjit.isa.traits import Access, MemoryKind

# How an access goes through the caches: scope and temporal hint, or bits of older processors.
_POLICIES = ("th", "scope", "glc", "slc", "dlc")
_EXEC_LOW = 126
_EXEC_HIGH = 127
_LDS_REGISTERS = ("addr", "data0", "data1", "vdst")
_Reader = Callable[[Row, OperandRow, int], Operand | None]


def decode_memory(row: Row, bits: int, available: int, pc: int) -> Instruction:
    """Decode an instruction of one of the memory formats; InvalidField if it is wrong."""
    size = row.format.size
    if available < size:
        raise InvalidField("the code ends inside the instruction")
    if bits & row.format.reserved:
        raise InvalidField("a reserved bit is set")
    name = row.format.name
    immediates = _IMMEDIATES[name](row, bits)
    read = _READERS.get(name, _plain)
    operands = tuple(read(row, operand, bits) for operand in row.operands)
    return Instruction(pc, size, row.opcode, operands, immediates)


@cache
def _policy_fields(form: Format) -> tuple[Field, ...]:
    fields = (form.find(name) for name in _POLICIES)
    return tuple(field for field in fields if field is not None)


def _policy(row: Row, bits: int) -> dict[str, int]:
    return {field.name: field.read(bits) for field in _policy_fields(row.format)}


def _bit(row: Row, bits: int, name: str) -> int:
    return row.format.field(name).read(bits)


def _offset(row: Row, bits: int) -> int:
    return row.format.field("offset").read_signed(bits)


def _has(row: Row, role: str) -> bool:
    return any(operand.spec.role == role for operand in row.operands)


def _plain(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    if operand.kind == "v8":
        return vector_register(value, operand.spec.dwords)
    return scalar_register(value, operand.spec.dwords)


def _scalar_memory(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    if operand.spec.role == "sbase":
        return scalar_register(2 * value, operand.spec.dwords)
    if operand.spec.role == "sdst" and value > NULL:
        raise InvalidField("M0 and EXEC cannot be the destination of a scalar load")
    if operand.spec.role == "soffset" and value == NULL:
        return None
    return scalar_register(value, operand.spec.dwords)


def _returns(row: Row, bits: int) -> bool:
    """Return whether an atomic returns the old value: TH's bit 0, or GLC."""
    form = row.format
    return bool((form.find("glc") or form.field("th")).read(bits) & 1)


def _flat(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.spec.dwords
    if operand.takes == "returned":
        return vector_register(value, dwords) if _returns(row, bits) else None
    if role == "saddr":
        # LLVM's register class is narrower in *_ADDTID_B32, where lanes have no addresses.
        if value == (_EXEC_LOW if dwords == 2 else _EXEC_HIGH) and _has(row, "vaddr"):
            raise InvalidField("EXEC cannot be an address here")
        return None if value == NULL else scalar_register(value, dwords)
    if role != "vaddr":
        return vector_register(value, dwords)
    if row.format.name == "VSCRATCH":
        return vector_register(value, 1) if _bit(row, bits, "sve") else None
    with_base = row.format.name == "VGLOBAL" and _bit(row, bits, "saddr") != NULL
    return vector_register(value, 1 if with_base else 2)


def _buffer(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.spec.dwords
    if role == "vaddr":
        used = _bit(row, bits, "offen") + _bit(row, bits, "idxen")
        return vector_register(value, used) if used else None
    if role == "vdata":
        return vector_register(value, dwords + _bit(row, bits, "tfe"))
    if operand.kind == "q5":
        return scalar_register(4 * value, dwords)
    if operand.kind == "s8":
        if value == LITERAL:
            raise InvalidField("a buffer access takes no literal")
        return source_operand(value, dwords, operand.takes)
    return scalar_register(value, dwords)


def _scalar_immediates(row: Row, bits: int) -> dict[str, int]:
    access = row.opcode.traits.memory
    if access is None:
        return {}
    offset = _offset(row, bits)
    if offset < 0 and access.has_descriptor:
        raise InvalidField("a scalar buffer load has no negative offset")
    if access.kind is MemoryKind.LOAD:
        return {"offset": offset, **_policy(row, bits)}
    sdata = _bit(row, bits, "sdst")
    if sdata > 31 and row.format.find("glc") is None:
        raise InvalidField("a prefetch length or probe has five bits")
    return {"offset": offset, "sdata": sdata}


def _lds_immediates(row: Row, bits: int) -> dict[str, int]:
    for name in _LDS_REGISTERS:
        if _bit(row, bits, name) and not _has(row, name):
            raise InvalidField(f"{row.opcode.mnemonic} has no {name}")
    if not row.operands and bits & 0xFFFF:
        raise InvalidField(f"{row.opcode.mnemonic} has no offset")
    gds = row.format.find("gds")
    if gds and gds.read(bits):
        raise NotDecoded("global data share (GDS)", row.format.size)
    access = row.opcode.traits.memory
    if access and access.has_two_addresses:
        return {"offset0": bits & 0xFF, "offset1": (bits >> 8) & 0xFF}
    return {"offset": bits & 0xFFFF}


def _flat_immediates(row: Row, bits: int) -> dict[str, int]:
    policy = _policy(row, bits)
    if row.format.name != "VSCRATCH" and _bit(row, bits, "sve"):
        raise InvalidField("sve is for scratch accesses")
    if not _has(row, "saddr") and _bit(row, bits, "saddr") != NULL:
        raise InvalidField("this access takes no scalar address")
    if not row.operands:
        return policy
    offset = _offset(row, bits)
    # RDNA 3 ISA, "FLAT" of the microcode formats: 12 bits without a sign; the 13th is ignored. No
    # assembler sets it, and llvm-objdump would show an offset that the access does not have.
    if offset < 0 and row.format.segment == 0:
        raise InvalidField("a flat access has no negative offset")
    return {"offset": offset, **policy}


def _buffer_immediates(row: Row, bits: int) -> dict[str, int]:
    if not row.operands:
        # Cache instructions have no other fields.
        if _bit(row, bits, "glc"):
            raise InvalidField(f"{row.opcode.mnemonic} has no glc")
        return {"glc": 0}
    offset = row.format.field("offset")
    # Narrow offsets are unsigned; the sign of wide ones must be 0.
    if offset.bits > 12 and offset.read_signed(bits) < 0:
        raise InvalidField("a buffer access has no negative offset")
    tfe = _bit(row, bits, "tfe")
    if tfe and _has_no_tfe(row.opcode.traits.memory):
        raise InvalidField(f"{row.opcode.mnemonic} has no tfe")
    number = row.format.find("format")
    return {
        "offset": offset.read(bits),
        **_policy(row, bits),
        "offen": _bit(row, bits, "offen"),
        "idxen": _bit(row, bits, "idxen"),
        "tfe": tfe,
        "format": number.read(bits) if number else 0,
    }


def _has_no_tfe(access: Access | None) -> bool:
    return access is not None and (access.kind is MemoryKind.ATOMIC or access.names_format)


def _direct_immediates(row: Row, bits: int) -> dict[str, int]:
    return {field.name: field.read(bits) for field in row.format.fields if field.kind == "imm"}


_IMMEDIATES: dict[str, Callable[[Row, int], dict[str, int]]] = {
    "SMEM": _scalar_immediates,
    "DS": _lds_immediates,
    "VFLAT": _flat_immediates,
    "VGLOBAL": _flat_immediates,
    "VSCRATCH": _flat_immediates,
    "VBUFFER": _buffer_immediates,
    "VTBUFFER": _buffer_immediates,
    "LDSDIR": _direct_immediates,
}
_READERS: dict[str, _Reader] = {
    "SMEM": _scalar_memory,
    "VFLAT": _flat,
    "VGLOBAL": _flat,
    "VSCRATCH": _flat,
    "VBUFFER": _buffer,
    "VTBUFFER": _buffer,
}
