"""The facts of each instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.cycles.parameters import issue_cycles
from amdjit.inspection.blocks import Structure
from amdjit.inspection.debug_names import DebugNames
from amdjit.inspection.facts import InstructionFacts
from amdjit.inspection.liveness import Live, live_registers
from amdjit.inspection.machine_code import MachineCode
from amdjit.inspection.units import unit_of
from amdjit.inspection.waits import Waits, find_waits
from amdjit.isa import disassemble
from amdjit.isa.instruction import Instruction

__all__ = ["instruction_facts"]


@dataclass(frozen=True, slots=True)
class _Known:
    """What analyses of the whole kernel say of its instructions."""

    live: Mapping[int, Live]
    waits: Waits
    structure: Structure
    names: DebugNames


def instruction_facts(
    code: MachineCode, structure: Structure, names: DebugNames
) -> tuple[InstructionFacts, ...]:
    """Return the facts of a kernel's instructions, by address."""
    known = _Known(live_registers(code), find_waits(code.graph), structure, names)
    return tuple(
        _facts(code, instruction, block, known) for block, instruction in code.instructions()
    )


def _facts(
    code: MachineCode, instruction: Instruction, block: int, known: _Known
) -> InstructionFacts:
    address, live, waits = instruction.pc, known.live[instruction.pc], known.waits
    is_known = address not in code.unknown
    file, line = code.whole.line_of(address) or (None, None)
    return InstructionFacts(
        address=address,
        size=instruction.size,
        text=disassemble(instruction) if is_known else code.raw_text(address),
        mnemonic=_mnemonic(instruction) if is_known else "unknown",
        unit=unit_of(instruction) if is_known else "other",
        issue_cycles=issue_cycles(instruction) if is_known else None,
        file=file,
        line=line,
        inlined_from=known.names.inlined_from(address),
        block=known.structure.numbers[block],
        loop_depth=known.structure.depth_of(known.structure.numbers[block]),
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
