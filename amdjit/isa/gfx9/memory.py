"""Scalar memory, LDS, flat, global, scratch and buffer instructions of gfx9.

Source: CDNA 3 ISA document, sections "Scalar Memory Format", "LDS Format", "Vector Memory Buffer
Formats" and "Flat Formats"; where fields lie is in `gfx9_formats.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from amdjit.isa.errors import InvalidField, NotDecoded
from amdjit.isa.formats import LITERAL
from amdjit.isa.gfx9.operands import (
    scalar_register,
    source_operand,
    vector_register,
)
from amdjit.isa.instruction import Instruction, Operand
from amdjit.isa.instruction_set import Accumulation
from amdjit.isa.rows import OperandRow, Row
from amdjit.isa.traits import MemoryKind

_POLICIES = ("glc", "slc", "scc", "sc0", "nt", "sc1")
_DATA = ("vdst", "vdata", "data0", "data1")
_LDS_REGISTERS = ("addr", "data0", "data1", "vdst")
_OFF = 127
_M0 = 124
_ALL_BUT_OPCODE = 0xFFFFFFFF_0003FFFF
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
    read = _READERS[name]
    operands = tuple(read(row, operand, bits) for operand in row.operands)
    return Instruction(pc, size, row.opcode, operands, immediates)


def _bit(row: Row, bits: int, name: str) -> int:
    field = row.format.find(name)
    return field.read(bits) if field else 0


def _has(row: Row, role: str) -> bool:
    return any(operand.spec.role == role for operand in row.operands)


def _policy(row: Row, bits: int) -> dict[str, int]:
    return {name: _bit(row, bits, name) for name in _POLICIES if row.format.find(name)}


def _unified(row: Row) -> bool:
    return row.opcode.instruction_set.accumulation is Accumulation.UNIFIED


def _vector(row: Row, role: str, value: int, dwords: int, bits: int) -> Operand:
    accumulates = role in _DATA and bool(_bit(row, bits, "acc"))
    return vector_register(value, dwords, _unified(row), accumulates)


def _check_data(row: Row, bits: int) -> None:
    """Refuse data in accumulation VGPRs, or in LDS, that an opcode does not have."""
    if _bit(row, bits, "acc") and not row.has("acc"):
        raise InvalidField(f"{row.opcode.mnemonic} takes no accumulation VGPRs")
    if _bit(row, bits, "lds") and not row.has("lds"):
        raise InvalidField(f"{row.opcode.mnemonic} does not load into LDS")


def _scalar_memory(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.dwords
    if role == "sbase":
        return scalar_register(2 * value, dwords)
    if role != "soffset":
        if value >= _M0:
            raise InvalidField("M0 and EXEC cannot be the data of a scalar access")
        return scalar_register(value, dwords)
    if _bit(row, bits, "soffset_en"):
        return scalar_register(value, 1)
    # Without either, the number of the register is where an offset would be.
    return None if _bit(row, bits, "imm") else scalar_register((bits >> 32) & 0x7F, 1)


def _scalar_immediates(row: Row, bits: int) -> dict[str, int]:
    if not _has(row, "sbase"):
        data = row.format.field("sdst")
        used = data.read(-1) << data.shift if _has(row, "sdst") else 0
        if bits & _ALL_BUT_OPCODE & ~used:
            raise InvalidField(f"{row.opcode.mnemonic} has no address")
        return {}
    has_offset = _bit(row, bits, "imm")
    offset = row.format.field("offset").read_signed(bits) if has_offset else 0
    access = row.opcode.traits.memory
    if access is None or access.kind is MemoryKind.PROBE:
        probed = {"sdata": _bit(row, bits, "sdst")} if access else {}
        return {"offset": offset, "imm": has_offset, "glc": 0, **probed}
    return {"offset": offset, "imm": has_offset, "glc": _bit(row, bits, "glc")}


def _lds(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    return _vector(row, operand.spec.role, value, operand.dwords, bits)


def _lds_immediates(row: Row, bits: int) -> dict[str, int]:
    _check_data(row, bits)
    for name in _LDS_REGISTERS:
        if _bit(row, bits, name) and not _has(row, name):
            raise InvalidField(f"{row.opcode.mnemonic} has no {name}")
    if _bit(row, bits, "gds"):
        raise NotDecoded("global data share (GDS)", row.format.size)
    if not row.operands and bits & 0xFFFF:
        raise InvalidField(f"{row.opcode.mnemonic} has no offset")
    access = row.opcode.traits.memory
    if access and access.has_two_addresses:
        return {"offset0": bits & 0xFF, "offset1": (bits >> 8) & 0xFF}
    return {"offset": bits & 0xFFFF}


def returns_old(row: Row, bits: int) -> bool:
    """Whether an atomic returns the old value: GLC, or SC0."""
    return bool(_bit(row, bits, "glc") or _bit(row, bits, "sc0"))


def _flat(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.dwords
    if operand.takes == "returned" and not returns_old(row, bits):
        return None
    if role == "saddr":
        return None if value == _OFF else scalar_register(value, dwords)
    if role == "vdst" and _bit(row, bits, "lds"):
        return None
    if role != "vaddr":
        return _vector(row, role, value, dwords, bits)
    with_base = _bit(row, bits, "saddr") != _OFF
    if row.format.name == "VSCRATCH":
        sve = row.format.find("sve")
        has_address = sve.read(bits) if sve else not with_base
        return vector_register(value, 1, False) if has_address else None
    narrow = row.format.name == "VGLOBAL" and with_base and _has(row, "saddr")
    return vector_register(value, 1 if narrow else 2, _unified(row))


def _flat_immediates(row: Row, bits: int) -> dict[str, int]:
    _check_data(row, bits)
    offset = row.format.field("offset").read_signed(bits)
    # CDNA 3 ISA, "Flat Formats": FLAT has 12 bits.
    if offset < 0 and row.format.segment == 0:
        raise InvalidField("a flat access has no negative offset")
    return {"offset": offset, **_policy(row, bits), "lds": _bit(row, bits, "lds")}


def _buffer(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.dwords
    if role == "vaddr":
        used = _bit(row, bits, "offen") + _bit(row, bits, "idxen")
        return vector_register(value, used, _unified(row)) if used else None
    if role == "vdata":
        if _bit(row, bits, "lds"):
            return None
        return _vector(row, role, value, dwords + _bit(row, bits, "tfe"), bits)
    if operand.kind == "q5":
        return scalar_register(4 * value, dwords)
    if value == LITERAL:
        raise InvalidField("a buffer access takes no literal")
    return source_operand(value, dwords, operand.takes, _unified(row))


def _buffer_immediates(row: Row, bits: int) -> dict[str, int]:
    if not row.operands:
        return _policy(row, bits)
    _check_data(row, bits)
    return {
        "offset": _bit(row, bits, "offset"),
        **_policy(row, bits),
        **{name: _bit(row, bits, name) for name in ("offen", "idxen", "tfe", "lds", "format")},
    }


_IMMEDIATES: dict[str, Callable[[Row, int], dict[str, int]]] = {
    "SMEM": _scalar_immediates,
    "DS": _lds_immediates,
    "VFLAT": _flat_immediates,
    "VGLOBAL": _flat_immediates,
    "VSCRATCH": _flat_immediates,
    "VBUFFER": _buffer_immediates,
    "VTBUFFER": _buffer_immediates,
}
_READERS: dict[str, _Reader] = {
    "SMEM": _scalar_memory,
    "DS": _lds,
    "VFLAT": _flat,
    "VGLOBAL": _flat,
    "VSCRATCH": _flat,
    "VBUFFER": _buffer,
    "VTBUFFER": _buffer,
}
