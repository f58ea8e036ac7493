"""Where the values come from that are live at a place: the lines whose instructions wrote them.

The search goes backwards from the place, along all paths, until each register has been written
whole. It needs line numbers only, which machine code has more often than names of variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amdjit.inspection.facts import InstructionFacts, LiveOrigin, SourcePlace
from amdjit.inspection.machine_code import MachineCode
from amdjit.inspection.register_effects import VGPRS, RegisterSet, effect_of, vector_number
from amdjit.isa.analysis.control_flow import Block
from amdjit.isa.instruction import Instruction, Register, RegisterFile

__all__ = ["live_origins"]


def live_origins(
    code: MachineCode, highest: InstructionFacts, places: Mapping[int, SourcePlace | None]
) -> tuple[LiveOrigin, ...]:
    """Return which lines wrote the VGPRs that are live before an instruction, most registers first.

    places: of each instruction, by address. A register that several lines may have written counts
    for each of them; one that nobody has written holds a value with which the wave starts.
    """
    wanted = sum(1 << number for number in highest.live_vgprs)
    found: dict[SourcePlace | None, int] = {}
    for address, registers in _writers(code, highest, wanted):
        place = places.get(address)
        found[place] = found.get(place, 0) | registers
    origins = (_origin(place, r) for place, r in found.items())
    return tuple(sorted(origins, key=lambda o: (-len(o.vgprs), o.file or "", o.line or 0)))


def _origin(place: SourcePlace | None, registers: int) -> LiveOrigin:
    file, line = place or (None, None)
    return LiveOrigin(file, line, RegisterSet(registers))


def _writers(
    code: MachineCode, highest: InstructionFacts, wanted: int
) -> Iterator[tuple[int, int]]:
    """Yield the addresses of instructions with those of the wanted registers that they wrote."""
    before: dict[int, list[int]] = {address: [] for address in code.graph.blocks}
    for address, targets in code.edges.items():
        for target in targets:
            before[target].append(address)
    searched: dict[int, int] = dict.fromkeys(code.graph.blocks, 0)
    home = next(a for a, b in code.graph.blocks.items() if _holds(b, highest.address))
    inside = code.graph.blocks[home].instructions
    work = [(home, [i for i in inside if i.pc < highest.address], wanted)]
    while work:
        address, instructions, open_ones = work.pop()
        for instruction in reversed(instructions):
            written = _written(instruction) & open_ones
            if written:
                yield instruction.pc, written
                kills = effect_of(instruction)
                open_ones &= ~_whole(kills.kills | kills.kills_all)
        for earlier in before[address]:
            new = open_ones & ~searched[earlier]
            if new:
                searched[earlier] |= new
                work.append((earlier, list(code.graph.blocks[earlier].instructions), new))


def _holds(block: Block, address: int) -> bool:
    return block.pc <= address <= block.instructions[-1].pc


def _whole(halves: int) -> int:
    """Return the registers of which both halves are in a set of halves."""
    return halves & halves >> VGPRS & (1 << VGPRS) - 1


def _written(instruction: Instruction) -> int:
    """Return the VGPRs that an instruction writes, whole or in part."""
    registers = 0
    for part in (instruction, instruction.pair) if instruction.pair else (instruction,):
        for spec, operand in zip(part.opcode.operands, part.operands, strict=True):
            if not spec.written or not isinstance(operand, Register):
                continue
            if operand.file in (RegisterFile.VGPR, RegisterFile.AGPR):
                registers |= ((1 << operand.dwords) - 1) << vector_number(operand)
    return registers
