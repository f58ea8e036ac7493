"""What a simulation gave, summed up by instruction, by line and by cause, and as a timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.estimate import STALLS, InstructionCycles, Segment, WaveTimeline

__all__ = ["SimulatedWave", "by_instruction", "by_line", "stalls_of", "timeline"]

Int64s = NDArray[np.int64]
_CAUSES = len(STALLS)
# Segments of a timeline, over all waves: what a page can show.
_MOST_SEGMENTS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedWave:
    """A wave and when it issued."""

    simd: int
    slot: int
    workgroup: int
    wave: int
    start: int
    """The first cycle."""
    end: int
    """The cycle after the last."""
    path: Int64s
    """Indices of its instructions."""
    issued: Int64s
    """The cycle at which each was issued."""
    stalled: Int64s
    """Cycles that it waited for each."""
    cause: Int64s
    """Why it waited, an index of `STALLS`."""
    reason: NDArray[np.uint8] | None = None
    """What came last before each issue, an index of `engine.order.CAUSES`, even if it did not stall
    the wave."""
    executed: Int64s | None = None
    """The cycle at which a unit executed it, -1 if none did; None if nobody asked."""


def by_instruction(
    addresses: Sequence[int], waves: Sequence[SimulatedWave], quantum: int = 1
) -> dict[int, InstructionCycles]:
    """Return the cycles of each instruction that was executed, by address. quantum: cycles of an
    issue."""
    count = len(addresses)
    path, cause, stalled = (
        np.concatenate([np.empty(0, np.int64), *(getattr(wave, name) for wave in waves)])
        for name in ("path", "cause", "stalled")
    )
    executions = np.bincount(path, minlength=count)
    steps = np.flatnonzero(stalled)
    places = path[steps] * _CAUSES + cause[steps]
    # Weights are floats: exact below 2**53 cycles.
    sums = np.bincount(places, stalled[steps], minlength=count * _CAUSES)
    table = sums.astype(np.int64).reshape(count, _CAUSES)
    return {
        addresses[index]: InstructionCycles(
            address=addresses[index],
            executions=int(executions[index]),
            issue=int(executions[index]) * quantum,
            stalls=_named(table[index]),
        )
        for index in np.flatnonzero(executions).tolist()
    }


def _named(row: Int64s) -> dict[str, int]:
    return {name: int(cycles) for name, cycles in zip(STALLS, row, strict=True) if cycles}


def stalls_of(instructions: Mapping[int, InstructionCycles]) -> dict[str, int]:
    """Return the stalls of all instructions together, in the order of `STALLS`."""
    total = dict.fromkeys(STALLS, 0)
    for instruction in instructions.values():
        for name, cycles in instruction.stalls.items():
            total[name] += cycles
    return {name: cycles for name, cycles in total.items() if cycles}


def by_line(
    instructions: Mapping[int, InstructionCycles],
    line_of: Callable[[int], tuple[str, int] | None],
) -> dict[tuple[str, int], InstructionCycles]:
    """Return the same by source line; the address is the first of the line's. Instructions without
    a line are left out."""
    groups: dict[tuple[str, int], dict[int, InstructionCycles]] = {}
    for address, instruction in sorted(instructions.items()):
        line = line_of(address)
        if line is not None:
            groups.setdefault(line, {})[address] = instruction
    return {
        line: InstructionCycles(
            address=min(group),
            executions=sum(each.executions for each in group.values()),
            issue=sum(each.issue for each in group.values()),
            stalls=stalls_of(group),
        )
        for line, group in groups.items()
    }


def timeline(
    waves: Sequence[SimulatedWave], most: int = _MOST_SEGMENTS
) -> tuple[WaveTimeline, ...]:
    """Return what each wave did, in at most `most` segments together (a wave has at least one).

    If there are more, time is cut into spans, and what a wave did most in a span stands for it.
    """
    exact = sum(2 * int(np.count_nonzero(wave.stalled)) + 1 for wave in waves) <= most
    cycles = sum(wave.end - wave.start for wave in waves)
    span = max(1, -(-cycles // max(1, most - len(waves))))
    return tuple(
        WaveTimeline(
            simd=wave.simd,
            slot=wave.slot,
            workgroup=wave.workgroup,
            wave=wave.wave,
            start=wave.start,
            end=wave.end,
            segments=tuple(_segments(wave) if exact else _spans(wave, span)),
        )
        for wave in waves
    )


def _segments(wave: SimulatedWave) -> list[Segment]:
    segments: list[Segment] = []
    now = wave.start
    for step in np.flatnonzero(wave.stalled):
        end = int(wave.issued[step])
        start = end - int(wave.stalled[step])
        if start > now:
            segments.append(Segment(now, start, "issue"))
        segments.append(Segment(start, end, STALLS[int(wave.cause[step])]))
        now = end
    if wave.end > now or not segments:
        segments.append(Segment(now, max(now, wave.end), "issue"))
    return segments


def _spans(wave: SimulatedWave, span: int) -> list[Segment]:
    edges = np.append(np.arange(wave.start, wave.end, span), wave.end)
    widths = np.diff(edges)
    stalled = _stalled_in(wave, edges)
    issue = widths - stalled.sum(axis=0)
    most = np.vstack((issue, stalled)).argmax(axis=0)
    names = ("issue", *STALLS)
    changes = np.flatnonzero(np.diff(most)) + 1
    firsts = [0, *changes.tolist()] if len(most) else []
    ends = [*changes.tolist(), len(most)]
    return [
        Segment(int(edges[first]), int(edges[end]), names[int(most[first])])
        for first, end in zip(firsts, ends, strict=False)
    ] or [Segment(wave.start, wave.end, "issue")]


def _stalled_in(wave: SimulatedWave, edges: Int64s) -> NDArray[np.float64]:
    """Return how long a wave was stalled between neighbouring edges, a row for each cause."""
    table = np.zeros((_CAUSES, len(edges) - 1))
    steps = np.flatnonzero(wave.stalled)
    # By cause, and within one in the order of time.
    steps = steps[np.argsort(wave.cause[steps], kind="stable")]
    firsts = np.searchsorted(wave.cause[steps], np.arange(_CAUSES + 1))
    for cause, (first, end) in enumerate(pairwise(firsts.tolist())):
        if first < end:
            table[cause] = _stalled_by(wave, steps[first:end], edges)
    return table


def _stalled_by(wave: SimulatedWave, steps: Int64s, edges: Int64s) -> NDArray[np.float64]:
    ends, lengths = wave.issued[steps], wave.stalled[steps]
    sums = np.cumsum(lengths)
    times = np.column_stack((ends - lengths, ends)).ravel()
    reached = np.column_stack((sums - lengths, sums)).ravel()
    return np.diff(np.interp(edges, times, reached))
