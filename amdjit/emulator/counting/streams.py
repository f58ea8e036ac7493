"""The chunks of the streams that native code records waves in, before and after a launch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.counting.layout import Pool, Stream

__all__ = ["NO_CHUNK", "StreamPool", "TakenChunks"]

Int64s = NDArray[np.int64]
NO_CHUNK = -1


class StreamPool:
    """The chunks of one stream. The host takes their memory when it is first written.

    row: what native code knows (`layout.Pool`). slack: bytes at a chunk's end.
    """

    def __init__(self, row: Int64s, count: int, size: int, slack: int) -> None:
        self._row = row
        self._content: NDArray[np.uint8] = np.empty((count, size), np.uint8)
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
