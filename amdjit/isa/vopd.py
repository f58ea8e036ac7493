"""Dual-issue instructions (VOPD): an X and a Y half that share one code and one literal.

Source: RDNA 4 ISA document, section 15.3.5 (VOPD). The low bit of vdstY is the opposite of vdstX's.
"""

from __future__ import annotations

from amdjit.isa.errors import InvalidField
from amdjit.isa.formats import LITERAL
from amdjit.isa.instruction import (
    Instruction,
    Literal,
    Operand,
    Register,
    RegisterFile,
)
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.operands import source_operand, vector_register
from amdjit.isa.rows import OperandRow, Row, row_of

_VCC = Register(RegisterFile.VCC, 0)


def decode_dual(bits: int, available: int, pc: int, instruction_set: InstructionSet) -> Instruction:
    """Decode a VOPD instruction: the X half, with the Y half as its `pair`; InvalidField if it is
    wrong."""
    x_row = row_of("VOPDX", (bits >> 22) & 15, 32, instruction_set)
    y_row = row_of("VOPDY", (bits >> 17) & 31, 32, instruction_set)
    if x_row is None or y_row is None:
        raise InvalidField("unknown VOPD opcode")
    first, second = bits & 0x1FF, (bits >> 32) & 0x1FF
    needs_literal = x_row.literal or y_row.literal or first == LITERAL or second == LITERAL
    size = 12 if needs_literal else 8
    if available < size:
        raise InvalidField("the code ends inside the instruction")
    literal = Literal((bits >> 64) & 0xFFFFFFFF) if needs_literal else None
    x_destination = (bits >> 56) & 0xFF
    y_destination = (bits >> 49) & 0x7F
    y_destination = y_destination << 1 | (~x_destination & 1)
    x_values = {"vdst": x_destination, "src0": first, "src1": (bits >> 9) & 0xFF}
    y_values = {"vdst": y_destination, "src0": second, "src1": (bits >> 41) & 0xFF}
    y_half = Instruction(pc, size, y_row.opcode, _operands(y_row, y_values, literal), {})
    return Instruction(pc, size, x_row.opcode, _operands(x_row, x_values, literal), {}, pair=y_half)


def _operands(row: Row, values: dict[str, int], literal: Literal | None) -> tuple[Operand, ...]:
    if values["src1"] and all(operand.spec.role != "src1" for operand in row.operands):
        raise InvalidField(f"{row.opcode.mnemonic} has no second source")
    return tuple(_operand(operand, values, literal) for operand in row.operands)


def _operand(operand: OperandRow, values: dict[str, int], literal: Literal | None) -> Operand:
    if operand.takes == "vcc":
        return _VCC
    if operand.takes == "literal":
        assert literal is not None
        return literal
    value = values[operand.spec.role]
    if operand.spec.role != "src0":
        return vector_register(value, operand.spec.dwords)
    if value == LITERAL:
        assert literal is not None
        return literal
    return source_operand(value, operand.spec.dwords, operand.takes)
