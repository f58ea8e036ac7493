"""Captures of a device's streams, and the graphs that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from amdjit.abi.launch_shape import LaunchShape
    from amdjit.diagnostics.errors import KernelFault


@dataclass(frozen=True, slots=True, eq=False)
class CapturedLaunch:
    """A launch that a graph repeats."""

    function: Any
    """The kernel, loaded on the device."""
    shape: LaunchShape
    kernarg: bytearray
    """The explicit arguments, as the kernel reads them."""
    arguments: Mapping[str, Any]
    """The arguments by the parameters' names. They stay alive with the graph."""
    arrays: Sequence[Any]
    """All arrays that the launch uses, also those that the kernel reads from outside."""
    again: Callable[[Sequence[Any]], CapturedLaunch]
    """Prepares the same launch with other arguments."""
    explain: Callable[[KernelFault], None]
    """Adds to a fault which element of which array it was about."""


class Capture(Protocol):
    """A capture in progress: the attribute `capture` of a stream's handle, which is None without
    one."""

    def keep(self, *owners: object) -> None:
        """Keep objects alive as long as the graph."""
        ...

    def note(self, stream: Any, launch: CapturedLaunch) -> None:
        """Attach a launch to the node that the stream recorded last."""
        ...


class NodeFacts(Protocol):
    """A node of a graph, as its device knows it."""

    @property
    def kind(self) -> str:
        """kernel, copy, fill, host, graph, empty, or HIP's own word for other kinds."""
        ...

    @property
    def name(self) -> str:
        """The kernel's name, empty for other nodes."""
        ...

    @property
    def nbytes(self) -> int:
        """The bytes of a copy or fill as far as the device knows them, else 0."""
        ...

    @property
    def dependencies(self) -> Sequence[int]:
        """The positions of the nodes that come before this one."""
        ...

    @property
    def launch(self) -> CapturedLaunch | None:
        """The launch, if amdjit made it."""
        ...


class DeviceGraph(Protocol):
    """A graph that a capture made. It is destroyed with its last reference."""

    @property
    def nodes(self) -> Sequence[NodeFacts]:
        """The nodes, each after those that it depends on."""
        ...

    @property
    def kept(self) -> Sequence[object]:
        """The arrays of its copies and fills."""
        ...

    def instantiate(self) -> DeviceExecutable:
        """Return the graph ready to launch; later changes to the graph do not affect it."""
        ...


class DeviceExecutable(Protocol):
    """A graph that is ready to launch. It is destroyed with its last reference."""

    def launch(self, stream: Any) -> None:
        """Do all of its work, after the work that the stream has now."""
        ...

    def update(self, graph: Any) -> None:
        """Take the arguments of another graph with the same nodes and edges for later launches.

        BackendError if it has others."""
        ...

    def set_kernel(self, position: int, launch: CapturedLaunch) -> None:
        """Replace the launch of a kernel node."""
        ...


class GraphDevice(Protocol):
    """A device whose streams can be captured."""

    def begin_capture(self, stream: Any) -> None:
        """Record the work of a stream from now on, instead of doing it."""
        ...

    def end_capture(self, stream: Any) -> DeviceGraph:
        """Return what the stream recorded as a graph; BackendError if the capture was
        invalidated."""
        ...

    def discard_capture(self, stream: Any) -> None:
        """End a capture and discard what it recorded."""
        ...
