"""The operations of instructions by name: one each, two where a pair is issued together."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from amdjit.inspection.facts import InstructionFacts

__all__ = ["Operation", "operations_of"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation. mnemonic: without the encoding's suffix; written: as the disassembly has it,
    such as `v_mov_b32_dpp`."""

    address: int
    mnemonic: str
    written: str

    def matches(self, *patterns: str) -> bool:
        """Whether one of its names matches one of the patterns."""
        names = (self.mnemonic, self.written)
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def operations_of(instruction: InstructionFacts) -> list[Operation]:
    """Return the operations of an instruction."""
    mnemonics = instruction.mnemonic.split(" :: ")
    texts = instruction.text.split(" :: ")
    return [
        Operation(instruction.address, mnemonic, text.split()[0] if text.split() else mnemonic)
        for mnemonic, text in zip(mnemonics, texts, strict=True)
    ]
