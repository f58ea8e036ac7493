"""Scalar and vector ALU instructions of gfx9, with literals, DPP and SDWA words.

Source: CDNA 3 ISA document, sections "Scalar ALU Formats" and "Vector ALU Formats".
"""

from __future__ import annotations

from amdjit.isa.alu import immediates_of
from amdjit.isa.errors import InvalidField
from amdjit.isa.formats import DPP16, LITERAL
from amdjit.isa.gfx9.operands import (
    scalar_register,
    source_operand,
    vector_register,
)
from amdjit.isa.instruction import (
    Dpp,
    Instruction,
    Literal,
    Modifiers,
    Operand,
    Register,
    RegisterFile,
    Sdwa,
)
from amdjit.isa.instruction_set import Accumulation
from amdjit.isa.modifiers import check_fixed_bits, dpp_modifiers, read_modifiers
from amdjit.isa.operands import VGPR_BASE
from amdjit.isa.rows import OperandRow, Row
from amdjit.isa.traits import SingleLane

_SDWA = 249
_SHORT = ("VOP1", "VOP2", "VOPC")
_VCC = Register(RegisterFile.VCC, 0, 2)
_EXEC_MASK = Register(RegisterFile.EXEC, 0, 2)
_EXEC, _M0 = 126, 124
_UNKNOWN_SELECTION = 7
# All of the result; nothing of the register is left.
_WHOLE_RESULT = 6
_ROW_BROADCASTS = range(0x150, 0x160)
_ROW_SHIFTS = (0x10, 0x11, 0x12)
_CONTROLS = (0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143)


def decode_alu(row: Row, bits: int, available: int, pc: int) -> Instruction:
    """Decode a SOP, VOP1/2/C/3 or VOP3P instruction of a known opcode; InvalidField if it is
    wrong."""
    base = row.format.size
    if available < base:
        raise InvalidField("the code ends inside the instruction")
    check_fixed_bits(row, bits)
    following = (bits >> (8 * base)) & 0xFFFFFFFF
    source = bits & 0x1FF if row.format.name in _SHORT else 0
    if source in (_SDWA, DPP16):
        if available < base + 4:
            raise InvalidField("the code ends before the DPP or SDWA word")
        read = _with_sdwa if source == _SDWA else _with_dpp
        operands, modifiers = read(row, bits, following)
        return Instruction(pc, base + 4, row.opcode, operands, {}, modifiers)
    size, literal = base, None
    if row.uses_literal(bits):
        size, literal = base + 4, Literal(following)
        if available < size:
            raise InvalidField("the code ends before the literal")
    operands = tuple([_read(row, operand, bits, literal) for operand in row.operands])
    immediates = immediates_of(row, bits)
    return Instruction(
        pc, size, row.opcode, operands, immediates, read_modifiers(row, bits, None, 0)
    )


def _unified(row: Row) -> bool:
    return row.opcode.instruction_set.accumulation is Accumulation.UNIFIED


def _read(row: Row, operand: OperandRow, bits: int, literal: Literal | None) -> Operand:
    kind, dwords = operand.kind, operand.dwords
    if kind == "implied":
        return _implied(operand, literal)
    value = (bits >> operand.shift) & operand.mask
    if operand.takes == "a":
        if kind == "s9" and value < VGPR_BASE:
            raise InvalidField(f"{operand.spec.role} must be an accumulation VGPR")
        return vector_register(value & 0xFF, dwords, _unified(row), accumulates=True)
    if kind == "v8" or (kind == "d8" and operand.takes == "v"):
        return vector_register(value, dwords, _unified(row))
    if kind in ("s7", "d8"):
        single = row.opcode.traits.single_lane is SingleLane.READ
        if value > 0x7F or (single and value == _M0):
            raise InvalidField(f"{value} is not a scalar destination")
        return scalar_register(value, dwords)
    if value == LITERAL:
        if literal is None or "l" not in operand.takes:
            raise InvalidField(f"{operand.spec.role} takes no literal here")
        return literal
    return source_operand(value, dwords, operand.takes, _unified(row))


def _implied(operand: OperandRow, literal: Literal | None) -> Operand:
    if operand.takes == "literal":
        assert literal is not None
        return literal
    return _VCC if operand.takes == "vcc" else _EXEC_MASK


_Read = tuple[tuple[Operand, ...], Modifiers]


def _with_dpp(row: Row, bits: int, word: int) -> _Read:
    control = (word >> 8) & 0x1FF
    is_broadcast = _unified(row) and control in _ROW_BROADCASTS
    if not row.has("dpp16") and not (row.has("dpp_newbcast") and is_broadcast):
        raise InvalidField(f"{row.opcode.mnemonic} takes no such DPP")
    if not (_is_control(control) or is_broadcast):
        raise InvalidField(f"DPP control 0x{control:x} is unknown")
    dpp = Dpp(control, (word >> 28) & 0xF, (word >> 24) & 0xF, bool((word >> 19) & 1))
    changed = bits & ~0x1FF | VGPR_BASE | word & 0xFF
    operands = tuple(_read(row, operand, changed, None) for operand in row.operands)
    return operands, dpp_modifiers(row, dpp, word)


def _is_control(control: int) -> bool:
    shifts = control >> 4 in _ROW_SHIFTS and control & 15
    return control <= 0xFF or bool(shifts) or control in _CONTROLS


def _with_sdwa(row: Row, bits: int, word: int) -> _Read:
    if not row.has("sdwa"):
        raise InvalidField(f"{row.opcode.mnemonic} takes no SDWA")
    operands = tuple(_sdwa_operand(row, operand, bits, word) for operand in row.operands)
    is_whole = row.format.name == "VOPC" or row.has("swhole")
    if row.has("swhole") and (word >> 8) & 0x1F != _WHOLE_RESULT:
        raise InvalidField(f"{row.opcode.mnemonic} writes no part of a register")
    sdwa = Sdwa(
        destination=None if is_whole else (word >> 8) & 7,
        unused=0 if is_whole else (word >> 11) & 3,
        sources=((word >> 16) & 7, (word >> 24) & 7),
        extended=_marked(row, word, "sext", 19),
    )
    if _UNKNOWN_SELECTION in (sdwa.destination, *sdwa.sources) or sdwa.unused == 3:
        raise InvalidField("the selection of SDWA is unknown")
    return operands, Modifiers(
        neg=_marked(row, word, "neg", 20),
        abs=_marked(row, word, "abs", 21),
        clamp=row.has("sclamp") and bool((word >> 13) & 1),
        omod=(word >> 14) & 3 if row.has("somod") else 0,
        sdwa=sdwa,
    )


def _marked(row: Row, word: int, name: str, shift: int) -> int:
    """Return the sources that a modifier is set for; InvalidField for one that has it not."""
    marks = 0
    for source in (0, 1):
        if (word >> (shift + 8 * source)) & 1:
            if not row.has(f"s{name}{source}"):
                raise InvalidField(f"{row.opcode.mnemonic} takes no {name} of source {source}")
            marks |= 1 << source
    return marks


def _sdwa_operand(row: Row, operand: OperandRow, bits: int, word: int) -> Operand:
    if operand.spec.role == "vdst" and row.format.name == "VOPC":
        return scalar_register((word >> 8) & 0x7F, 2) if (word >> 15) & 1 else _VCC
    if operand.kind == "implied" or operand.source not in (0, 1):
        return _read(row, operand, bits, None)
    value = word & 0xFF if operand.source == 0 else (bits >> operand.shift) & 0xFF
    if (word >> (23 + 8 * operand.source)) & 1:
        return source_operand(value, operand.dwords, "sv", _unified(row))
    return vector_register(value, operand.dwords, _unified(row))
