"""What the decoder and the encoder raise."""

from __future__ import annotations

from amdjit.diagnostics.errors import AmdjitError


class UndecodableInstruction(Exception):
    """The bytes at `pc` are no instruction that the decoder knows of this processor, or the code
    ends inside it.

    pc: byte address of the instruction. words: up to four 32-bit words from there. reason: one
    line. size: bytes of an instruction that the processor has, of a class that is not decoded; else
    0.
    """

    def __init__(
        self,
        pc: int,
        words: tuple[int, ...],
        reason: str = "unknown instruction",
        size: int = 0,
    ) -> None:
        self.pc = pc
        self.words = words
        self.reason = reason
        self.size = size
        listed = " ".join(f"{word:08X}" for word in words) or "no whole word"
        super().__init__(f"{reason} at pc 0x{pc:X}: {listed}")


class InvalidField(ValueError):
    """A field of an instruction holds a value that its opcode cannot take; `decode` says where."""

    size = 0


class NotDecoded(InvalidField):
    """The instruction is of a class that is known and not decoded. size: its bytes."""

    def __init__(self, what: str, size: int) -> None:
        self.size = size
        super().__init__(f"{what} instructions are not supported")


class EncodingError(AmdjitError):
    """The processor has no such instruction, operand or modifier; the text says which."""
