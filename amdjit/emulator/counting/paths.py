"""From the streams of a sample to a `Recording`: blocks become instructions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.counting.layout import REQUEST_FIELDS
from amdjit.emulator.counting.plan import CountingPlan
from amdjit.emulator.counting.recording import RecordedWave, RecordedWorkgroup, Recording
from amdjit.emulator.counting.streams import TakenChunks

__all__ = ["RecordedStreams", "WaveStreams", "make_recording"]

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
