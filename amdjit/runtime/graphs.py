"""Graphs: work that a stream recorded, to be launched again and again with one call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from amdjit.abi.launch_shape import Extent
from amdjit.checking.sanitizing import ACTIVE
from amdjit.diagnostics.errors import LaunchError
from amdjit.late_methods import dataclass, field
from amdjit.runtime.device import (
    CapturedLaunch,
    Device,
    DeviceExecutable,
    DeviceGraph,
    NodeFacts,
)
from amdjit.runtime.place import PLACE, Place, StreamOfDevice, handle_of, is_captured

__all__ = ["ExecutableGraph", "Graph", "GraphNode", "captured"]

_NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class GraphNode:
    """A node of a graph: one piece of work."""

    index: int
    """Its position in `graph.nodes`."""
    kind: str
    """"kernel", "copy", "fill", "host", or another word for work that only HIP records."""
    name: str
    """The name of the kernel."""
    nbytes: int
    """The size of a copy or fill; 0 if that is not known."""
    grid: Extent | None
    """The grid of a launch that amdjit made, otherwise None."""
    block: Extent | None
    """The block of a launch that amdjit made, otherwise None."""
    arguments: Mapping[str, Any] = field(repr=False)
    """The arguments of a launch that amdjit made, otherwise empty."""
    dependencies: tuple[GraphNode, ...] = field(repr=False)
    """The nodes after which it comes directly."""


class Graph:
    """Work that a stream recorded, with its order: what `with stream.capture() as graph:` gives.

    It keeps the arrays alive that its work uses. `instantiate()` makes it ready to launch.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._made: DeviceGraph | None = None
        self._nodes: tuple[GraphNode, ...] = ()

    def finish(self, made: DeviceGraph) -> None:
        """End the capture, and take over the device's graph."""
        nodes: list[GraphNode] = []
        for index, facts in enumerate(made.nodes):
            nodes.append(_node(index, facts, nodes))
        self._made, self._nodes = made, tuple(nodes)

    @property
    def made(self) -> DeviceGraph:
        """The device's graph. LaunchError while the capture is in progress, or if it failed."""
        if self._made is None:
            raise LaunchError(
                "the graph is complete at the end of `with stream.capture() as graph:`; a block "
                "that an exception leaves makes none"
            )
        return self._made

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        """The pieces of work, each after those that it depends on."""
        assert self.made is not None
        return self._nodes

    def instantiate(self) -> ExecutableGraph:
        """Make the graph ready to launch. BackendError if the device refuses it."""
        return ExecutableGraph(self)

    def to_dot(self) -> str:
        """Return the graph in the language of Graphviz: `dot -Tsvg`."""
        lines = ["digraph {", "  node [shape=box];"]
        for node in self.nodes:
            lines.append(f'  n{node.index} [label="{_label(node)}"];')
            lines += [f"  n{before.index} -> n{node.index};" for before in node.dependencies]
        return "\n".join([*lines, "}", ""])

    def __repr__(self) -> str:
        count = "being captured" if self._made is None else f"{len(self._nodes)} nodes"
        return f"<Graph on {self.device.name}, {count}>"


class ExecutableGraph:
    """A graph that is ready to launch, with arguments that can be updated."""

    def __init__(self, graph: Graph) -> None:
        self.device = graph.device
        self._graph = graph
        self._made: DeviceExecutable = graph.made.instantiate()
        self._launches = {node.index: graph.made.nodes[node.index].launch for node in graph.nodes}
        self._sources: list[object] = [graph.made]
        self._kept = graph.made.kept
        self._arrays = self._arrays_of_work()
        self._used = _UsedByWork()

    def launch(self, stream: StreamOfDevice | None = None) -> None:
        """Do the work of the graph after what the stream has now, None for the current stream.

        The call returns before it is done, as launches of kernels do. Inside `amdjit.profile` each
        kernel is counted. LaunchError if an array of the graph was freed, and inside
        `amdjit.sanitize`, which checks single launches.
        """
        if ACTIVE.get():
            raise LaunchError(
                "launches of graphs are not checked (amdjit.sanitize): run the work of the `with "
                "stream.capture()` block without capturing it"
            )
        for array in self._arrays:
            getattr(array, "address", None)  # LaunchError if it was freed
        handle = handle_of(stream, self.device)
        self._made.launch(handle)
        self._used.add(handle)

    def _arrays_of_work(self) -> list[object]:
        launches = [launch for launch in self._launches.values() if launch is not None]
        return [*self._kept, *(array for launch in launches for array in launch.arrays)]

    def update(self, changed: Graph | GraphNode, *arguments: Any) -> None:
        """Change the arguments of later launches; earlier launches are not affected.

        `update(graph)`: take all arguments from another capture of the same work in the same order.
        `update(node, *arguments)`: launch the kernel of a node with these arguments, which are
        DeviceArrays, numbers and what else the kernel takes, but no NumPy arrays. LaunchError or
        BackendError for what does not fit, which changes nothing.
        """
        self._used.refuse_captures(handle_of(None, self.device))
        if isinstance(changed, Graph):
            if arguments:
                raise LaunchError("update(graph) takes no arguments: update(node, *arguments) does")
            self._update_all(changed)
        elif isinstance(changed, GraphNode):
            self._update_node(changed, arguments)
        else:
            raise LaunchError(
                "update takes a graph, or a node of graph.nodes with its arguments: not "
                f"{changed!r}"
            )

    def _update_all(self, graph: Graph) -> None:
        if graph.device is not self.device:
            raise LaunchError(
                f"the graph is on {graph.device.name}, what it updates on {self.device.name}"
            )
        self._made.update(graph.made)
        self._used.retire(self.device, self._launches, *self._sources)
        self._launches = {node.index: graph.made.nodes[node.index].launch for node in graph.nodes}
        # The nodes of the first graph remain the keys for updates.
        self._sources = [self._graph.made, graph.made]
        self._kept = graph.made.kept
        self._arrays = self._arrays_of_work()

    def _update_node(self, node: GraphNode, arguments: tuple[Any, ...]) -> None:
        launch = self._launches.get(node.index)
        if launch is None or launch.function.name != node.name:
            raise LaunchError(
                f"node {node.index} ({node.kind} {node.name}) is not a launch of a kernel in this "
                "graph, which update(node, *arguments) changes"
            )
        changed = launch.again(arguments)
        self._made.set_kernel(node.index, changed)
        self._used.retire(self.device, launch)
        self._launches[node.index] = changed
        self._arrays = self._arrays_of_work()

    def __repr__(self) -> str:
        return f"<ExecutableGraph on {self.device.name}, {len(self._launches)} nodes>"


class _UsedByWork:
    """Objects that launches made before an update may still use: held until those are done."""

    def __init__(self) -> None:
        self._streams: list[Any] = []
        self._retired: list[tuple[list[Any], tuple[object, ...]]] = []

    def add(self, stream: Any) -> None:
        """Note that a launch was made in a stream."""
        if not any(stream is known for known in self._streams):
            self._streams.append(stream)

    def refuse_captures(self, current: Any) -> None:
        """Raise LaunchError if one of the streams that must be queried is being captured."""
        if any(map(is_captured, (current, *self._streams))):
            raise LaunchError("a graph is updated outside of `with stream.capture()`")

    def retire(self, device: Device, *owners: object) -> None:
        """Hold objects until all launches made so far are done."""
        self._retired = [
            kept for kept in self._retired if not all(map(device.query_event, kept[0]))
        ]
        events = []
        for stream in self._streams:
            event = device.create_event(timing=False)
            device.record_event(event, stream)
            events.append(event)
        self._streams = []
        if events:
            self._retired.append((events, owners))


@contextlib.contextmanager
def captured(stream: StreamOfDevice) -> Iterator[Graph]:
    """Record the work of a stream, which is the current one meanwhile."""
    device, handle = stream.device, handle_of(stream, stream.device)
    graph = Graph(device)
    device.begin_capture(handle)
    token = PLACE.set(Place(device, stream))
    try:
        yield graph
    except BaseException:
        device.discard_capture(handle)
        raise
    else:
        graph.finish(device.end_capture(handle))
    finally:
        PLACE.reset(token)


def _node(index: int, facts: NodeFacts, before: list[GraphNode]) -> GraphNode:
    launch: CapturedLaunch | None = facts.launch
    return GraphNode(
        index,
        facts.kind,
        name=facts.name,
        nbytes=facts.nbytes,
        grid=None if launch is None else launch.shape.grid,
        block=None if launch is None else launch.shape.block,
        arguments=_NO_ARGUMENTS if launch is None else MappingProxyType(dict(launch.arguments)),
        dependencies=tuple(before[position] for position in facts.dependencies),
    )


def _label(node: GraphNode) -> str:
    words = node.name or (f"{node.kind} {node.nbytes} bytes" if node.nbytes else node.kind)
    if node.grid is not None:
        words += f"\\n{node.grid} x {node.block}"
    return words.replace('"', r"\"")
