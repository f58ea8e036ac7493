"""The interface of devices. The emulator and HIP's GPUs implement it, and callers do not know which
of them they have."""

from __future__ import annotations

from typing import Protocol

from amdjit.runtime.device_graphs import GraphDevice
from amdjit.runtime.device_launches import Function, LaunchDevice, LaunchSlot, Module
from amdjit.runtime.device_memory import MemoryDevice
from amdjit.runtime.device_streams import StreamDevice
from amdjit.target import Target

__all__ = ["Device", "Function", "LaunchSlot", "Module"]


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
