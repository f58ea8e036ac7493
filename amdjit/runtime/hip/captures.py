"""Captures of streams of an AMD GPU."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

from amdjit.runtime.device import CapturedLaunch
from amdjit.runtime.hip.calls import HipCalls, hip_error, hip_library
from amdjit.runtime.hip.graphs import HipGraph, checked
from amdjit.runtime.hip.handles import ExternalStream, HipEvent, HipStream
from amdjit.runtime.hip.host_functions import HostCall
from amdjit.runtime.hip_errors import HipError

# hip_runtime_api.h: hipStreamCaptureModeThreadLocal, which refuses unsafe calls of this thread
# only; hipErrorStreamCaptureIsolation and hipErrorStreamCaptureWrongThread.
_THREAD_LOCAL, _ISOLATION, _WRONG_THREAD = 1, 905, 908

AnyStream = HipStream | ExternalStream


class HipCapture:
    """A capture in progress: `amdjit.runtime.device.Capture`."""

    def __init__(self, calls: HipCalls, origin: AnyStream) -> None:
        self.is_over = False
        self.streams: list[AnyStream] = [origin]
        self.host_calls: list[HostCall] = []
        self.kept: list[object] = []
        self.launches: dict[int, CapturedLaunch] = {}
        self.sizes: dict[int, int] = {}
        self._calls = calls

    def keep(self, *owners: object) -> None:
        """Keep objects alive as long as the graph."""
        self.kept.extend(owners)

    def note(self, stream: AnyStream, launch: CapturedLaunch) -> None:
        """Take note of the launch that the stream recorded last."""
        self.launches[self._last_node(stream)] = launch

    def note_bytes(self, stream: AnyStream, nbytes: int) -> None:
        """Take note of the size of the copy or fill that the stream recorded last."""
        self.sizes[self._last_node(stream)] = nbytes

    def _last_node(self, stream: AnyStream) -> int:
        """Return the node that the stream's next one will come after: the one before it."""
        status, count = ctypes.c_int(), ctypes.c_size_t()
        nodes = ctypes.POINTER(ctypes.c_void_p)()
        outputs = (ctypes.byref(status), None, None, ctypes.byref(nodes), ctypes.byref(count))
        get = checked("hipStreamGetCaptureInfo_v2")
        self._calls.here("ask for what is captured", get, pointer(stream.native), *outputs)
        assert count.value == 1, "what was captured last is one node"
        return nodes[0] or 0


class ThreadCaptures(threading.local):
    """How many captures the calling thread has begun, and what it is to free after the last."""

    def __init__(self) -> None:
        self.count = 0
        self.freed_later: list[Callable[[], object]] = []

    def free(self, free: Callable[[], object]) -> None:
        """Free something: now, or after the captures of this thread, which HIP would spoil."""
        if self.count:
            self.freed_later.append(free)
        else:
            free()


class HipCaptures(HipCalls):
    """Captures of an AMD GPU's streams: `amdjit.runtime.device.GraphDevice`."""

    # One for all GPUs: HIP refuses a thread that captures on one of them calls for each.
    thread_captures = ThreadCaptures()

    def begin_capture(self, stream: Any) -> None:
        """Record the work of a stream from now on, instead of doing it."""
        native = None if stream is None else pointer(stream.native)
        # Counted first: Python may collect garbage, and with it free memory, at any line from here.
        self.thread_captures.count += 1
        try:
            self.here("capture a stream", checked("hipStreamBeginCapture"), native, _THREAD_LOCAL)
        except BaseException:
            self._end_of_one()
            raise
        stream.capture = HipCapture(self, stream)

    def end_capture(self, stream: Any) -> HipGraph:
        """Return what the stream recorded; HipError if the capture is spoilt."""
        capture: HipCapture = stream.capture
        native = ctypes.c_void_p()
        end = checked("hipStreamEndCapture")
        try:
            self.here("end a capture", end, pointer(stream.native), ctypes.byref(native))
        except HipError as error:
            if error.code != _WRONG_THREAD:
                self._close(capture)
            raise
        self._close(capture)
        return HipGraph(
            self,
            native.value or 0,
            launches=capture.launches,
            sizes=capture.sizes,
            host_calls=capture.host_calls,
            kept=capture.kept,
        )

    def discard_capture(self, stream: Any) -> None:
        """End a capture and drop what it recorded."""
        capture: HipCapture = stream.capture
        native = ctypes.c_void_p()
        # An error is expected if the capture is spoilt; the exception that left the block says why.
        checked("hipStreamEndCapture")(pointer(stream.native), ctypes.byref(native))
        if native.value:
            hip_library().hipGraphDestroy(native.value)
        self._close(capture)

    def _close(self, capture: HipCapture) -> None:
        capture.is_over = True
        for stream in capture.streams:
            stream.capture = None
        self._end_of_one()

    def _end_of_one(self) -> None:
        """Count a capture of this thread less, and free after the last what waited for it."""
        mine = self.thread_captures
        mine.count -= 1
        if mine.count == 0:
            later, mine.freed_later = mine.freed_later, []
            for free in later:
                free()


def pointer(native: Any) -> ctypes.c_void_p:
    """Return a HIP handle, hip-python's or a number, as C takes it."""
    return ctypes.c_void_p(int(native))


def capture_of(stream: Any) -> HipCapture | None:
    """Return what records the work of a stream, None if it is done."""
    return None if stream is None else stream.capture


def take_part(stream: Any, event: HipEvent) -> None:
    """Let a stream that waits for an event of a capture take part in it.

    HipError where a captured stream waits for another event, which a graph would not do."""
    capture = event.capture
    ours = capture_of(stream)
    if capture is not None and capture.is_over:
        capture = None
    if ours is not None and capture is None:
        error = hip_library().hipError_t(_ISOLATION)
        raise hip_error("let a stream wait for an event", error)
    if ours is None and capture is not None and stream is not None:
        stream.capture = capture
        capture.streams.append(stream)
