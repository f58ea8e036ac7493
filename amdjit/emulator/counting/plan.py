"""Which counters a kernel has, and what each instruction's counts are made of.

    block at 0x40                        counters
      v_cmp_gt_u32 vcc_lo, s4, v0        executions of the block
      s_and_saveexec_b32 s5, vcc_lo
      v_mov_b32 v1, 1                    active lanes since EXEC changed
      s_cbranch_execz                    times that the branch was taken

A stretch of instructions with the same EXEC is a segment. Where EXEC is known to be all ones, and
where it has not changed since the block's start, active lanes need no counter of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from amdjit.emulator.counting.layout import ACCESS_ROW, FIRST_COUNTER
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.analysis.dataflow import (
    Ones,
    exec_slots,
    ones_after,
    ones_at_entries,
    scalar_writes,
)
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow, MemoryKind
from amdjit.late_methods import dataclass

__all__ = ["CountedBlock", "CountingPlan", "Segment", "counts_access", "make_plan"]

_ACCESSES = (MemoryKind.LOAD, MemoryKind.STORE, MemoryKind.ATOMIC)


def counts_access(instruction: Instruction) -> bool:
    """Return whether an instruction accesses memory: those that only bring lines into caches, or
    exchange values between lanes, do not."""
    access = instruction.traits.memory
    return access is not None and access.kind in _ACCESSES


@dataclass(frozen=True, slots=True)
class Segment:
    """Instructions of a block that execute with the same lanes. first, end: their places in the
    block. counter: of active lanes; None if all lanes of the wave are active."""

    first: int
    end: int
    counter: int | None


@dataclass(frozen=True, slots=True)
class CountedBlock:
    """A block of a kernel. executions: its counter. taken: that of the conditional branch at its
    end, if there is one."""

    block: Block
    executions: int
    segments: tuple[Segment, ...]
    taken: int | None


@dataclass(frozen=True)
class CountingPlan:
    """The counters of a kernel, numbered by their 64-bit fields in a thread's area.

    blocks: by their first address. accesses: the first counter of each memory instruction, by its
    address. size: fields of the area.
    """

    wave_size: int
    blocks: tuple[CountedBlock, ...]
    accesses: dict[int, int]
    size: int

    @cached_property
    def block_numbers(self) -> dict[int, int]:
        """The place of each block in `blocks`, by its address."""
        return {counted.block.pc: number for number, counted in enumerate(self.blocks)}

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions by address."""
        found = {i.pc: i for counted in self.blocks for i in counted.block.instructions}
        return tuple(found[pc] for pc in sorted(found))


def make_plan(graph: Graph, full_waves: bool, wave_size: int) -> CountingPlan:
    """Number the counters. full_waves: all lanes of every wave start active."""
    ones = ones_at_entries(graph, full_waves, wave_size)
    numbers = _Numbers()
    blocks = tuple(
        _counted(graph.blocks[pc], ones[pc], exec_slots(wave_size), numbers) for pc in sorted(ones)
    )
    accesses = {
        instruction.pc: numbers.take(ACCESS_ROW)
        for counted in blocks
        for instruction in counted.block.instructions
        if counts_access(instruction)
    }
    return CountingPlan(wave_size, blocks, accesses, numbers.next)


class _Numbers:
    """Hands out counters."""

    def __init__(self) -> None:
        self.next = FIRST_COUNTER

    def take(self, count: int = 1) -> int:
        """Return the number of the first of some new counters."""
        first = self.next
        self.next += count
        return first


def _counted(block: Block, ones: Ones, executes: Ones, numbers: _Numbers) -> CountedBlock:
    executions = numbers.take()
    segments = tuple(
        Segment(first, end, None if full else numbers.take())
        for first, end, full in _segments(block, ones, executes)
    )
    is_conditional = block.instructions[-1].traits.flow is Flow.CONDITIONAL
    return CountedBlock(block, executions, segments, numbers.take() if is_conditional else None)


def _segments(block: Block, ones: Ones, executes: Ones) -> Iterator[tuple[int, int, bool]]:
    """Yield the places where the segments of a block begin and end, and whether all lanes are
    active there."""
    first, is_full = 0, executes <= ones
    for place, instruction in enumerate(block.instructions[:-1], 1):
        ones = ones_after(instruction, ones)
        if _changes(instruction, executes):
            yield first, place, is_full
            first, is_full = place, executes <= ones
    yield first, len(block.instructions), is_full


def _changes(instruction: Instruction, executes: Ones) -> bool:
    """Whether an instruction may change EXEC."""
    halves = (instruction,) if instruction.pair is None else (instruction, instruction.pair)
    return any(
        half.traits.writes_exec or not executes.isdisjoint(scalar_writes(half)) for half in halves
    )
