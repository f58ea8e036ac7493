"""The counts of a profiled launch, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Counts", "InstructionCounts", "LineCounts", "Roofline", "Totals"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of an instruction, of a line or of a launch, summed over all waves.

    Lanes outside of a buffer access nothing. Scalar loads are requests of one lane. Both places of
    an LDS instruction with two addresses belong to one request. A wave of 64 lanes makes one
    request for both halves. Private memory is interleaved dword by dword between the lanes of a
    wave.
    """

    executions: int = 0
    """How often waves executed it."""
    active_lanes: int = 0
    """The number of active lanes, summed over the executions."""
    taken: int = 0
    """How many branches were taken."""
    requests: int = 0
    """How many memory accesses waves made with at least one active lane."""
    bytes: int = 0
    """The bytes that the lanes of these requests asked for."""
    cache_lines: int = 0
    """How many 128-byte lines were touched, summed over the requests."""
    lds_cycles: int = 0
    """The cycles that LDS needs."""
    lds_conflict_cycles: int = 0
    """Those of the LDS cycles that are due to bank conflicts."""
    contention: int = 0
    """For atomics, the number of lanes beyond the first that access the same address, summed over
    the requests."""
    barrier_waits: int = 0
    """How often a wave came to a wait at a barrier, in workgroups of several waves."""


@dataclass(frozen=True, slots=True)
class InstructionCounts(Counts):
    """Counts of one machine instruction."""

    address: int = 0
    text: str = ""
    unit: str = ""
    """The unit, as `inspection.facts.UNITS` names it."""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LineCounts(Counts):
    """Counts of all instructions of one source line."""

    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Totals(Counts):
    """Counts of a launch."""

    units: Mapping[str, int] | None = None
    """Executions by unit."""
    operations: Mapping[str, int] | None = None
    """Arithmetic operations of lanes, by type such as "f32" or "f16 matrix". A multiplication with
    addition counts as two; `launch_profile.py` says which operations count."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """How far a launch is below the chip's published limits."""

    type: str
    """The type whose operations take longest at their peak rate."""
    operations: int
    """The operations of all lanes in that type."""
    bytes: int
    """The bytes of distinct cache lines, which memory must deliver at least."""
    intensity: float
    """Operations per byte."""
    peak: float
    """Operations per second at the chip's boost clock."""
    bandwidth: float
    """Bytes per second."""
    bound: str
    """"compute" or "memory", whichever limits the launch; "size" if it has fewer workgroups than
    the chip has workgroup processors, and is too small to tell."""
    seconds: float
    """The least time of the launch if no cache holds any of the bytes before."""
    source: str
    """The source of the limits."""
