"""What a sample of a launch's workgroups did: the paths of their waves and the places that they
accessed. The emulator writes it, or a reader of hardware traces; the cycle model reads it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amdjit.late_methods import dataclass

__all__ = ["RecordedWave", "RecordedWorkgroup", "Recording"]

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordedWave:
    """The instructions that a wave executed.

    path: for each, its index among the kernel's instructions by address. request: for each, its row
    in `Recording.requests`; -1 if it did not access memory.
    """

    path: Int32s
    request: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class RecordedWorkgroup:
    """A workgroup: its number in the grid, x counting fastest, and its waves."""

    number: int
    waves: tuple[RecordedWave, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Workgroups that were recorded."""

    addresses: Int64s
    """The addresses of the kernel's instructions, ascending."""
    workgroups: tuple[RecordedWorkgroup, ...]
    """The recorded workgroups, in the order in which they started."""
    requests: Int64s
    """A row for each memory access of a wave: active lanes, bytes asked, LDS cycles, first and last
    index + 1 of its cache lines in `lines`."""
    lines: Int64s
    """Numbers of cache lines, that is addresses divided by `LINE_BYTES`."""
    complete: bool
    """Whether all workgroups of the launch are here."""
    dropped: int = 0
    """Workgroups that were to be recorded, but did not fit."""
