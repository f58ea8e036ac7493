"""Recorded runs of kernels, as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from amdjit.cycles.families import family_of
from amdjit.cycles.program import CDNA, QUANTUM, Kind, ProgramTable, Step
from amdjit.target import Target

__all__ = ["FRONT", "HIDDEN", "MEMORY", "NEVER", "Given", "Place", "Trace", "TracedWave"]

# A wave and a step of its path.
Place = tuple[int, int]

HIDDEN = (Kind.DELAY, Kind.WAIT_ALU, Kind.BARRIER_WAIT)
FRONT = (Kind.IMMEDIATE, Kind.WAIT)
MEMORY = (Kind.VECTOR_MEMORY, Kind.LDS)
NEVER = -(10**9)


@dataclass(frozen=True)
class TracedWave:
    """A wave of the traced SIMD. path: its instructions, by number in the program, those without an
    issue of their own included. measured: the cycle of each issue, None where there is none.
    workgroup: whose barriers it shares. simd: 0 for the traced one, where there is one. refused:
    the steps that the trace marks as stalled at their issue (gfx950)."""

    slot: int
    start: int
    workgroup: int
    path: tuple[int, ...]
    measured: tuple[int | None, ...]
    simd: int = 0
    refused: frozenset[int] = frozenset()


@dataclass
class Given:
    """What the model is told. latency: cycles from the end of a transfer, of a scalar load from its
    issue, to its end. not_before: cycles before which an instruction cannot be issued; accepted:
    before which memory does not take its operands. cycles: how many cycles of the waves that is, by
    cause."""

    latency: dict[Place, int] = field(default_factory=dict)
    not_before: dict[Place, int] = field(default_factory=dict)
    transfer_not_before: dict[Place, int] = field(default_factory=dict)
    cycles: Counter[str] = field(default_factory=Counter)

    def fetched(self, wave: int, step: int, cycle: int) -> int:
        """Return when an instruction is there that a wave could issue at `cycle`."""
        return max(cycle, self.not_before.get((wave, step), cycle))

    def accepted(self, wave: int, step: int, cycle: int) -> int:
        """Return when memory takes operands that could be transferred at `cycle`."""
        return max(cycle, self.transfer_not_before.get((wave, step), cycle))

    def complete(self, wave: int, step: int, transferred: int) -> int:
        """Return when a memory instruction is done whose operands had been sent."""
        return transferred + self.latency.get((wave, step), 0)

    def lds_cycles(self, wave: int, step: int) -> int:
        """Bank conflicts: a trace does not show addresses."""
        return 1


@dataclass(frozen=True)
class Trace:
    """A recorded run of a kernel. neighbours: waves that stand for what the neighbouring SIMD sends
    to LDS and memory on the path that both share; they issue when the trace says so. missing:
    sentences that say what could not be used."""

    name: str
    kernel: str
    target: Target
    texts: tuple[str, ...]
    table: ProgramTable
    waves: tuple[TracedWave, ...]
    neighbours: tuple[TracedWave, ...]
    executions: Mapping[Kind, tuple[int, ...]] = field(repr=False)
    neighbour_executions: Mapping[Kind, tuple[int, ...]] = field(repr=False)
    base: int
    missing: tuple[str, ...]
    given: Given = field(default_factory=Given, repr=False)

    @property
    def values(self) -> Mapping[str, float]:
        """The model's parameters for the processor, by name."""
        return family_of(self.target).values

    @property
    def quantum(self) -> int:
        """The cycles of what the simulation counts."""
        return QUANTUM if self.table.family == CDNA else 1

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self.target.wave_size

    def kind(self, index: int) -> Kind:
        """Return how an instruction leaves its wave."""
        return Kind(int(self.table.steps[index][Step.KIND]))

    def issues(self) -> Iterator[tuple[Place, int, int]]:
        """Yield the place, the instruction and the cycle of each issue of each wave."""
        for number, wave in enumerate(self.waves):
            for step, (index, cycle) in enumerate(zip(wave.path, wave.measured, strict=True)):
                if cycle is not None:
                    yield (number, step), index, cycle

    @property
    def first(self) -> int:
        """The first cycle of any wave."""
        return min((wave.start for wave in self.waves), default=0)

    @property
    def last(self) -> int:
        """The last cycle of any wave."""
        return max((cycle for _, _, cycle in self.issues()), default=0)
