"""Which bytes of device memory have been written: where the check for undefined values starts.

Every allocation of the user's begins unwritten. Copies from the host write it, and so do checked
launches, which change its shadow. A launch without the check may have written anything: all memory
that was allocated before it counts as written.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.checks.init.layout import PADDING, TABLE_ROW, UNDEFINED
from amdjit.emulator.memory import DeviceMemory, MemoryObserver, Range
from amdjit.late_methods import dataclass, field

Shadow = NDArray[np.uint8]


@dataclass
class _Track:
    """An allocation that is not known to be written. launches: how many came before it."""

    nbytes: int
    launches: int
    spans: list[tuple[int, int]] = field(default_factory=list)
    shadow: Shadow | None = None


class WrittenMemory(MemoryObserver):
    """Which bytes of each allocation have been written. A device attaches it from the beginning:
    the check may be asked for later."""

    def __init__(self) -> None:
        self._tracks: dict[int, _Track] = {}
        self._launches = 0

    def allocated(self, allocation: Range) -> None:
        """Begin to track an allocation of the user's; those with a label are amdjit's own."""
        if not allocation.label:
            size = allocation.end - allocation.start
            self._tracks[allocation.start] = _Track(size, self._launches)

    def freed(self, allocation: Range) -> None:
        """Forget the allocation."""
        self._forget(allocation.start)

    def shared(self, allocation: Range) -> None:
        """Count the whole allocation as written."""
        self._forget(allocation.start)

    def launched(self) -> None:
        """Count all memory that has been allocated as written."""
        self._launches += 1

    def wrote(self, allocation: Range, first: int, nbytes: int) -> None:
        """Count bytes as written."""
        track = self._tracks.get(allocation.start)
        if track is None:
            return
        if (first, nbytes) == (0, track.nbytes):
            self._forget(allocation.start)
        elif track.shadow is None:
            track.spans.append((first, first + nbytes))
        else:
            _clear(track.shadow, first, first + nbytes)

    def wrote_rows(
        self,
        allocation: Range,
        first: int,
        strides: tuple[int, ...],
        shape: tuple[int, ...],
        nbytes: int,
    ) -> None:
        """Count rows of bytes as written."""
        track = self._tracks.get(allocation.start)
        if track is None:
            return
        written = np.zeros(-(-track.nbytes // 4) * 4, np.uint8)
        np.ndarray((*shape, nbytes), np.uint8, written, first, (*strides, 1))[...] = 1
        if track.shadow is None:
            track.shadow = _new_shadow(track)
        bits = written.reshape(-1, 4) << np.arange(4, dtype=np.uint8)
        track.shadow[: len(bits)] &= ~bits.sum(axis=1, dtype=np.uint8)

    def _forget(self, start: int) -> None:
        self._tracks.pop(start, None)

    def shadow(self, start: int) -> Shadow | None:
        """Return an allocation's shadow for a checked launch, None if all of it is written."""
        track = self._tracks.get(start)
        if track is None:
            return None
        if track.launches != self._launches:
            self._forget(start)
            return None
        if track.shadow is None:
            track.shadow = _new_shadow(track)
        if not track.shadow.any():
            self._forget(start)
            return None
        return track.shadow


def _new_shadow(track: _Track) -> Shadow:
    shadow = np.full(-(-track.nbytes // 4) + PADDING, UNDEFINED, np.uint8)
    shadow[-PADDING:] = 0
    for first, end in track.spans:
        _clear(shadow, first, end)
    return shadow


def _clear(shadow: Shadow, first: int, end: int) -> None:
    """Mark the bytes [first, end) as written."""
    inner, last = -(-first // 4), end // 4
    if first < end:
        shadow[inner:last] = 0
    for byte in {*range(first, min(4 * inner, end)), *range(max(4 * last, first), end)}:
        shadow[byte // 4] &= ~(1 << byte % 4) & UNDEFINED


def table_rows(memory: DeviceMemory) -> tuple[NDArray[np.uint64], list[Shadow]]:
    """Return the table of allocations that native code searches (`layout.TABLE_ROW`), and the
    shadows that it points to."""
    written, ranges = memory.observer(WrittenMemory), memory.bounds()
    rows = np.zeros((max(len(ranges), 1), TABLE_ROW), np.uint64)
    kept: list[Shadow] = []
    for row, (start, end) in zip(rows, ranges, strict=False):
        shadow = written.shadow(start)
        row[:] = start, end, 0 if shadow is None else shadow.ctypes.data
        if shadow is not None:
            kept.append(shadow)
    return rows, kept
