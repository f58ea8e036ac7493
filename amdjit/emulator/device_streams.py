"""Streams and events of the emulated device."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from amdjit.diagnostics.errors import BackendError, LaunchError
from amdjit.emulator.queues import (
    Captures,
    EmulatedEvent,
    EmulatedGraph,
    EmulatedStream,
    Failure,
    StreamState,
)

# HIP's: hipStreamLegacy is the default stream, hipStreamPerThread each thread's own.
_LEGACY, _PER_THREAD = 1, 2


class EmulatedStreams:
    """Streams of the emulator, which does all work in the order of the calls."""

    _streams: StreamState
    _captures: Captures

    @property
    def stream_priorities(self) -> tuple[int, int]:
        """The priorities of AMD GPUs: 1, the least, to -1, the greatest."""
        return 1, -1

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` immediately: all work is done."""
        tell()

    def synchronize(self) -> None:
        """Raise what a function raised that a stream called; all work is done."""
        self._captures.refuse_anywhere("finish the work of a device")
        self._streams.tell(tuple(self._streams.failures))

    def create_stream(self, priority: int = 0, non_blocking: bool = False) -> EmulatedStream:
        """Make a stream. All streams wait for each other, which HIP allows for any."""
        return EmulatedStream(priority, non_blocking)

    def external_stream(self, handle: int) -> EmulatedStream | None:
        """Return the default stream, or this thread's own; LaunchError for other handles."""
        if handle in (0, _LEGACY):
            return None
        if handle != _PER_THREAD:
            raise LaunchError(
                f"the emulator has no HIP stream {handle:#x}: there only 0 and 1, the default "
                "stream, and 2, the thread's own, are handles. Make an amdjit.Stream()."
            )
        own = self._streams.of_thread
        if not hasattr(own, "stream"):
            own.stream = EmulatedStream()
        stream: EmulatedStream = own.stream
        return stream

    def stream_number(self, stream: EmulatedStream | None) -> int:
        """Return 0: no other library has streams of the emulator."""
        return 0

    def stream_priority(self, stream: EmulatedStream | None) -> int:
        """Return the priority that the stream was made with."""
        return 0 if stream is None else stream.priority

    def query_stream(self, stream: EmulatedStream | None) -> bool:
        """Return True: all work is done."""
        self._captures.refuse_waits(stream, "ask a stream whether it is done")
        return True

    def synchronize_stream(self, stream: EmulatedStream | None) -> None:
        """Raise what a function raised that the stream called; all work is done."""
        self._captures.refuse_waits(stream, "finish the work of a stream")
        self._streams.tell_stream(stream)

    def call(self, function: Callable[[], object], stream: EmulatedStream | None = None) -> None:
        """Call a function now; the next wait raises what it raises."""
        capture = self._captures.recording(stream, "call a function")
        if capture is None:
            self._call(function, stream)
        elif stream is not None:
            capture.add(stream, "host", partial(self._call, function))

    def _call(self, function: Callable[[], object], stream: EmulatedStream | None) -> None:
        try:
            function()
        except BaseException as error:  # HIP's thread catches all, too
            with self._streams.lock:
                self._streams.failures.append(Failure(stream, error))

    def create_event(self, timing: bool = True) -> EmulatedEvent:
        """Make an event."""
        return EmulatedEvent()

    def record_event(self, event: EmulatedEvent, stream: EmulatedStream | None = None) -> None:
        """Record the time."""
        if self._captures.active and self._captures.record(event, stream):
            return
        event.capture = None
        event.seconds = time.perf_counter()
        event.failures = self._streams.of(stream)

    def wait_event(self, stream: EmulatedStream | None, event: EmulatedEvent) -> None:
        """Return immediately: a recorded event is reached."""
        if self._captures.active:
            self._captures.wait(stream, event)

    def query_event(self, event: EmulatedEvent) -> bool:
        """Return True: a recorded event is reached."""
        doing = "ask an event whether it is done"
        self._captures.refuse_event(event, doing)
        self._captures.refuse_in_thread(doing)
        return True

    def synchronize_event(self, event: EmulatedEvent) -> None:
        """Raise what a function raised that a stream called before; the event is reached."""
        self._captures.refuse_event(event, "wait for an event")
        if event.failures:
            self._streams.tell(event.failures)

    def elapsed_milliseconds(self, start: EmulatedEvent, end: EmulatedEvent) -> float:
        """Return the time between two events; BackendError if one was recorded in a capture."""
        if start.seconds is None or end.seconds is None:
            raise BackendError(
                "the emulator could not time two events: hipErrorInvalidHandle (400), one of them "
                "was recorded in a captured stream, which gives it no time"
            )
        return (end.seconds - start.seconds) * 1e3

    def begin_capture(self, stream: EmulatedStream | None) -> None:
        """Record the work of a stream from now on, instead of doing it."""
        self._captures.begin(stream)

    def end_capture(self, stream: EmulatedStream) -> EmulatedGraph:
        """Return what the stream recorded; StreamCaptureError if the capture is spoilt."""
        return self._captures.end(stream)

    def discard_capture(self, stream: EmulatedStream) -> None:
        """End a capture and drop what it recorded."""
        self._captures.end(stream, check=False)
