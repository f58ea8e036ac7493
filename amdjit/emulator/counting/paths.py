"""From the streams of a sample to a `Recording`: blocks become instructions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.counting.layout import REQUEST_FIELDS, Pool, Stream
from amdjit.emulator.counting.plan import CountingPlan
from amdjit.emulator.counting.recording import RecordedWave, RecordedWorkgroup, Recording
from amdjit.forking import Lock
from amdjit.late_methods import dataclass, field

__all__ = [
    "NO_CHUNK",
    "RecordedStreams",
    "SpareMemory",
    "StreamPool",
    "WaveStreams",
    "make_recording",
]


Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

_LANES, _BYTES, _CYCLES, _LINES = range(4)
_NO_REQUEST = -1


@dataclass(frozen=True, slots=True, eq=False)
class WaveStreams:
    """What native code has written of a wave: the numbers of its blocks; a row of active lanes,
    bytes, cycles of LDS and lines for each instruction that accesses memory; these lines."""

    blocks: Int32s
    requests: Int32s
    lines: Int64s


class _Blocks:
    """The instructions of a kernel's blocks, one block after the other."""

    def __init__(self, plan: CountingPlan) -> None:
        place = {instruction.pc: number for number, instruction in enumerate(plan.instructions)}
        blocks = [counted.block.instructions for counted in plan.blocks]
        flat = [instruction.pc for block in blocks for instruction in block]
        self.lengths: Int64s = np.array([len(block) for block in blocks], np.int64)
        self._starts: Int64s = np.cumsum(self.lengths) - self.lengths
        self._instructions: Int32s = np.array([place[pc] for pc in flat], np.int32)
        self._accesses = np.array([pc in plan.accesses for pc in flat], np.bool_)

    def expand(self, blocks: Int32s) -> tuple[Int32s, NDArray[np.bool_]]:
        """Return the instructions of a path, and which of them access memory."""
        lengths = self.lengths[blocks]
        before = np.cumsum(lengths) - lengths
        places = np.repeat(self._starts[blocks] - before, lengths) + np.arange(int(lengths.sum()))
        return self._instructions[places], self._accesses[places]


@dataclass(frozen=True, slots=True, eq=False)
class RecordedStreams:
    """What native code has written of a sample."""

    numbers: tuple[int, ...]
    """The numbers of the workgroups."""
    waves: int
    """Waves of each workgroup."""
    fits: NDArray[np.bool_]
    """Whether there was room, for each wave of all workgroups."""
    chunks: tuple[TakenChunks, ...]
    """The chunks of each stream."""
    launched: int
    """Workgroups of the launch."""
    most: int
    """Instructions of a recording."""

    def groups(self) -> Iterator[tuple[int, list[WaveStreams]]]:
        """Yield the number and the waves of each workgroup; no waves if they did not fit."""
        count = len(self.fits)
        blocks, requests, lines = (chunks.by_wave(count) for chunks in self.chunks)
        for place, number in enumerate(self.numbers):
            own = range(place * self.waves, (place + 1) * self.waves)
            if not self.fits[own.start : own.stop].all():
                yield number, []
                continue
            yield (
                number,
                [
                    WaveStreams(
                        blocks[wave].view(np.int32),
                        requests[wave].view(np.int32).reshape(-1, REQUEST_FIELDS),
                        lines[wave].view(np.int64),
                    )
                    for wave in own
                ],
            )


def make_recording(plan: CountingPlan, streams: RecordedStreams) -> Recording:
    """Put recorded workgroups together; those that do not fit are left out."""
    table, most = _Blocks(plan), streams.most
    requests, kept = _Requests(), []
    for number, waves in streams.groups():
        most -= sum(int(table.lengths[wave.blocks].sum()) for wave in waves)
        if not waves or most < 0:
            continue
        recorded = tuple(_wave(table, wave, requests) for wave in waves)
        kept.append(RecordedWorkgroup(number, recorded))
    addresses = np.array([instruction.pc for instruction in plan.instructions], np.int64)
    complete, dropped = len(kept) == streams.launched, len(streams.numbers) - len(kept)
    return Recording(addresses, tuple(kept), *requests.joined(), complete, dropped)


def _wave(table: _Blocks, wave: WaveStreams, requests: _Requests) -> RecordedWave:
    path, accesses = table.expand(wave.blocks)
    rows = requests.add(wave)
    assert len(rows) == int(accesses.sum()), "a wave's requests do not fit its path"
    request = np.full(len(path), _NO_REQUEST, np.int32)
    request[accesses] = rows
    return RecordedWave(path, request)


class _Requests:
    """The rows of all recorded waves. Accesses without active lanes get none."""

    def __init__(self) -> None:
        self._count = 0
        self._rows: list[Int32s] = []
        self._lines: list[Int64s] = []

    def add(self, wave: WaveStreams) -> Int64s:
        """Append a wave's rows; return the place of each."""
        active = wave.requests[:, _LANES] > 0
        places = np.where(active, self._count + np.cumsum(active) - 1, _NO_REQUEST)
        self._count += int(active.sum())
        self._rows.append(wave.requests[active])
        self._lines.append(wave.lines)
        return places

    def joined(self) -> tuple[Int64s, Int64s]:
        """Return `Recording.requests` and `Recording.lines`."""
        rows = np.concatenate([np.empty((0, 4), np.int32), *self._rows]).astype(np.int64)
        end = np.cumsum(rows[:, _LINES])
        columns = (rows[:, _LANES], rows[:, _BYTES], rows[:, _CYCLES], end - rows[:, _LINES], end)
        return np.stack(columns, 1), np.concatenate([np.empty(0, np.int64), *self._lines])


# The chunks of the streams that native code records waves in, before and after a launch.


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
