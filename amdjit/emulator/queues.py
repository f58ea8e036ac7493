"""Streams and events of the emulated device as values, and what they remember."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amdjit.forking import Lock

if TYPE_CHECKING:
    from amdjit.emulator.captures import EmulatedCapture


@dataclass(slots=True, eq=False)
class EmulatedStream:
    """A stream. All work is done in the order of the calls.

    capture: what records its work now. last: the nodes that its next one comes after.
    """

    priority: int = 0
    non_blocking: bool = False
    capture: EmulatedCapture | None = None
    last: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class EmulatedEvent:
    """A point in time. Launches are done when they return: an event is reached when it is
    recorded.

    capture, nodes: recorded in a captured stream, the nodes before it.
    """

    seconds: float | None = None
    failures: tuple[Failure, ...] = ()
    capture: EmulatedCapture | None = None
    nodes: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Failure:
    """What a function raised that a stream called."""

    stream: EmulatedStream | None
    error: BaseException


@dataclass(slots=True)
class StreamState:
    """What the streams of a device remember: failures to tell, and each thread's own stream."""

    failures: list[Failure] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)
    of_thread: threading.local = field(default_factory=threading.local)

    def tell(self, among: tuple[Failure, ...]) -> None:
        """Raise the first of these failures that was not raised yet."""
        with self.lock:
            found = next((failure for failure in self.failures if failure in among), None)
            if found is not None:
                self.failures.remove(found)
        if found is not None:
            raise found.error

    def of(self, stream: EmulatedStream | None) -> tuple[Failure, ...]:
        """Return the failures of a stream that were not raised yet."""
        return tuple(failure for failure in self.failures if failure.stream is stream)

    def tell_stream(self, stream: EmulatedStream | None) -> None:
        """Raise the first failure of a stream that was not raised yet."""
        if self.failures:
            self.tell(self.of(stream))
