"""What the decoder raises."""

from __future__ import annotations


class UndecodableInstruction(Exception):
    """The bytes at `pc` are no instruction that the decoder knows of this processor, or the code
    ends inside it.

    pc: byte address of the instruction. words: up to four 32-bit words from there. reason: one
    line.
    """

    def __init__(
        self, pc: int, words: tuple[int, ...], reason: str = "unknown instruction"
    ) -> None:
        self.pc = pc
        self.words = words
        self.reason = reason
        listed = " ".join(f"{word:08X}" for word in words) or "no whole word"
        super().__init__(f"{reason} at pc 0x{pc:X}: {listed}")


class InvalidField(ValueError):
    """A field of an instruction holds a value that its opcode cannot take; `decode` says where."""
