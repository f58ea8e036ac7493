"""Scalar memory, LDS, flat, global, scratch and buffer instructions, and the LDS-direct loads.

Source: RDNA 4 ISA document, section 15.5 to 15.9 (SMEM, VDS, VDSDIR, VBUFFER, VFLAT, VGLOBAL,
VSCRATCH).
"""

from __future__ import annotations

from collections.abc import Callable

from amdjit.emulator.decoder.errors import InvalidField
from amdjit.emulator.decoder.formats import NULL
from amdjit.emulator.decoder.instruction import Instruction, Operand
from amdjit.emulator.decoder.operands import scalar_register, vector_register
from amdjit.emulator.decoder.rows import OperandRow, Row
from amdjit.emulator.decoder.traits import Access, MemoryKind

# Bits that are unused, or that have a meaning only on gfx1250 (nv, scale_offset), although the
# disassembler shows them on gfx1201.
_RESERVED = {
    "SMEM": 1 << 20 | 1 << 25 | 1 << 56,
    "DS": 3 << 16,
    "VFLAT": 1 << 7 | 1 << 48,
    "VGLOBAL": 1 << 7 | 1 << 48,
    "VSCRATCH": 1 << 7 | 1 << 48,
    "VBUFFER": 1 << 7,
}
_EXEC_LOW = 126
_EXEC_HIGH = 127
_LDS_REGISTERS = (("addr", 32), ("data0", 40), ("data1", 48), ("vdst", 56))
_Reader = Callable[[Row, OperandRow, int], Operand | None]


def decode_memory(row: Row, bits: int, available: int, pc: int) -> Instruction:
    """Decode an instruction of one of the memory formats; InvalidField if it is wrong."""
    size = row.format.size
    if available < size:
        raise InvalidField("the code ends inside the instruction")
    name = row.format.name
    if bits & _RESERVED.get(name, 0):
        raise InvalidField("a reserved bit is set")
    immediates = _IMMEDIATES[name](row, bits)
    read = _READERS.get(name, _plain)
    operands = tuple(read(row, operand, bits) for operand in row.operands)
    return Instruction(pc, size, row.opcode, operands, immediates)


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


def _has_vector_address(row: Row) -> bool:
    """Return whether lanes have addresses, unlike in *_ADDTID_B32: LLVM's register class of the
    scalar address is then narrower."""
    return any(operand.spec.role == "vaddr" for operand in row.operands)


def _flat(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.spec.dwords
    if operand.takes == "returned":
        return vector_register(value, dwords) if (bits >> 52) & 1 else None
    if role == "saddr":
        if value == (_EXEC_LOW if dwords == 2 else _EXEC_HIGH) and _has_vector_address(row):
            raise InvalidField("EXEC cannot be an address here")
        return None if value == NULL else scalar_register(value, dwords)
    if role != "vaddr":
        return vector_register(value, dwords)
    if row.format.name == "VSCRATCH":
        return vector_register(value, 1) if (bits >> 49) & 1 else None
    with_base = row.format.name == "VGLOBAL" and bits & 0x7F != NULL
    return vector_register(value, 1 if with_base else 2)


def _buffer(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.spec.dwords
    if role == "vaddr":
        used = ((bits >> 62) & 1) + ((bits >> 63) & 1)
        return vector_register(value, used) if used else None
    if role == "vdata":
        return vector_register(value, dwords + ((bits >> 22) & 1))
    return scalar_register(value, dwords)


def _signed24(value: int) -> int:
    return value - 0x1000000 if value & 0x800000 else value


def _scalar_immediates(row: Row, bits: int) -> dict[str, int]:
    access = row.opcode.traits.memory
    if access is None:
        return {}
    offset = _signed24((bits >> 32) & 0xFFFFFF)
    if offset < 0 and access.has_descriptor:
        raise InvalidField("a scalar buffer load has no negative offset")
    if access.kind is MemoryKind.LOAD:
        return {"offset": offset, "th": (bits >> 23) & 3, "scope": (bits >> 21) & 3}
    sdata = (bits >> 6) & 0x7F
    if sdata > 31:
        raise InvalidField("a prefetch length or probe has five bits")
    return {"offset": offset, "sdata": sdata}


def _lds_immediates(row: Row, bits: int) -> dict[str, int]:
    for name, shift in _LDS_REGISTERS:
        if (bits >> shift) & 0xFF and all(operand.spec.role != name for operand in row.operands):
            raise InvalidField(f"{row.opcode.mnemonic} has no {name}")
    if not row.operands and bits & 0xFFFF:
        raise InvalidField(f"{row.opcode.mnemonic} has no offset")
    access = row.opcode.traits.memory
    if access and access.has_two_addresses:
        return {"offset0": bits & 0xFF, "offset1": (bits >> 8) & 0xFF}
    return {"offset": bits & 0xFFFF}


def _flat_immediates(row: Row, bits: int) -> dict[str, int]:
    policy = {"th": (bits >> 52) & 7, "scope": (bits >> 50) & 3}
    if row.format.name != "VSCRATCH" and (bits >> 49) & 1:
        raise InvalidField("sve is for scratch accesses")
    if not any(operand.spec.role == "saddr" for operand in row.operands) and bits & 0x7F != NULL:
        raise InvalidField("this access takes no scalar address")
    if not row.operands:
        return policy
    return {"offset": _signed24((bits >> 72) & 0xFFFFFF), **policy}


def _buffer_immediates(row: Row, bits: int) -> dict[str, int]:
    offset = _signed24((bits >> 72) & 0xFFFFFF)
    if offset < 0:
        raise InvalidField("a buffer access has no negative offset")
    tfe = (bits >> 22) & 1
    if tfe and _has_no_tfe(row.opcode.traits.memory):
        raise InvalidField(f"{row.opcode.mnemonic} has no tfe")
    return {
        "offset": offset,
        "th": (bits >> 52) & 7,
        "scope": (bits >> 50) & 3,
        "offen": (bits >> 62) & 1,
        "idxen": (bits >> 63) & 1,
        "tfe": tfe,
        "format": (bits >> 55) & 0x7F,
    }


def _has_no_tfe(access: Access | None) -> bool:
    return access is not None and (access.kind is MemoryKind.ATOMIC or access.names_format)


def _direct_immediates(row: Row, bits: int) -> dict[str, int]:
    return {
        "attr_chan": (bits >> 8) & 3,
        "attr": (bits >> 10) & 63,
        "wait_va_vdst": (bits >> 16) & 15,
        "wait_vm_vsrc": (bits >> 23) & 1,
    }


_IMMEDIATES: dict[str, Callable[[Row, int], dict[str, int]]] = {
    "SMEM": _scalar_immediates,
    "DS": _lds_immediates,
    "VFLAT": _flat_immediates,
    "VGLOBAL": _flat_immediates,
    "VSCRATCH": _flat_immediates,
    "VBUFFER": _buffer_immediates,
    "LDSDIR": _direct_immediates,
}
_READERS: dict[str, _Reader] = {
    "SMEM": _scalar_memory,
    "VFLAT": _flat,
    "VGLOBAL": _flat,
    "VSCRATCH": _flat,
    "VBUFFER": _buffer,
}
