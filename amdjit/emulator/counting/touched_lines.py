"""Which cache lines of the device's memory a launch touches: a byte for each line.

The bytes lie in regions of 4 GiB of addresses; a directory has the regions. Those without
allocations share one that nobody looks at: an access there is a fault.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.counting.layout import DIRECTORY, LINE_BYTES, REGION_LINES
from amdjit.emulator.layout import Allocation
from amdjit.emulator.memory import Table

__all__ = ["Directories", "TouchedLines"]

Bytes = NDArray[np.uint8]


class Directories:
    """Directories of regions, which launches use again. Safe to use from several threads."""

    def __init__(self) -> None:
        self._nowhere: Bytes = np.empty(REGION_LINES, np.uint8)
        self._idle: list[NDArray[np.int64]] = []

    def take(self) -> NDArray[np.int64]:
        """Return a directory in which no region has bytes of its own."""
        try:
            return self._idle.pop()
        except IndexError:
            return np.full(DIRECTORY + 1, self._nowhere.ctypes.data, np.int64)

    def give_back(self, directory: NDArray[np.int64], regions: list[int]) -> None:
        """Keep a directory for another launch. regions: that have bytes of their own."""
        directory[regions] = self._nowhere.ctypes.data
        self._idle.append(directory)


class TouchedLines:
    """The lines of one launch. address: of the directory, for native code."""

    def __init__(self, directories: Directories, table: Table) -> None:
        self._directories = directories
        self._directory = directories.take()
        self._spans = _line_spans(table)
        self._regions: dict[int, Bytes] = {}
        for first, end in self._spans:
            for region in range(first // REGION_LINES, (end - 1) // REGION_LINES + 1):
                if region not in self._regions:
                    self._regions[region] = np.zeros(REGION_LINES, np.uint8)
                    self._directory[region] = self._regions[region].ctypes.data

    @property
    def address(self) -> int:
        """The directory's address."""
        return int(self._directory.ctypes.data)

    def count(self) -> int:
        """Return how many lines the launch has touched."""
        return sum(self._count(first, end) for first, end in self._spans)

    def end(self) -> None:
        """The launch is over: native code uses the directory no more."""
        self._directories.give_back(self._directory, list(self._regions))

    def _count(self, first: int, end: int) -> int:
        count = 0
        while first < end:
            region, place = divmod(first, REGION_LINES)
            size = min(end - first, REGION_LINES - place)
            count += int(np.count_nonzero(self._regions[region][place : place + size]))
            first += size
        return count


def _line_spans(table: Table) -> list[tuple[int, int]]:
    """Return the lines of all allocations as ranges that do not overlap."""
    rows = table.rows.astype(np.int64)
    spans: list[tuple[int, int]] = []
    following = 0
    for first, end in zip(
        rows[:, Allocation.FIRST].tolist(), rows[:, Allocation.END].tolist(), strict=True
    ):
        start, following = max(first // LINE_BYTES, following), -(-end // LINE_BYTES)
        if start < following:
            spans.append((start, following))
    return spans
