"""Arrays in a device's memory."""

from __future__ import annotations

import functools
import logging
import math
import operator
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from amdjit.diagnostics.errors import AmdjitError
from amdjit.runtime import dlpack
from amdjit.runtime.device import Device
from amdjit.runtime.streams import Stream, handle_of
from amdjit.runtime.strides import (
    Shape,
    basic_view,
    byte_span,
    contiguous_strides,
    has_rows,
    is_c_contiguous,
)

_LOGGER = logging.getLogger("amdjit")


class Memory:
    """A device allocation, which is freed with the last array over it."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self.device = device
        self.nbytes = nbytes
        self.address = device.allocate(max(nbytes, 1))
        finalizer = weakref.finalize(self, _release, device, self.address)
        # The end of the process frees its device memory, and the driver may end before Python does.
        finalizer.atexit = False


def _release(device: Device, address: int) -> None:
    # Nobody can catch what a finalizer raises. Waiting for work that failed raises its error again.
    try:
        device.free(address)
    except AmdjitError as error:
        _LOGGER.warning("memory of %s could not be freed: %s", device.name, error)


class DeviceArray:
    """An n-dimensional array in a device's memory, shaped like a NumPy array.

    Indexing with integers, slices, None and ... returns views of the same memory; an integer for
    every axis returns a view without axes. `strides` are in bytes. `address` is the device address
    of the first element.
    """

    def __init__(
        self,
        device: Device,
        address: int,
        shape: Shape,
        dtype: np.dtype[Any],
        strides: Shape,
        owner: object,
    ) -> None:
        self.device = device
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self._owner = owner

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, without gaps between them."""
        return self.size * self.dtype.itemsize

    @functools.cached_property
    def byte_span(self) -> tuple[int, int]:
        """The bytes that the elements cover, as (low, high) from `address`; (0, 0) if there are
        none."""
        return byte_span(self.shape, self.strides, self.dtype.itemsize)

    @functools.cached_property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another in C order."""
        return is_c_contiguous(self.shape, self.strides, self.dtype.itemsize)

    @property
    def has_rows(self) -> bool:
        """Whether neighbours along the last axis are adjacent and no stride is negative."""
        return has_rows(self.shape, self.strides, self.dtype.itemsize)

    @property
    def T(self) -> DeviceArray:
        """A view with the axes reversed."""
        return self._view(0, self.shape[::-1], self.strides[::-1])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no axes has no length")
        return self.shape[0]

    def __getitem__(self, key: object) -> DeviceArray:
        view = basic_view(key, self.shape, self.strides)
        return self._view(view.offset, view.shape, view.strides)

    def reshape(self, *shape: int | Shape) -> DeviceArray:
        """Return a view of another shape with as many elements; one extent may be -1.

        The array must be C-contiguous."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if not self.is_contiguous:
            raise ValueError(
                "only a C-contiguous DeviceArray can be reshaped without a copy; this one is "
                "strided"
            )
        # NumPy's own rules for -1 and for sizes that do not fit, on an array that takes no memory.
        new_shape = np.broadcast_to(np.int8(0), self.shape).reshape(wanted).shape
        return self._view(0, new_shape, contiguous_strides(new_shape, self.itemsize))

    def copy_to_host(
        self, out: NDArray[Any] | None = None, stream: Stream | None = None
    ) -> NDArray[Any]:
        """Copy to a NumPy array, a new one or `out` of the same shape and type, and return it.

        First waits for the work of `stream`, None for the default stream.
        """
        refuse_masked(out, "out")
        if out is None:
            out = np.empty(self.shape, self.dtype)
        self._check_same(out, "out")
        if not out.flags.writeable:
            raise ValueError("out is read-only")
        if self.size == 0:
            return out
        handle = handle_of(stream, self.device)
        if self.is_contiguous and out.flags.c_contiguous:
            self.device.copy_to_host(bytes_of(out), self.address, handle)
            return out
        low, host = self._download_span(handle)
        out[...] = np.ndarray(self.shape, self.dtype, host, -low, self.strides)
        return out

    def copy_from_host(self, source: ArrayLike, stream: Stream | None = None) -> None:
        """Copy a host array of the same shape and type into this one.

        The memory that a strided view spans is read and written back: meanwhile nothing else may
        change the elements between.
        """
        refuse_masked(source, "the source")
        array = np.asarray(source, self.dtype if not isinstance(source, np.ndarray) else None)
        self._check_same(array, "the source")
        if self.size == 0:
            return
        handle = handle_of(stream, self.device)
        if self.is_contiguous:
            self.device.copy_to_device(self.address, bytes_of(np.ascontiguousarray(array)), handle)
            return
        low, host = self._download_span(handle)
        np.ndarray(self.shape, self.dtype, host, -low, self.strides)[...] = array
        self.device.copy_to_device(self.address + low, bytes_of(host), handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface, version 3, which ROCm builds of CuPy and PyTorch read too.

        AttributeError for memory that is not a GPU's, and for types that the interface cannot name.
        """
        if self.device.dlpack_device[0] == dlpack.CPU:
            raise AttributeError(
                f"the memory of {self.device.name} is the host's: use numpy.from_dlpack or "
                "copy_to_host()"
            )
        if self.dtype.kind == "V":
            raise AttributeError(
                f"the CUDA array interface has no name for {self.dtype}: use DLPack"
            )
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None if self.is_contiguous else self.strides,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.dlpack_device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Return a DLPack capsule over this memory.

        Waits for the device first, so that a consumer may read it on any stream."""
        if copy:
            raise BufferError(
                "a DeviceArray is exported without a copy; copy it on the consumer's side"
            )
        if dl_device is not None and tuple(dl_device) != self.device.dlpack_device:
            raise BufferError(
                f"the memory is on DLPack device {self.device.dlpack_device}, not on {dl_device}"
            )
        self.device.synchronize()
        self.device.share(self.address)
        return dlpack.export(
            dlpack.Tensor(
                self.address,
                self.device.dlpack_device,
                self.dtype,
                self.shape,
                self.strides,
                self._owner,
            )
        )

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(
                "a NumPy array of a DeviceArray is always a copy; numpy.from_dlpack may share "
                "memory"
            )
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device.name})"

    def _view(self, offset: int, shape: Shape, strides: Shape) -> DeviceArray:
        return DeviceArray(
            self.device, self.address + offset, shape, self.dtype, strides, self._owner
        )

    def _check_same(self, array: NDArray[Any], what: str) -> None:
        if array.dtype != self.dtype:
            raise TypeError(
                f"{what} has type {array.dtype}, the DeviceArray {self.dtype}: convert with "
                "astype first"
            )
        if array.shape != self.shape:
            raise ValueError(f"{what} has shape {array.shape}, the DeviceArray {self.shape}")

    def _download_span(self, handle: Any) -> tuple[int, NDArray[np.uint8]]:
        low, high = self.byte_span
        host = np.empty(high - low, np.uint8)
        self.device.copy_to_host(bytes_of(host), self.address + low, handle)
        return low, host


def bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the memory of a C-contiguous, non-empty array of any type as bytes."""
    # Through uint8, because ml_dtypes' types are unknown to the buffer protocol.
    return array.reshape(-1).view(np.uint8).data


def empty(device: Device, shape: int | Shape, dtype: DTypeLike = np.float32) -> DeviceArray:
    """Return a new C-contiguous array of arbitrary contents."""
    extents = _extents(shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"a shape has no negative extents: {extents}")
    kind = np.dtype(dtype)
    if kind.hasobject:
        raise TypeError(f"device memory cannot hold Python objects ({kind})")
    memory = Memory(device, math.prod(extents) * kind.itemsize)
    return DeviceArray(
        device, memory.address, extents, kind, contiguous_strides(extents, kind.itemsize), memory
    )


def _extents(shape: object) -> Shape:
    """Return a shape, which is an integer or a sequence of integers, as a tuple."""
    is_several = isinstance(shape, Sequence) or (isinstance(shape, np.ndarray) and shape.ndim > 0)
    try:
        return tuple(map(operator.index, shape)) if is_several else (operator.index(shape),)  # type: ignore[call-overload,arg-type]
    except TypeError:
        raise TypeError(f"a shape is an integer or a tuple of integers, not {shape!r}") from None


def refuse_masked(array: object, what: str) -> None:
    """Refuse a masked array: its mask would be lost."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            f"{what} is a masked array, and a device has no masks: fill it, "
            "`array.filled(value)`, or pass "
            "`array.data` and `array.mask`"
        )


def full(
    device: Device,
    shape: int | Shape,
    value: Any,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> DeviceArray:
    """Return a new array with `value` in every element; by default of NumPy's type for it."""
    array = empty(device, shape, np.asarray(value).dtype if dtype is None else dtype)
    array.copy_from_host(np.full(array.shape, value, array.dtype), stream)
    return array


def zeros(
    device: Device, shape: int | Shape, dtype: DTypeLike = np.float32, stream: Stream | None = None
) -> DeviceArray:
    """Return a new array of zeros."""
    return full(device, shape, 0, dtype, stream)


def to_device(device: Device, array: ArrayLike, stream: Stream | None = None) -> DeviceArray:
    """Return a C-contiguous copy of a host array, or a DeviceArray of the same device as it is."""
    if isinstance(array, DeviceArray):
        if array.device is device:
            return array
        array = array.copy_to_host()
    refuse_masked(array, "the source")
    host = np.asarray(array)
    result = empty(device, host.shape, host.dtype)
    result.copy_from_host(host, stream)
    return result


def from_dlpack(device: Device, tensor: Any, copy: bool | None = None) -> DeviceArray:
    """Return a DeviceArray over another library's tensor, or with its contents.

    Memory of the same GPU is shared. Host memory is copied to the device, also to the emulator,
    which runs only on its own allocations. BufferError if `copy=False` and a copy is needed, and
    for memory of another device.
    """
    refuse_masked(tensor, "the tensor")
    if isinstance(tensor, DeviceArray) and tensor.device is device and not copy:
        return tensor[...]
    place = tuple(tensor.__dlpack_device__())
    if place[0] == dlpack.CPU:
        if copy is False:
            raise BufferError(f"host memory must be copied to {device.name}: leave out copy=False")
        return to_device(device, np.from_dlpack(tensor))
    if place != device.dlpack_device:
        raise BufferError(
            f"the tensor is on DLPack device {place}, {device.name} is {device.dlpack_device}"
        )
    # -1: the producer need not wait for a stream of ours; this waits for the producer below.
    shared = dlpack.consume(tensor.__dlpack__(stream=-1))
    device.synchronize()
    strides = shared.strides or contiguous_strides(shared.shape, shared.dtype.itemsize)
    array = DeviceArray(device, shared.address, shared.shape, shared.dtype, strides, shared.owner)
    if not copy:
        return array
    duplicate = empty(device, array.shape, array.dtype)
    duplicate.copy_from_host(array.copy_to_host())
    return duplicate
