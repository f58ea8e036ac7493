"""The facts of each instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.decoder import disassemble
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.inspection.blocks import Structure
from amdjit.inspection.debug_names import DebugNames
from amdjit.inspection.facts import InstructionFacts
from amdjit.inspection.liveness import Live, live_registers
from amdjit.inspection.machine_code import MachineCode
from amdjit.inspection.units import unit_of
from amdjit.inspection.waits import Waits, find_waits

__all__ = ["instruction_facts"]


def instruction_facts(
    code: MachineCode, structure: Structure, names: DebugNames
) -> tuple[InstructionFacts, ...]:
    """Return the facts of a kernel's instructions, by address."""
    reader = _Reader(code, structure, names, live_registers(code), find_waits(code.graph))
    return tuple(reader.facts(block, item) for block, item in code.instructions())


@dataclass(frozen=True, slots=True)
class _Reader:
    """What is known of a kernel, from which each instruction takes its part."""

    code: MachineCode
    structure: Structure
    names: DebugNames
    live: Mapping[int, Live]
    waits: Waits

    def facts(self, block: int, instruction: Instruction) -> InstructionFacts:
        """Return the facts of an instruction of the block at an address."""
        address, waits = instruction.pc, self.waits
        is_known = address not in self.code.unknown
        file, line = self.code.whole.line_of(address) or (None, None)
        live = self.live[address]
        return InstructionFacts(
            address=address,
            size=instruction.size,
            text=disassemble(instruction) if is_known else self.code.raw_text(address),
            mnemonic=_mnemonic(instruction) if is_known else "unknown",
            unit=unit_of(instruction) if is_known else "other",
            issue_cycles=None,
            file=file,
            line=line,
            inlined_from=self.names.inlined_from(address),
            block=self.structure.numbers[block],
            loop_depth=self.structure.depth_of(block),
            live_vgprs=live.vgprs,
            live_sgprs=live.sgprs,
            waits_for=waits.waits_for.get(address, ()),
            waited_by=waits.waited_by.get(address, ()),
            needs=waits.needs.get(address, ()),
        )


def _mnemonic(instruction: Instruction) -> str:
    if instruction.pair is None:
        return instruction.mnemonic
    return f"{instruction.mnemonic} :: {instruction.pair.mnemonic}"
