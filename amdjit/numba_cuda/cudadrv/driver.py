"""Numba's `cudadrv.driver`: its exceptions, functions about devices and events, and copies of bytes
between the host and the device."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from amdjit.numba_cuda.arrays import DeviceNDArray, is_cuda_array, numba_array
from amdjit.numba_cuda.cudadrv.error import *  # noqa: F403
from amdjit.numba_cuda.device_facts import CudaDevice as Device
from amdjit.numba_cuda.device_facts import MemoryInfo as MemoryInfo
from amdjit.numba_cuda.streams import Event as Event
from amdjit.numba_cuda.streams import Stream as Stream
from amdjit.numba_cuda.streams import event_elapsed_time as event_elapsed_time
from amdjit.numba_cuda.streams import stream_of
from amdjit.runtime.arrays import DeviceArray

__all__ = [
    "Device",
    "Event",
    "MemoryInfo",
    "Stream",
    "device_memory_size",
    "device_memset",
    "device_pointer",
    "device_to_device",
    "device_to_host",
    "event_elapsed_time",
    "host_memory_extents",
    "host_memory_size",
    "host_to_device",
    "is_device_memory",
    "require_device_memory",
]


def is_device_memory(obj: Any) -> bool:
    """Whether an object is an array on the device."""
    return is_cuda_array(obj)


def require_device_memory(obj: Any) -> None:
    """Raise TypeError for anything but an array on the device."""
    if not is_device_memory(obj):
        raise TypeError(f"{obj!r} is not an array on the device: cuda.to_device(array) makes one")


def device_pointer(obj: Any) -> int:
    """Return the address of an array on the device."""
    require_device_memory(obj)
    return int(obj.__cuda_array_interface__["data"][0])


def device_memory_size(devmem: Any) -> int:
    """Return the bytes of an array."""
    return int(devmem.nbytes)


def host_memory_size(obj: Any) -> int:
    """Return the bytes of an array or of another object with a buffer on the host."""
    start, end = host_memory_extents(obj)
    return end - start


def host_memory_extents(obj: Any) -> tuple[int, int]:
    """Return the first address of an object's buffer on the host, and one past the last."""
    if isinstance(obj, (ctypes.Structure, ctypes._SimpleCData, ctypes.Array)):
        start = ctypes.addressof(obj)
        return start, start + ctypes.sizeof(obj)
    array = np.asarray(obj)
    if not array.size:
        return array.ctypes.data, array.ctypes.data
    steps = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    start = array.ctypes.data + sum(step for step in steps if step < 0)
    return start, start + sum(map(abs, steps)) + array.itemsize


def device_memset(dst: Any, val: int, size: int, stream: Any = 0) -> None:
    """Set the first `size` bytes of an array on the device, or of mapped memory."""
    if isinstance(dst, DeviceArray):
        _bytes(dst, size).fill(val, stream_of(stream))
    else:
        _host_bytes(dst)[:size] = val


def host_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy `size` bytes of a host array to the device."""
    _bytes(dst, size).copy_to_device(_host_bytes(src)[:size], stream)


def device_to_host(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy `size` bytes of an array on the device, or of mapped memory, to a host array."""
    there = isinstance(src, DeviceArray)
    content = _bytes(src, size).copy_to_host(stream=stream) if there else _host_bytes(src)[:size]
    _host_bytes(dst)[:size] = content


def device_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy `size` bytes of an array on the device to another one."""
    _bytes(dst, size).copy_to_device(_bytes(src, size), stream)


def _bytes(array: Any, size: int) -> DeviceNDArray:
    """Return the first bytes of a contiguous array; ValueError if it has fewer."""
    whole = numba_array(array)
    if not (whole.is_c_contiguous() or whole.is_f_contiguous()) or whole.nbytes < size:
        raise ValueError(f"{size} bytes of {array!r}: its elements must be adjacent, and as many")
    byte = np.dtype(np.uint8)
    return DeviceNDArray(whole.device, whole.address, (size,), byte, (1,), whole._owner)


def _host_bytes(array: Any) -> Any:
    """Return a host array's memory as bytes."""
    return np.frombuffer(memoryview(array).cast("B"), np.uint8)
