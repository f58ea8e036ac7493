"""Streams and events of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class StreamDevice(Protocol):
    """A device with streams and events."""

    @property
    def stream_priorities(self) -> tuple[int, int]:
        """The least and the greatest priority of a stream; lower numbers are greater priorities."""
        ...

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` when the work that the stream has now is done, at the latest in the next
        wait.

        That wait raises what `tell` raises; further calls are left to the following wait.
        """
        ...

    def synchronize(self) -> None:
        """Wait for all work of this device."""
        ...

    def create_stream(self, priority: int = 0, non_blocking: bool = False) -> Any:
        """Make a stream, which is destroyed with its last reference.

        non_blocking: its work and that of the default stream do not wait for each other.
        """
        ...

    def external_stream(self, handle: int) -> Any:
        """Return a stream that another library made and will destroy, given by its HIP handle."""
        ...

    def stream_number(self, stream: Any) -> int:
        """Return the HIP handle of a stream, as `external_stream` takes it; 0 for the default
        stream."""
        ...

    def stream_priority(self, stream: Any) -> int:
        """Return the priority of a stream."""
        ...

    def query_stream(self, stream: Any) -> bool:
        """Return whether all work of one stream is done."""
        ...

    def synchronize_stream(self, stream: Any) -> None:
        """Wait for all work of one stream."""
        ...

    def call(self, function: Callable[[], object], stream: Any = None) -> None:
        """Call a function of the host after the work that the stream has now, before later work.

        The next wait raises what it raises.
        """
        ...

    def create_event(self, timing: bool = True) -> Any:
        """Make an event. Only those with timing can be timed."""
        ...

    def record_event(self, event: Any, stream: Any = None) -> None:
        """Put the event after the work that the stream has now."""
        ...

    def wait_event(self, stream: Any, event: Any) -> None:
        """Let later work of the stream wait for an event of this device or another of its kind."""
        ...

    def query_event(self, event: Any) -> bool:
        """Return whether the event is reached; an event that was never recorded is."""
        ...

    def synchronize_event(self, event: Any) -> None:
        """Wait until the event is reached."""
        ...

    def elapsed_milliseconds(self, start: Any, end: Any) -> float:
        """Return the time between two events that have been reached."""
        ...
