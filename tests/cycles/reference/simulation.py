"""The cycle model of the waves of a workgroup processor, in plain Python.

Each wave issues its instructions in order. In every step the instruction that can be issued
earliest is issued, the oldest wave's if several can; what that changes is noted, and so on. A SIMD
issues one instruction of each kind a cycle, from different waves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from amdjit.cycles.families import VALUES
from amdjit.cycles.program import COUNTERS, Kind
from amdjit.isa.traits import Timing
from tests.cycles.reference.program_steps import Instruction
from tests.cycles.reference.transfers import TransferPath, TransferQueue
from tests.cycles.reference.vector_unit import NEVER, P, VectorUnit
from tests.cycles.reference.waves import FRONT, HIDDEN, Given, Ready, Wave, WaveRun

__all__ = ["Issue", "simulate"]

DS, KM = COUNTERS.index("dscnt"), COUNTERS.index("kmcnt")
TRANSFERS = (Kind.LDS, Kind.VECTOR_MEMORY)
SALU_PLACES = P["salu queue"]


@dataclass(frozen=True)
class Issue:
    """An instruction that was issued: its step of the wave's path, the cycle, what it waited for,
    and when a VALU instruction was executed or operands were transferred."""

    step: int
    cycle: int
    cause: str
    executed: int | None = None


def lds_cycles(instruction: Instruction) -> int:
    """Return how long LDS is busy with an instruction, if no banks conflict."""
    name = "lds halves a dword" if instruction.result else "lds halves a stored dword"
    dwords = instruction.result or instruction.transfer - 1
    return 1 if dwords <= 1 else dwords * P[name] // 2


@dataclass
class _Simd:
    vector: VectorUnit = field(default_factory=VectorUnit)
    queues: dict[Kind, TransferQueue] = field(
        default_factory=lambda: {kind: TransferQueue() for kind in TRANSFERS}
    )
    ports: dict[Kind, int] = field(default_factory=dict)
    salu: list[int] = field(default_factory=list)
    salu_free: int = NEVER


@dataclass
class _Unit:
    """A compute unit: what its two SIMDs share."""

    path: TransferPath = field(default_factory=TransferPath)
    lds_free: int = NEVER

    def lds_serve(self, instruction: Instruction, end: int, cycles: int) -> int:
        """Return when LDS is done with an instruction whose operands are there at `end`."""
        latency = P["lds load" if instruction.result else "lds store"]
        done = max(end + latency, self.lds_free)
        self.lds_free = done + cycles
        return done + cycles - 1


@dataclass
class _Workgroup:
    waves: list[Wave] = field(default_factory=list)
    signals: int = 0
    last: int = NEVER
    releases: list[int] = field(default_factory=list)


class Simulation:
    """program: all instructions. given: what is not predicted."""

    def __init__(
        self,
        program: Sequence[Instruction],
        runs: Sequence[WaveRun],
        given: Given,
    ) -> None:
        self.program = program
        self.given = given
        self.waves = [Wave(number, run, next=run.start) for number, run in enumerate(runs)]
        self.simds = {run.simd: _Simd() for run in runs}
        self.units = {run.simd // 2: _Unit() for run in runs}
        self.groups: dict[int, _Workgroup] = {}
        for wave in self.waves:
            self.groups.setdefault(wave.run.workgroup, _Workgroup()).waves.append(wave)
        self.issues: list[list[Issue]] = [[] for _ in runs]

    def run(self) -> list[list[Issue]]:
        """Return what each wave issued, when and why not earlier."""
        for wave in self.waves:
            self._pass_hidden(wave)
        while True:
            waiting = [wave for wave in self.waves if not wave.done and not wave.at_barrier]
            if not waiting:
                return self.issues
            ready = {wave.number: self._ready(wave) for wave in waiting}
            wave = min(waiting, key=lambda wave: (ready[wave.number].cycle, wave.number))
            self._issue(wave, ready[wave.number])

    def _ready(self, wave: Wave) -> Ready:
        """Return when a wave can issue its next instruction."""
        instruction = self.program[wave.run.path[wave.step]]
        simd = self.simds[wave.run.simd]
        own = max(wave.constraints(instruction))
        own = Ready(self.given.fetched(wave.number, wave.step, own.cycle), own.cause)
        ready = max([own, *self._port(simd, instruction, wave)])
        return Ready(ready.cycle + self._shown_late(instruction), ready.cause)

    @staticmethod
    def _shown_late(instruction: Instruction) -> int:
        """A trace shows s_nop and s_sleep when they are over."""
        return max(0, instruction.idle - 1) if instruction.kind is Kind.IMMEDIATE else 0

    def _port(self, simd: _Simd, instruction: Instruction, wave: Wave) -> list[Ready]:
        kind = instruction.kind
        if kind is Kind.VALU:
            return [Ready(simd.vector.accepts(instruction, wave.number), "unit busy")]
        if kind in FRONT:
            return []
        found = [Ready(simd.ports.get(kind, NEVER) + 1, "other wave issues")]
        if kind is Kind.SALU and len(simd.salu) >= SALU_PLACES:
            found.append(Ready(simd.salu[-SALU_PLACES] + 1, "unit busy"))
        if kind in TRANSFERS:
            found.append(Ready(simd.queues[kind].accepts(), "memory queue full"))
        return found

    def _issue(self, wave: Wave, ready: Ready) -> None:
        step, cycle = wave.step, ready.cycle
        instruction = self.program[wave.run.path[step]]
        simd = self.simds[wave.run.simd]
        simd.ports[instruction.kind] = cycle
        wave.issue(instruction, cycle)
        executed = None
        if instruction.kind is Kind.VALU:
            executed = self._valu(wave, simd, instruction, cycle)
        elif instruction.kind is Kind.SALU:
            self._salu(wave, simd, instruction, cycle)
        elif instruction.kind in TRANSFERS:
            executed = self._transfer(wave, simd, instruction, cycle)
        elif instruction.kind is Kind.SCALAR_MEMORY:
            self._count(wave, instruction, self.given.complete(wave.number, step, cycle))
        else:
            self._front(wave, instruction, cycle)
        self.issues[wave.number].append(Issue(step, cycle, ready.cause, executed))
        wave.step += 1
        self._pass_hidden(wave)

    def _pass_hidden(self, wave: Wave) -> None:
        """Pass instructions that have no issue of their own; the wave may stop at a barrier."""
        while not wave.done and not wave.at_barrier:
            instruction = self.program[wave.run.path[wave.step]]
            if instruction.kind not in HIDDEN:
                return
            if instruction.kind is Kind.BARRIER_WAIT:
                self._arrive(wave)
            else:
                wave.hide(instruction)
            wave.step += 1

    def _valu(self, wave: Wave, simd: _Simd, instruction: Instruction, cycle: int) -> int:
        ready = wave.valu_ready(instruction)
        executed = simd.vector.execute(instruction, cycle, ready, wave.number)
        wave.valu_executed(instruction, cycle, executed.at)
        # A wave goes on when its instruction has left the last place of the queue.
        wave.next = max(wave.next, simd.vector.moved(len(simd.vector.issued) - 1, 1))
        return executed.at

    def _salu(self, wave: Wave, simd: _Simd, instruction: Instruction, cycle: int) -> None:
        start = max(cycle + P["salu latency"], simd.salu_free)
        for register in instruction.reads:
            start = max(start, wave.registers.get(register, NEVER) + P["salu dependency"])
        for register in instruction.writes:
            wave.registers[register] = start
        wave.salu_executed(instruction, start)
        simd.salu.append(start)
        simd.salu_free = start + (2 if instruction.timing is Timing.SALU_MULTIPLY else 1)

    def _transfer(self, wave: Wave, simd: _Simd, instruction: Instruction, cycle: int) -> int:
        unit, kind = self.units[wave.run.simd // 2], instruction.kind
        path, dwords = unit.path, instruction.transfer
        first = max(cycle + P["transfer start"], path.free)
        if kind is Kind.LDS:
            cycles = self._lds_cycles(wave, instruction)
            first = max(first, unit.lds_free + cycles - P["lds backlog"])
            done = unit.lds_serve(instruction, first + dwords, cycles)
        else:
            first = self.given.accepted(wave.number, wave.step, first)
            done = self.given.complete(wave.number, wave.step, first + dwords)
        path.free = first + dwords
        simd.queues[kind].add(first, dwords)
        wave.sources_read = max(wave.sources_read, first + dwords + P["transfer done"])
        self._count(wave, instruction, done)
        return first

    def _lds_cycles(self, wave: Wave, instruction: Instruction) -> int:
        """Return how long LDS is busy with an instruction."""
        given = self.given.lds_cycles(wave.number, wave.step)
        return max(given, lds_cycles(instruction))

    def _count(self, wave: Wave, instruction: Instruction, done: int) -> None:
        for counter in instruction.counted:
            flying = wave.counters[counter]
            if counter == KM:
                done = max([done, *flying[-1:]])
            elif flying:
                done = max(done, flying[-1])
            flying.append(done)

    def _front(self, wave: Wave, instruction: Instruction, cycle: int) -> None:
        kind = instruction.kind
        if kind is Kind.BRANCH:
            path, step = wave.run.path, wave.step
            taken = step + 1 < len(path) and path[step + 1] != path[step] + 1
            name = "branch taken" if taken else "branch not taken"
            wave.next, wave.reason = cycle + P[name], "branch"
        elif kind in (Kind.BARRIER_SIGNAL, Kind.BARRIER):
            wave.next = cycle + P["barrier signal"]
            self._signal(wave, cycle)
            if kind is Kind.BARRIER:
                self._arrive(wave)

    def _signal(self, wave: Wave, cycle: int) -> None:
        group = self.groups[wave.run.workgroup]
        group.signals += 1
        group.last = max(group.last, cycle)
        self._complete(group)

    def _arrive(self, wave: Wave) -> None:
        """Pass a barrier that is complete, or stop at it."""
        group = self.groups[wave.run.workgroup]
        if wave.barriers < len(group.releases):
            released = group.releases[wave.barriers]
            wave.barriers += 1
            if released > wave.next:
                wave.next, wave.reason = released, "barrier"
        else:
            wave.at_barrier = True

    def _complete(self, group: _Workgroup) -> None:
        """Complete a barrier if all waves that are left have signalled."""
        left = sum(not wave.done for wave in group.waves)
        if group.signals < left:
            return
        group.releases.append(group.last + P["barrier"])
        group.signals = 0
        for wave in group.waves:
            if wave.at_barrier:
                wave.at_barrier = False
                self._arrive(wave)
                self._pass_hidden(wave)


def simulate(
    program: Sequence[Instruction],
    runs: Sequence[WaveRun],
    given: Given,
    values: Mapping[str, float] = VALUES,
) -> list[list[Issue]]:
    """Simulate waves, the older ones first; return the instructions that each issued. values: of
    the parameters, by name."""
    P.update((name, int(value)) for name, value in values.items())
    return Simulation(program, runs, given).run()
