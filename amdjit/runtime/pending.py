"""What to report to the user when asynchronous work is done: printed lines and faults."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    stream: Any
    tell: Callable[[], None]


@dataclass(slots=True)
class Pending:
    """The calls to make when work of a device is done, in the order of the launches.

    Several threads may use it."""

    _entries: list[_Entry] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _telling: threading.local = field(default_factory=threading.local)

    def add(self, tell: Callable[[], None], stream: Any) -> int:
        """Call `tell` when the work that `stream` has now is done; return how many calls wait."""
        with self._lock:
            self._entries.append(_Entry(stream, tell))
            return len(self._entries)

    def of(self, stream: Any) -> tuple[_Entry, ...]:
        """Return the calls that wait for a stream."""
        with self._lock:
            return tuple(entry for entry in self._entries if entry.stream is stream)

    def tell_stream(self, stream: Any) -> None:
        """Make the calls for a stream, whose work is done."""
        if self._entries:
            self.tell(self.of(stream))

    def tell_all(self) -> None:
        """Make all calls: all work is done."""
        if self._entries:
            self.tell(tuple(self._entries))

    def tell(self, entries: Sequence[_Entry]) -> None:
        """Make some of the waiting calls. If one raises, the ones after it are left for the next
        time."""
        if getattr(self._telling, "active", False):
            return  # Such a call copies from the device, which makes waiting calls again.
        self._telling.active = True
        try:
            for entry in entries:
                if self._remove(entry):
                    entry.tell()
        finally:
            self._telling.active = False

    def _remove(self, entry: _Entry) -> bool:
        with self._lock:
            if entry not in self._entries:
                return False
            self._entries.remove(entry)
            return True
