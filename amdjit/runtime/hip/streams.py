"""Streams and events of an AMD GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime.hip.calls import HipCalls, call
from amdjit.runtime.hip.captures import capture_of, take_part
from amdjit.runtime.hip.handles import ExternalStreams, HipEvent, HipStream, native_of
from amdjit.runtime.hip.host_functions import HostFunctions
from amdjit.runtime.hip_errors import HipError

# Each holds a record in device memory.
_MOST_PENDING = 64
# hip_runtime_api.h.
_NON_BLOCKING, _DISABLE_TIMING, _NOT_READY = 1, 2, 600
_PER_THREAD = 2  # hipStreamPerThread, a stream of each GPU


class HipStreams(HipCalls):
    """Streams and events of an AMD GPU: `amdjit.runtime.device.StreamDevice`."""

    external_streams: ExternalStreams
    host_functions: HostFunctions

    @property
    def stream_priorities(self) -> tuple[int, int]:
        """The least and the greatest priority of a stream; lower numbers are greater priorities."""
        doing = "ask for the priorities of streams"
        least, greatest = self.here(doing, self.hip.hipDeviceGetStreamPriorityRange)
        return least, greatest

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` at the next wait for the stream; too many pending calls cause a wait."""
        if self.pending.add(tell, stream) >= _MOST_PENDING:
            self.synchronize()

    def synchronize(self) -> None:
        """Wait for all work of this device; HipError if some failed, KernelFault if a kernel
        reports one."""
        self.here(f"finish the work on {self.name}", self.hip.hipDeviceSynchronize)
        self.pending.tell_all()

    def create_stream(self, priority: int = 0, non_blocking: bool = False) -> HipStream:
        """Make a stream; it is destroyed with its last reference."""
        create, flags = self.hip.hipStreamCreateWithPriority, _NON_BLOCKING * non_blocking
        native = self.here(f"create a stream on {self.name}", create, flags, priority)
        return HipStream(native, self.hip.hipStreamDestroy)

    def external_stream(self, handle: int) -> Any:
        """Return a stream that others have made and will destroy; None for the default stream.

        LaunchError for a stream of another GPU.
        """
        stream = self.external_streams.find(handle)
        if stream is not None and not self.is_only_one and handle != _PER_THREAD:
            doing = "ask for the device of a stream"
            index = int(self.here(doing, self.hip.hipStreamGetDevice, handle))
            if index != self.index:
                raise LaunchError(
                    f"the stream {handle:#x} belongs to hip:{index}, the work is for {self.name}: "
                    f"give a stream of {self.name}, or work inside `with "
                    f'amdjit.use("hip:{index}"):`'
                )
        return stream

    def stream_number(self, stream: Any) -> int:
        """Return the handle of a stream as HIP has it; 0 for the default stream."""
        return 0 if stream is None else int(stream.native)

    def stream_priority(self, stream: Any) -> int:
        """Return the priority of a stream."""
        doing = "ask for the priority of a stream"
        return int(self.here(doing, self.hip.hipStreamGetPriority, native_of(stream)))

    def query_stream(self, stream: Any) -> bool:
        """Return whether all work of a stream is done; HipError if some failed."""
        return self._is_done("ask a stream", self.hip.hipStreamQuery, native_of(stream))

    def synchronize_stream(self, stream: Any) -> None:
        """Wait for all work of a stream; HipError if some failed, KernelFault if a kernel reports
        one."""
        self.wait_for(stream)
        self.pending.tell_stream(stream)

    def call(self, function: Callable[[], object], stream: Any = None) -> None:
        """Call a function of the host after the work that the stream has now."""
        capture = capture_of(stream)
        call = self.host_functions.launch(self, function, native_of(stream), capture is not None)
        if capture is None:
            self.when_done(call.tell, stream)
        else:
            capture.host_calls.append(call)

    def create_event(self, timing: bool = True) -> HipEvent:
        """Make an event; it is destroyed with its last reference."""
        create, flags = self.hip.hipEventCreateWithFlags, 0 if timing else _DISABLE_TIMING
        native = self.here(f"create an event on {self.name}", create, flags)
        return HipEvent(native, self.hip.hipEventDestroy)

    def record_event(self, event: Any, stream: Any = None) -> None:
        """Put the event after the work that the stream has now."""
        event.told_by = self.pending.of(stream)
        event.capture = capture_of(stream)
        self.here("record an event", self.hip.hipEventRecord, event.native, native_of(stream))

    def wait_event(self, stream: Any, event: Any) -> None:
        """Let later work of the stream wait for an event of any GPU."""
        take_part(stream, event)
        wait = self.hip.hipStreamWaitEvent
        self.here("let a stream wait for an event", wait, native_of(stream), event.native, 0)

    def query_event(self, event: Any) -> bool:
        """Return whether the event is reached; HipError if work before it failed."""
        return self._is_done("ask an event", self.hip.hipEventQuery, event.native)

    def synchronize_event(self, event: Any) -> None:
        """Wait until the event is reached."""
        call("wait for an event", self.hip.hipEventSynchronize, event.native)
        self.pending.tell(event.told_by)

    def elapsed_milliseconds(self, start: Any, end: Any) -> float:
        """Return the time between two events that have been reached, to about 1 us."""
        return float(
            call("time two events", self.hip.hipEventElapsedTime, start.native, end.native)
        )

    def _is_done(self, doing: str, query: Callable[..., Any], native: Any) -> bool:
        try:
            self.here(f"{doing} whether it is done", query, native)
        except HipError as error:
            if error.code == _NOT_READY:
                return False
            raise
        return True
