"""Opcodes by mnemonic, for what is made of an instruction without its machine code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from amdjit.isa.instruction import Opcode
from amdjit.isa.instruction_set import GFX11, GFX12, InstructionSet
from amdjit.isa.rows import row_of

_NEWEST = (GFX12, GFX11)


def opcode_named(mnemonic: str, *sets: InstructionSet) -> Opcode:
    """Return an instruction's opcode in the first of its encodings, for wave32.

    sets: where to look for it, by default in the newest family that has it. Operand types do not
    depend on the encoding. KeyError if there is no such instruction.
    """
    encoding, code, found = _first_encodings(sets or _NEWEST)[mnemonic]
    row = row_of(encoding, code, instruction_set=found)
    assert row is not None
    return row.opcode


def modifiers_of(mnemonic: str, sets: InstructionSet) -> Mapping[str, int]:
    """Return the modifiers that an instruction has in its long encoding, as bits by name."""
    code = _long_encodings(sets).get(mnemonic)
    row = None if code is None else row_of("VOP3", code, instruction_set=sets)
    return {} if row is None else row.flags


@cache
def _long_encodings(sets: InstructionSet) -> dict[str, int]:
    return {mnemonic: code for code, (mnemonic, _, _) in sets.rows["VOP3"].items()}


def mnemonics(sets: InstructionSet) -> Iterable[str]:
    """Return the names of all instructions of a set."""
    return _first_encodings((sets,)).keys()


@cache
def _first_encodings(
    order: tuple[InstructionSet, ...],
) -> dict[str, tuple[str, int, InstructionSet]]:
    found: dict[str, tuple[str, int, InstructionSet]] = {}
    for sets in order:
        for encoding, codes in sets.rows.items():
            for code, (mnemonic, _, _) in codes.items():
                found.setdefault(mnemonic, (encoding, code, sets))
    return found
