"""Captures of streams of an AMD GPU, and the graphs that they become."""

from __future__ import annotations

import ctypes
import struct
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amdjit.checking.profiling import refuse_profiles
from amdjit.diagnostics.errors import BackendError
from amdjit.late_methods import dataclass
from amdjit.runtime.device import CapturedLaunch
from amdjit.runtime.hip.calls import HipCalls, direct, hip_error, hip_library
from amdjit.runtime.hip.handles import ExternalStream, HipEvent, HipStream, native_of
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


# Graphs of an AMD GPU.
#
# hip-python cannot return the lists of a graph's nodes and edges, so these functions are called as
# C has them.


# hip_runtime_api.h, hipGraphNodeType.
_KINDS = (
    "kernel",
    "copy",
    "fill",
    "host",
    "graph",
    "empty",
    "wait",
    "record",
    "signal semaphores",
    "wait for semaphores",
    "allocate",
    "free",
    "copy from symbol",
    "copy to symbol",
)
# hipGraphExecUpdateResult.
_RESULTS = {
    2: "the graphs have other nodes or another order",
    3: "a node is of another kind",
    4: "a node launches another kernel",
    5: "what a node does cannot be changed in this way",
    6: "HIP cannot change such a node",
    7: "a node launches another kernel",
}
_UPDATE_FAILURE, _UNSUPPORTED = 910, 900
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3


class _KernelNodeParameters(ctypes.Structure):
    """hipKernelNodeParams."""

    _fields_ = (
        ("block", ctypes.c_uint32 * 3),
        ("extra", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3),
        ("parameters", ctypes.c_void_p),
        ("dynamic_lds", ctypes.c_uint32),
    )


@dataclass(frozen=True, slots=True, eq=False)
class HipNode:
    """A node of a graph: `amdjit.runtime.device.NodeFacts`."""

    native: int
    """HIP's handle."""
    kind: str
    name: str
    nbytes: int
    dependencies: tuple[int, ...]
    launch: CapturedLaunch | None


class HipGraph:
    """A graph: `amdjit.runtime.device.DeviceGraph`."""

    def __init__(
        self,
        calls: HipCalls,
        native: int,
        launches: Mapping[int, CapturedLaunch],
        sizes: Mapping[int, int],
        host_calls: Sequence[HostCall],
        kept: Sequence[object],
    ) -> None:
        self.native = native
        self.host_calls = tuple(host_calls)
        self._calls, self.kept = calls, tuple(kept)
        _destroyed_with(self, "hipGraphDestroy", native)
        self.nodes = self._read(launches, sizes)

    def instantiate(self) -> HipExecutable:
        """Make it ready to launch."""
        return HipExecutable(self._calls, self)

    def _read(
        self, launches: Mapping[int, CapturedLaunch], sizes: Mapping[int, int]
    ) -> tuple[HipNode, ...]:
        doing = "ask for the nodes of a graph"
        (natives,) = self._lists(doing, checked("hipGraphGetNodes"), 1)
        before, after = self._lists(doing, checked("hipGraphGetEdges"), 2)
        edges: dict[int, list[int]] = {native: [] for native in natives}
        for first, second in zip(before, after, strict=True):
            edges[second].append(first)
        ordered = _ordered(natives, edges)
        position = {native: index for index, native in enumerate(ordered)}
        kind = ctypes.c_int()
        nodes = []
        for native in ordered:
            read = checked("hipGraphNodeGetType")
            self._calls.here(doing, read, ctypes.c_void_p(native), ctypes.byref(kind))
            launch = launches.get(native)
            nodes.append(
                HipNode(
                    native,
                    _KINDS[kind.value] if kind.value < len(_KINDS) else f"kind {kind.value}",
                    name="" if launch is None else launch.function.name,
                    nbytes=sizes.get(native, 0),
                    dependencies=tuple(sorted(position[other] for other in edges[native])),
                    launch=launch,
                )
            )
        return tuple(nodes)

    def _lists(self, doing: str, function: Callable[..., Any], count: int) -> list[list[int]]:
        """Return the lists of handles that a HIP function fills."""
        length = ctypes.c_size_t()
        graph = ctypes.c_void_p(self.native)
        self._calls.here(doing, function, graph, *([None] * count), ctypes.byref(length))
        lists = [(ctypes.c_void_p * max(length.value, 1))() for _ in range(count)]
        if length.value:
            self._calls.here(doing, function, graph, *lists, ctypes.byref(length))
        return [[handle or 0 for handle in found[: length.value]] for found in lists]


class HipExecutable:
    """A graph that is ready to launch: `amdjit.runtime.device.DeviceExecutable`."""

    def __init__(self, calls: HipCalls, graph: HipGraph) -> None:
        self._calls, self._graph, self._updated = calls, graph, graph
        native = ctypes.c_void_p()
        calls.here(
            "instantiate a graph",
            checked("hipGraphInstantiate"),
            ctypes.byref(native),
            ctypes.c_void_p(graph.native),
            None,
            None,
            ctypes.c_size_t(0),
        )
        self._native = native.value or 0
        _destroyed_with(self, "hipGraphExecDestroy", self._native)

    def launch(self, stream: Any) -> None:
        """Do all of its work, after the work that the stream has now."""
        calls = self._calls
        refuse_profiles("the graph", calls.name, calls.target.name)
        doing = "launch a graph"
        if stream is not None and stream.capture is not None:
            # HIP would do it now, and not record it.
            raise hip_error(doing, hip_library().hipError_t(_UNSUPPORTED))
        native = native_of(stream)
        handle = None if native is None else ctypes.c_void_p(int(native))
        calls.here(doing, checked("hipGraphLaunch"), ctypes.c_void_p(self._native), handle)
        for call in self._updated.host_calls:
            calls.pending.add(call.tell, stream)

    def update(self, graph: HipGraph) -> None:
        """Take the arguments of another graph with the same nodes and edges."""
        node, result = ctypes.c_void_p(), ctypes.c_int()
        doing = "update a graph"
        code = checked("hipGraphExecUpdate")(
            ctypes.c_void_p(self._native),
            ctypes.c_void_p(graph.native),
            ctypes.byref(node),
            ctypes.byref(result),
        )[0]
        if int(code) == _UPDATE_FAILURE:
            position = [index for index, n in enumerate(graph.nodes) if n.native == node.value]
            where = f", at node {position[0]}" if position else ""
            raise BackendError(
                f"HIP could not {doing}: {code.name} ({int(code)}){where}, "
                f"{_RESULTS.get(result.value, 'for no reason that it gives')}. Instantiate the new "
                "graph."
            )
        if code:
            raise hip_error(doing, code)
        self._updated = graph

    def set_kernel(self, position: int, launch: CapturedLaunch) -> None:
        """Let a kernel node make another launch."""
        shape, kernarg = launch.shape, bytes(launch.kernarg)
        contents = ctypes.create_string_buffer(kernarg, len(kernarg))
        size = ctypes.c_size_t(len(kernarg))
        tags = struct.pack(
            "5Q",
            _BUFFER_POINTER,
            ctypes.addressof(contents),
            _BUFFER_SIZE,
            ctypes.addressof(size),
            _END,
        )
        extra = ctypes.create_string_buffer(tags, len(tags))
        parameters = _KernelNodeParameters(
            block=shape.block,
            extra=ctypes.addressof(extra),
            function=int(launch.function.native),
            grid=shape.grid,
            dynamic_lds=shape.dynamic_lds,
        )
        self._calls.here(
            "change the arguments of a graph's node",
            checked("hipGraphExecKernelNodeSetParams"),
            ctypes.c_void_p(self._native),
            ctypes.c_void_p(self._graph.nodes[position].native),
            ctypes.byref(parameters),
        )


def checked(name: str) -> Callable[..., tuple[Any]]:
    """Return a HIP function that takes C values and returns (hipError_t,), for `HipCalls.here`."""
    function = direct(name)
    if function is None:
        raise BackendError(f"this hip-python has no {name}: graphs need hip-python 6 or newer")
    code_of = hip_library().hipError_t
    return lambda *arguments: (code_of(function(*arguments)),)


def _destroyed_with(owner: object, name: str, native: int) -> None:
    destroy = checked(name)
    finalizer = weakref.finalize(owner, destroy, ctypes.c_void_p(native))
    finalizer.atexit = False  # the HIP runtime may end before Python does


def _ordered(natives: Sequence[int], edges: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the nodes in HIP's order, except that each comes after those on which it depends."""
    ordered: dict[int, None] = {}
    left = list(natives)
    while left:
        ready = [node for node in left if all(before in ordered for before in edges[node])]
        ordered.update(dict.fromkeys(ready[:1]))
        left.remove(ready[0])
    return list(ordered)
