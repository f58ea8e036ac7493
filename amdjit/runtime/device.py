"""The interface of devices. The emulator and HIP's GPUs implement it, and callers do not know which
of them they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

from amdjit.abi.launch_shape import LaunchShape
from amdjit.late_methods import dataclass
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.checking.settings import Request
    from amdjit.diagnostics.errors import KernelFault
    from amdjit.diagnostics.sanitizer import SanitizerReport


class HostKind(Enum):
    """How a device accesses host memory.

    PINNED: copies from and to it need not wait. MAPPED: pinned, and kernels use it in place.
    MANAGED: pages migrate to where they are used, the host or the device.
    """

    PINNED = "pinned"
    MAPPED = "mapped"
    MANAGED = "managed"


class Layout(NamedTuple):
    """Rows of bytes in memory."""

    address: int
    strides: tuple[int, ...]
    """The distance from one row to the next along each axis, in bytes."""


class PoolSource(Protocol):
    """The source from which a memory pool allocates.

    Memory that is freed in a stream is reused by later work of that stream, or once the stream's
    work is done.
    """

    @property
    def reserved(self) -> int:
        """Bytes that the pool holds, in use or not."""
        ...

    def allocate(self, nbytes: int, stream: Any = None) -> int:
        """Allocate memory for work in a stream. BackendError when out of memory."""
        ...

    def free(self, address: int, stream: Any = None) -> None:
        """Free memory, which only work after the stream's current work may reuse."""
        ...

    def trim(self) -> None:
        """Give back to the device what is not in use."""
        ...


class CountingPool(PoolSource, Protocol):
    """A pool that counts what is in use."""

    @property
    def used(self) -> int:
        """Bytes that are in use."""
        ...


class MemoryDevice(Protocol):
    """A device that holds memory. Addresses are the device's own, in bytes."""

    def allocate(self, nbytes: int) -> int:
        """Allocate device memory with an alignment of at least 256 bytes, never at address 0.

        BackendError when out of memory."""
        ...

    def allocate_zeros(self, nbytes: int, stream: Any = None) -> int:
        """Allocate memory that holds zeros for the work of a stream. BackendError when out of
        memory."""
        ...

    def share(self, address: int) -> None:
        """Note that an allocation's address is given to other libraries, which may write to it."""
        ...

    def free(self, address: int) -> None:
        """Free an allocation, after waiting for work that may use it."""
        ...

    def gpu_of(self, address: int) -> int | None:
        """Return the index of the GPU whose memory contains an address; None if there is none."""
        ...

    def memory_info(self) -> tuple[int, int]:
        """Return the free and the total memory, in bytes."""
        ...

    def allocate_on_host(self, nbytes: int, kind: HostKind) -> tuple[int, int | None]:
        """Allocate host memory of a kind.

        Return its address, and the address at which kernels see it, None if they cannot.
        BackendError when out of memory, or if the device has no such memory."""
        ...

    def free_on_host(self, address: int) -> None:
        """Free memory of `allocate_on_host`, after waiting for work that may use it."""
        ...

    @property
    def temporaries(self) -> CountingPool | None:
        """The pool for temporary memory of launches; None if each launch must allocate."""
        ...

    def pool_source(self) -> PoolSource:
        """Return the source of a new memory pool."""
        ...

    def copy_to_device(
        self, address: int, source: memoryview, stream: Any = None, wait: bool = True
    ) -> None:
        """Copy contiguous host bytes to the device. Returns when `source` may be reused.

        wait=False, with a stream and memory of `allocate_on_host`: returns at once. The source must
        live and stay as it is until the stream has done the copy."""
        ...

    def copy_to_host(
        self, destination: memoryview, address: int, stream: Any = None, wait: bool = True
    ) -> None:
        """Copy device bytes to contiguous host memory. Returns when the data are there.

        wait=False, with a stream and memory of `allocate_on_host`: returns at once. The destination
        must live until the stream has done the copy."""
        ...

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes between two places of this device, which do not overlap."""
        ...

    def copy_from_device(
        self, destination: int, other: Any, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes of the memory of another device, of the same kind, in the order of a stream of
        this one."""
        ...

    def copy_rows(
        self,
        destination: Layout,
        source: Layout,
        shape: tuple[int, ...],
        nbytes: int,
        stream: Any = None,
    ) -> bool:
        """Copy rows of `nbytes` bytes between two places of this device, which do not overlap.

        shape: how many rows there are along each axis; a source may repeat rows. Return False if
        this device cannot, in which case nothing was copied and a kernel must do it.
        """
        ...

    def fill(self, address: int, pattern: bytes, count: int, stream: Any = None) -> None:
        """Write the bytes of `pattern` `count` times, one after another."""
        ...


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


class Function(Protocol):
    """A kernel of a loaded code object, ready to launch."""

    @property
    def name(self) -> str:
        """The kernel's symbol name."""
        ...


class Module(Protocol):
    """A code object that a device has loaded. It is unloaded with its last reference."""

    def function(self, name: str) -> Function:
        """Return the kernel of this name; BackendError if there is none."""
        ...


class LaunchSlot(Protocol):
    """A launch that waits for its arguments, which one thread at a time may write.

    Write the explicit arguments to `kernarg` from `offset` on, then call `start`. They are copied
    before that returns, so that the slot can be used again. Several threads may start it together
    with the same arguments.
    """

    @property
    def kernarg(self) -> bytearray:
        """Where the arguments are written."""
        ...

    @property
    def offset(self) -> int:
        """The offset of their first byte."""
        ...

    def start(self) -> int:
        """Start the kernel; return 0, or the number of a failure for `fail`."""
        ...

    def fail(self, code: int) -> NoReturn:
        """Raise the failure that `start` returned."""
        ...


class LaunchDevice(Protocol):
    """A device that runs code objects."""

    @property
    def idle_records(self) -> dict[int, list[Any]]:
        """Records for the reports of launches that no launch uses now, by their size in bytes."""
        ...

    @property
    def multiprocessor_count(self) -> int:
        """Workgroup processors, or compute units where there are none: what HIP calls
        multiprocessors."""
        ...

    def load(self, code_object: bytes) -> Module:
        """Load a linked code object; BackendError if the device cannot take it."""
        ...

    def launch(
        self,
        function: Function,
        shape: LaunchShape,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        """Start a kernel. `kernarg` holds the explicit arguments as the code object's metadata lays
        them out; the device fills in the hidden ones. stream: the device's handle.

        LaunchError if the launch is cooperative and the device cannot hold all of its workgroups.
        """
        ...

    def slot(
        self,
        function: Function,
        shape: LaunchShape,
        nbytes: int,
        stream: Any = None,
    ) -> LaunchSlot:
        """Prepare a launch, not a cooperative one, that will be started many times with different
        arguments of `nbytes` bytes.

        The result keeps the kernel alive, but neither the device nor the stream."""
        ...

    def launch_sanitized(
        self,
        function: Function,
        shape: LaunchShape,
        kernarg: bytearray,
        request: Request,
        stream: Any = None,
    ) -> tuple[tuple[SanitizerReport, ...], KernelFault | None]:
        """Run a kernel to its end with checks; return their reports, and the fault that stopped it.

        LaunchError on devices other than the emulator, which cannot check.
        """
        ...


class Device(MemoryDevice, StreamDevice, GraphDevice, LaunchDevice, Protocol):
    """A device that holds memory and runs code objects.

    Addresses are the device's own, in bytes. A `stream` is an opaque handle from `create_stream`,
    or None for the default stream. The work of a stream is done in order. `synchronize*` raises the
    error of asynchronous work that failed: KernelFault on the emulator, BackendError from HIP.
    """

    @property
    def name(self) -> str:
        """The name by which users select it: `emulator:gfx1201`, `hip:0`."""
        ...

    @property
    def target(self) -> Target:
        """The processor that code objects must be compiled for."""
        ...

    @property
    def description(self) -> str:
        """One line for people: marketing name, memory, driver."""
        ...

    @property
    def dlpack_device(self) -> tuple[int, int]:
        """DLPack's (device type, device id): (1, 0) kDLCPU where addresses are the host's own, (10,
        index) kDLROCM."""
        ...
