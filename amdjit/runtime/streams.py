"""Streams and events: queues of work on a device, and marks in them to wait for and to time."""

from __future__ import annotations

from typing import Any

from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime.device import Device


class Stream:
    """A queue of work on one device, which runs in order. It is destroyed with its last
    reference."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.handle: Any = device.create_stream()

    def synchronize(self) -> None:
        """Wait for all work of this stream; raises the error of work that failed."""
        self.device.synchronize_stream(self.handle)

    def record(self, event: Event | None = None) -> Event:
        """Put an event, by default a new one, after the work that this stream has now; return
        it."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<Stream on {self.device.name}>"


class Event:
    """A mark in a stream."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.handle: Any = device.create_event()

    def record(self, stream: Stream | None = None) -> None:
        """Put this event after the work that the stream has now, None for the default stream."""
        self.device.record_event(self.handle, handle_of(stream, self.device))

    def synchronize(self) -> None:
        """Wait until the device has reached this event."""
        self.device.synchronize_event(self.handle)

    def elapsed_milliseconds(self, end: Event) -> float:
        """Return the time from this event to `end`; both must have been reached."""
        return self.device.elapsed_milliseconds(self.handle, end.handle)

    def __repr__(self) -> str:
        return f"<Event on {self.device.name}>"


def handle_of(stream: Stream | None, device: Device) -> Any:
    """Return the device's handle of a stream, None for the default one.

    0 also means the default stream, as in HIP and Numba. LaunchError for anything that is not a
    stream of the device.
    """
    if stream is None or (isinstance(stream, int) and stream == 0):
        return None
    if not isinstance(stream, Stream):
        raise LaunchError(
            f"the stream is {stream!r}, a {type(stream).__name__}. "
            "Give an amdjit.Stream(), or None for the default stream."
        )
    if stream.device is not device:
        raise LaunchError(
            f"the stream belongs to {stream.device.name}, the work is for {device.name}. "
            f'Make the stream there: with amdjit.use("{device.name}"): stream = amdjit.Stream()'
        )
    return stream.handle
