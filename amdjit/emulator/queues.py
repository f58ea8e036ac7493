"""Streams and events of the emulated device as values, what they remember, and their captures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.capture_refusals import StreamCaptureError
from amdjit.diagnostics.errors import BackendError, KernelFault
from amdjit.forking import Lock
from amdjit.late_methods import dataclass, field


@dataclass(eq=False)
class EmulatedStream:
    """A stream. All work is done in the order of the calls.

    capture: what records its work now. last: the nodes that its next one comes after.
    """

    priority: int = 0
    non_blocking: bool = False
    capture: EmulatedCapture | None = None
    last: tuple[int, ...] = ()

    def __int__(self) -> int:
        """The number by which `Stream.external` finds it."""
        return id(self)


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
    made: WeakValueDictionary[int, EmulatedStream] = field(default_factory=WeakValueDictionary)
    """The streams that were made, by number."""

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


# Captures of the emulator's streams: their work becomes the nodes of a graph.
#
# What is refused follows HIP (`amdjit.diagnostics.capture_refusals`).

# hipErrorStreamCapture* and hipErrorCapturedEvent (hip_runtime_api.h, hipError_t).
_UNSUPPORTED, _INVALIDATED, _MERGE, _UNJOINED, _ISOLATION = 900, 901, 902, 904, 905
_IMPLICIT, _CAPTURED_EVENT, _WRONG_THREAD = 906, 907, 908

# Does the work of a node for a launch of its graph in a stream.
NodeWork = Callable[[Any], None]


@dataclass(frozen=True, slots=True, eq=False)
class KernelCall:
    """The work of a kernel node. run: the device's launch, which does it now."""

    run: Callable[[Any, LaunchShape, bytes], None]
    function: Any
    shape: LaunchShape
    kernarg: bytes

    def __call__(self, stream: Any) -> None:
        """Run the kernel."""
        self.run(self.function, self.shape, self.kernarg)


@dataclass(frozen=True, slots=True, eq=False)
class EmulatedNode:
    """A node of a graph: `amdjit.runtime.device.NodeFacts`, and its work."""

    kind: str
    name: str
    nbytes: int
    dependencies: tuple[int, ...]
    work: NodeWork
    launch: Any = None


@dataclass(slots=True, eq=False)
class EmulatedCapture:
    """A capture that goes on: `amdjit.runtime.device.Capture`."""

    origin: EmulatedStream
    thread: int
    is_valid: bool = True
    is_over: bool = False
    nodes: list[EmulatedNode] = field(default_factory=list)
    streams: list[EmulatedStream] = field(default_factory=list)
    kept: list[object] = field(default_factory=list)

    def keep(self, *owners: object) -> None:
        """Keep objects alive as long as the graph."""
        self.kept.extend(owners)

    def note(self, stream: EmulatedStream, launch: Any) -> None:
        """Take note of the launch that the stream recorded last."""
        (position,) = stream.last
        self.nodes[position] = replace(self.nodes[position], launch=launch)

    def add(
        self, stream: EmulatedStream, kind: str, work: NodeWork, name: str = "", nbytes: int = 0
    ) -> None:
        """Record a piece of work of a stream."""
        self.nodes.append(EmulatedNode(kind, name, nbytes, stream.last, work))
        stream.last = (len(self.nodes) - 1,)

    def take(self, stream: EmulatedStream, nodes: tuple[int, ...]) -> None:
        """Let a stream take part, whose next work comes after these nodes."""
        if stream.capture is not self:
            stream.capture, stream.last = self, ()
            self.streams.append(stream)
        stream.last = tuple(sorted({*stream.last, *nodes}))

    @property
    def is_joined(self) -> bool:
        """Whether the work of all streams comes before the end of the first one."""
        before = {position for node in self.nodes for position in node.dependencies}
        ends = set(range(len(self.nodes))) - before
        return ends <= set(self.origin.last)


@dataclass(slots=True)
class Captures:
    """The captures of a device that go on. `active` is empty most of the time: ask it first."""

    active: list[EmulatedCapture] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def begin(self, stream: EmulatedStream | None) -> None:
        """Begin to record the work of a stream."""
        doing = "capture a stream"
        if stream is None:
            raise StreamCaptureError(doing, _UNSUPPORTED)
        if stream.capture is not None:
            raise BackendError(
                "the emulator could not capture a stream: hipErrorIllegalState (401), it is being "
                "captured already. Leave that `with` block first."
            )
        capture = EmulatedCapture(stream, threading.get_ident())
        capture.take(stream, ())
        with self.lock:
            self.active.append(capture)

    def end(self, stream: EmulatedStream, check: bool = True) -> EmulatedGraph:
        """End the capture that began in a stream. check: refuse what HIP refuses."""
        capture = stream.capture
        assert capture is not None
        doing = "end a capture"
        if check and capture.thread != threading.get_ident():
            raise StreamCaptureError(doing, _WRONG_THREAD)
        is_joined = capture.is_joined
        with self.lock:
            self.active.remove(capture)
        capture.is_over = True
        for taken in capture.streams:
            taken.capture, taken.last = None, ()
        if check and not capture.is_valid:
            raise StreamCaptureError(doing, _INVALIDATED)
        if check and not is_joined:
            raise StreamCaptureError(doing, _UNJOINED)
        return EmulatedGraph(self, capture.nodes, capture.kept)

    def recording(self, stream: EmulatedStream | None, doing: str) -> EmulatedCapture | None:
        """Return the capture that work for a stream goes to, None if it is to be done."""
        if not self.active:
            return None
        if stream is None:
            blocking = [c for c in self.active if not c.origin.non_blocking]
            if blocking:
                self._refuse(blocking, doing, _IMPLICIT)
            return None
        capture = stream.capture
        if capture is not None and not capture.is_valid:
            raise StreamCaptureError(doing, _INVALIDATED)
        return capture

    def refuse_in_thread(self, doing: str) -> None:
        """Refuse what HIP refuses while the calling thread captures."""
        if self.active:
            here = threading.get_ident()
            self._refuse([c for c in self.active if c.thread == here], doing, _UNSUPPORTED)

    def refuse_anywhere(self, doing: str) -> None:
        """Refuse what HIP refuses while any thread captures."""
        self._refuse(self.active, doing, _UNSUPPORTED)

    def refuse_waits(self, stream: EmulatedStream | None, doing: str) -> None:
        """Refuse to wait for a stream that is captured, or while the calling thread captures."""
        if self.active and stream is not None:
            if stream.capture is not None:
                self._refuse([stream.capture], doing, _UNSUPPORTED)
            self.refuse_in_thread(doing)

    def refuse_host_copy(self, stream: EmulatedStream | None, doing: str) -> None:
        """Refuse a copy that waits."""
        if not self.active:
            return
        if stream is None:
            self._refuse(self.active, doing, _IMPLICIT)
        self.refuse_waits(stream, doing)

    def record(self, event: EmulatedEvent, stream: EmulatedStream | None) -> bool:
        """Put an event behind what a captured stream has; False for others."""
        capture = self.recording(stream, "record an event")
        event.capture = capture
        if capture is not None and stream is not None:
            event.nodes = stream.last
        return capture is not None

    def refuse_event(self, event: EmulatedEvent, doing: str) -> None:
        """Refuse to wait for an event of a capture, or ask for it."""
        if event.capture is not None and not event.capture.is_over:
            raise StreamCaptureError(doing, _CAPTURED_EVENT)

    def wait(self, stream: EmulatedStream | None, event: EmulatedEvent) -> None:
        """Let a stream wait for an event: so streams take part in a capture."""
        doing = "let a stream wait for an event"
        ours = None if stream is None else stream.capture
        theirs = event.capture
        if theirs is not None and theirs.is_over:
            theirs = None
        if ours is None and theirs is None:
            return
        if theirs is None:
            assert ours is not None
            self._refuse([ours], doing, _ISOLATION)
        assert theirs is not None
        if stream is None:
            self._refuse([theirs], doing, _IMPLICIT)
        assert stream is not None
        if not theirs.is_valid:
            raise StreamCaptureError(doing, _INVALIDATED)
        if ours is not None and ours is not theirs:
            self._refuse([ours, theirs], doing, _MERGE)
        theirs.take(stream, event.nodes)

    def _refuse(self, captures: Sequence[EmulatedCapture], doing: str, code: int) -> None:
        for capture in captures:
            capture.is_valid = False
        if captures:
            raise StreamCaptureError(doing, code)


class EmulatedGraph:
    """A graph: `amdjit.runtime.device.DeviceGraph`."""

    def __init__(
        self, captures: Captures, nodes: Sequence[EmulatedNode], kept: Sequence[object]
    ) -> None:
        self._captures = captures
        self.kept = tuple(kept)
        self.nodes = tuple(nodes)

    def instantiate(self) -> EmulatedExecutable:
        """Make it ready to launch."""
        return EmulatedExecutable(self._captures, self)


class EmulatedExecutable:
    """A graph that is ready to launch: `amdjit.runtime.device.DeviceExecutable`."""

    def __init__(self, captures: Captures, graph: EmulatedGraph) -> None:
        self._captures = captures
        self._nodes = list(graph.nodes)
        self._kept = graph

    def launch(self, stream: EmulatedStream | None) -> None:
        """Do all work, in the order in which it was captured. KernelFault ends it."""
        doing = "launch a graph"
        capture = self._captures.recording(stream, doing)
        if capture is not None:
            capture.is_valid = False
            raise StreamCaptureError(doing, _UNSUPPORTED)
        for node in self._nodes:
            try:
                node.work(stream)
            except KernelFault as fault:
                if node.launch is not None:
                    node.launch.explain(fault)
                raise

    def update(self, graph: EmulatedGraph) -> None:
        """Take the arguments of another graph with the same nodes and edges."""
        ours = [(node.kind, node.dependencies) for node in self._nodes]
        theirs = [(node.kind, node.dependencies) for node in graph.nodes]
        if ours != theirs:
            pairs = enumerate(zip(ours, theirs, strict=False))
            first = next((i for i, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
            raise BackendError(
                "the emulator could not update a graph: hipErrorGraphExecUpdateFailure (910), from "
                f"node {first} on the graphs have other nodes or another order. Instantiate the "
                "new graph."
            )
        self._nodes, self._kept = list(graph.nodes), graph

    def set_kernel(self, position: int, launch: Any) -> None:
        """Let a kernel node make another launch."""
        node, function = self._nodes[position], launch.function
        assert isinstance(node.work, KernelCall)
        again = KernelCall(node.work.run, function, launch.shape, bytes(launch.kernarg))
        self._nodes[position] = replace(node, name=function.name, work=again, launch=launch)
