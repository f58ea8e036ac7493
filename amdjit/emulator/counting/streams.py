"""The chunks of the streams that native code records waves in, before and after a launch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.counting.layout import Pool, Stream
from amdjit.forking import Lock

__all__ = ["NO_CHUNK", "SpareMemory", "StreamPool", "TakenChunks"]

Int64s = NDArray[np.int64]
NO_CHUNK = -1
# Bytes of one stream's chunks that are kept for the next launch.
_MOST_KEPT = 1 << 26


@dataclass(slots=True)
class SpareMemory:
    """Chunks of launches that are over, for those that follow: the host takes pages the first time
    that they are written, which is slow. What they hold means nothing. Safe to use from several
    threads."""

    _kept: dict[tuple[int, int], list[NDArray[np.uint8]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def take(self, count: int, size: int) -> NDArray[np.uint8]:
        """Return memory for `count` chunks of `size` bytes."""
        with self._lock:
            kept = self._kept.get((count, size))
            if kept:
                return kept.pop()
        return np.empty((count, size), np.uint8)

    def give_back(self, content: NDArray[np.uint8]) -> None:
        """Keep memory that nobody uses any more, one of each shape."""
        count, size = content.shape
        with self._lock:
            self._kept[count, size] = [content]


class StreamPool:
    """The chunks of one stream.

    row: what native code knows (`layout.Pool`). slack: bytes at a chunk's end.
    """

    def __init__(self, row: Int64s, count: int, size: int, slack: int, memory: SpareMemory) -> None:
        self._row, self._memory = row, memory
        self._content = memory.take(count, size)
        self._owners: Int64s = np.zeros(count, np.int64)
        self._filled: Int64s = np.zeros(count, np.int64)
        row[Pool.CHUNKS], row[Pool.SIZE], row[Pool.SLACK] = count, size, slack
        row[Pool.START] = self._content.ctypes.data
        row[Pool.OWNERS] = self._owners.ctypes.data
        row[Pool.FILLED] = self._filled.ctypes.data

    def take(self, streams: Int64s) -> TakenChunks:
        """Return what has been written. streams: the row of each wave (`layout.Stream`)."""
        chunks = streams[:, Stream.CHUNK]
        used = chunks != NO_CHUNK
        starts = self._row[Pool.START] + chunks * self._row[Pool.SIZE]
        self._filled[chunks[used]] = (streams[:, Stream.NEXT] - starts)[used]
        taken = min(int(self._row[Pool.TAKEN]), len(self._owners))
        filled = self._filled[:taken]
        width = int(filled.max(initial=0))
        return TakenChunks(self._content[:taken, :width].copy(), self._owners[:taken], filled)

    def end(self) -> None:
        """The launch is over, however it went: nobody writes the chunks any more."""
        if int(self._row[Pool.TAKEN]) * self._content.shape[1] <= _MOST_KEPT:
            self._memory.give_back(self._content)


@dataclass(frozen=True, slots=True, eq=False)
class TakenChunks:
    """The chunks of a stream that waves have taken: bytes, the wave that each belongs to, and how
    many of its bytes are filled."""

    content: NDArray[np.uint8]
    owners: Int64s
    filled: Int64s

    def by_wave(self, waves: int) -> list[NDArray[np.uint8]]:
        """Return the bytes that each wave has written."""
        parts: list[list[NDArray[np.uint8]]] = [[] for _ in range(waves)]
        rows = zip(self.content, self.owners.tolist(), self.filled.tolist(), strict=True)
        for content, owner, filled in rows:
            parts[owner].append(content[:filled])
        return [np.concatenate(several) if several else np.empty(0, np.uint8) for several in parts]
