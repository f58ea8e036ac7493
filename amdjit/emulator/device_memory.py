"""The memory of the emulated device."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from amdjit.checking.sanitizing import is_on
from amdjit.diagnostics.errors import BackendError
from amdjit.emulator.checks.memory.quarantine import WIDE_GAP
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.queues import Captures, StreamState
from amdjit.late import late
from amdjit.options import Environment

if TYPE_CHECKING:
    from amdjit.emulator.checks.memory import leaks
else:
    leaks = late("amdjit.emulator.checks.memory.leaks")


def physical_memory() -> int | None:
    """Return the size of the host's memory in bytes, None if the system does not tell."""
    if sys.platform == "win32":
        kib = ctypes.c_ulonglong()
        known = ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kib))
        return 1024 * kib.value if known else None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


class EmulatedMemory:
    """Allocations and copies of the emulator."""

    _memory: DeviceMemory
    _environment: Environment
    _tracks_memory: bool
    _streams: StreamState
    _captures: Captures

    def allocate(self, nbytes: int) -> int:
        """Allocate memory, 256-byte aligned; BackendError when out of memory."""
        self._captures.refuse_in_thread(f"allocate {nbytes} bytes")
        if not (self._tracks_memory or is_on("memory")):
            return self._memory.allocate(nbytes)
        address = self._memory.allocate(nbytes, gap=WIDE_GAP)
        leaks.watch(self._memory, address, self._environment)
        return address

    def allocate_zeros(self, nbytes: int, stream: Any = None) -> int:
        """Allocate zeroed memory, whose pages the host provides when they are first written."""
        self._captures.refuse_in_thread(f"allocate {nbytes} bytes")
        if not (self._tracks_memory or is_on("memory")):
            return self._memory.allocate(nbytes, zeroed=True)
        address = self._memory.allocate(nbytes, gap=WIDE_GAP, zeroed=True)
        leaks.watch(self._memory, address, self._environment)
        return address

    def share(self, address: int) -> None:
        """Treat the allocation at `address` as written, because other libraries may now write to it
        unobserved."""
        self._memory.share(address)

    def adopt(self, address: int, nbytes: int, is_writable: bool = True) -> None:
        """Let kernels access memory of the host, which counts as written, until `free`."""
        self._memory.adopt(address, nbytes, is_writable)

    def holds(self, address: int) -> bool:
        """Whether an address is in memory of this device."""
        return self._memory.holding(address) is not None

    def free(self, address: int) -> None:
        """Free an allocation. BackendError if none starts at that address."""
        self._memory.free(address)

    def allocate_on_host(self, nbytes: int, kind: Any) -> tuple[int, int]:
        """Allocate memory for the host and for kernels. All of it counts as written, because writes
        of the host are not observed."""
        self._captures.refuse_in_thread(f"allocate {nbytes} bytes for the host")
        address = self._memory.allocate(nbytes)
        self._memory.share(address)
        return address, address

    def free_on_host(self, address: int) -> None:
        """Free memory of `allocate_on_host`."""
        self._memory.free(address)

    @property
    def temporaries(self) -> None:
        """None: each launch allocates its own memory, so that every use of freed memory is
        detected."""
        return None

    def pool_source(self) -> EmulatedPool:
        """Return a source that does not reuse memory, so that every use of freed memory is
        detected."""
        return EmulatedPool(self)

    def memory_info(self) -> tuple[int, int]:
        """Return the free and the total memory: of AMDJIT_EMULATOR_MEMORY if set, else of the
        host. BackendError if neither is known."""
        total = self._memory.limit
        if total is None:
            raise BackendError(
                "this system does not tell how much memory it has: set AMDJIT_EMULATOR_MEMORY to "
                "what the emulator may use"
            )
        return max(total - self._memory.used, 0), total

    def gpu_of(self, address: int) -> int | None:
        """Return None: the emulator is no GPU."""
        return None

    def copy_to_device(
        self, address: int, source: memoryview, stream: Any = None, wait: bool = True
    ) -> None:
        """Copy contiguous host bytes to the device."""
        if not wait and stream is not None:
            write = partial(self._memory.write, address, source)
            self._do("copy", source.nbytes, stream, write)
            return
        self._captures.refuse_host_copy(stream, f"copy {source.nbytes} bytes to the device")
        self._memory.write(address, source)

    def copy_to_host(
        self, destination: memoryview, address: int, stream: Any = None, wait: bool = True
    ) -> None:
        """Copy device bytes to contiguous, writable host memory, which waits for the stream."""
        if not wait and stream is not None:
            read = partial(self._memory.read, destination, address)
            self._do("copy", destination.nbytes, stream, read)
            return
        self._captures.refuse_host_copy(stream, f"copy {destination.nbytes} bytes to the host")
        self._memory.read(destination, address)
        self._streams.tell_stream(stream)

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes between two places of this device."""
        copy = partial(self._memory.copy, destination, source, nbytes)
        self._do("copy", nbytes, stream, copy)

    def copy_from_device(
        self, destination: int, other: Any, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes of another emulator's memory."""
        between = memoryview(bytearray(nbytes))
        other.copy_to_host(between, source)
        self.copy_to_device(destination, between, stream)

    def copy_rows(
        self,
        destination: Any,
        source: Any,
        shape: tuple[int, ...],
        nbytes: int,
        stream: Any = None,
    ) -> bool:
        """Copy rows of bytes between two places of this device; True: it always can."""
        copy = partial(self._memory.copy_rows, destination, source, shape, nbytes)
        self._do("copy", math.prod(shape) * nbytes, stream, copy)
        return True

    def fill(self, address: int, pattern: bytes, count: int, stream: Any = None) -> None:
        """Write a pattern `count` times, one after another."""
        fill = partial(self._memory.fill, address, pattern, count)
        self._do("fill", len(pattern) * count, stream, fill)

    def _do(self, kind: str, nbytes: int, stream: Any, work: Callable[[], None]) -> None:
        """Do a piece of work on memory, or record it in a captured stream."""
        capture = self._captures.recording(stream, f"{kind} {nbytes} bytes")
        if capture is None:
            work()
        else:
            capture.add(stream, kind, lambda stream: work(), nbytes=nbytes)


class EmulatedPool:
    """Where a memory pool of the emulator gets its memory: from the device, which gets it back at
    once.

    The host's own allocator is quick, and freed memory that is used is a mistake to be found.
    """

    def __init__(self, device: EmulatedMemory) -> None:
        self._device = device
        self._sizes: dict[int, int] = {}

    @property
    def reserved(self) -> int:
        """Bytes in use."""
        return sum(list(self._sizes.values()))

    def allocate(self, nbytes: int, stream: Any = None) -> int:
        """Allocate memory; BackendError when out of memory."""
        address = self._device.allocate(nbytes)
        self._sizes[address] = nbytes
        return address

    def free(self, address: int, stream: Any = None) -> None:
        """Free memory. BackendError if none starts at that address."""
        self._device.free(address)
        self._sizes.pop(address, None)

    def trim(self) -> None:
        """Do nothing: nothing is kept."""
