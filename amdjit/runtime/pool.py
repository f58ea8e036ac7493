"""Memory pools: device memory that is reused without calling the driver."""

from __future__ import annotations

import gc
import logging
import threading
from collections import deque
from contextvars import ContextVar, Token
from typing import Any

from amdjit.diagnostics.errors import AmdjitError, BackendError, LaunchError
from amdjit.forking import Lock
from amdjit.runtime.device import Device

_LOGGER = logging.getLogger("amdjit")


class MemoryPool:
    """Memory of one device that is reused in stream order.

    Memory that is freed in a stream may be reused by later work of that stream; work of other
    streams gets it once the device is done with it. limit: bytes that may be in use at
    once, None for no limit. `used`, `peak` and `reserved` count bytes: those in use, the most that
    were, and those that the pool holds.

    `with pool:` makes new arrays on its device take their memory from it.
    """

    def __init__(self, device: Device, limit: int | None = None) -> None:
        if limit is not None and limit < 0:
            raise LaunchError(f"the limit of a memory pool is {limit}; give a number of bytes")
        self.device = device
        self.limit = limit
        self.peak = 0
        self._used = 0
        self._sizes: dict[int, int] = {}
        self._source = device.pool_source()
        self._lock = Lock(threading.Lock)
        # Finalizers may run while this thread holds the lock. They leave the memory to free here.
        self._freed: deque[tuple[int, Any]] = deque()
        self._tokens: list[Token[MemoryPool | None]] = []

    @property
    def used(self) -> int:
        """Bytes that are in use."""
        with self._lock:
            self._take_back()
            return self._used

    @property
    def reserved(self) -> int:
        """Bytes that the pool holds, in use or not."""
        with self._lock:
            self._take_back()
            return self._source.reserved

    def allocate(self, nbytes: int, stream: Any = None) -> int:
        """Return the address of memory for work in a stream.

        stream: a handle of the device. BackendError when out of memory, or beyond the limit."""
        with self._lock:
            self._take_back()
            fits = self.limit is None or self._used + nbytes <= self.limit
        if not fits:
            gc.collect()  # frees arrays in reference cycles
        with self._lock:
            self._take_back()
            if self.limit is not None and self._used + nbytes > self.limit:
                raise BackendError(
                    f"out of memory: {nbytes} bytes asked for, {self._used} of this pool's limit "
                    f"of {self.limit} are in use on {self.device.name}."
                )
            address = self._source.allocate(nbytes, stream)
            self._sizes[address] = nbytes
            self._used += nbytes
            self.peak = max(self.peak, self._used)
            return address

    def free(self, address: int, stream: Any = None) -> None:
        """Free memory of this pool, after the work that the stream has now."""
        self._freed.append((address, stream))
        if self._lock.acquire(blocking=False):
            try:
                self._take_back()
            finally:
                self._lock.release()

    def trim(self) -> None:
        """Return memory that is not in use to the device, after waiting for its work."""
        with self._lock:
            self._take_back()
            self._source.trim()

    def _take_back(self) -> None:
        while self._freed:
            address, stream = self._freed.popleft()
            self._used -= self._sizes.pop(address)
            try:
                self._source.free(address, stream)
            except AmdjitError as error:  # a finalizer's, or another thread's: it cannot be raised
                _LOGGER.warning("memory of %s could not be freed: %s", self.device.name, error)

    def __enter__(self) -> MemoryPool:
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(self, *problem: object) -> None:
        _CURRENT.reset(self._tokens.pop())

    def __repr__(self) -> str:
        limit = "" if self.limit is None else f" of at most {self.limit}"
        return (
            f"<MemoryPool on {self.device.name}: {self.used} bytes{limit} in use, "
            f"{self.reserved} reserved>"
        )


_CURRENT: ContextVar[MemoryPool | None] = ContextVar("amdjit pool", default=None)


def current_pool(device: Device) -> MemoryPool | None:
    """Return the pool that new arrays of a device take memory from, None for the device itself."""
    pool = _CURRENT.get()
    return pool if pool is not None and pool.device is device else None
