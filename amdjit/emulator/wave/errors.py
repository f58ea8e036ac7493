"""What the translator raises when it meets something that the emulator does not cover."""

from __future__ import annotations

from amdjit.isa.instruction import Instruction

NOT_THERE = "the emulator does not have this instruction"


class Untranslatable(Exception):
    """An instruction, or one of its operands or modifiers, has no translation.

    The launch raises a KernelFault instead.
    """

    def __init__(self, instruction: Instruction, reason: str = NOT_THERE):
        super().__init__(reason)
        self.instruction = instruction
        self.reason = reason
