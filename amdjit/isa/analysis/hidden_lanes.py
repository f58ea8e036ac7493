"""Which lanes' values may still be read where EXEC hides some of them: a backward analysis.

An instruction leaves the inactive lanes of its result as they are. That costs a select on the host,
which is not needed if nobody reads those lanes before they are written again:

    v_cmpx_gt_u32 s0, v0      ; from here to the end of the kernel EXEC only loses lanes
    v_add_f32 v1, v2, v3      ; lanes of v1 that are inactive here are inactive wherever v1 is read

A set of vector registers is an integer with a bit for each. At each place there are two sets: the
registers whose active lanes may be read later, and those whose inactive lanes may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.analysis.dataflow import (
    Ones,
    exec_slots,
    ones_after,
    scalar_writes,
    vector_operands,
)
from amdjit.isa.instruction import Instruction, Operand
from amdjit.isa.register_numbers import (
    EXEC_LO,
    FIRST_AGPR,
    HALF_VGPRS,
    numbers_in,
    vector_set,
)
from amdjit.isa.traits import Destination, Operator, ScalarLogic
from amdjit.late_methods import dataclass

_HALF = (1 << HALF_VGPRS) - 1
ALL_VECTORS = _HALF | _HALF << FIRST_AGPR
_EXECUTES = frozenset((EXEC_LO, EXEC_LO + 1))


class ExecChange(Enum):
    """What an instruction does to EXEC."""

    NONE = auto()
    LOSES = auto()
    GAINS = auto()
    ANY = auto()


@dataclass(frozen=True, slots=True)
class _Effect:
    """What an instruction does to vector registers and EXEC.

    across: registers of which it may read any lane. full: all lanes are active before it.
    """

    reads: int
    overwrites: int
    across: int
    change: ExecChange
    full: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """The registers whose active lanes may be read later, and those whose inactive lanes may be."""

    active: int = 0
    hidden: int = 0

    @property
    def any(self) -> int:
        """The registers that may be read at all."""
        return self.active | self.hidden


class HiddenLanes:
    """The analysis of one kernel. ones: the scalar registers known to be all ones at the blocks'
    starts."""

    def __init__(self, graph: Graph, ones: Mapping[int, Ones], wave_size: int) -> None:
        self._moves = any(
            item.traits.is_relative
            for block in graph.blocks.values()
            for item in block.instructions
        )
        executes = exec_slots(wave_size)
        self._graph = graph
        self._effects = {
            pc: _effects(graph.blocks[pc], known, executes) for pc, known in ones.items()
        }
        self._at_start: dict[int, Seen] = {}
        self._solve()

    def live(self, pc: int) -> frozenset[int]:
        """Return the registers that may be read from a block's start on, by their numbers."""
        live = ALL_VECTORS if self._moves else self._at_start.get(pc, Seen()).any
        return frozenset(numbers_in(live))

    def unseen(self, pc: int) -> list[int]:
        """Return for each instruction of a block the registers whose lanes that are inactive there
        nobody reads."""
        effects = self._effects[pc]
        if self._moves or all(effect.full for effect in effects):
            return [0] * len(effects)
        seen, found = self._behind(pc), []
        for effect in reversed(effects):
            found.append(ALL_VECTORS & ~seen.hidden)
            seen = _before(effect, seen)
        return found[::-1]

    def _behind(self, pc: int) -> Seen:
        following = [
            self._at_start.get(successor, Seen()) for successor in self._graph.blocks[pc].successors
        ]
        active = hidden = 0
        for seen in following:
            active, hidden = active | seen.active, hidden | seen.hidden
        return Seen(active, hidden)

    def _solve(self) -> None:
        changed = True
        while changed:
            changed = False
            for pc in sorted(self._effects, reverse=True):
                seen = self._behind(pc)
                for effect in reversed(self._effects[pc]):
                    seen = _before(effect, seen)
                if seen != self._at_start.get(pc):
                    self._at_start[pc] = seen
                    changed = True


def _before(effect: _Effect, after: Seen) -> Seen:
    active, hidden = after.active, after.hidden
    if effect.change is not ExecChange.NONE:
        # A lane that is active before may be inactive afterwards, unless EXEC only gains lanes, and
        # the other way round.
        if effect.change is not ExecChange.GAINS:
            active |= after.hidden
        if effect.change is not ExecChange.LOSES:
            hidden |= after.active
    active = active & ~effect.overwrites | effect.reads
    return Seen(active, 0 if effect.full else hidden | effect.across)


def _effects(block: Block, ones: Ones, executes: Ones) -> list[_Effect]:
    found = []
    for instruction in block.instructions:
        found.append(_effect(instruction, executes <= ones))
        ones = ones_after(instruction, ones)
    return found


def _effect(instruction: Instruction, full: bool) -> _Effect:
    reads = overwrites = across = 0
    for part in (instruction, instruction.pair) if instruction.pair else (instruction,):
        lane_by_lane = part.traits.lane_by_lane and part.modifiers.dpp is None
        for index, written, read, register in vector_operands(part):
            registers = vector_set(register)
            if lane_by_lane and written and not read and not part.keeps_part(index):
                overwrites |= registers
            else:
                reads |= registers
                across |= 0 if lane_by_lane else registers
    return _Effect(reads, overwrites, across, exec_change(instruction), full)


def exec_change(instruction: Instruction) -> ExecChange:
    """Return what an instruction does to EXEC."""
    if not scalar_writes(instruction) & _EXECUTES:
        return ExecChange.NONE
    if instruction.traits.compares and instruction.traits.writes_exec:
        return ExecChange.LOSES
    logic = instruction.traits.logic
    if logic is None or logic.is_negated or not _keeps_exec(logic, instruction.operands):
        return ExecChange.ANY
    return {Operator.AND: ExecChange.LOSES, Operator.OR: ExecChange.GAINS}.get(
        logic.operator, ExecChange.ANY
    )


def _keeps_exec(logic: ScalarLogic, operands: tuple[Operand | None, ...]) -> bool:
    """Whether one operand is EXEC itself, not complemented; the other one may be complemented."""
    target, *sources = operands
    if logic.destination is not Destination.REGISTER:
        return logic.is_plain and logic.destination is Destination.EXEC
    return any(
        source == target for index, source in enumerate(sources) if index != logic.complemented
    )
