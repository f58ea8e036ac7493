"""Matrix instructions of gfx9 and moves of accumulation VGPRs (format VOP3P-MAI).

Source: CDNA 3 ISA document, section "VOP3P-MAI"; the scaled products of gfx950 are LLVM's VOP3PX.
"""

from __future__ import annotations

from amdjit.isa.errors import InvalidField
from amdjit.isa.formats import LITERAL, format_named
from amdjit.isa.gfx9.operands import source_operand, vector_register
from amdjit.isa.instruction import Instruction, Operand
from amdjit.isa.instruction_set import Accumulation, InstructionSet
from amdjit.isa.modifiers import check_fixed_bits
from amdjit.isa.operands import VGPR_BASE
from amdjit.isa.rows import OperandRow, Row, row_of

# FP8, BF8, FP6, BF6, FP4: 32 elements take as many registers.
_FORMAT_DWORDS = (8, 8, 6, 6, 4)
_CONTROLS = ("cbsz", "abid", "blgp")
_SELECTIONS = ("op_sel", "op_sel_hi")
_SCALED = "MAIX"


def scaled_row(bits: int, instruction_set: InstructionSet) -> Row | None:
    """Return the row of a product with scales, None if the instruction is none."""
    if _SCALED not in instruction_set.rows:
        return None
    form = format_named(instruction_set.formats, _SCALED)
    if bits & (form.constant | form.reserved) != form.constant:
        return None
    return row_of(_SCALED, form.opcode.read(bits), 64, instruction_set)


def decode_matrix(row: Row, bits: int, available: int, pc: int) -> Instruction:
    """Decode an instruction with accumulation VGPRs; InvalidField if it is wrong."""
    size = row.format.size
    if available < size:
        raise InvalidField("the code ends inside the instruction")
    check_fixed_bits(row, bits)
    operands = tuple(_operand(row, operand, bits) for operand in row.operands)
    immediates = {
        name: field.read(bits) & row.flags.get(name, 0)
        for name in _CONTROLS
        if (field := row.format.find(name)) is not None
    }
    if row.format.name == _SCALED:
        immediates.update({name: row.format.field(name).read(bits) for name in _SELECTIONS})
    return Instruction(pc, size, row.opcode, operands, immediates)


def _operand(row: Row, operand: OperandRow, bits: int) -> Operand:
    unified = row.opcode.instruction_set.accumulation is Accumulation.UNIFIED
    value = (bits >> operand.shift) & operand.mask
    dwords = _dwords(row, operand, bits)
    vector = operand.spec.role == "vdst" or value >= VGPR_BASE
    if vector:
        accumulates = _accumulates(row, operand, bits)
        return vector_register(value & 0xFF, dwords, unified, accumulates)
    if value == LITERAL:
        raise InvalidField(f"{operand.spec.role} takes no literal here")
    return source_operand(value, dwords, operand.takes, unified)


def _accumulates(row: Row, operand: OperandRow, bits: int) -> bool:
    if "a" not in operand.takes or "v" not in operand.takes:
        return "a" in operand.takes
    if operand.spec.role in ("vdst", "src2"):
        return bool(row.format.field("acc_cd").read(bits))
    return bool((row.format.field("acc").read(bits) >> operand.source) & 1)


def _dwords(row: Row, operand: OperandRow, bits: int) -> int:
    """Return how many registers an operand has; those of narrow floats depend on the format."""
    if not row.has("formats") or operand.source not in (0, 1):
        return operand.dwords
    number = row.format.field("blgp" if operand.source else "cbsz").read(bits)
    if number >= len(_FORMAT_DWORDS):
        raise InvalidField(f"the format {number} of {operand.spec.role} is unknown")
    return _FORMAT_DWORDS[number]
