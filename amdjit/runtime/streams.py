"""Streams and events: queues of work on a device, and marks in them to wait for and to time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, TypeVar

from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime.device import Device
from amdjit.runtime.graphs import Graph, captured
from amdjit.runtime.place import PLACE, PlaceInside, StreamOfDevice, callback_place
from amdjit.runtime.place import handle_of as handle_of

S = TypeVar("S", bound="Stream")


class Stream(StreamOfDevice):
    """A queue of work on one device, which runs in order. It is destroyed with its last
    reference.

    priority: of `device.stream_priorities`; lower numbers are greater priorities. non_blocking: its
    work and that of the default stream do not wait for each other. `with stream:` makes it the
    current stream, and its device the current device, in this thread or task.
    """

    __slots__ = ()

    def __init__(self, device: Device, priority: int = 0, non_blocking: bool = False) -> None:
        super().__init__(device, device.create_stream(_checked(priority, device), non_blocking))

    @property
    def priority(self) -> int:
        """The priority: lower numbers are greater priorities."""
        return self.device.stream_priority(self.handle)

    def wait(self, other: Event | Stream) -> None:
        """Let later work of this stream wait for an event, or for what another stream has now.

        The call returns at once. An event that was never recorded is not waited for. Events and
        streams of another device are waited for, too.
        """
        if isinstance(other, Stream):
            event = Event(other.device, timing=False)
            event.record(other)
            other = event
        if not isinstance(other, Event):
            raise LaunchError(
                f"a stream waits for an event or a stream, not for {other!r}: "
                "stream.wait(other_stream.record())"
            )
        if other.device is self.device or type(other.device) is type(self.device):
            self.device.wait_event(handle_of(self, self.device), other.handle)
        else:
            other.synchronize()

    def query(self) -> bool:
        """Return whether all work of this stream is done, without waiting."""
        return self.device.query_stream(handle_of(self, self.device))

    def synchronize(self) -> None:
        """Wait for all work of this stream; raises the error of work that failed."""
        self.device.synchronize_stream(handle_of(self, self.device))

    def record(self, event: Event | None = None) -> Event:
        """Put an event, by default a new one, after the work that this stream has now; return
        it."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def call(self, function: Callable[[], object]) -> None:
        """Call a function of the host after the work that this stream has now, before later work.

        It runs in a thread of HIP's, or at once on the emulator, and may not use a device: that
        raises LaunchError. What it raises, the next wait for the stream raises.
        """
        if not callable(function):
            raise LaunchError(f"a stream calls a function without arguments, not {function!r}")
        self.device.call(_away_from_devices(function), handle_of(self, self.device))

    def capture(self) -> AbstractContextManager[Graph]:
        """Record the work of a `with` block as a graph, instead of doing it.

        In the block this stream is the current one. Other streams take part by waiting for it, or
        for an event in it, and it must wait for them at the end. Refused in the block, as by HIP:
        to wait or ask for work, to allocate memory, to copy from or to pageable host memory, and
        launches with NumPy arrays or of kernels that print or assert.
        """
        return captured(self)

    def __enter__(self: S) -> S:
        place = PlaceInside(self.device, self)
        place.outer = PLACE.get()
        PLACE.set(place)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        place = PLACE.get()
        assert isinstance(place, PlaceInside), (
            "`with stream:` was left in another context than entered"
        )
        PLACE.set(place.outer)

    def __repr__(self) -> str:
        default = "default " if self.handle is None else ""
        return f"<{default}Stream on {self.device.name}>"


class Event:
    """A mark in a stream. timing: whether it can be timed; events that cannot cost less."""

    def __init__(self, device: Device, timing: bool = True) -> None:
        self.device = device
        self.timing = timing
        self.handle: Any = device.create_event(timing)
        self._is_recorded = False

    def record(self, stream: Stream | None = None) -> None:
        """Put this event after the work that the stream has now, None for the current stream."""
        self.device.record_event(self.handle, handle_of(stream, self.device))
        self._is_recorded = True

    def query(self) -> bool:
        """Return whether the device has reached this event, without waiting.

        An event that was never recorded counts as reached.
        """
        return self.device.query_event(self.handle)

    def synchronize(self) -> None:
        """Wait until the device has reached this event; raises the error of work before it."""
        self.device.synchronize_event(self.handle)

    def elapsed_milliseconds(self, end: Event) -> float:
        """Return the time from this event to `end`; both must have been reached.

        LaunchError for events without timing, of another device, or never recorded.
        """
        for name, event in (("the first event", self), ("`end`", end)):
            if not isinstance(event, Event):
                raise LaunchError(f"the time ends at an amdjit.Event(), not at {event!r}")
            if not event.timing:
                raise LaunchError(f"{name} was made with timing=False: make it with amdjit.Event()")
            if not event._is_recorded:
                raise LaunchError(f"{name} was never recorded: {_RECORD}")
        if end.device is not self.device:
            raise LaunchError(
                f"the events are on two devices, {self.device.name} and {end.device.name}, whose "
                "clocks differ: record both on one"
            )
        return self.device.elapsed_milliseconds(self.handle, end.handle)

    def __repr__(self) -> str:
        return f"<Event on {self.device.name}>"


_RECORD = "event = stream.record(), or event.record()"


def _checked(priority: object, device: Device) -> int:
    """Return a priority that the device has; LaunchError for any other."""
    least, greatest = device.stream_priorities
    if type(priority) is not int or not greatest <= priority <= least:
        raise LaunchError(
            f"priority={priority!r}: {device.name} has stream priorities from {greatest} (the "
            f"greatest) to {least}"
        )
    return priority


def _away_from_devices(function: Callable[[], object]) -> Callable[[], None]:
    """Return a function that calls another one, in which no device can be used."""

    def run() -> None:
        token = PLACE.set(callback_place())
        try:
            function()
        finally:
            PLACE.reset(token)

    return run
