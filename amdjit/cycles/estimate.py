"""What the cycle model says about a launch, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["STALLS", "Cycles", "InstructionCycles", "Segment", "WaveTimeline"]

# Why a wave does not issue in a cycle.
STALLS = (
    "wait loadcnt",
    "wait storecnt",
    "wait dscnt",
    "wait kmcnt",
    "wait expcnt",
    "VALU dependency",
    "transcendental dependency",
    "SALU dependency",
    "WMMA dependency",
    "unit busy",
    "other wave issues",
    "barrier",
    "branch",
    "instruction fetch",
    "memory queue full",
    "idle",
)


@dataclass(frozen=True, slots=True)
class InstructionCycles:
    """Cycles of one instruction, summed over the waves of the sample. issue: in which it was
    issued. stalls: in which a wave waited to issue it, by cause."""

    address: int
    executions: int
    issue: int
    stalls: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """What a wave does from one cycle to another: "issue", or a cause of `STALLS`."""

    start: int
    end: int
    what: str


@dataclass(frozen=True, slots=True)
class WaveTimeline:
    """A wave of the sample on its SIMD. slot: of the SIMD's wave slots. start, end: cycles."""

    simd: int
    slot: int
    workgroup: int
    wave: int
    start: int
    end: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Cycles:
    """Estimated cycles of one launch.

    kernel: cycles of the whole launch on the chip. per_wgp: cycles that the sample takes on one
    workgroup processor. seconds: at the chip's clock. wmma_share, valu_share: of the peak rates.
    stalls: cycles by cause, over all waves of the sample. by_instruction, by_line: the same by
    address and by (file, line). timeline: the waves of the sample. assumptions: sentences that say
    on what no measurement covers the figures rest. sampled_workgroups: how many were simulated.
    """

    kernel: int
    per_wgp: int
    seconds: float
    wmma_share: float
    valu_share: float
    sampled_workgroups: int
    stalls: Mapping[str, int]
    by_instruction: Mapping[int, InstructionCycles] = field(repr=False)
    by_line: Mapping[tuple[str, int], InstructionCycles] = field(repr=False)
    timeline: tuple[WaveTimeline, ...] = field(repr=False)
    assumptions: tuple[str, ...] = field(repr=False)
