"""The facts of each instruction."""

from __future__ import annotations

from amdjit.emulator.decoder import disassemble
from amdjit.emulator.decoder.instruction import Instruction
from amdjit.inspection.blocks import Structure
from amdjit.inspection.debug_names import DebugNames
from amdjit.inspection.facts import InstructionFacts
from amdjit.inspection.liveness import Live, live_registers
from amdjit.inspection.machine_code import MachineCode
from amdjit.inspection.units import unit_of

__all__ = ["instruction_facts"]


def instruction_facts(
    code: MachineCode, structure: Structure, names: DebugNames
) -> tuple[InstructionFacts, ...]:
    """Return the facts of a kernel's instructions, by address."""
    live = live_registers(code)
    return tuple(
        _facts(code, instruction, live[instruction.pc], (block, structure), names)
        for block, instruction in code.instructions()
    )


def _facts(
    code: MachineCode,
    instruction: Instruction,
    live: Live,
    place: tuple[int, Structure],
    names: DebugNames,
) -> InstructionFacts:
    address, (block, structure) = instruction.pc, place
    is_known = address not in code.unknown
    file, line = code.whole.line_of(address) or (None, None)
    return InstructionFacts(
        address=address,
        size=instruction.size,
        text=disassemble(instruction) if is_known else code.raw_text(address),
        mnemonic=_mnemonic(instruction) if is_known else "unknown",
        unit=unit_of(instruction) if is_known else "other",
        issue_cycles=None,
        file=file,
        line=line,
        inlined_from=names.inlined_from(address),
        block=structure.numbers[block],
        loop_depth=structure.depth_of(block),
        live_vgprs=live.vgprs,
        live_sgprs=live.sgprs,
    )


def _mnemonic(instruction: Instruction) -> str:
    if instruction.pair is None:
        return instruction.mnemonic
    return f"{instruction.mnemonic} :: {instruction.pair.mnemonic}"
