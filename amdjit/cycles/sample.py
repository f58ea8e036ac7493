"""Which recorded workgroups a workgroup processor runs, and which cache lines they share with
others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.engine.memory import KEY_SHIFT, PRIVATE_BIT, SHARED_BIT
from amdjit.cycles.errors import NoEstimate
from amdjit.emulator.counting.recording import Recording

__all__ = ["Footprint", "Sample", "footprint_of", "sample_of"]

# Waves that repeat a recorded workgroup get other numbers for the lines that are its own. Addresses
# have 47 bits, keys of lines therefore 42.
_SALT_SHIFT = 42
_HASH = np.uint64(0x9E3779B97F4A7C15)
_HASH_BITS = 32


@dataclass(frozen=True, slots=True)
class Footprint:
    """The cache lines of a launch. lines: different ones. sharing: workgroups that touch the same
    line, on average. is_exact: whether `lines` was counted, not inferred from the sample."""

    lines: float
    sharing: float
    is_exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What one workgroup processor runs. workgroups: places in the recording, in the order of their
    start. salts: what makes lines of a repeated workgroup its own. keys: of the recording's lines,
    as `engine.memory` has them."""

    workgroups: tuple[int, ...]
    salts: tuple[int, ...]
    keys: NDArray[np.int64]


def footprint_of(recording: Recording, workgroups: int, lines: int | None) -> Footprint:
    """Return the cache lines that a launch of `workgroups` workgroups touches.

    lines: different ones, if they were counted for the whole launch.
    """
    touched = [len(np.unique(group)) for group in _lines_by_workgroup(recording)]
    mean = sum(touched) / max(1, len(touched))
    if lines is None:
        seen = len(np.unique(recording.lines))
        sharing = max(1.0, sum(touched) / max(1, seen))
        return Footprint(max(1.0, mean * workgroups / sharing), sharing, recording.complete)
    return Footprint(lines, max(1.0, mean * workgroups / max(1, lines)), True)


def sample_of(recording: Recording, count: int, sharing: float, active: int) -> Sample:
    """Return a sample of `count` workgroups: the recorded ones in turn.

    sharing: workgroups that touch the same line, on average; active: workgroup processors at work.
    """
    recorded = len(recording.workgroups)
    if recorded == 0:
        raise NoEstimate("nothing of the launch was recorded")
    order = [number % recorded for number in range(count)]
    if count == 1:
        # The launch takes as long as its longest workgroup.
        sizes = [sum(len(wave.path) for wave in group.waves) for group in recording.workgroups]
        order = [int(np.argmax(sizes))]
    salts = tuple((number // recorded) << _SALT_SHIFT for number in range(count))
    return Sample(tuple(order), salts, _keys(recording, min(sharing, active)))


def _keys(recording: Recording, sharing: float) -> NDArray[np.int64]:
    lines = recording.lines
    groups = _lines_by_workgroup(recording)
    every = np.concatenate([np.unique(group) for group in groups]) if groups else lines
    numbers, counts = np.unique(every, return_counts=True)
    is_private = np.zeros(len(lines), np.bool_)
    if len(numbers):
        # With one recorded workgroup nothing is known about which lines are shared.
        place = np.minimum(np.searchsorted(numbers, lines), len(numbers) - 1)
        is_private = (counts[place] == 1) & (numbers[place] == lines)
    # A line that `sharing` workgroup processors want comes from beyond L2 for one of them: chosen
    # by when the sample first touches it, not by its address, which is another one in another run.
    _, first, inverse = np.unique(lines, return_index=True, return_inverse=True)
    places = np.argsort(np.argsort(first))[inverse]
    hashed = (places.astype(np.uint64) * _HASH) >> np.uint64(64 - _HASH_BITS)
    others = hashed >= np.uint64(int((1 << _HASH_BITS) / sharing))
    return (
        lines << KEY_SHIFT | np.where(others, SHARED_BIT, 0) | np.where(is_private, PRIVATE_BIT, 0)
    )


def _lines_by_workgroup(recording: Recording) -> list[NDArray[np.int64]]:
    """Return the lines that each recorded workgroup touched, with repetitions."""
    found = []
    for group in recording.workgroups:
        rows = np.concatenate([wave.request[wave.request >= 0] for wave in group.waves])
        first, end = recording.requests[rows, 3], recording.requests[rows, 4]
        found.append(recording.lines[_ranges(first, end)])
    return found


def _ranges(first: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each first one to before its end."""
    counts = end - first
    starts = np.repeat(first - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    return starts + np.arange(counts.sum())
