"""The waves of launches over time in the format of Chrome's traces, which Perfetto and
chrome://tracing show."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from amdjit.cycles.estimate import Cycles, WaveTimeline

__all__ = ["TimedLaunch", "trace_text"]

# Timestamps are microseconds; a nanosecond stands for a cycle.
_CYCLE = 0.001
# More wave slots than a SIMD has: tracks are ordered by their numbers.
_SLOTS = 100


class TimedLaunch(Protocol):
    """The parts of a profiled launch that its trace shows."""

    @property
    def kernel(self) -> str:
        """The kernel's name."""

    @property
    def cycles(self) -> Cycles | None:
        """The cycle model's estimate."""


def trace_text(launches: Iterable[TimedLaunch]) -> str:
    """Return launches as JSON: a process for each launch that has an estimate, a thread for each
    wave slot, a slice for each wave, and in it one for what it does: it issues, or why not.
    ValueError if no launch has an estimate."""
    events = [
        event
        for number, launch in enumerate(launches, 1)
        if launch.cycles is not None
        for event in _launch(number, launch.kernel, launch.cycles)
    ]
    if not events:
        raise ValueError("no launch has an estimate of cycles: `LaunchProfile.no_cycles` says why")
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, separators=(",", ":"))


def _launch(number: int, kernel: str, cycles: Cycles) -> Iterator[dict[str, Any]]:
    name = f"launch {number}: {kernel}, one workgroup processor, 1 ns = 1 cycle"
    yield _named("process_name", name, pid=number)
    slots = sorted({(wave.simd, wave.slot) for wave in cycles.timeline})
    for simd, slot in slots:
        name = f"SIMD {simd} slot {slot}"
        yield _named("thread_name", name, pid=number, tid=_SLOTS * simd + slot)
    for wave in cycles.timeline:
        yield from _wave(number, wave)


def _named(kind: str, name: str, **track: int) -> dict[str, Any]:
    return {"ph": "M", "name": kind, **track, "args": {"name": name}}


def _wave(number: int, wave: WaveTimeline) -> Iterator[dict[str, Any]]:
    track = {"ph": "X", "pid": number, "tid": _SLOTS * wave.simd + wave.slot}
    yield {
        **track,
        "name": f"workgroup {wave.workgroup} wave {wave.wave}",
        "cat": "wave",
        **_times(wave.start, wave.end),
    }
    for each in wave.segments:
        yield {**track, "name": each.what, "cat": "cycles", **_times(each.start, each.end)}


def _times(start: int, end: int) -> dict[str, float]:
    return {"ts": round(start * _CYCLE, 3), "dur": round((end - start) * _CYCLE, 3)}
