"""Registers that are used while a load into them may still be in flight: a missing `s_wait_*`.

The emulator completes every instruction before the next one starts, so that this code computes the
right result here, and now and then a wrong one on hardware. This is a dataflow analysis of the
machine code; nothing has to run.

The state before an instruction maps what is in flight to its age: how many instructions that count
on the same counter have been issued since, on the path with the fewest. `s_wait_loadcnt N` lands
everything of age N and above. Where paths meet, the lowest age counts.

Write-after-read needs no wait on gfx12: memory instructions read their registers under a hardware
interlock (RDNA 4 ISA, 5.6: VM_VSRC; LLVM waits for none either, exports excepted).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amdjit.emulator.checks.waits.counters import (
    effect_of,
    lands_in_order,
    lands_scc,
    waits_of,
)
from amdjit.emulator.checks.waits.places import (
    BOTH,
    FIRST_ACCUMULATION,
    LDS,
    SCC,
    Paths,
    Place,
    results_of,
    uses_of,
)
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import SCC_SLOT, VCC_LO
from amdjit.isa.text import disassemble
from amdjit.isa.wait_counters import WaitCounter
from amdjit.late_methods import dataclass

_OLDEST = 64  # what the widest counter holds


@dataclass(frozen=True, slots=True)
class _Flight:
    """The youngest load into a place on a counter, and how many were issued after it."""

    age: int
    pc: int


_State = dict[tuple[Place, WaitCounter], _Flight]


@dataclass(frozen=True, slots=True)
class MissingWait:
    """A use of a register, or a barrier, that comes before what is in flight has landed, or an
    instruction that follows another one too soon."""

    pc: int
    """Where the use is."""
    text: str
    """The text of the instruction that uses the register."""
    register: str
    """v7, s4, vcc_lo; "" for writes to LDS before a barrier, and where none is concerned."""
    overwrites: bool
    """The use is a write."""
    load_pc: int
    """Where the instruction in flight is."""
    load_text: str
    """Its text."""
    wait: str
    """What is missing before the use, for example `s_wait_loadcnt 0x0` or `s_nop 4`."""
    under_way: str = "loading"
    """What the instruction in flight does to the register."""
    hazard: str = ""
    """The hazard's name, if no wait counter counts what is under way."""

    @property
    def message(self) -> str:
        """One sentence for people, without file and line."""
        if not self.register and self.hazard:
            return f"{self.text} follows {self.load_text} too soon: {self.wait} is missing"
        if not self.register:
            return (
                f"the barrier is signalled while {self.load_text} may not have reached LDS: "
                f"{self.wait} is missing"
            )
        verb = "overwritten" if self.overwrites else "read"
        if self.register == "scc":
            return (
                f"scc is {verb} while {self.load_text} may still be writing it: {self.wait} is "
                "missing"
            )
        return (
            f"{self.register} is {verb} while {self.load_text} may still be {self.under_way} it: "
            f"{self.wait} is missing"
        )


def missing_waits(graph: Graph) -> tuple[MissingWait, ...]:
    """Return the uses that lack a wait, one for each instruction and load, in the order of
    addresses."""
    analysis = _Analysis(graph)
    found: dict[tuple[int, int], MissingWait] = {}
    for pc, state in sorted(analysis.solve().items()):
        for finding in analysis.findings(graph.blocks[pc], dict(state)):
            found.setdefault((finding.pc, finding.load_pc), finding)
    return tuple(found[key] for key in sorted(found))


class _Analysis:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        blocks = graph.blocks.values()
        self._by_pc = {item.pc: item for block in blocks for item in block.instructions}
        self._paths = Paths(graph)

    def solve(self) -> dict[int, _State]:
        """Return the state at each reachable block's start."""
        states: dict[int, _State] = {self._graph.entry: {}}
        work = [self._graph.entry]
        while work:
            block = self._graph.blocks[work.pop()]
            state = dict(states[block.pc])
            for instruction in block.instructions:
                _issue(instruction, state, self._by_pc)
            for successor in self._paths.after(block):
                if _merge(states, successor, state):
                    work.append(successor)
        return states

    def findings(self, block: Block, state: _State) -> Iterator[MissingWait]:
        """Yield what is wrong in a block that starts in `state`."""
        for instruction in block.instructions:
            if state:
                yield from self._early_uses(instruction, state)
            _issue(instruction, state, self._by_pc)

    def _early_uses(self, instruction: Instruction, state: _State) -> Iterator[MissingWait]:
        for place, overwrites, counter, flight in _early(instruction, state):
            yield self._finding(instruction, place, overwrites, counter, flight)

    def _finding(
        self,
        instruction: Instruction,
        place: Place,
        overwrites: bool,
        counter: WaitCounter,
        flight: _Flight,
    ) -> MissingWait:
        left = flight.age if counter.in_order else 0
        text = instruction.opcode.instruction_set.wait_counters.text
        wait = text.format(counter=counter.name, left=left)
        load = disassemble(self._by_pc[flight.pc])
        use = disassemble(instruction)
        return MissingWait(
            instruction.pc,
            use,
            register=_name(place),
            overwrites=overwrites,
            load_pc=flight.pc,
            load_text=load,
            wait=wait,
        )


def _name(place: Place) -> str:
    file, number = place
    if place == LDS:
        return ""
    if file in BOTH:
        return f"v{number}" if number < FIRST_ACCUMULATION else f"a{number - FIRST_ACCUMULATION}"
    if number < VCC_LO:
        return f"s{number}"
    return {VCC_LO: "vcc_lo", VCC_LO + 1: "vcc_hi", SCC_SLOT: "scc"}.get(
        number, f"scalar register {number}"
    )


def _merge(states: dict[int, _State], target: int, new: _State) -> bool:
    """Add a path's state to a block's; return whether that changed it."""
    old = states.get(target)
    if old is None:
        states[target] = dict(new)
        return True
    changed = False
    for key, flight in new.items():
        known = old.get(key)
        if known is None or (flight.age, flight.pc) < (known.age, known.pc):
            old[key] = flight
            changed = True
    return changed


def _early(
    instruction: Instruction, state: _State
) -> Iterator[tuple[Place, bool, WaitCounter, _Flight]]:
    """Yield each (place, whether it is only written, counter, flight) that an instruction meets too
    early."""
    landed = _waited(instruction, state)
    for span, overwrites in uses_of(instruction):
        for place in span.places():
            for counter in instruction.opcode.instruction_set.wait_counters.counters:
                flight = landed.get((place, counter))
                if flight and not (overwrites and lands_in_order(instruction, counter)):
                    yield place, overwrites, counter, flight


def _waited(instruction: Instruction, state: _State) -> _State:
    """Return what is still in flight after an instruction's waits."""
    waits = waits_of(instruction)
    if not waits:
        return state
    return {
        key: flight
        for key, flight in state.items()
        if not _landed(key[1], flight, waits.get(key[1]))
    }


def _landed(counter: WaitCounter, flight: _Flight, left: int | None) -> bool:
    if left is None:
        return False
    return flight.age >= left if counter.in_order else left == 0


def _issue(instruction: Instruction, state: _State, by_pc: Mapping[int, Instruction]) -> None:
    """Change a state to the one after an instruction. A load that is used too early is reported
    only there."""
    if state:
        reported = {flight.pc for _, _, _, flight in _early(instruction, state)}
        for key in [key for key, flight in state.items() if flight.pc in reported]:
            del state[key]
    left = _waited(instruction, state)
    if len(left) != len(state):
        state.clear()
        state.update(left)
    if instruction.traits.barrier is not None:
        _land_scc(instruction, state, by_pc)
    effect = effect_of(instruction)
    for key, flight in list(state.items()):
        if key[1] in effect.counts and flight.age < _OLDEST:
            state[key] = _Flight(flight.age + 1, flight.pc)
    for span in results_of(instruction, effect):
        for place in span.places():
            for counter in effect.counts:
                state[place, counter] = _Flight(0, instruction.pc)


def _land_scc(instruction: Instruction, state: _State, by_pc: Mapping[int, Instruction]) -> None:
    for key in [key for key in state if key[0] == SCC]:
        if lands_scc(instruction, by_pc[state[key].pc]):
            del state[key]
