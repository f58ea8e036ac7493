"""Opcodes by mnemonic, for what is made of an instruction without its machine code."""

from __future__ import annotations

from functools import cache

from amdjit.emulator.decoder.instruction import Opcode
from amdjit.emulator.decoder.opcode_tables import ROWS
from amdjit.emulator.decoder.rows import row_of


def opcode_named(mnemonic: str) -> Opcode:
    """Return an instruction's opcode in the first of its encodings, for wave32.

    Operand types do not depend on the encoding. KeyError if there is no such instruction.
    """
    row = row_of(*_first_encodings()[mnemonic])
    assert row is not None
    return row.opcode


@cache
def _first_encodings() -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for encoding, codes in ROWS.items():
        for code, (mnemonic, _, _) in codes.items():
            found.setdefault(mnemonic, (encoding, code))
    return found
