"""From a use of a register back to the loads that may have filled it: the nearest ones first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from amdjit.emulator.checks.waits.counters import effect_of
from amdjit.emulator.checks.waits.places import Place, places_of, register_operands
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.analysis.dataflow import scalar_writes
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import HALF_LANES, SCC_SLOT, VCC_LO
from amdjit.isa.traits import Flag

_MOST_STEPS = 20_000
_SCC: Place = ("s", SCC_SLOT)


def loads_before(graph: Graph, pc: int, places: Iterable[Place]) -> Iterator[int]:
    """Yield the addresses of the loads from which values in these places before `pc` may come.

    Goes back along the definitions in the machine code. A definition of a vector register may have
    left some lanes as they were: the search goes on past it.
    """
    code = _Code(graph)
    block, index = code.where[pc]
    work = deque((block, index - 1, place) for place in places)
    seen = set(work)
    for _ in range(_MOST_STEPS):
        if not work:
            return
        block, index, place = work.popleft()
        following: list[tuple[int, int, Place]] = []
        if index < 0:
            following = [
                (before, len(graph.blocks[before].instructions) - 1, place)
                for before in code.before[block]
            ]
        else:
            instruction = graph.blocks[block].instructions[index]
            writes = place in set(_written(instruction))
            if writes and effect_of(instruction).fills:
                yield instruction.pc
            if writes:
                following = [(block, index - 1, source) for source in _read(instruction)]
            if not writes or place[0] == "v":
                following.append((block, index - 1, place))
        for step in following:
            if step not in seen:
                seen.add(step)
                work.append(step)


class _Code:
    def __init__(self, graph: Graph) -> None:
        self.where: dict[int, tuple[int, int]] = {}
        self.before: dict[int, list[int]] = {start: [] for start in graph.blocks}
        for start, block in graph.blocks.items():
            for index, instruction in enumerate(block.instructions):
                self.where[instruction.pc] = (start, index)
            for successor in block.successors:
                if successor in self.before:
                    self.before[successor].append(start)


def _written(instruction: Instruction) -> Iterator[Place]:
    for written, _, register in register_operands(instruction):
        if written:
            yield from places_of(register)
    for slot in scalar_writes(instruction):
        yield "s", slot
    if instruction.traits.writes_scc:
        yield _SCC


def _read(instruction: Instruction) -> Iterator[Place]:
    for _, read, register in register_operands(instruction):
        if read:
            yield from places_of(register)
    if instruction.traits.reads_scc:
        yield _SCC


def places_read(
    instruction: Instruction, wave_size: int, roles: frozenset[str] | None = None
) -> list[Place]:
    """Return the places that an instruction reads in some roles, or in all of them."""
    condition = instruction.traits.condition
    if condition is not None and condition.flag is Flag.SCC:
        return [_SCC]
    if condition is not None and condition.flag is Flag.VCC:
        return [("s", VCC_LO + half) for half in range(wave_size // HALF_LANES)]
    if roles is None:
        return list(_read(instruction))
    found: list[Place] = []
    for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True):
        if spec.role in roles and isinstance(operand, Register):
            found += places_of(operand)
    return found
