"""What is to be told to the user once asynchronous work is done: printed lines and faults of
launches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    stream: Any
    tell: Callable[[], None]


@dataclass(slots=True)
class Pending:
    """What is to be told of one device's work, in the order of the launches. Safe to use from
    several threads."""

    _entries: list[_Entry] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _telling: threading.local = field(default_factory=threading.local)

    def add(self, tell: Callable[[], None], stream: Any) -> int:
        """Remember to call `tell` when the work is done that `stream` has now; return how many
        calls wait."""
        with self._lock:
            self._entries.append(_Entry(stream, tell))
            return len(self._entries)

    def of(self, stream: Any) -> tuple[_Entry, ...]:
        """Return what waits for a stream now."""
        with self._lock:
            return tuple(entry for entry in self._entries if entry.stream is stream)

    def tell_stream(self, stream: Any) -> None:
        """A stream's work is done: tell it."""
        if self._entries:
            self.tell(self.of(stream))

    def tell_all(self) -> None:
        """All work is done: tell it."""
        if self._entries:
            self.tell(tuple(self._entries))

    def tell(self, entries: Sequence[_Entry]) -> None:
        """Tell some of what still waits. What is behind one that raises waits for the next time."""
        if getattr(self._telling, "active", False):
            return  # telling copies from the device, which tells what is done
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
