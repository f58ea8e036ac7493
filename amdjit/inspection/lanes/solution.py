"""What is known of registers before each instruction of a kernel: a forward analysis whose meet
keeps what holds on all ways."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from amdjit.inspection.lanes.entry import entry_state
from amdjit.inspection.lanes.state import State
from amdjit.inspection.lanes.transfer import pass_instruction
from amdjit.inspection.machine_code import MachineCode, starts_full
from amdjit.isa.instruction import Instruction

__all__ = ["known_states"]


def known_states(code: MachineCode) -> Iterator[tuple[Instruction, State]]:
    """Yield each instruction with what is known before it: several times, of which the last one
    counts. The state is good until the next one is asked for. Instructions that are not reached are
    left out, and all of them if it is not known where branches go."""
    if _goes_anywhere(code):
        return
    entry = code.graph.entry
    states = {entry: entry_state(code.kernel, starts_full(code.kernel))}
    work = [entry]
    queued = {entry}
    while work:
        address = heappop(work)
        queued.discard(address)
        state = states[address].copy()
        for instruction in code.graph.blocks[address].instructions:
            yield instruction, state
            if instruction.operands or instruction.traits.writes_exec:
                pass_instruction(state, instruction, code.wave_size)
        for target in code.edges[address]:
            known = states.get(target)
            if known is None:
                states[target] = state.copy()
            elif not known.join(state.copy(), target):
                continue
            if target not in queued:
                queued.add(target)
                heappush(work, target)


def _goes_anywhere(code: MachineCode) -> bool:
    return code.hides_functions or any(
        block.instructions[-1].traits.flow.is_indirect and not code.edges[address]
        for address, block in code.graph.blocks.items()
    )
