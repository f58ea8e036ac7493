"""What a device can do. The emulator and HIP are two of them; nothing above knows which one it
has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.checking.settings import Request
    from amdjit.diagnostics.errors import KernelFault
    from amdjit.diagnostics.sanitizer import SanitizerReport

Extent = tuple[int, int, int]


class Function(Protocol):
    """A kernel of a loaded code object, ready to launch."""

    @property
    def name(self) -> str:
        """The kernel's symbol name."""
        ...


class Module(Protocol):
    """A code object that a device has loaded. It is unloaded when the last reference goes."""

    def function(self, name: str) -> Function:
        """Look up a kernel by its name; BackendError if there is none."""
        ...


class Device(Protocol):
    """A device that holds memory and runs code objects.

    Addresses are the device's own, in bytes. A `stream` is an opaque handle from `create_stream`,
    None the default stream. Work on one stream is done in order; `synchronize*` raises what
    asynchronous work failed with (KernelFault on the emulator, BackendError from HIP).
    """

    @property
    def name(self) -> str:
        """How users select it: `emulator:gfx1201`, `hip:0`."""
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

    def allocate(self, nbytes: int) -> int:
        """Allocate device memory, at least 256-byte aligned; never address 0. BackendError when out
        of memory."""
        ...

    def share(self, address: int) -> None:
        """Called before others get an allocation's address and may write to it by themselves."""
        ...

    def free(self, address: int) -> None:
        """Give an allocation back. Waits for work that may use it."""
        ...

    def copy_to_device(self, address: int, source: memoryview, stream: Any = None) -> None:
        """Copy contiguous host bytes to the device. Returns when `source` may be reused."""
        ...

    def copy_to_host(self, destination: memoryview, address: int, stream: Any = None) -> None:
        """Copy device bytes to contiguous host memory. Returns when the data are there."""
        ...

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes between two places of this device."""
        ...

    def load(self, code_object: bytes) -> Module:
        """Load a linked code object; BackendError if the device cannot take it."""
        ...

    def launch(
        self,
        function: Function,
        grid: Extent,
        block: Extent,
        dynamic_lds: int,
        kernarg: bytearray,
        stream: Any = None,
    ) -> None:
        """Start a kernel. `grid` counts workgroups. `kernarg` holds the explicit arguments as the
        code object's metadata lays them out; hidden arguments are the device's to fill in."""
        ...

    def launch_sanitized(
        self,
        function: Function,
        grid: Extent,
        block: Extent,
        dynamic_lds: int,
        kernarg: bytearray,
        request: Request,
        stream: Any = None,
    ) -> tuple[tuple[SanitizerReport, ...], KernelFault | None]:
        """Run a kernel to its end with checks; return their reports, and what stopped the launch if
        something did.

        LaunchError on devices that cannot check, which is all but the emulator.
        """
        ...

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` once the work is done that the stream has now: at the next wait for it at the
        latest.

        What `tell` raises is raised there; what stands behind it is called at the next wait.
        """
        ...

    def synchronize(self) -> None:
        """Wait for all work of this device."""
        ...

    def create_stream(self) -> Any:
        """Make a stream; it is destroyed when the last reference goes."""
        ...

    def synchronize_stream(self, stream: Any) -> None:
        """Wait for all work of one stream."""
        ...

    def create_event(self) -> Any:
        """Make an event that can be timed."""
        ...

    def record_event(self, event: Any, stream: Any = None) -> None:
        """Put the event behind the work that the stream has now."""
        ...

    def synchronize_event(self, event: Any) -> None:
        """Wait until the event has been reached."""
        ...

    def elapsed_milliseconds(self, start: Any, end: Any) -> float:
        """The time between two recorded, reached events."""
        ...
