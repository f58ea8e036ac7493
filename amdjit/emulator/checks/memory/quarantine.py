"""Freed device memory that is kept for a while, so that a use of it is not taken for one of another
allocation."""

from __future__ import annotations

import sys
from collections import deque
from contextvars import ContextVar
from types import FrameType

from amdjit.diagnostics.notebooks import shown_file
from amdjit.emulator.memory import MemoryObserver, Range
from amdjit.late_methods import dataclass

# After allocations that are noted, so that an index that is far too large reaches no other one.
# Address space takes no memory until it is used.
WIDE_GAP = 1 << 20
_MOST_BYTES = 64 << 20
_MOST = 256


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A line of the user's program, or code of it of which no line is known.

    by_array: an array asked for the memory, and frees it itself.
    """

    file: str | None
    line: int | None
    by_array: bool

    @property
    def text(self) -> str:
        """The place in words, to follow "made" or "freed"."""
        if self.file is None:
            return "by code without lines: compile with -g"
        return f"at {shown_file(self.file)}:{self.line}"


# The line of a program that is not Python and calls the device; None for those that are.
PROGRAM_PLACE: ContextVar[CallPlace | None] = ContextVar("amdjit program place", default=None)


@dataclass(frozen=True, slots=True)
class Freed:
    """A freed allocation, and where it was made and freed. Its storage keeps the memory from being
    allocated again."""

    allocation: Range
    made: CallPlace
    freed: CallPlace | None


class Quarantine(MemoryObserver):
    """The allocations whose places in the program are noted, and those of them that were freed
    last: at most 256, and 64 MiB.

    Finalizers may call it: the steps of a deque and a dict are safe.
    """

    def __init__(self) -> None:
        self._made: dict[int, CallPlace] = {}
        self._freed: deque[Freed] = deque(maxlen=_MOST)

    def note(self, allocation: Range) -> CallPlace | None:
        """Note that the program makes this allocation now; return where that is."""
        place = call_place()
        if place is not None:
            self._made[allocation.start] = place
        return place

    def freed(self, allocation: Range) -> None:
        """Keep a noted allocation; older ones go if there are too many."""
        made = self._made.pop(allocation.start, None)
        if made is None:
            return
        self._freed.append(Freed(allocation, made, call_place()))
        while sum(entry.allocation.storage.nbytes for entry in list(self._freed)) > _MOST_BYTES:
            try:
                self._freed.popleft()
            except IndexError:
                return

    def explain_free(self, address: int) -> str:
        """Return where the memory at `address` was freed."""
        before = self.find(address)
        where = before.freed if before is not None else None
        return f"; it was freed before, {where.text}" if where is not None else ""

    def find(self, address: int) -> Freed | None:
        """Return the freed allocation that an address lies in."""
        return next((entry for entry in list(self._freed) if _holds(entry, address)), None)


def _holds(entry: Freed, address: int) -> bool:
    return entry.allocation.start <= address < entry.allocation.end


def call_place() -> CallPlace | None:
    """Return the innermost line of the call stack that is not amdjit's own."""
    place = PROGRAM_PLACE.get()
    if place is not None:
        return place
    frame: FrameType | None = sys._getframe(1)
    by_array = False
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not _is_own(module):
            return CallPlace(frame.f_code.co_filename, frame.f_lineno, by_array)
        by_array |= module == "amdjit.runtime.memory"
        frame = frame.f_back
    return None


# A finalizer is called through `weakref`.
def _is_own(module: str) -> bool:
    return module == "weakref" or (
        (module == "amdjit" or module.startswith("amdjit."))
        and not module.startswith("amdjit.examples")
    )
