"""The vector ALU of a SIMD: the queue between issue and execution, and the units behind it.

An instruction leaves its wave into a queue of eight places, moves one place a cycle towards the
units, and stops behind the one before it. Instructions of all waves are executed in the order of
their issue.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amdjit.cycles.families import VALUES
from amdjit.cycles.parameters import passes_name
from amdjit.isa.traits import Timing
from tests.cycles.reference.program_steps import Instruction

__all__ = ["NEVER", "Executed", "VectorUnit"]

NEVER = -(10**9)
# Those of RDNA 4, or of the family that `simulate` was told.
P = {name: int(value) for name, value in VALUES.items()}
PLACES = P["valu queue"]


@dataclass(frozen=True)
class Executed:
    """The cycle at which an instruction's last pass begins, and that at which it gives up its place
    in the queue."""

    at: int
    leaves: int


@dataclass
class VectorUnit:
    """issued, leaves: cycles of the instructions so far. free, matrix_free, transcendental_free:
    the first cycle at which a pass of an ordinary instruction, of a WMMA and of a slow unit may
    begin. last_transcendental: the number of the last one, -1 without."""

    issued: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    pace: int = 1
    free: int = NEVER
    matrix_free: int = NEVER
    transcendental_free: int = NEVER
    last_transcendental: int = -1
    last: int = NEVER
    last_wave: int = -1

    def left(self, number: int) -> int:
        """Return when an instruction has left the queue; those before the first never came."""
        return self.leaves[number] if number >= 0 else NEVER

    def moved(self, number: int, places: int) -> int:
        """Return when an instruction has moved `places` places in the queue."""
        return max(self.issued[number] + places, self.left(number - PLACES + places))

    def accepts(self, instruction: Instruction, wave: int) -> int:
        """Return the first cycle at which the queue takes a wave's instruction."""
        number = len(self.issued)
        if number == 0:
            return NEVER
        earliest = max(self.issued[-1] + 1, self.left(number - PLACES))
        # An instruction of several passes enters the queue over as many cycles.
        if self.pace > 1:
            steps = min(self.pace, PLACES) - 1
            own = 1 if wave == self.last_wave else 0
            moved = self.moved(number - 1, steps) + own
            earliest = max(earliest, moved, self.issued[-1] + self.pace)
        if instruction.timing is not Timing.VALU and self.last_transcendental >= 0:
            steps = P["transcendental moves"]
            earliest = max(earliest, self.moved(self.last_transcendental, steps) + 1)
        return earliest

    def execute(self, instruction: Instruction, cycle: int, sources: int, wave: int) -> Executed:
        """Take a wave's instruction that is issued at `cycle`; its sources are ready at
        `sources`."""
        start = max(
            cycle + self._latency(instruction, cycle), self._unit_free(instruction), sources
        )
        at = self._occupy(instruction, start)
        early = at - 1 if instruction.is_matrix else at - P["valu lead"]
        leaves = max(early, self.left(len(self.issued) - 1))
        self.issued.append(cycle)
        self.leaves.append(leaves)
        self.last, self.last_wave = at, wave
        return Executed(at, leaves)

    def _latency(self, instruction: Instruction, cycle: int) -> int:
        if instruction.is_matrix and self.last < cycle + 5:
            return P["matrix latency"]
        if instruction.reads_vgpr:
            return P["valu latency"]
        scalar = "valu latency, scalar sources" if instruction.reads_sgpr else None
        return P[scalar or "valu latency, constants"]

    def _unit_free(self, instruction: Instruction) -> int:
        if instruction.is_matrix:
            return max(self.free, self.matrix_free)
        if instruction.timing is Timing.VALU:
            return self.free
        return max(self.free, self.transcendental_free)

    def _occupy(self, instruction: Instruction, start: int) -> int:
        """Return the cycle of the last pass."""
        timing, number = instruction.timing, len(self.issued)
        passes = P[passes_name(timing)] + instruction.shares_bank * P["matrix bank conflict"]
        at = start + passes - 1
        self.pace = 1
        if instruction.is_matrix:
            self.free = self.matrix_free = at + 1
            return at
        if timing is Timing.TRANSCENDENTAL:
            self.last_transcendental = number
            at = start
            self.transcendental_free = start + passes
            self.matrix_free = max(self.matrix_free, at + P["matrix after transcendental"])
        elif timing is Timing.DOUBLE:
            at = start + P["double shown"]
            self.pace = passes
            self.free = start + passes
            self.matrix_free = max(self.matrix_free, at + P["matrix after transcendental"])
            return at
        elif timing is Timing.PSEUDO_SCALAR:
            self.matrix_free = max(self.matrix_free, at + P["matrix after pseudo-scalar"])
        else:
            self.pace = passes
            self.matrix_free = max(self.matrix_free, at + P["matrix after valu"])
        self.free = at + 1
        return at
