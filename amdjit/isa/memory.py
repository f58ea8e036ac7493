"""Scalar memory, LDS, flat, global, scratch and buffer instructions, and the LDS-direct loads.

Sources: RDNA 4 ISA document, section 15.5 to 15.9 (SMEM, VDS, VDSDIR, VBUFFER, VFLAT, VGLOBAL,
VSCRATCH); RDNA 3 ISA document, sections 15.4 to 15.8; CDNA 3 ISA document, "Scalar Memory Format",
"LDS Format", "Vector Memory Buffer Formats" and "Flat Formats". Where fields lie is in
`family_formats.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from amdjit.isa.errors import InvalidField, NotDecoded
from amdjit.isa.formats import Field, Format
from amdjit.isa.instruction import Instruction, Operand
from amdjit.isa.operand_codes import LITERAL
from amdjit.isa.operands import scalar_register, source_operand, vector_register
from amdjit.isa.rows import OperandRow, Row
from amdjit.isa.traits import Access, MemoryKind

# How an access goes through the caches: scope and temporal hint, or bits of older processors.
_POLICIES = ("th", "scope", "glc", "slc", "dlc", "scc", "sc0", "nt", "sc1")
# What says that an atomic returns what memory held; of TH it is the lowest bit.
_RETURNING = ("th", "glc", "sc0")
# Where data may lie in accumulation VGPRs, if ACC says so.
_DATA = ("vdst", "vdata", "data0", "data1")
_EXEC_LOW = 126
_EXEC_HIGH = 127
_ALL_BUT_OPCODE = 0xFFFFFFFF_0003FFFF
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
    """Return the value of a field, 0 where the format has none."""
    field = row.format.find(name)
    return field.read(bits) if field else 0


def _offset(row: Row, bits: int) -> int:
    return row.format.field("offset").read_signed(bits)


def _vector(row: Row, role: str, value: int, dwords: int, bits: int) -> Operand:
    accumulates = role in _DATA and bool(_bit(row, bits, "acc"))
    return vector_register(row.opcode.instruction_set.codes, value, dwords, None, accumulates)


def _scalar(row: Row, value: int, dwords: int) -> Operand:
    return scalar_register(row.opcode.instruction_set.codes, value, dwords)


def _check_data(row: Row, bits: int) -> None:
    """Refuse data in accumulation VGPRs, or in LDS, that an opcode does not have."""
    if _bit(row, bits, "acc") and not row.has("acc"):
        raise InvalidField(f"{row.opcode.mnemonic} takes no accumulation VGPRs")
    if _bit(row, bits, "lds") and not row.has("lds"):
        raise InvalidField(f"{row.opcode.mnemonic} does not load into LDS")


def _plain(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    if operand.kind == "v8":
        return _vector(row, operand.spec.role, value, operand.dwords, bits)
    return _scalar(row, value, operand.dwords)


def _scalar_memory(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, codes = operand.spec.role, row.opcode.instruction_set.codes
    if role == "sbase":
        return _scalar(row, 2 * value, operand.dwords)
    if role != "soffset":
        if value >= codes.m0:
            raise InvalidField("M0 and EXEC cannot be the data of a scalar access")
        return _scalar(row, value, operand.dwords)
    if value == codes.null:
        return None
    enabled = row.format.find("soffset_en")
    if enabled is None or enabled.read(bits):
        return _scalar(row, value, operand.dwords)
    # Without either, the number of the register is where an offset would be.
    return None if _bit(row, bits, "imm") else _scalar(row, (bits >> 32) & 0x7F, 1)


def _returns(row: Row, bits: int) -> bool:
    return any(_bit(row, bits, name) & 1 for name in _RETURNING)


def _flat(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.dwords
    if operand.takes == "returned" and not _returns(row, bits):
        return None
    no_address = row.opcode.instruction_set.codes.no_address
    if role == "saddr":
        if value == no_address:
            return None
        # LLVM's register class is narrower in *_ADDTID_B32, where lanes have no addresses.
        if value == (_EXEC_LOW if dwords == 2 else _EXEC_HIGH) and row.has_operand("vaddr"):
            raise InvalidField("EXEC cannot be an address here")
        return _scalar(row, value, dwords)
    if role != "vaddr":
        into_lds = role == "vdst" and _bit(row, bits, "lds")
        return None if into_lds else _vector(row, role, value, dwords, bits)
    with_base = row.format.find("saddr") is not None and _bit(row, bits, "saddr") != no_address
    if row.format.name == "VSCRATCH":
        enabled = row.format.find("sve")
        has_address = enabled.read(bits) if enabled else not with_base
        return _vector(row, role, value, 1, bits) if has_address else None
    narrow = row.format.name == "VGLOBAL" and with_base and row.has_operand("saddr")
    return _vector(row, role, value, 1 if narrow else 2, bits)


def _buffer(row: Row, operand: OperandRow, bits: int) -> Operand | None:
    value = (bits >> operand.shift) & operand.mask
    role, dwords = operand.spec.role, operand.dwords
    if role == "vaddr":
        used = _bit(row, bits, "offen") + _bit(row, bits, "idxen")
        return _vector(row, role, value, used, bits) if used else None
    if role == "vdata":
        if _bit(row, bits, "lds"):
            return None
        return _vector(row, role, value, dwords + _bit(row, bits, "tfe"), bits)
    if operand.kind == "q5":
        return _scalar(row, 4 * value, dwords)
    if operand.kind != "s8":
        return _scalar(row, value, dwords)
    if value == LITERAL:
        raise InvalidField("a buffer access takes no literal")
    return source_operand(row.opcode.instruction_set.codes, value, dwords, operand.takes)


def _scalar_immediates(row: Row, bits: int) -> dict[str, int]:
    if row.format.find("imm") is not None:
        return _either_offset(row, bits)
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


def _either_offset(row: Row, bits: int) -> dict[str, int]:
    """The immediates of gfx9, where IMM says whether there is a constant offset."""
    if not row.has_operand("sbase"):
        data = row.format.field("sdst")
        used = data.read(-1) << data.shift if row.has_operand("sdst") else 0
        if bits & _ALL_BUT_OPCODE & ~used:
            raise InvalidField(f"{row.opcode.mnemonic} has no address")
        return {}
    has_offset = _bit(row, bits, "imm")
    offset = _offset(row, bits) if has_offset else 0
    access = row.opcode.traits.memory
    if access is None or access.kind is MemoryKind.PROBE:
        probed = {"sdata": _bit(row, bits, "sdst")} if access else {}
        return {"offset": offset, "imm": has_offset, "glc": 0, **probed}
    return {"offset": offset, "imm": has_offset, "glc": _bit(row, bits, "glc")}


def _lds_immediates(row: Row, bits: int) -> dict[str, int]:
    _check_data(row, bits)
    for name in _LDS_REGISTERS:
        if _bit(row, bits, name) and not row.has_operand(name):
            raise InvalidField(f"{row.opcode.mnemonic} has no {name}")
    if not row.operands and bits & 0xFFFF:
        raise InvalidField(f"{row.opcode.mnemonic} has no offset")
    if _bit(row, bits, "gds"):
        raise NotDecoded("global data share (GDS)", row.format.size)
    access = row.opcode.traits.memory
    if access and access.has_two_addresses:
        return {"offset0": bits & 0xFF, "offset1": (bits >> 8) & 0xFF}
    return {"offset": bits & 0xFFFF}


def _into_lds(row: Row, bits: int) -> dict[str, int]:
    """Return whether a load is one into LDS, where there is a bit for that."""
    field = row.format.find("lds")
    return {"lds": field.read(bits)} if field else {}


def _flat_immediates(row: Row, bits: int) -> dict[str, int]:
    _check_data(row, bits)
    policy = _policy(row, bits)
    form = row.format
    if form.name != "VSCRATCH" and _bit(row, bits, "sve"):
        raise InvalidField("sve is for scratch accesses")
    saddr = None if row.has_operand("saddr") else form.find("saddr")
    if saddr and saddr.read(bits) != row.opcode.instruction_set.codes.no_address:
        raise InvalidField("this access takes no scalar address")
    if not row.operands:
        return policy
    offset = _offset(row, bits)
    # RDNA 3 ISA, "FLAT" of the microcode formats: 12 bits without a sign; the 13th is ignored, as
    # in CDNA 3. No assembler sets it, and llvm-objdump would show an offset that the access does
    # not have.
    if offset < 0 and form.segment == 0:
        raise InvalidField("a flat access has no negative offset")
    return {"offset": offset, **policy, **_into_lds(row, bits)}


def _buffer_immediates(row: Row, bits: int) -> dict[str, int]:
    policy = _policy(row, bits)
    if not row.operands:
        if "dlc" not in policy:
            return policy
        # Cache instructions of RDNA 3 have no fields.
        if policy["glc"]:
            raise InvalidField(f"{row.opcode.mnemonic} has no glc")
        return {"glc": 0}
    _check_data(row, bits)
    offset = row.format.field("offset")
    # Narrow offsets are unsigned; the sign of wide ones must be 0.
    if offset.bits > 12 and offset.read_signed(bits) < 0:
        raise InvalidField("a buffer access has no negative offset")
    tfe = _bit(row, bits, "tfe")
    if tfe and _has_no_tfe(row.opcode.traits.memory):
        raise InvalidField(f"{row.opcode.mnemonic} has no tfe")
    return {
        "offset": offset.read(bits),
        **policy,
        "offen": _bit(row, bits, "offen"),
        "idxen": _bit(row, bits, "idxen"),
        "tfe": tfe,
        **_into_lds(row, bits),
        "format": _bit(row, bits, "format"),
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
