"""The counts and cycles of a launch as plain data for the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Protocol

from amdjit.cycles.estimate import STALLS, Cycles, InstructionCycles, Segment, WaveTimeline
from amdjit.explorer.inspection_data import known
from amdjit.inspection.kernel_facts import KernelFacts
from amdjit.profiling.counts import Counts, InstructionCounts, Roofline, Totals

__all__ = ["Launch", "launch_data"]

_COUNTS = tuple(field.name for field in fields(Counts))
# The most segments of all timelines together. If there are more, the shortest ones are merged with
# their neighbours.
_MOST_SEGMENTS = 24_000
_WHATS = ("issue", *STALLS)


class Launch(Protocol):
    """The parts of a profiled launch that the page reads."""

    @property
    def kernel(self) -> str:
        """The kernel's name."""

    @property
    def code_object(self) -> bytes:
        """The code object that was launched."""

    @property
    def inspection(self) -> KernelFacts:
        """The facts of the kernel."""

    @property
    def instructions(self) -> Sequence[InstructionCounts]:
        """Counts by instruction."""

    @property
    def totals(self) -> Totals:
        """Counts of the launch."""

    @property
    def grid(self) -> tuple[int, int, int]:
        """Workgroups in x, y and z."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Work-items of a workgroup in x, y and z."""

    @property
    def waves(self) -> int:
        """Waves of all workgroups."""

    @property
    def roofline(self) -> Roofline | None:
        """How far the launch is below the chip's limits."""

    @property
    def cycles(self) -> Cycles | None:
        """The cycle model's estimate."""

    @property
    def no_cycles(self) -> str | None:
        """Why there is no estimate; None if there is one."""

    @property
    def missing(self) -> Sequence[str]:
        """What could not be found out, and why."""


def launch_data(launch: Launch) -> dict[str, Any]:
    """Return everything that the page shows about a launch, as JSON values: counts and cycles by
    address."""
    return known(
        grid=list(launch.grid),
        block=list(launch.block),
        waves=launch.waves,
        missing=list(launch.missing),
        no_cycles=launch.no_cycles,
        totals=known(**asdict(launch.totals)),
        counts={str(each.address): _counts(each) for each in launch.instructions},
        roofline=asdict(launch.roofline) if launch.roofline else None,
        cycles=_cycles(launch.cycles) if launch.cycles else None,
    )


def _counts(counts: Counts) -> dict[str, int]:
    return {name: value for name in _COUNTS if (value := getattr(counts, name))}


def _cycles(cycles: Cycles) -> dict[str, Any]:
    return {
        "kernel": cycles.kernel,
        "per_wgp": cycles.per_wgp,
        "seconds": cycles.seconds,
        "wmma_share": cycles.wmma_share,
        "valu_share": cycles.valu_share,
        "sampled_workgroups": cycles.sampled_workgroups,
        "stalls": dict(cycles.stalls),
        "by_instruction": {
            str(address): _instruction(each) for address, each in cycles.by_instruction.items()
        },
        "whats": list(_WHATS),
        "timeline": _timelines(cycles.timeline),
        "assumptions": list(cycles.assumptions),
    }


def _instruction(each: InstructionCycles) -> dict[str, Any]:
    stalls = {cause: count for cause, count in each.stalls.items() if count}
    return known(executions=each.executions, issue=each.issue, stalls=stalls)


def _timelines(waves: Sequence[WaveTimeline]) -> list[dict[str, Any]]:
    most = max(64, _MOST_SEGMENTS // max(1, len(waves)))
    return [_timeline(wave, most) for wave in waves]


def _timeline(wave: WaveTimeline, most: int) -> dict[str, Any]:
    """Return a wave. segments: the start, the length and the number of each activity, one after
    another; merged: whether short segments were merged with others."""
    kept = merged(wave.segments, most)
    numbers = [n for s in kept for n in (s.start, s.end - s.start, _WHATS.index(s.what))]
    return known(
        simd=wave.simd,
        slot=wave.slot,
        workgroup=wave.workgroup,
        wave=wave.wave,
        start=wave.start,
        end=wave.end,
        segments=numbers,
        merged=len(kept) < len(wave.segments) or None,
        totals=_totals(wave.segments),
    )


def _totals(segments: Iterable[Segment]) -> Mapping[str, int]:
    totals: dict[str, int] = {}
    for segment in segments:
        totals[segment.what] = totals.get(segment.what, 0) + segment.end - segment.start
    return totals


def merged(segments: Sequence[Segment], most: int) -> list[Segment]:
    """Return at most `most` segments that cover the same time. If there are more, time is divided
    into equal parts, and each part becomes a segment of the activity that takes most of it."""
    if len(segments) <= most:
        return list(segments)
    start, end = segments[0].start, segments[-1].end
    width = -(-(end - start) // most)
    shares: list[dict[str, int]] = [{} for _ in range(-(-(end - start) // width))]
    for segment in segments:
        for part in range((segment.start - start) // width, -(-(segment.end - start) // width)):
            low = max(segment.start, start + part * width)
            high = min(segment.end, start + (part + 1) * width)
            shares[part][segment.what] = shares[part].get(segment.what, 0) + high - low
    return [
        Segment(
            start + n * width, min(end, start + (n + 1) * width), max(share, key=share.__getitem__)
        )
        for n, share in enumerate(shares)
        if share
    ]
