"""What a profiled launch counted, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Counts", "InstructionCounts", "LineCounts", "Roofline", "Totals"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of an instruction, of a line or of a launch, summed over all waves.

    Lanes outside of a buffer access nothing. Scalar loads are requests of one lane. Both places of
    an LDS instruction with two addresses belong to one request. A wave of 64 lanes makes one
    request of both halves. Private memory lies side by side for all lanes of a wave, dword by
    dword.

    executions: waves that executed it (each time counts). active_lanes: lanes that were active,
    summed over the executions. taken: branches that were taken. requests: memory accesses of
    waves with at least one active lane. bytes: asked for by their lanes. cache_lines: 128-byte
    lines touched, summed over the requests. lds_cycles: cycles that LDS needs;
    lds_conflict_cycles: those of them due to bank conflicts. contention: for atomics, lanes beyond
    the first on the same address, summed over the requests. barrier_waits: times that a wave came
    to a wait at a barrier, in workgroups of several waves.
    """

    executions: int = 0
    active_lanes: int = 0
    taken: int = 0
    requests: int = 0
    bytes: int = 0
    cache_lines: int = 0
    lds_cycles: int = 0
    lds_conflict_cycles: int = 0
    contention: int = 0
    barrier_waits: int = 0


@dataclass(frozen=True, slots=True)
class InstructionCounts(Counts):
    """Counts of one machine instruction. unit: as `inspection.units` names it."""

    address: int = 0
    text: str = ""
    unit: str = ""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LineCounts(Counts):
    """Counts of all instructions of one source line."""

    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Totals(Counts):
    """Counts of a launch. units: executions by unit. operations: arithmetic operations of lanes, by
    type such as "f32" or "f16 matrix", two for a multiplication with addition; `launch_profile.py`
    says which count."""

    units: Mapping[str, int] | None = None
    operations: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Roofline:
    """Where a launch stands below the chip's published limits.

    operations: of all lanes, in the type whose operations take longest at their peak; type: that
    type. bytes: of distinct cache lines, what memory must deliver at least. intensity: operations
    a byte. peak: operations a second at the chip's boost clock; bandwidth: bytes a second. bound:
    "compute" or "memory". seconds: the least that the launch takes if no cache holds any of the
    bytes before. source: of the limits.
    """

    type: str
    operations: int
    bytes: int
    intensity: float
    peak: float
    bandwidth: float
    bound: str
    seconds: float
    source: str
