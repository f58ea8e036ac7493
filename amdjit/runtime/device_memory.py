"""The memory of a device."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, Protocol


class HostKind(Enum):
    """What host memory is to a device.

    PINNED: copies from and to it need not wait. MAPPED: pinned, and kernels use it in place.
    MANAGED: pages move to where they are used, on the host and on the device.
    """

    PINNED = "pinned"
    MAPPED = "mapped"
    MANAGED = "managed"


class Layout(NamedTuple):
    """Rows of bytes in memory. strides: from one row to the next along each axis, in bytes."""

    address: int
    strides: tuple[int, ...]


class PoolSource(Protocol):
    """Where a memory pool gets its memory.

    Memory that is freed in a stream is used again when that stream's work is done, or in the order
    of that stream.
    """

    @property
    def reserved(self) -> int:
        """Bytes that the pool holds, in use or not."""
        ...

    def allocate(self, nbytes: int, stream: Any = None) -> int:
        """Allocate memory for work in a stream. BackendError when out of memory."""
        ...

    def free(self, address: int, stream: Any = None) -> None:
        """Free memory for work that comes after what the stream has now."""
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
        """Called before an allocation's address is given to others, who may then write to it."""
        ...

    def free(self, address: int) -> None:
        """Free an allocation, after waiting for work that may use it."""
        ...

    def gpu_of(self, address: int) -> int | None:
        """Return the index of the GPU whose memory has an address; None if no GPU's has."""
        ...

    def memory_info(self) -> tuple[int, int]:
        """Return the bytes that are free, and all that there are."""
        ...

    def allocate_on_host(self, nbytes: int, kind: HostKind) -> tuple[int, int | None]:
        """Allocate host memory that this device can use as its kind says.

        Return its address, and the one at which kernels see it, None if they do not. BackendError
        when out of memory, or if the device has no such memory."""
        ...

    def free_on_host(self, address: int) -> None:
        """Free memory of `allocate_on_host`, after waiting for work that may use it."""
        ...

    @property
    def temporaries(self) -> CountingPool | None:
        """The pool for memory that a launch needs, None if it is to be allocated each time."""
        ...

    def pool_source(self) -> PoolSource:
        """Return where a new memory pool gets its memory."""
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

        shape: how many rows there are along each axis; a source may repeat rows. Return whether
        this device can: otherwise nothing has happened, and a kernel must do it.
        """
        ...

    def fill(self, address: int, pattern: bytes, count: int, stream: Any = None) -> None:
        """Write the bytes of `pattern` `count` times, one after another."""
        ...
