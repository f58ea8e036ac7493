"""Which memory instructions each wait is for, and which waits each instruction needs.

A dataflow analysis over the paths through the code. In flight are, for each counter and each
instruction that counts on it, the ages of its last execution and of those before it: how many
instructions that count there were issued since. `s_wait_loadcnt N` ends everything of age N and
above. A set of ages is a number with a bit for each; ages that no wait of the kernel tells apart
share the highest bit. The sets of different paths are united, so that nothing is lost where paths
meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush

from amdjit.emulator.checks.waits.counters import effect_of, lands_scc, waits_of
from amdjit.emulator.checks.waits.places import (
    BOTH,
    LDS,
    SCC,
    Paths,
    Span,
    register_operands,
    results_of,
    spans_of,
    uses_of,
)
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.instruction import Instruction
from amdjit.isa.wait_counters import WaitCounter

__all__ = ["Waits", "find_waits"]

# Where the registers of a file begin in a set of registers, which is a number with a bit for each.
_BITS = {"v.l": 0, "v.h": 1024, "s": 2048, "lds": 3072}


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of a kernel, by the addresses of instructions. Instructions without any are not
    there.

    waits_for: for each wait the instructions that may still be in flight before it, and are done
    after it: if they were executed last on any way, then on all. waited_by: the same the other way
    round. needs: for each instruction the waits by which what it reads or overwrites is ready.
    """

    waits_for: Mapping[int, tuple[int, ...]]
    waited_by: Mapping[int, tuple[int, ...]]
    needs: Mapping[int, tuple[int, ...]]


def find_waits(graph: Graph) -> Waits:
    """Return the waits of a kernel, and what they are for."""
    search = _Search(graph)
    search.run()
    waited_by: dict[int, list[int]] = {}
    for wait, loads in search.waits_for.items():
        for load in loads:
            waited_by.setdefault(load, []).append(wait)
    return Waits(
        {pc: loads for pc, loads in sorted(search.waits_for.items()) if loads},
        {pc: tuple(sorted(waits)) for pc, waits in sorted(waited_by.items())},
        {pc: waits for pc, waits in sorted(search.needs.items()) if waits},
    )


# The ages of an instruction's last execution, and of those before it.
_Ages = tuple[int, int]
# What an instruction loaded: the registers that still hold it, and the waits that ended it.
_Value = tuple[int, frozenset[int]]


@dataclass(slots=True)
class _State:
    """in_flight: by counter and instruction. values: by instruction. held: all of their registers,
    and maybe more."""

    in_flight: dict[WaitCounter, dict[int, _Ages]] = field(default_factory=dict)
    values: dict[int, _Value] = field(default_factory=dict)
    held: int = 0

    def copy(self) -> _State:
        flights = {counter: dict(flights) for counter, flights in self.in_flight.items()}
        return _State(flights, dict(self.values), self.held)

    def add(self, other: _State) -> bool:
        """Add the state of another way; return whether that changed anything."""
        changed = False
        for counter, flights in other.in_flight.items():
            known = self.in_flight.setdefault(counter, {})
            for pc, ages in flights.items():
                mine = known.get(pc, (0, 0))
                if mine != ages:
                    both = known[pc] = mine[0] | ages[0], mine[1] | ages[1]
                    changed |= both != mine
        for pc, value in other.values.items():
            old = self.values.get(pc, _NO_VALUE)
            if old != value:
                united = self.values[pc] = old[0] | value[0], old[1] | value[1]
                changed |= united != old
        self.held |= other.held
        return changed


_NO_VALUE: _Value = (0, frozenset())


@dataclass(frozen=True, slots=True)
class _Step:
    """What one instruction means to the search."""

    instruction: Instruction
    uses: int
    """Registers that must be ready before it."""
    writes: int
    """Registers that it overwrites."""
    results: int
    """Registers that it writes when it ends."""
    counts: tuple[WaitCounter, ...]
    waits: Mapping[WaitCounter, int]


class _Search:
    def __init__(self, graph: Graph) -> None:
        self.waits_for: dict[int, tuple[int, ...]] = {}
        self.needs: dict[int, tuple[int, ...]] = {}
        self._graph = graph
        self._paths = Paths(graph)
        self._steps = {
            pc: [_step(item) for item in block.instructions] for pc, block in graph.blocks.items()
        }
        self._by_pc = {
            step.instruction.pc: step.instruction
            for steps in self._steps.values()
            for step in steps
        }
        self._oldest: dict[WaitCounter, int] = {}
        for steps in self._steps.values():
            for step in steps:
                for counter, left in step.waits.items():
                    self._oldest[counter] = max(left, self._oldest.get(counter, 0))

    def run(self) -> None:
        states = {self._graph.entry: _State()}
        work = [self._graph.entry]
        queued = set(work)
        while work:
            pc = heappop(work)
            queued.discard(pc)
            state = states[pc].copy()
            for step in self._steps[pc]:
                self._pass(step, state)
            for successor in self._paths.after(self._graph.blocks[pc]):
                known = states.get(successor)
                if known is None:
                    states[successor] = state.copy()
                elif not known.add(state):
                    continue
                if successor not in queued:
                    queued.add(successor)
                    heappush(work, successor)

    def _pass(self, step: _Step, state: _State) -> None:
        """Change a state to the one after an instruction, and note its facts. The last visit of a
        block has the state of all paths to it, and therefore the facts that remain."""
        if step.waits or step.instruction.traits.waits_at_barrier:
            ended = self._ended(step, state)
            self.waits_for[step.instruction.pc] = tuple(sorted(ended))
        touched = step.uses | step.writes
        needed: set[int] = set()
        touching = list(state.values.items()) if touched & state.held else []
        for pc, (registers, waits) in touching:
            if not registers & touched:
                continue
            if registers & step.uses:
                needed |= waits
            if registers & ~step.writes:
                state.values[pc] = registers & ~step.writes, waits
            else:
                del state.values[pc]
        state.held &= ~step.writes
        self.needs[step.instruction.pc] = tuple(sorted(needed))
        if step.counts:
            self._issue(step, state)

    def _ended(self, step: _Step, state: _State) -> set[int]:
        """End what an instruction waits for; return the instructions that it is for."""
        ended: set[int] = set()
        wait = step.instruction.pc
        for counter, left in step.waits.items():
            if left and not counter.in_order:
                continue
            ended |= _land(state, counter, left, wait, list(state.in_flight.get(counter, ())))
        if step.instruction.traits.waits_at_barrier:
            for counter, flights in state.in_flight.items():
                signals = [pc for pc in flights if lands_scc(step.instruction, self._by_pc[pc])]
                ended |= _land(state, counter, 0, wait, signals)
        return ended

    def _issue(self, step: _Step, state: _State) -> None:
        pc = step.instruction.pc
        for counter in step.counts:
            if counter not in self._oldest and not step.results:
                continue
            flights = state.in_flight.setdefault(counter, {})
            oldest = self._oldest.get(counter, 0)
            if oldest:
                top, low = 1 << oldest, (1 << oldest) - 1
                for other, (last, older) in flights.items():
                    last = (last & low) << 1 | last & top
                    flights[other] = last, (older & low) << 1 | older & top
            last, older = flights.get(pc, (0, 0))
            flights[pc] = 1, older | last
        if step.results:
            state.values[pc] = step.results, frozenset()
            state.held |= step.results


def _land(
    state: _State, counter: WaitCounter, left: int, wait: int, pcs: Iterable[int]
) -> set[int]:
    """End instructions of at least an age; return those for which the wait is."""
    flights = state.in_flight.get(counter, {})
    below = (1 << left) - 1
    ended = set()
    for pc in pcs:
        last, older = flights[pc]
        if last >> left and pc in state.values:
            registers, waits = state.values[pc]
            state.values[pc] = registers, waits | {wait}
        if older >> left or (last >> left and not last & below):
            ended.add(pc)
        if last & below or older & below:
            flights[pc] = last & below, older & below
        else:
            del flights[pc]
    return ended


def _step(instruction: Instruction) -> _Step:
    effect = effect_of(instruction)
    results = _registers(results_of(instruction, effect)) if effect.counts else 0
    return _Step(
        instruction,
        _registers(span for span, _ in uses_of(instruction)),
        writes=results & ~_LDS if effect.fills else _written(instruction),
        results=results,
        counts=effect.counts,
        waits=waits_of(instruction),
    )


def _written(instruction: Instruction) -> int:
    """Return the registers whose values end with an instruction; a barrier's signal tells others of
    what was written to LDS."""
    traits = instruction.traits
    found = _SCC if traits.writes_scc else 0
    if traits.barrier is not None and traits.barrier.signals:
        found |= _LDS
    for written, _, register in register_operands(instruction):
        if written:
            halves = BOTH if register.half is None else (BOTH[register.half],)
            found |= _registers(spans_of(register, halves))
    return found


def _registers(spans: Iterable[Span]) -> int:
    found = 0
    for span in spans:
        ones = (1 << span.count) - 1
        for file in span.files:
            found |= ones << (_BITS[file] + span.first)
    return found


_LDS = _registers([Span((LDS[0],), LDS[1])])
_SCC = _registers([Span((SCC[0],), SCC[1])])
