"""Live registers before each instruction: a backward analysis of machine code.

A register is live where its value may still be read. What an instruction writes leaves the lanes
alone that are inactive, so that a write ends the life of a VGPR only where nobody reads those lanes
before they are written: for each VGPR there are two facts, whether active lanes may be read later
and whether inactive ones may be (as in `emulator.analysis.hidden_lanes`, for whole kernels with
calls and for halves of registers). Both are of whole waves, of 32 lanes or of 64.

A load's result is live from the load on, also while it is in flight. One that nobody reads is not
live, although hardware writes the register when the load lands: `InstructionFacts.needs` says which
waits come first. Where nothing is known of what runs next, all registers are live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amdjit.emulator.analysis.control_flow import Block
from amdjit.emulator.analysis.dataflow import exec_slots, ones_after
from amdjit.emulator.analysis.hidden_lanes import ExecChange
from amdjit.inspection.machine_code import MachineCode
from amdjit.inspection.register_effects import (
    ALL_SCALARS,
    ALL_VECTORS,
    EVERYTHING,
    Effect,
    effect_of,
    vectors,
)
from amdjit.inspection.register_set import RegisterSet

__all__ = ["Live", "live_registers"]

# Registers that may be read later: VGPRs in active lanes, in inactive ones, and SGPRs.
_State = tuple[int, int, int]
_NOTHING: _State = (0, 0, 0)
_ANYTHING: _State = (ALL_VECTORS, ALL_VECTORS, ALL_SCALARS)


@dataclass(frozen=True, slots=True)
class Live:
    """The registers that are live before an instruction."""

    vgprs: RegisterSet
    sgprs: RegisterSet


@dataclass(frozen=True, slots=True)
class _Step:
    """An instruction's effect, and whether all lanes are active before it."""

    address: int
    effect: Effect
    full: bool


def live_registers(code: MachineCode) -> dict[int, Live]:
    """Return what is live before each instruction, by address."""
    steps = {address: _steps(code, block) for address, block in code.graph.blocks.items()}
    at_start = _solve(code, steps)
    found: dict[int, Live] = {}
    sets: dict[int, RegisterSet] = {}
    for address, inside in steps.items():
        state = _behind(code, address, at_start)
        for step in reversed(inside):
            state = _before(step.effect, step.full, state)
            vgprs, sgprs = vectors(state[0] | state[1]), state[2]
            found[step.address] = Live(
                sets.setdefault(vgprs, RegisterSet(vgprs)),
                sets.setdefault(sgprs, RegisterSet(sgprs)),
            )
    return found


def _steps(code: MachineCode, block: Block) -> list[_Step]:
    executes = exec_slots(code.wave_size)
    ones = code.ones.get(block.pc, frozenset())
    found = []
    for instruction in block.instructions:
        effect = EVERYTHING if instruction.pc in code.unknown else effect_of(instruction)
        found.append(_Step(instruction.pc, effect, effect.needs_all or executes <= ones))
        ones = ones_after(instruction, ones)
    return found


def _solve(code: MachineCode, steps: Mapping[int, Sequence[_Step]]) -> dict[int, _State]:
    """Return the state at each block's start."""
    before: dict[int, list[int]] = {address: [] for address in steps}
    for address, targets in code.edges.items():
        for target in targets:
            before[target].append(address)
    states: dict[int, _State] = {}
    work = sorted(steps)
    waiting = set(work)
    while work:
        address = work.pop()
        waiting.discard(address)
        state = _behind(code, address, states)
        for step in reversed(steps[address]):
            state = _before(step.effect, step.full, state)
        if state != states.get(address, _NOTHING):
            states[address] = state
            new = [block for block in before[address] if block not in waiting]
            waiting.update(new)
            work += sorted(new)
    return states


def _behind(code: MachineCode, address: int, states: Mapping[int, _State]) -> _State:
    """Return the state after a block."""
    targets = code.edges[address]
    if _goes_anywhere(code, address):
        return _ANYTHING
    active = hidden = scalars = 0
    for target in targets:
        state = states.get(target, _NOTHING)
        active |= state[0]
        hidden |= state[1]
        scalars |= state[2]
    return active, hidden, scalars


def _goes_anywhere(code: MachineCode, address: int) -> bool:
    flow = code.graph.blocks[address].instructions[-1].traits.flow
    return flow.is_indirect and (code.hides_functions or not code.edges[address])


def _before(effect: Effect, full: bool, after: _State) -> _State:
    active, hidden, scalars = after
    change = effect.change
    if change is not ExecChange.NONE:
        # A lane that is active before may be inactive afterwards, unless EXEC only gains lanes, and
        # the other way round.
        if change is not ExecChange.GAINS:
            active, hidden = (
                active | hidden,
                (hidden if change is ExecChange.LOSES else active | hidden),
            )
        else:
            hidden |= active
    kept = ~effect.kills_all
    active = active & ~effect.kills & kept | effect.reads | effect.across
    hidden = 0 if full else hidden & kept | effect.across
    return active, hidden, scalars & ~effect.scalar_kills | effect.scalar_reads
