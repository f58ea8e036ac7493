"""The memory of an AMD GPU, and its pools: HIP's own, or free lists by size."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from functools import cached_property, partial
from typing import Any, Protocol

from amdjit.runtime.device import Layout, PoolSource
from amdjit.runtime.hip.calls import HipCalls, call, is_forked
from amdjit.runtime.hip.captures import ThreadCaptures, capture_of
from amdjit.runtime.hip.handles import Handle, native_of
from amdjit.runtime.hip_errors import HipError
from amdjit.runtime.pool import MemoryPool

_OUT_OF_MEMORY = 2
# Rows of fewer bytes are copied one by one by HIP, and by a kernel together.
_LONG_ROW = 64
# Longer patterns are copied from the host, which takes one call.
_LONG_PATTERN = 64


class HipMemory(HipCalls):
    """The memory of an AMD GPU: `amdjit.runtime.device.MemoryDevice`."""

    thread_captures: ThreadCaptures

    def allocate(self, nbytes: int) -> int:
        """Allocate device memory; HipError with the free memory if there is not enough."""
        try:
            return int(
                self.here(
                    f"allocate {nbytes} bytes on {self.name}", self.hip.hipMalloc, max(nbytes, 1)
                )
            )
        except HipError as error:
            if error.code == _OUT_OF_MEMORY:
                raise error.with_detail(self._free_memory()) from None
            raise

    def allocate_zeros(self, nbytes: int, stream: Any = None) -> int:
        """Allocate device memory and let the stream fill it with zeros."""
        address = self.allocate(nbytes)
        self.fill(address, bytes(1), nbytes, stream)
        return address

    def share(self, address: int) -> None:
        """Do nothing: this device does not track who writes to memory."""

    def free(self, address: int) -> None:
        """Free an allocation. HIP waits for the work of the device first.

        In a thread that captures, it is freed after the capture, which waiting would spoil."""
        if self.thread_captures.count:
            self.thread_captures.freed_later.append(partial(self.free, address))
            return
        if not is_forked():  # the memory is the other process's
            call("free memory", self.hip.hipFree, address)

    def memory_info(self) -> tuple[int, int]:
        free, total = self.here("ask for free memory", self.hip.hipMemGetInfo)
        return int(free), int(total)

    def gpu_of(self, address: int) -> int | None:
        """Return the index of the GPU whose memory has an address; None if no GPU's has."""
        ask = self.hip.hipPointerGetAttributes
        try:
            try:
                attributes = call("ask whose an address is", ask, address)
            except TypeError:  # up to hip-python 7 the caller brings the structure
                attributes = self.hip.hipPointerAttribute_t()
                call("ask whose an address is", ask, attributes, address)
        except HipError:
            return None
        return int(attributes.device)

    def copy_to_device(
        self, address: int, source: memoryview, stream: Any = None, wait: bool = True
    ) -> None:
        """Copy contiguous host bytes to the device, and wait for it if asked to."""
        kind = self.hip.hipMemcpyKind.hipMemcpyHostToDevice
        self._copy(address, source, nbytes=source.nbytes, kind=kind, stream=stream, wait=wait)

    def copy_to_host(
        self, destination: memoryview, address: int, stream: Any = None, wait: bool = True
    ) -> None:
        """Copy device bytes to contiguous host memory, and wait for it if asked to."""
        if destination.readonly:
            raise ValueError("the destination of a copy to the host is read-only")
        kind = self.hip.hipMemcpyKind.hipMemcpyDeviceToHost
        self._copy(
            destination, address, nbytes=destination.nbytes, kind=kind, stream=stream, wait=wait
        )
        if wait or stream is None:
            self.pending.tell_stream(stream)

    def copy_on_device(
        self, destination: int, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes between two places of this device that do not overlap."""
        if nbytes:
            kind = self.hip.hipMemcpyKind.hipMemcpyDeviceToDevice
            doing = f"copy {nbytes} bytes (DeviceToDevice) on {self.name}"
            native = native_of(stream)
            copy = self.hip.hipMemcpyAsync
            self.here(doing, copy, destination, source, nbytes, kind, native)
            self._note(stream, nbytes)

    def copy_from_device(
        self, destination: int, other: Any, source: int, nbytes: int, stream: Any = None
    ) -> None:
        """Copy bytes of another GPU's memory; HIP goes through the host if the GPUs are not
        peers."""
        doing = f"copy {nbytes} bytes from {other.name} to {self.name}"
        places = (destination, self.index, source, other.index)
        self.here(doing, self.hip.hipMemcpyPeerAsync, *places, nbytes, native_of(stream))

    def _note(self, stream: Any, nbytes: int) -> None:
        capture = capture_of(stream)
        if capture is not None:
            capture.note_bytes(stream, nbytes)

    def copy_rows(
        self,
        destination: Layout,
        source: Layout,
        shape: tuple[int, ...],
        nbytes: int,
        stream: Any = None,
    ) -> bool:
        """Copy rows along one axis, if they are long enough for HIP's copies to be quick."""
        if len(shape) != 1 or nbytes < _LONG_ROW:
            return False
        pitches = destination.strides[0], source.strides[0]
        if min(pitches) < nbytes:
            return False
        self.here(
            f"copy {shape[0]} rows of {nbytes} bytes on {self.name}",
            self.hip.hipMemcpy2DAsync,
            destination.address,
            pitches[0],
            source.address,
            pitches[1],
            nbytes,
            shape[0],
            self.hip.hipMemcpyKind.hipMemcpyDeviceToDevice,
            native_of(stream),
        )
        self._note(stream, shape[0] * nbytes)
        return True

    def fill(self, address: int, pattern: bytes, count: int, stream: Any = None) -> None:
        """Write a pattern `count` times: numbers at once, longer patterns by copies that double."""
        total = len(pattern) * count
        if not total:
            return
        unit = _shortest(pattern)
        if len(unit) in (1, 2, 4) and address % len(unit) == 0:
            self._set(address, unit, total // len(unit), stream)
            return
        self._write_once(address, unit, stream)
        written = len(unit)
        while written < total:
            part = min(written, total - written)
            self.copy_on_device(address + written, address, part, stream)
            written += part

    def _write_once(self, address: int, pattern: bytes, stream: Any) -> None:
        if len(pattern) > _LONG_PATTERN:
            self.copy_to_device(address, memoryview(pattern), stream)
            return
        size = 4 if address % 4 == 0 and len(pattern) % 4 == 0 else 1
        for at in range(0, len(pattern), size):
            self._set(address + at, pattern[at : at + size], 1, stream)

    def _set(self, address: int, unit: bytes, count: int, stream: Any) -> None:
        functions = {
            1: self.hip.hipMemsetD8Async,
            2: self.hip.hipMemsetD16Async,
            4: self.hip.hipMemsetD32Async,
        }
        value = int.from_bytes(unit, "little", signed=len(unit) == 4)
        doing = f"fill {count * len(unit)} bytes on {self.name}"
        self.here(doing, functions[len(unit)], address, value, count, native_of(stream))
        self._note(stream, count * len(unit))

    def _copy(
        self, destination: Any, source: Any, nbytes: int, kind: Any, stream: Any, wait: bool
    ) -> None:
        if nbytes == 0:
            return
        doing = f"copy {nbytes} bytes ({kind.name.removeprefix('hipMemcpy')}) on {self.name}"
        if stream is None:  # waits, and for the work of all streams but the non-blocking ones
            self.here(doing, self.hip.hipMemcpy, destination, source, nbytes, kind)
            return
        self.here(
            doing, self.hip.hipMemcpyAsync, destination, source, nbytes, kind, native_of(stream)
        )
        if wait:
            # HIP may still read or write pageable host memory when hipMemcpyAsync has returned.
            self.wait_for(stream)

    def _free_memory(self) -> str:
        free, total = self.memory_info()
        return f"{free} bytes are free of {total}."


def _shortest(pattern: bytes) -> bytes:
    """Return the shortest number whose repetition is the pattern, the pattern itself if none is."""
    for size in (1, 2, 4):
        unit = pattern[:size]
        if len(pattern) % size == 0 and unit * (len(pattern) // size) == pattern:
            return unit
    return pattern


# HIP's own memory pools, which allocate and free in the order of streams.


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


# Free lists of device memory by size, for devices without memory pools of their own.


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
