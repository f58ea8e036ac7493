"""A wave: what it still waits for, and when it may issue its next instruction."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from amdjit.cycles.program import COUNTERS, FIRST_SGPR, SCC, Dependency, Kind
from amdjit.isa.traits import Timing
from tests.cycles.reference.program_steps import Instruction
from tests.cycles.reference.vector_unit import NEVER, P

__all__ = ["FRONT", "Given", "Ready", "Wave", "WaveRun"]

# Kinds that no unit executes: the wave's front end deals with them.
FRONT = (Kind.IMMEDIATE, Kind.WAIT)
HIDDEN = (Kind.DELAY, Kind.WAIT_ALU, Kind.BARRIER_WAIT)


@dataclass(frozen=True)
class WaveRun:
    """What a wave does. simd: its SIMD; workgroup: whose barriers it shares; start: the first cycle
    at which it may issue; path: its instructions, by number in the program."""

    simd: int
    workgroup: int
    start: int
    path: Sequence[int]


class Given(Protocol):
    """What the simulation is told instead of predicting it."""

    def fetched(self, wave: int, step: int, cycle: int) -> int:
        """Return when the instruction is there that a wave could issue at `cycle`."""

    def accepted(self, wave: int, step: int, cycle: int) -> int:
        """Return when vector memory takes the operands that could be transferred at `cycle`."""

    def complete(self, wave: int, step: int, transferred: int) -> int:
        """Return when a memory instruction of global memory is done; transferred: when its operands
        had been sent."""

    def lds_cycles(self, wave: int, step: int) -> int:
        """Return cycles that LDS needs for an instruction."""


@dataclass(frozen=True, order=True)
class Ready:
    """A cycle before which a wave cannot issue, and the cause, as `estimate.STALLS` names it."""

    cycle: int
    cause: str


@dataclass
class Wave:
    """number: among all waves, the older ones first. step: its place in the path. next: the first
    cycle at which it may issue at all; reason: why not earlier. previous: its last instruction but
    hidden ones, at `issued`. The other fields are cycles of the last event of a kind, or of each
    register: executed, of its VALU instructions."""

    number: int
    run: WaveRun
    step: int = 0
    next: int = 0
    reason: str = "idle"
    previous: Instruction | None = None
    issued: int = NEVER
    pays_hidden: bool = False
    valu_issues: deque[int] = field(default_factory=lambda: deque(maxlen=4))
    transcendental_issues: deque[int] = field(default_factory=lambda: deque(maxlen=3))
    scalar_results: deque[int] = field(
        default_factory=lambda: deque(maxlen=P["valu scalar results"])
    )
    executed: int = NEVER
    read_sgpr: int = NEVER
    wrote_vcc: int = NEVER
    wrote_sgpr: int = NEVER
    wrote_carry: int = NEVER
    salu_wrote: int = NEVER
    salu_waited: bool = False
    scc: int = NEVER
    sources_read: int = NEVER
    registers: dict[int, int] = field(default_factory=dict)
    valu_results: dict[int, int] = field(default_factory=dict)
    slow_results: set[int] = field(default_factory=set)
    counters: tuple[list[int], ...] = field(default_factory=lambda: tuple([] for _ in COUNTERS))
    delays: list[tuple[int, int]] = field(default_factory=list)
    hidden_until: Ready = Ready(NEVER, "issue")
    at_barrier: bool = False
    barriers: int = 0

    @property
    def done(self) -> bool:
        """Whether it has issued its last instruction."""
        return self.step >= len(self.run.path)

    def front(self) -> bool:
        """Whether its last instruction needed no unit."""
        return self.previous is None or self.previous.kind in FRONT

    def constraints(self, instruction: Instruction) -> list[Ready]:
        """Return what keeps the wave itself from issuing an instruction."""
        found = [Ready(self.next, self.reason), self.hidden_until]
        kind = instruction.kind
        if kind in FRONT:
            found.append(Ready(self._front_end_free(), "issue"))
        if instruction.needs_sources:
            found.append(Ready(self.sources_read, "memory queue full"))
        if kind not in FRONT and self.pays_hidden:
            found.append(Ready(self.next + 1, "issue"))
        found += [self._delayed(condition) for place, condition in self.delays if place == 0]
        found += _BY_KIND.get(kind, _nothing)(self, instruction)
        return found

    def _front_end_free(self) -> int:
        if self.previous is None or self.front():
            return NEVER
        return self.issued + P["immediate after issue"]

    def _delayed(self, condition: int) -> Ready:
        """s_delay_alu's conditions (RDNA 4 ISA, S_DELAY_ALU)."""
        if 1 <= condition <= 4 and len(self.valu_issues) >= condition:
            return Ready(self.valu_issues[-condition] + P["delay dependency"], "VALU dependency")
        if 5 <= condition <= 7 and len(self.transcendental_issues) >= condition - 4:
            issued = self.transcendental_issues[4 - condition]
            cycle = issued + P["transcendental dependency"]
            return Ready(cycle, "transcendental dependency")
        if 9 <= condition <= 11:
            return Ready(self.issued + condition - 7, "SALU dependency")
        return Ready(NEVER, "VALU dependency")

    def valu_ready(self, instruction: Instruction) -> int:
        """Return when the execution of a VALU instruction may begin, as far as VALU results go."""
        ready = NEVER
        for register in instruction.reads:
            if register in self.valu_results:
                slow = register in self.slow_results
                after = P["transcendental dependency" if slow else "valu dependency"]
                reads_slow = slow and instruction.is_matrix
                extra = P["matrix after transcendental result"] if reads_slow else 0
                ready = max(ready, self.valu_results[register] + after + extra)
        if instruction.timing is not Timing.TRANSCENDENTAL:
            for register in instruction.writes:
                if register in self.slow_results:
                    ready = max(
                        ready, self.valu_results[register] + P["write after transcendental"]
                    )
        return ready

    def valu_executed(self, instruction: Instruction, cycle: int, at: int) -> None:
        """Note a VALU instruction that is issued at `cycle` and executed at `at`."""
        slow = instruction.timing is Timing.TRANSCENDENTAL
        self.valu_issues.append(cycle)
        if slow:
            self.transcendental_issues.append(cycle)
        self.executed = max(self.executed, at)
        self.read_sgpr = at if instruction.reads_sgpr else self.read_sgpr
        self.wrote_vcc = at if instruction.writes_vcc else self.wrote_vcc
        if instruction.writes_sgpr:
            self.wrote_sgpr = at
        if instruction.writes_carry:
            self.wrote_carry = at
        if _counts_scalar_result(instruction):
            self.scalar_results.append(at)
        for register in instruction.writes:
            self.valu_results[register] = at
            (self.slow_results.add if slow else self.slow_results.discard)(register)

    def hide(self, instruction: Instruction) -> None:
        """Pass an instruction that is not issued: s_delay_alu or s_wait_alu."""
        self._count_delays()
        branched = self.previous is not None and self.previous.kind is Kind.BRANCH
        self.pays_hidden = self.front() or branched
        if instruction.kind is Kind.DELAY:
            self.delays = [(0, instruction.delay)]
            if instruction.next_delay:
                self.delays.append((instruction.skip, instruction.next_delay))
            return
        waits = instruction.dependencies
        found = [self.hidden_until]
        done = P["valu done"]
        if Dependency.VALU_VECTOR in waits:
            found.append(Ready(self.executed + done, "VALU dependency"))
        if Dependency.VALU_SCALAR in waits:
            found.append(Ready(self.wrote_sgpr + done, "VALU dependency"))
        if Dependency.VALU_VCC in waits:
            found.append(Ready(self.wrote_vcc + done, "VALU dependency"))
        if Dependency.MEMORY_SOURCES in waits:
            found.append(Ready(self.sources_read, "memory queue full"))
        if Dependency.SALU_SCALAR in waits:
            self.salu_waited = True
        self.hidden_until = max(found)

    def _count_delays(self) -> None:
        self.delays = [(place - 1, condition) for place, condition in self.delays if place > 0]

    def salu_executed(self, instruction: Instruction, at: int) -> None:
        """Note a SALU instruction that is executed at a cycle."""
        self.scc = at if instruction.writes_scc else self.scc
        self.salu_wrote = at if instruction.writes_sgpr else self.salu_wrote

    def issue(self, instruction: Instruction, cycle: int) -> None:
        """Note that an instruction is issued."""
        self._count_delays()
        self.previous, self.issued = instruction, cycle
        self.next, self.reason = cycle + 1, "issue"
        self.pays_hidden, self.hidden_until = False, Ready(NEVER, "issue")
        if instruction.kind is Kind.SALU:
            self.salu_waited = False
            for register in instruction.writes:
                self.valu_results.pop(register, None)


def _counts_scalar_result(instruction: Instruction) -> bool:
    return instruction.writes_sgpr and instruction.timing is not Timing.PSEUDO_SCALAR


def _nothing(wave: Wave, instruction: Instruction) -> list[Ready]:
    return []


_WAITS = tuple(f"wait {name}" for name in COUNTERS)


def _wait(wave: Wave, instruction: Instruction) -> list[Ready]:
    found = []
    for counter, limit in instruction.limits:
        flying = wave.counters[counter]
        if len(flying) > limit:
            found.append(Ready(flying[len(flying) - 1 - limit], _WAITS[counter]))
    return found


def _valu(wave: Wave, instruction: Instruction) -> list[Ready]:
    found = [Ready(wave.sources_read, "memory queue full")]
    if P["salu by register"]:
        written = (
            wave.registers.get(register, NEVER)
            for register in (instruction.reads if instruction.reads_sgpr else ())
        )
        found += [Ready(cycle + P["salu to valu"], "SALU dependency") for cycle in written]
    elif instruction.uses_sgpr:
        waited = P["salu to valu"] if wave.salu_waited else P["salu done"]
        found.append(Ready(wave.salu_wrote + waited, "SALU dependency"))
    results = wave.scalar_results
    if _counts_scalar_result(instruction) and len(results) == results.maxlen:
        found.append(Ready(results[0] + P["valu done"], "VALU dependency"))
    return found


def _salu(wave: Wave, instruction: Instruction) -> list[Ready]:
    found = []
    if wave.salu_waited:
        found.append(Ready(wave.salu_wrote + P["salu done"], "SALU dependency"))
    if instruction.writes_sgpr:
        cycle = wave.read_sgpr + P["salu after valu read"]
        found.append(Ready(cycle, "VALU dependency"))
        found.append(Ready(wave.wrote_carry + P["valu done"], "VALU dependency"))
    for register in instruction.reads:
        if register >= FIRST_SGPR and register in wave.valu_results:
            cycle = wave.valu_results[register] + P["valu done"]
            found.append(Ready(cycle, "VALU dependency"))
    return found


def _branch(wave: Wave, instruction: Instruction) -> list[Ready]:
    register = instruction.condition
    if register == SCC:
        return [Ready(wave.scc + P["scc to branch"], "SALU dependency")]
    if register in wave.valu_results:
        return [Ready(wave.valu_results[register] + P["valu done"], "VALU dependency")]
    if register >= 0:
        return [Ready(wave.salu_wrote + P["scc to branch"], "SALU dependency")]
    return []


def _memory(wave: Wave, instruction: Instruction) -> list[Ready]:
    return [
        Ready(wave.executed + P["valu done"], "VALU dependency"),
        Ready(wave.salu_wrote + P["salu to memory"], "SALU dependency"),
    ]


def _scalar_memory(wave: Wave, instruction: Instruction) -> list[Ready]:
    return [Ready(wave.salu_wrote + P["salu done"], "SALU dependency")]


_BY_KIND = {
    Kind.WAIT: _wait,
    Kind.VALU: _valu,
    Kind.SALU: _salu,
    Kind.BRANCH: _branch,
    Kind.LDS: _memory,
    Kind.VECTOR_MEMORY: _memory,
    Kind.SCALAR_MEMORY: _scalar_memory,
}
