"""Dual-issue instructions (VOPD) from their two halves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amdjit.isa.encoding.encode import encode
from amdjit.isa.encoding.operands import VCC_LO, Value, constant, literal
from amdjit.isa.errors import EncodingError
from amdjit.isa.instruction import Instruction, Operand
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.rows import Row, row_of

__all__ = ["Half", "assemble_dual"]

Half = tuple[Any, ...]
"""A mnemonic (v_dual_...) and its operands in the assembler's order."""
_WAVE_SIZE = 32


def assemble_dual(first: Half, second: Half, sets: InstructionSet) -> bytes:
    """Return the bytes of a dual-issue instruction; EncodingError if the halves do not go
    together, as when both destinations are even."""
    halves = [
        _half(_row(half[0], table, sets), half[1:])
        for half, table in ((first, "VOPDX"), (second, "VOPDY"))
    ]
    return encode(replace(halves[0], pair=halves[1]), _WAVE_SIZE)


def _row(mnemonic: str, table: str, sets: InstructionSet) -> Row:
    for code, entry in sets.rows.get(table, {}).items():
        if entry[0] == mnemonic:
            row = row_of(table, code, _WAVE_SIZE, sets)
            assert row is not None
            return row
    raise EncodingError(f"{sets.name} has no {table[-1]} half {mnemonic}")


def _half(row: Row, values: tuple[Value, ...]) -> Instruction:
    queue = list(values)
    operands: list[Operand | None] = []
    for operand in row.operands:
        if operand.takes == "vcc" and len(queue) < len(row.operands) - len(operands):
            operands.append(VCC_LO)
            continue
        if not queue:
            raise EncodingError(f"{row.opcode.mnemonic} takes {len(row.operands)} operands")
        value = queue.pop(0)
        if isinstance(value, int | float):
            find = literal if operand.takes == "literal" else constant
            value = find(value, operand.spec.type)
        operands.append(value)
    return Instruction(0, 0, row.opcode, tuple(operands), {})
