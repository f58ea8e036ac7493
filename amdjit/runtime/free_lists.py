"""Free lists of device memory by size, for devices without memory pools of their own."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any, Protocol

# The alignment of device memory, so the smallest useful step.
_SMALL = 256
# Allocations of a size class differ by an eighth at most.
_STEPS = 8


class Allocator(Protocol):
    """The part of a device that free lists use."""

    def allocate(self, nbytes: int) -> int:
        """Allocate memory; BackendError when out of memory."""
        ...

    def free(self, address: int) -> None:
        """Free memory, after waiting for work that may use it."""
        ...


class FreeLists:
    """The `device_memory.PoolSource` of devices without memory pools of their own.

    Freed memory is reused in the stream in which it was freed, where work is done in order. Memory
    of a destroyed stream is returned to the device, which waits for the work that uses it.
    """

    def __init__(self, device: Allocator) -> None:
        self._device = device
        self._lock = threading.RLock()
        self._sizes: dict[int, int] = {}
        self._free: dict[int, dict[int, list[int]]] = {}  # by stream and size class
        self._streams: dict[int, Any] = {}
        # Destroyed streams. Finalizers append to this list, since they must not take the lock.
        self._gone: deque[int] = deque()

    @property
    def reserved(self) -> int:
        """Bytes in the lists or in use."""
        with self._lock:
            return sum(self._sizes.values())

    def allocate(self, nbytes: int, stream: Any = None) -> int:
        """Return memory that was freed in this stream, or new memory. BackendError when out of
        memory."""
        size = size_class(nbytes)
        with self._lock:
            self._drop_gone()
            known = self._free.get(_key(stream), {}).get(size)
            if known:
                return known.pop()
            address = self._device.allocate(size)
            self._sizes[address] = size
            return address

    def free(self, address: int, stream: Any = None) -> None:
        """Store memory for the next allocation in this stream."""
        key = _key(stream)
        with self._lock:
            self._drop_gone()
            if stream is not None and key not in self._streams:
                gone = self._gone
                self._streams[key] = weakref.ref(stream, lambda _: gone.append(key))
            kept = self._free.setdefault(key, {})
            kept.setdefault(self._sizes[address], []).append(address)

    def trim(self) -> None:
        """Return unused memory to the device, which waits for the work that uses it."""
        with self._lock:
            self._gone.clear()
            for key in list(self._free):
                self._drop(key)

    def _drop_gone(self) -> None:
        while self._gone:
            self._drop(self._gone.popleft())

    def _drop(self, key: int) -> None:
        self._streams.pop(key, None)
        for addresses in self._free.pop(key, {}).values():
            for address in addresses:
                self._device.free(address)
                del self._sizes[address]


def size_class(nbytes: int) -> int:
    """Return the bytes that are allocated for `nbytes`: a multiple of 256, and of an eighth of the
    next lower power of two."""
    step = max(_SMALL, (1 << max(nbytes, 1).bit_length() - 1) // _STEPS)
    return -(-max(nbytes, 1) // step) * step


def _key(stream: Any) -> int:
    return 0 if stream is None else id(stream)
