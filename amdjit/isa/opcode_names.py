"""Opcodes by mnemonic, for what is made of an instruction without its machine code."""

from __future__ import annotations

from functools import cache

from amdjit.isa.instruction import Opcode
from amdjit.isa.instruction_set import GFX11, GFX12, InstructionSet
from amdjit.isa.rows import row_of


def opcode_named(mnemonic: str) -> Opcode:
    """Return an instruction's opcode in the first of its encodings, for wave32.

    It is that of the newest family that has the instruction.

    Operand types do not depend on the encoding. KeyError if there is no such instruction.
    """
    encoding, code, sets = _first_encodings()[mnemonic]
    row = row_of(encoding, code, instruction_set=sets)
    assert row is not None
    return row.opcode


@cache
def _first_encodings() -> dict[str, tuple[str, int, InstructionSet]]:
    found: dict[str, tuple[str, int, InstructionSet]] = {}
    for sets in (GFX12, GFX11):
        for encoding, codes in sets.rows.items():
            for code, (mnemonic, _, _) in codes.items():
                found.setdefault(mnemonic, (encoding, code, sets))
    return found
