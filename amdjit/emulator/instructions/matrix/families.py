"""Which processors' form of a matrix or dot product an instruction is."""

from __future__ import annotations

from amdjit.isa.instruction import Instruction


def is_of_gfx11(instruction: Instruction) -> bool:
    """Return whether it has the operands and the arithmetic of gfx11."""
    return not instruction.opcode.instruction_set.spread_factors
