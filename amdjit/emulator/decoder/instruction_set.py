"""What processor families differ in besides the shape of their code: opcodes and wait counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.decoder.opcode_tables import ROWS
from amdjit.emulator.decoder.wait_counters import GFX12_COUNTERS, WaitCounters


@dataclass(frozen=True, slots=True, eq=False)
class InstructionSet:
    """One family's tables and policies; an instruction's `opcode.instruction_set`.

    rows: format -> opcode number -> (mnemonic, operands, flags), as `rows.py` reads them.
    """

    name: str
    rows: Mapping[str, Mapping[int, tuple[str, str, str]]]
    wait_counters: WaitCounters


GFX12 = InstructionSet("gfx12", ROWS, GFX12_COUNTERS)
