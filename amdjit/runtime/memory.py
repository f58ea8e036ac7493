"""Allocations of device memory: freed with the last array over them, or when the program says.

`temporary` is for short-lived device memory, such as copies of NumPy arguments, which the device
reuses for the next launch.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from amdjit.diagnostics.errors import AmdjitError, BackendError, LaunchError
from amdjit.forking import Lock
from amdjit.runtime.device import Device, PoolSource

_LOGGER = logging.getLogger("amdjit")
# Dead references to arrays are swept when there are twice as many as living ones, and some more.
_FEW = 16
# How many of the largest arrays an out-of-memory error names.
_SHOWN = 5


class Placed(Protocol):
    """An array in an allocation, which loses its address when the allocation is freed."""

    address: int


class Memory:
    """A device allocation, which is freed with the last array over it.

    `free` frees it earlier. Then the arrays over it lose their address, so that they cannot access
    memory that may have been allocated again.
    """

    __slots__ = ("__weakref__", "_arrays", "_lock", "_most", "address", "device", "is_freed",
                 "leases", "nbytes")  # fmt: skip

    def __init__(self, device: Device, nbytes: int) -> None:
        self.is_freed = True
        self.device = device
        self.nbytes = nbytes
        self._arrays: list[weakref.ref[Any]] = []
        self._most = _FEW
        # A finalizer that makes a view may run while this thread holds it.
        self._lock = Lock()
        # Leases of other libraries: the memory is not freed before they end.
        self.leases: weakref.WeakSet[Lease] | None = None
        self.address = self._allocate()
        self.is_freed = False

    def _allocate(self) -> int:
        return with_room(self.device, lambda: self.device.allocate(max(self.nbytes, 1)))

    def _release(self) -> None:
        self.device.free(self.address)

    def adopt(self, array: Placed) -> None:
        """Register an array over this memory, which loses its address when the memory is freed."""
        with self._lock:
            if len(self._arrays) >= self._most:
                self._arrays = [known for known in self._arrays if known() is not None]
                self._most = 2 * len(self._arrays) + _FEW
            self._arrays.append(weakref.ref(array))

    def free(self) -> None:
        """Free the memory now; LaunchError if it is freed, or another library may still use it."""
        with self._lock:
            if self.is_freed:
                raise LaunchError("this memory was freed before: free it once")
            if self.leases:
                raise LaunchError(
                    "another library holds this memory through DLPack: drop its tensor first, or "
                    "leave out free(): memory goes with the last array over it"
                )
            self.is_freed = True
            for known in self._arrays:
                array = known()
                if array is not None:
                    del array.address
        self._release()

    def lease(self) -> Lease:
        """Return the object that another library holds while it uses this memory."""
        if self.leases is None:
            self.leases = weakref.WeakSet()
        held = Lease(self)
        self.leases.add(held)
        return held

    def described(self) -> str:
        """Describe the memory by the first array over it that is alive."""
        arrays = (known() for known in self._arrays)
        return next((repr(array) for array in arrays if array is not None), "a temporary")

    def __del__(self) -> None:
        # At the end of the process the driver frees the memory, and may be shut down already.
        if self.is_freed or sys.is_finalizing():
            return
        # Nobody could catch what a finalizer raises. The
        # next wait raises the error of failed work again.
        try:
            self._release()
        except AmdjitError as error:
            _LOGGER.warning("memory of %s could not be freed: %s", self.device.name, error)


class ZeroedMemory(Memory):
    """A zeroed device allocation, for the work of a stream."""

    __slots__ = ("_stream",)

    def __init__(self, device: Device, nbytes: int, stream: Any) -> None:
        self._stream = stream
        super().__init__(device, nbytes)

    def _allocate(self) -> int:
        size = max(self.nbytes, 1)
        return with_room(self.device, lambda: self.device.allocate_zeros(size, self._stream))


class PooledMemory(Memory):
    """Memory of a pool, to which it returns after the work of a stream."""

    __slots__ = ("_pool", "_stream")

    def __init__(self, device: Device, pool: PoolSource, nbytes: int, stream: Any = None) -> None:
        self._pool = pool
        self._stream = stream
        super().__init__(device, nbytes)

    def _allocate(self) -> int:
        size = max(self.nbytes, 1)
        return with_room(self.device, lambda: self._pool.allocate(size, self._stream))

    def _release(self) -> None:
        self._pool.free(self.address, self._stream)


def temporary(device: Device, nbytes: int, stream: Any = None) -> Memory:
    """Return memory for work in one stream, whose handle is given: no other may use it."""
    pool = device.temporaries
    if pool is None:
        return Memory(device, nbytes)
    return PooledMemory(device, pool, nbytes, stream)


def with_room(device: Device, allocate: Callable[[], int]) -> int:
    """Allocate memory; if that fails, free what is unused and try again.

    The BackendError names the largest arrays.
    """
    try:
        return allocate()
    except BackendError:
        gc.collect()  # frees arrays in reference cycles
        if device.temporaries is not None:
            with contextlib.suppress(BackendError):  # not while a stream is captured
                device.temporaries.trim()
    try:
        return allocate()
    except BackendError as error:
        largest = _largest(device)
        raise (error.with_detail(largest) if largest else error) from None


def _largest(device: Device) -> str:
    """Say which allocations of a device are the largest."""
    # Arrays are not counted as long as allocations succeed. So find them among all objects.
    found = [
        thing
        for thing in gc.get_objects()
        if issubclass(type(thing), Memory) and not thing.is_freed and thing.device is device
    ]
    if not found:
        return ""
    found.sort(key=lambda memory: memory.nbytes, reverse=True)
    rows = [f"{memory.nbytes} bytes, {memory.described()}" for memory in found[:_SHOWN]]
    more = len(found) - len(rows)
    end = f"; and {more} smaller ones" if more else ""
    return f"The largest on {device.name}: {'; '.join(rows)}{end}."


class Lease:
    """Keeps memory alive while another library uses it, even against `free`."""

    __slots__ = ("__weakref__", "memory")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
