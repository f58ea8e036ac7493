"""What an analysis of hazards remembers of a row on the way through the code.

A mark is an instruction that did what a row begins with. It has an age, what has passed since, on
the path with the fewest; the registers for which it still counts; and for each wait and `s_nop` on
the way the age that it would have without it, where that is less. The last says which of them are
needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from amdjit.emulator.checks.waits.acts import Act, Step
from amdjit.emulator.checks.waits.hazard_rows import Clock, End, Row
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Idle, Immediate, Unit

__all__ = [
    "GONE",
    "Hit",
    "Key",
    "Mark",
    "Marks",
    "Rule",
    "Timed",
    "Without",
    "hit_of",
    "is_nop",
    "is_pause",
    "merged",
    "states_of",
    "waited_by",
    "without_registers",
]

# The age of what has ended.
GONE = 1 << 20
# The address of the instruction, and how far a row that is more than a pair has come.
Key = tuple[int, Hashable]
Without = Mapping[int, int]
Mark = tuple[int, int, Without]
Marks = dict[Key, Mark]
_NOTHING: Without = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Timed:
    """An instruction with what counts of it.

    does: the registers of each act that a row knows, without those of none. waited: what a wait of
    the ALUs ends. states: its wait states. is_pause: whether it is there for its time or for what
    it waits for alone. is_vague: whether it need not use the registers that it may use.
    """

    step: Step
    does: Mapping[Act, int]
    ends: End
    waited: End
    states: int
    is_pause: bool
    is_vague: bool = False

    @property
    def pc(self) -> int:
        """Its address."""
        return self.step.instruction.pc


@dataclass(frozen=True, slots=True)
class Hit:
    """A use that comes too early, or that came late enough because of waits.

    key: the mark. registers: those of both. missing: how much has to pass in addition, 0 if nothing
    is missing. needs: for each wait on the way how much of it is needed, perhaps more than it is.
    """

    key: Key
    registers: int
    missing: int
    needs: Without


class Rule:
    """A row, applied."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.most = row.states

    def uses(self, timed: Timed) -> int:
        """Return the registers with which an instruction may come too early."""
        return timed.does.get(self.row.then, 0)

    def hits(self, timed: Timed, marks: Marks, steps: Mapping[int, Step]) -> Iterator[Hit]:
        """Yield what an instruction that `uses` something does too early, or just in time."""
        uses, row = self.uses(timed), self.row
        for key, (age, registers, without) in marks.items():
            both = uses & registers
            if not both or (row.between is not None and not key[1]):
                continue
            states = row.states
            if row.exact is not None:
                states = row.exact(steps[key[0]], timed.step, both)
            hit = hit_of(key, both, states, age, without)
            if hit is not None:
                yield hit

    def pass_by(self, timed: Timed, marks: Marks) -> Marks:
        """Return the marks after an instruction."""
        row, passed = self.row, self.passed(timed)
        is_ended_by = row.ended_by in timed.does and not timed.is_vague
        ended = bool(row.ends & timed.ends) or is_ended_by
        waited = bool(row.ends & timed.waited)
        forgotten = 0
        if row.forgets is not None and not timed.is_vague:
            forgotten = timed.does.get(row.forgets, 0)
        if not (passed or ended or waited or forgotten):
            return marks
        if ended:
            return {}
        found: Marks = {}
        for key, mark in marks.items():
            stage = self.stage_after(timed, key[1])
            registers = mark[1] & ~forgotten
            if stage is None or not registers:
                continue
            later = self.later(timed, mark, passed, waited)
            if later is not None:
                found[key[0], stage] = later[0], registers, later[1]
        return found

    def later(
        self, timed: Timed, mark: Mark, passed: int, waited: bool
    ) -> tuple[int, Without] | None:
        """Return a mark's age after an instruction, and without each wait; None if it is over."""
        age, _, without = mark
        if waited:
            kept: Without = {timed.pc: age} if age < self.most else _NOTHING
            return (GONE, kept) if kept else None
        if not passed:
            return age, without
        most = self.most
        after = age + passed if age + passed < most else GONE
        kept = {pc: old + passed for pc, old in without.items() if old + passed < min(most, after)}
        if timed.is_pause:
            own = min(age, without.get(timed.pc, age))
            if own < min(most, after):
                kept[timed.pc] = own
        return (after, kept) if after is not GONE or kept else None

    def passed(self, timed: Timed) -> int:
        """Return how much of the row's clock an instruction is."""
        clock = self.row.clock
        if clock is Clock.STATES:
            return timed.states
        if clock is Clock.NONE or not timed.step.is_valu or not timed.states:
            return 0
        return int(clock is Clock.VALU or not timed.is_pause)

    def stage_after(self, timed: Timed, stage: Hashable) -> Hashable | None:
        """Return how far the row has come after an instruction, None if it is over."""
        row = self.row
        if row.between is not None:
            return bool(stage) or row.between in timed.does
        if row.transcendentals is not None:
            assert isinstance(stage, int)
            stage += timed.step.is_transcendental
            return stage if stage <= row.transcendentals else None
        return stage

    def begin(self, timed: Timed, marks: Marks, watched: int) -> Marks:
        """Return the marks with that of an instruction. watched: the registers to which `after`
        has been done."""
        begun = timed.does.get(self.row.first, 0)
        if self.row.after is not None:
            begun &= watched
        if not begun:
            return marks
        left = marks if timed.is_vague else without_registers(marks, begun)
        return {**left, (timed.pc, 0): (0, begun, _NOTHING)}


def hit_of(key: Key, registers: int, states: int, age: int, without: Without) -> Hit | None:
    """Return how many states a use still lacks and which waits it relies on, None if neither."""
    needs = {pc: states - old for pc, old in without.items() if old < states}
    missing = max(0, states - age)
    return Hit(key, registers, missing, needs) if missing or needs else None


def without_registers(marks: Marks, registers: int) -> Marks:
    """Return the marks that still count for other registers, for those."""
    return {
        key: (age, left, without)
        for key, (age, old, without) in marks.items()
        if (left := old & ~registers)
    }


def merged(one: Mark, other: Mark) -> Mark:
    """Return the mark where two paths meet."""
    if one == other:
        return one
    (age, registers, without), (age2, registers2, without2) = one, other
    least = min(age, age2)
    kept = {}
    for pc in without.keys() | without2.keys():
        own = min(without.get(pc, age), without2.get(pc, age2))
        if own < least:
            kept[pc] = own
    return least, registers | registers2, kept


# What counts of an instruction.

_NOP_BITS = 15  # CDNA 3 ISA, S_NOP
# S_WAIT_ALU and S_WAITCNT_DEPCTR: which bits are zero if they wait for everything (LLVM:
# AMDGPUBaseInfo, DepCtr).
_FIELDS = (
    (0xF000, End.VA_VDST),
    (0x0E00, End.VA_SDST),
    (0x001C, End.VM_VSRC),
    (0x0002, End.VA_VCC),
    (0x0001, End.SA_SDST),
)


def waited_by(instruction: Instruction) -> End:
    """Return which hazards a pure wait ends; NONE for other instructions."""
    traits = instruction.traits
    if traits.idle is Idle.DELAY and traits.unit is Unit.VALU:
        return End.VALU
    if traits.immediate is Immediate.OLD_COUNTERS and not instruction.immediates["simm16"]:
        return End.ALL_COUNTERS
    if instruction.traits.immediate is not Immediate.DEPENDENCIES:
        return End.NONE
    value, found = instruction.immediates["simm16"], End.NONE
    for bits, end in _FIELDS:
        if not value & bits:
            found |= end
    return found


def states_of(instruction: Instruction) -> int:
    """Return the wait states that an instruction is."""
    return 1 + (instruction.immediates["simm16"] & _NOP_BITS if is_nop(instruction) else 0)


def is_nop(instruction: Instruction) -> bool:
    """Whether an instruction is S_NOP."""
    traits = instruction.traits
    delays = traits.idle is Idle.DELAY and traits.immediate is Immediate.NUMBER
    return delays and traits.unit is Unit.SALU


def is_pause(instruction: Instruction) -> bool:
    """Whether an instruction is S_NOP, V_NOP or a wait."""
    traits = instruction.traits
    is_delay = traits.idle is Idle.DELAY and traits.immediate is not Immediate.DELAYS
    return is_delay or traits.idle is Idle.WAIT
