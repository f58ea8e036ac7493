"""The memory of a device."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, Protocol


class HostKind(Enum):
    """How a device accesses host memory.

    PINNED: copies from and to it need not wait. MAPPED: pinned, and kernels use it in place.
    MANAGED: pages migrate to where they are used, the host or the device.
    """

    PINNED = "pinned"
    MAPPED = "mapped"
    MANAGED = "managed"


class Layout(NamedTuple):
    """Rows of bytes in memory. strides: from one row to the next along each axis, in bytes."""

    address: int
    strides: tuple[int, ...]


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
