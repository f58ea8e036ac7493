"""Code objects and launches on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from amdjit.abi.launch_shape import LaunchShape

if TYPE_CHECKING:
    from amdjit.checking.settings import Request
    from amdjit.diagnostics.errors import KernelFault
    from amdjit.diagnostics.sanitizer import SanitizerReport


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
