"""Memory as it was at earlier times of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Snapshot", "Snapshots"]

_BLOCK = 4096
# How much is compared at a time, so that the comparison takes little memory.
_STRETCH = 4096 * _BLOCK
# Beyond this, every second snapshot goes.
_MOST_BYTES = 512 << 20
_MOST = 48


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One time of a launch."""

    time: int
    state: Any
    """What else is to be restored."""
    blocks: tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]
    """For each piece of memory, the blocks that differ from those at the start, and their
    contents."""

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return sum(contents.nbytes for _, contents in self.blocks)


class Snapshots:
    """Snapshots of some pieces of memory, in the order of time; the first is of the start and
    stays."""

    def __init__(self, pieces: Sequence[NDArray[np.uint8]]) -> None:
        self._pieces = list(pieces)
        self._start = [piece.copy() for piece in self._pieces]
        self._taken: list[Snapshot] = []

    def take(self, time: int, state: Any) -> bool:
        """Take a snapshot, unless there is one of that time or a later one; return whether older
        ones had to make room."""
        if self._taken and self._taken[-1].time >= time:
            return False
        blocks = tuple(map(_difference, self._pieces, self._start))
        self._taken.append(Snapshot(time, state, blocks))
        is_full = len(self._taken) > _MOST or sum(map(_bytes, self._taken)) > _MOST_BYTES
        if is_full and len(self._taken) > 2:
            self._taken[1:-1] = self._taken[2:-1:2]
            return True
        return False

    def before(self, time: int) -> Snapshot:
        """Return the last one that is not later than `time`."""
        return next(each for each in reversed(self._taken) if each.time <= time)

    @property
    def latest(self) -> int:
        """The time of the last one."""
        return self._taken[-1].time

    def restore(self, snapshot: Snapshot) -> None:
        """Make memory as it was."""
        for piece, start, (numbers, contents) in zip(
            self._pieces, self._start, snapshot.blocks, strict=True
        ):
            piece[:] = start
            whole = len(piece) // _BLOCK * _BLOCK
            piece[:whole].reshape(-1, _BLOCK)[numbers] = contents[: len(numbers) * _BLOCK].reshape(
                -1, _BLOCK
            )
            piece[whole:] = contents[len(numbers) * _BLOCK :]


def _bytes(snapshot: Snapshot) -> int:
    return snapshot.nbytes


def _difference(
    piece: NDArray[np.uint8], start: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the numbers of the blocks that differ, and their contents followed by the bytes after
    the last whole block."""
    found = []
    whole = len(piece) // _BLOCK * _BLOCK
    for first in range(0, whole, _STRETCH):
        end = min(first + _STRETCH, whole)
        now, then = (
            each[first:end].view(np.uint64).reshape(-1, _BLOCK // 8) for each in (piece, start)
        )
        found.append(np.flatnonzero((now != then).any(axis=1)) + first // _BLOCK)
    numbers = np.concatenate(found) if found else np.zeros(0, np.int64)
    contents = piece[:whole].reshape(-1, _BLOCK)[numbers].reshape(-1)
    return numbers, np.concatenate([contents, piece[whole:]])
