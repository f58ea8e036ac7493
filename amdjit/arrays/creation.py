"""New arrays on a device, and host memory for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from amdjit.arrays.copying import copied_to
from amdjit.arrays.device_array import DeviceArray, over
from amdjit.devices import current_device, find_device
from amdjit.launching.foreign_arguments import borrowed
from amdjit.runtime import arrays, foreign_arrays, pool
from amdjit.runtime.device import Device, HostKind
from amdjit.runtime.elements import element_type, extents_of, refuse_masked
from amdjit.runtime.host_memory import host_array
from amdjit.runtime.streams import Stream, handle_of
from amdjit.runtime.strides import Shape

Where = str | Device | None


def _place(device: Where, stream: Stream | None) -> Device:
    """Return the device of a new array: the given one, the stream's, the current one."""
    if device is not None:
        return find_device(device)
    return stream.device if isinstance(stream, Stream) else current_device()


def empty(
    shape: int | Shape, dtype: DTypeLike = np.float32, *, device: Where = None
) -> DeviceArray:
    """Return a new array of arbitrary contents.

    dtype: float32 unless given. device: a device or its name, by default the current one."""
    return over(arrays.empty(_place(device, None), shape, dtype))


def zeros(
    shape: int | Shape,
    dtype: DTypeLike = np.float32,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return a new array of zeros, which the device writes in the order of the stream.

    dtype: float32 unless given. device: a device or its name, by default the stream's, else the
    current one."""
    return over(arrays.zeros(_place(device, stream), shape, dtype, stream))


def ones(
    shape: int | Shape,
    dtype: DTypeLike = np.float32,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return a new array of ones, which the device writes in the order of the stream.

    dtype: float32 unless given. device: a device or its name, by default the stream's, else the
    current one."""
    return full(shape, 1, dtype, stream, device=device)


def full(
    shape: int | Shape,
    value: Any,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return a new array with `value` in every element, which the device writes.

    dtype: the type that NumPy gives the value, unless given: `full(3, 2.5)` is of float64. A value
    of several elements is broadcast."""
    return over(arrays.full(_place(device, stream), shape, value, dtype, stream))


def empty_like(
    array: Any, dtype: DTypeLike | None = None, shape: int | Shape | None = None, *,
    device: Where = None,
) -> DeviceArray:  # fmt: skip
    """Return a new array of arbitrary contents with the shape and type of another.

    array: a host or device array. It is on a device array's device, unless `device` is given."""
    if foreign_arrays.is_foreign(array):
        like = foreign_arrays.described(array, current_device())
    else:
        like = array if isinstance(array, arrays.DeviceArray) else np.asarray(array)
    if device is None and isinstance(like, arrays.DeviceArray):
        device = like.device
    return empty(
        like.shape if shape is None else shape,
        like.dtype if dtype is None else dtype,
        device=device,
    )


def full_like(
    array: Any,
    value: Any,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return a new array with the shape and type of another, and `value` in every element."""
    made = empty_like(array, dtype, device=device)
    made.assign(value, stream)
    return made


def zeros_like(
    array: Any,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return a new array of zeros with the shape and type of another."""
    return full_like(array, 0, dtype, stream, device=device)


def ones_like(
    array: Any,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return a new array of ones with the shape and type of another."""
    return full_like(array, 1, dtype, stream, device=device)


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return a new array of evenly spaced numbers, with the values and the type of `numpy.arange`.

    NumPy computes them on the host."""
    bounds = (start,) if stop is None else (start, stop)
    steps = {} if step is None else {"step": step}
    return to_device(np.arange(*bounds, **steps, dtype=dtype), stream, device=device)


def to_device(
    array: ArrayLike, stream: Stream | None = None, *, device: Where = None
) -> DeviceArray:
    """Return a copy of a host array, or of another device's array.

    The copy of a host array is C-contiguous, and in Fortran order if the array is. A DeviceArray of
    that device is returned as it is. From pinned memory the copy in a stream does
    not wait: the source must stay as it is until the stream has done its work."""
    place = _place(device, stream)
    if isinstance(array, arrays.DeviceArray) and array.device is not place:
        return over(copied_to(place, array, stream))
    if foreign_arrays.is_foreign(array):
        return _copied(array, place, stream)
    return over(arrays.to_device(place, array, stream))


def _copied(array: Any, device: Device, stream: Stream | None) -> DeviceArray:
    try:
        with borrowed(array, device, stream) as source:
            is_shared = isinstance(source.lender(), foreign_arrays.Borrowed)
            return over(source).copy(stream) if is_shared else over(source)
    except BufferError as error:
        raise BufferError(f"the source {error}") from None


def asarray(
    array: Any,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    *,
    device: Where = None,
) -> DeviceArray:
    """Return an array as a DeviceArray of a type; one that is already is returned as it is.

    array: a DeviceArray, a host array or anything that NumPy can convert to one, or another
    library's tensor on the same device, whose memory is shared."""
    place = _place(device, stream)
    if isinstance(array, arrays.DeviceArray):
        made = to_device(array, stream, device=place)
        return made if dtype is None else made.astype(dtype, copy=False, stream=stream)
    refuse_masked(array, "the source")
    if foreign_arrays.is_foreign(array):
        handle = handle_of(stream, place)
        made = over(foreign_arrays.from_dlpack(place, array, handle=handle))
        return made if dtype is None else made.astype(dtype, copy=False, stream=stream)
    return to_device(np.asarray(array, dtype), stream, device=place)


def from_dlpack(tensor: Any, copy: bool | None = None) -> DeviceArray:
    """Return a DeviceArray over another library's tensor on the current GPU.

    A tensor in host memory is copied.
    """
    device = current_device()
    return over(foreign_arrays.from_dlpack(device, tensor, copy, handle_of(None, device)))


def pinned_empty(
    shape: int | Shape,
    dtype: DTypeLike = np.float32,
    mapped: bool = False,
    *,
    device: Where = None,
) -> NDArray[Any]:
    """Return a NumPy array of arbitrary contents in pinned host memory.

    Copies in a stream from and to it do not wait. mapped: kernels take it as an argument and use it
    in place, over the bus; the host sees what they wrote when their work is done. The memory is
    freed with the last NumPy array over it. BackendError when out of memory."""
    kind = HostKind.MAPPED if mapped else HostKind.PINNED
    return host_array(_place(device, None), extents_of(shape), element_type(dtype), kind)


def managed_empty(
    shape: int | Shape, dtype: DTypeLike = np.float32, *, device: Where = None
) -> NDArray[Any]:
    """Return a NumPy array of arbitrary contents in managed memory.

    Kernels take it as an argument and use it in place: its pages move to where they are used. The
    host may use it when the work of the device is done. The memory is freed with the last NumPy
    array over it. BackendError when out of memory, and for a GPU without managed memory."""
    place = _place(device, None)
    return host_array(place, extents_of(shape), element_type(dtype), HostKind.MANAGED)


class MemoryPool(pool.MemoryPool):
    """Device memory that is reused without calling the driver, in stream order.

    limit: bytes that may be in use at once, None for no limit. device: a device or its name, by
    default the current one. `used`, `peak` and `reserved` count bytes: those in use, the most that
    were, and those that the pool holds. `trim()` returns unused memory to the device.

    Inside `with pool:`, new arrays on its device take their memory from it. The memory of a dropped
    array is reused after all work of the device, except that of non-blocking streams: wait for
    those first. On the emulator, memory returns to the device at once.
    """

    def __init__(self, limit: int | None = None, *, device: Where = None) -> None:
        super().__init__(_place(device, None), limit)
