"""Streams and events under Numba's names."""

from __future__ import annotations

import contextlib
from typing import Any

from amdjit.devices import Event as _Event
from amdjit.devices import Stream as _Stream

# The number of the default stream in the CUDA array interface ("Synchronization").
_LEGACY = 1


def stream_of(stream: Any) -> Any:
    """Return amdjit's stream for one of Numba's, for which 0 is the default stream."""
    return None if isinstance(stream, int) and stream == 0 else stream


def number_of(stream: Any) -> int | None:
    """Return the number of a stream in a CUDA array interface; None for 0, which names none."""
    own = stream_of(stream)
    return None if own is None else own.device.stream_number(own.handle) or _LEGACY


class Stream(_Stream):
    """A stream with the methods that Numba's streams have."""

    __slots__ = ()

    def add_callback(self, callback: Any, arg: Any = None) -> None:
        """Call `callback(stream, status, arg)` after the work that the stream has now."""
        self.call(lambda: callback(self, 0, arg))

    @contextlib.contextmanager
    def auto_synchronize(self) -> Any:
        """Wait for the stream at the end of the block."""
        yield self
        self.synchronize()


class Event(_Event):
    """An event with the methods that Numba's events have."""

    def record(self, stream: Any = 0) -> None:
        """Put the event after the work that the stream has now."""
        super().record(None if isinstance(stream, int) else stream)

    def wait(self, stream: Any = 0) -> None:
        """Let later work of the stream wait for the event."""
        (Stream.external(0) if isinstance(stream, int) else stream).wait(self)

    def elapsed_time(self, evtend: Any) -> float:
        """Return the milliseconds from this event to another one."""
        return self.elapsed_milliseconds(evtend)


def event_elapsed_time(evtstart: Any, evtend: Any) -> float:
    """Return the milliseconds from one event to another one."""
    return float(evtstart.elapsed_time(evtend))


def stream() -> Stream:
    """Return a new stream."""
    return Stream()


def default_stream() -> Any:
    """Return the default stream."""
    return Stream.external(0)


legacy_default_stream = default_stream


def per_thread_default_stream() -> Any:
    """Return the calling thread's stream."""
    return Stream.external(2)


def external_stream(ptr: Any) -> Any:
    """Return a stream that another library has made."""
    return Stream.external(ptr)


def event(timing: bool = True) -> Event:
    """Return a new event."""
    return Event(timing)
