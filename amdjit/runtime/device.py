"""What a device can do. The emulator is a device and HIP's are: no caller knows which it has."""

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
    """A code object that a device has loaded. It is unloaded with its last reference."""

    def function(self, name: str) -> Function:
        """Return the kernel of this name; BackendError if there is none."""
        ...


class Device(Protocol):
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

    def allocate(self, nbytes: int) -> int:
        """Allocate device memory with an alignment of at least 256 bytes, never at address 0.

        BackendError when out of memory."""
        ...

    def share(self, address: int) -> None:
        """Called before an allocation's address is given to others, who may then write to it."""
        ...

    def free(self, address: int) -> None:
        """Free an allocation, after waiting for work that may use it."""
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
        """Run a kernel to its end with checks; return their reports, and the fault that stopped it.

        LaunchError on devices other than the emulator, which cannot check.
        """
        ...

    def when_done(self, tell: Callable[[], None], stream: Any = None) -> None:
        """Call `tell` when the work that the stream has now is done, at the latest at the next
        wait.

        That wait raises what `tell` raises; calls after it are left to the next wait.
        """
        ...

    def synchronize(self) -> None:
        """Wait for all work of this device."""
        ...

    def create_stream(self) -> Any:
        """Make a stream, which is destroyed with its last reference."""
        ...

    def synchronize_stream(self, stream: Any) -> None:
        """Wait for all work of one stream."""
        ...

    def create_event(self) -> Any:
        """Make an event that can be timed."""
        ...

    def record_event(self, event: Any, stream: Any = None) -> None:
        """Put the event after the work that the stream has now."""
        ...

    def synchronize_event(self, event: Any) -> None:
        """Wait until the event is reached."""
        ...

    def elapsed_milliseconds(self, start: Any, end: Any) -> float:
        """Return the time between two events that have been reached."""
        ...
