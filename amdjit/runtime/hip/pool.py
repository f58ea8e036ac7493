"""HIP's own memory pools, which allocate and free in the order of streams."""

from __future__ import annotations

import ctypes
from functools import cached_property, partial
from typing import Any

from amdjit.runtime.device import PoolSource
from amdjit.runtime.free_lists import FreeLists
from amdjit.runtime.hip.calls import HipCalls, call
from amdjit.runtime.hip.captures import ThreadCaptures
from amdjit.runtime.hip.handles import Handle, native_of
from amdjit.runtime.hip.memory import HipMemory
from amdjit.runtime.pool import MemoryPool

# hip_runtime_api.h: hipMemAllocationTypePinned, hipMemLocationTypeDevice.
_PINNED, _DEVICE = 1, 1
_KEEP_ALL = 2**64 - 1


class HipPools(HipMemory):
    """The part of `amdjit.runtime.device.MemoryDevice` about pools."""

    @cached_property
    def temporaries(self) -> MemoryPool:
        """The pool for memory that a launch needs."""
        device: Any = self
        return MemoryPool(device)

    def pool_source(self) -> PoolSource:
        """Return one of HIP's pools, or amdjit's free lists for a GPU whose HIP has no pools."""
        attribute = self.hip.hipDeviceAttribute_t.hipDeviceAttributeMemoryPoolsSupported
        ask = self.hip.hipDeviceGetAttribute
        if self.here(f"ask {self.name} for memory pools", ask, attribute, self.index):
            return HipPool(self, self.thread_captures)
        return FreeLists(self)


class HipPool:
    """A memory pool of HIP's. It keeps freed memory until `trim`."""

    def __init__(self, device: HipCalls, captures: ThreadCaptures) -> None:
        self._device = device
        self._captures = captures
        self._hip = hip = device.hip
        settings = hip.hipMemPoolProps()
        settings.allocType = hip.hipMemAllocationType(_PINNED)
        settings.location.type = hip.hipMemLocationType(_DEVICE)
        settings.location.id = device.index
        doing = f"create a memory pool on {device.name}"
        native = device.here(doing, hip.hipMemPoolCreate, settings)
        self._handle = Handle(native, hip.hipMemPoolDestroy)
        # By default HIP gives back what is free at each synchronisation.
        keep = ctypes.c_uint64(_KEEP_ALL)
        attribute = hip.hipMemPoolAttr.hipMemPoolAttrReleaseThreshold
        set_up = hip.hipMemPoolSetAttribute
        call("set up a memory pool", set_up, native, attribute, ctypes.addressof(keep))

    @property
    def reserved(self) -> int:
        """Bytes that the pool holds, in use or not."""
        value = ctypes.c_uint64()
        attribute = self._hip.hipMemPoolAttr.hipMemPoolAttrReservedMemCurrent
        ask = self._hip.hipMemPoolGetAttribute
        native = self._handle.native
        call("ask a memory pool for its size", ask, native, attribute, ctypes.addressof(value))
        return value.value

    def allocate(self, nbytes: int, stream: Any = None) -> int:
        """Allocate memory in the order of a stream; HipError when out of memory."""
        device = self._device
        allocate = self._hip.hipMallocFromPoolAsync
        native, queue = self._handle.native, native_of(stream)
        doing = f"allocate {nbytes} bytes from a memory pool of {device.name}"
        return int(device.here(doing, allocate, max(nbytes, 1), native, queue))

    def free(self, address: int, stream: Any = None) -> None:
        """Free memory in the order of a stream; in a thread that captures, after the capture."""
        if self._captures.count:
            self._captures.freed_later.append(partial(self.free, address, stream))
            return
        free = self._hip.hipFreeAsync
        self._device.here("free memory of a pool", free, address, native_of(stream))

    def trim(self) -> None:
        """Give back to the device what is free, after waiting for the work of the device."""
        device = self._device
        device.here(f"finish the work on {device.name}", self._hip.hipDeviceSynchronize)
        call("trim a memory pool", self._hip.hipMemPoolTrimTo, self._handle.native, 0)
