"""Scalar and vector ALU instructions, with literals and DPP words."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.isa.errors import InvalidField
from amdjit.isa.formats import DPP8, DPP8_FETCH_INACTIVE, DPP16, LITERAL
from amdjit.isa.instruction import (
    Instruction,
    Literal,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.modifiers import check_fixed_bits, read_dpp, read_modifiers
from amdjit.isa.operands import (
    VGPR_BASE,
    scalar_register,
    source_operand,
    vector_register,
)
from amdjit.isa.rows import OperandRow, Row
from amdjit.isa.traits import Immediate, SingleLane, Traits

_DPP_SOURCES = (DPP16, DPP8, DPP8_FETCH_INACTIVE)
_EXEC = 126
_M0 = 125
_VCC = Register(RegisterFile.VCC, 0), Register(RegisterFile.VCC, 0, 2)
_EXEC_MASK = Register(RegisterFile.EXEC, 0), Register(RegisterFile.EXEC, 0, 2)
_WIDE_HALVES = ("VOP3", "VINTERP")
# v_nop and v_pipeflush: the bits of the operands must be 0.
_WITHOUT_OPERANDS = {"VOP1": 0x01FE0000, "VOP3": 0xFF}


def decode_alu(row: Row, bits: int, available: int, pc: int) -> Instruction:
    """Decode a SOP, VOP1/2/C/3/3P or VINTERP instruction of a known opcode; InvalidField if it is
    wrong."""
    base = row.format.size
    if available < base:
        raise InvalidField("the code ends inside the instruction")
    size, literal, dpp, word = base, None, None, 0
    if not row.operands and bits & _WITHOUT_OPERANDS.get(row.format.name, 0):
        raise InvalidField(f"{row.opcode.mnemonic} has no operands")
    if row.fixed:
        check_fixed_bits(row, bits)
    following = (bits >> (8 * base)) & 0xFFFFFFFF
    source = (bits >> row.dpp_shift) & 0x1FF if row.dpp_shift >= 0 else 0
    if source in _DPP_SOURCES:
        size, word, dpp = base + 4, following, read_dpp(row, source, following)
        if available < size:
            raise InvalidField("the code ends before the DPP word")
    elif row.uses_literal(bits):
        size, literal = base + 4, Literal(following)
        if available < size:
            raise InvalidField("the code ends before the literal")
    if dpp is None:
        operands = tuple([_read_plain(row, operand, bits, literal) for operand in row.operands])
    else:
        operands = tuple([_read(row, operand, bits, literal, word) for operand in row.operands])
        _check_dpp_operands(row, operands)
    immediates = immediates_of(row, bits)
    return Instruction(
        pc, size, row.opcode, operands, immediates, read_modifiers(row, bits, dpp, word)
    )


def immediates_of(row: Row, bits: int) -> dict[str, int]:
    """Return the fields of an instruction that are no operands."""
    read = _IMMEDIATES.get(row.format.name)
    return read(row, bits) if read else {}


def _read_plain(row: Row, operand: OperandRow, bits: int, literal: Literal | None) -> Operand:
    """Read an operand of an instruction without DPP. The common cases come first."""
    value = (bits >> operand.shift) & operand.mask
    if operand.plain == "vector":
        return vector_register(value, operand.dwords)
    if operand.plain == "source" and value != LITERAL:
        return source_operand(value, operand.dwords, operand.takes)
    return _read(row, operand, bits, literal, None)


def _read(
    row: Row, operand: OperandRow, bits: int, literal: Literal | None, dpp: int | None
) -> Operand:
    kind = operand.kind
    value = (bits >> operand.shift) & operand.mask
    if kind == "implied":
        return _implied(operand, literal)
    if dpp is not None and operand.source == 0:
        value = VGPR_BASE + (dpp & 0xFF)
    if operand.half:
        return _read_half(row, operand, bits, value, literal)
    dwords = operand.spec.dwords
    if kind == "v8" or (kind == "d8" and operand.takes == "v"):
        return vector_register(value, dwords)
    if kind in ("s7", "d8"):
        if value > 0x7F or _is_no_destination(row.opcode.traits, value):
            raise InvalidField(f"{value} is not a scalar destination")
        return scalar_register(value, dwords)
    if value == LITERAL:
        return _literal(operand, literal)
    return source_operand(value, dwords, operand.takes)


def _is_no_destination(traits: Traits, code: int) -> bool:
    """LLVM's register classes: V_S_* do not write EXEC, V_READLANE and V_READFIRSTLANE not M0."""
    return (code >= _EXEC and traits.is_pseudo_scalar) or (
        code == _M0 and traits.single_lane is SingleLane.READ
    )


def _check_dpp_operands(row: Row, operands: tuple[Operand, ...]) -> None:
    """Some VOP3P opcodes take scalars and constants as further sources, but not with DPP; the
    second source of any other one is a VGPR on gfx11.0."""
    only_vectors = not row.opcode.instruction_set.dpp_takes_scalars
    for operand, value in zip(row.operands, operands, strict=True):
        if row.has(f"dpp_v{operand.source}") or (only_vectors and operand.source == 1):
            vector = isinstance(value, Register) and value.file is RegisterFile.VGPR
            if not vector:
                raise InvalidField(f"{operand.spec.role} must be a VGPR with DPP")


def _literal(operand: OperandRow, literal: Literal | None) -> Literal:
    if literal is None or "l" not in operand.takes:
        raise InvalidField(f"{operand.spec.role} takes no literal here")
    return literal


def _read_half(
    row: Row, operand: OperandRow, bits: int, value: int, literal: Literal | None
) -> Operand:
    """Read a 16-bit operand: op_sel picks the half in VOP3, bit 7 of the VGPR number elsewhere."""
    vector = operand.kind in ("v8", "d8") or value >= VGPR_BASE
    number = value & 0xFF
    if row.format.name in _WIDE_HALVES:
        half = (bits >> (11 + operand.source)) & 1
        if vector:
            return vector_register(number, 1, half)
        plain = (
            _literal(operand, literal)
            if value == LITERAL
            else source_operand(value, 1, operand.takes)
        )
        if isinstance(plain, Register):
            return Register(plain.file, plain.index, 1, half)
        return plain
    if vector:
        return vector_register(number & 0x7F, 1, number >> 7)
    return (
        _literal(operand, literal) if value == LITERAL else source_operand(value, 1, operand.takes)
    )


def _implied(operand: OperandRow, literal: Literal | None) -> Operand:
    if operand.takes == "literal":
        assert literal is not None
        return literal
    return (_VCC if operand.takes == "vcc" else _EXEC_MASK)[operand.dwords - 1]


def _signed16(value: int) -> int:
    return value - 0x10000 if value & 0x8000 else value


def _hardware_register(value: int) -> dict[str, int]:
    return {
        "hwreg_id": value & 63,
        "hwreg_offset": (value >> 6) & 31,
        "hwreg_size": (value >> 11) + 1,
    }


def _sopk(row: Row, bits: int) -> dict[str, int]:
    value = bits & 0xFFFF
    immediate = row.opcode.traits.immediate
    if immediate is Immediate.HARDWARE_REGISTER:
        return {"simm16": value, **_hardware_register(value)}
    return {"simm16": value if immediate is Immediate.VERSION else _signed16(value)}


def _sopp(row: Row, bits: int) -> dict[str, int]:
    value = bits & 0xFFFF
    immediate = row.opcode.traits.immediate
    if immediate is Immediate.NONE:
        # A value there makes another, unknown instruction.
        if value:
            raise InvalidField(f"{row.opcode.mnemonic} takes no immediate")
        return {}
    return {"simm16": _signed16(value) if immediate is Immediate.BRANCH else value}


def _sop1(row: Row, bits: int) -> dict[str, int]:
    return {"message": bits & 0xFF} if row.opcode.traits.immediate is Immediate.MESSAGE else {}


def _sopc(row: Row, bits: int) -> dict[str, int]:
    if row.opcode.traits.immediate is not Immediate.INDEX_MODE:
        return {}
    mode = (bits >> 8) & 0xFF
    if mode > 15:
        raise InvalidField("there are four kinds of operands to index")
    return {"index_mode": mode}


def _vinterp(row: Row, bits: int) -> dict[str, int]:
    return {"wait_exp": (bits >> 8) & 7}


def _vop3(row: Row, bits: int) -> dict[str, int]:
    """byte_sel is part of op_sel: bits 1:0, swapped, for a source, bits 3:2 for the destination."""
    if not row.has("byte_sel"):
        return {}
    select = (bits >> 11) & 15
    if row.flags.get("op_sel", 0) & 3:
        return {"byte_sel": (select & 1) << 1 | (select >> 1) & 1}
    return {"byte_sel": select >> 2}


def _vop3p(row: Row, bits: int) -> dict[str, int]:
    """Sparse matrix opcodes: op_sel picks the half of the index register."""
    if not row.has("index_key"):
        return {}
    return {"index_key": (bits >> 11) & row.flags.get("op_sel", 0)}


_IMMEDIATES: dict[str, Callable[[Row, int], dict[str, int]]] = {
    "SOPK": _sopk,
    "SOPP": _sopp,
    "SOPC": _sopc,
    "SOP1": _sop1,
    "VOP3P": _vop3p,
    "VINTERP": _vinterp,
    "VOP3": _vop3,
}
