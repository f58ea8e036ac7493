"""Freed device memory that is kept for a while, so that its use is told from that of another
allocation."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass
from types import FrameType

import numpy as np
from numpy.typing import NDArray

_MOST_BYTES = 64 << 20
_MOST = 256


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A line of the user's program; `by_array` if an array asked for the memory, which frees it by
    itself."""

    file: str
    line: int
    by_array: bool


@dataclass(frozen=True, slots=True)
class Freed:
    """A freed allocation [start, end), where it was made and freed. `storage` keeps others from
    getting the memory."""

    start: int
    end: int
    made: CallPlace | None
    freed: CallPlace | None
    storage: NDArray[np.uint8]


class Quarantine:
    """The allocations freed last, at most 256 of them and 64 MiB. Safe to use from finalizers: a
    deque's steps are."""

    def __init__(self) -> None:
        self._freed: deque[Freed] = deque(maxlen=_MOST)

    def add(self, freed: Freed) -> None:
        """Keep an allocation that was freed; older ones go if there are too many."""
        self._freed.append(freed)
        while sum(entry.storage.nbytes for entry in list(self._freed)) > _MOST_BYTES:
            try:
                self._freed.popleft()
            except IndexError:
                return

    def find(self, address: int) -> Freed | None:
        """Return the freed allocation that an address lies in."""
        return next(
            (entry for entry in list(self._freed) if entry.start <= address < entry.end), None
        )


def call_place() -> CallPlace | None:
    """Return the innermost line of the call stack that is not amdjit's own."""
    frame: FrameType | None = sys._getframe(1)
    by_array = False
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not _is_own(module):
            return CallPlace(frame.f_code.co_filename, frame.f_lineno, by_array)
        by_array |= module == "amdjit.runtime.arrays"
        frame = frame.f_back
    return None


# A finalizer is called through `weakref`.
def _is_own(module: str) -> bool:
    return module == "weakref" or (
        (module == "amdjit" or module.startswith("amdjit."))
        and not module.startswith("amdjit.examples")
    )
