"""Arrays in a device's memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime import dlpack
from amdjit.runtime.device import Device
from amdjit.runtime.elements import (
    bytes_of,
    element_bytes,
    element_type,
    extents_of,
    refuse_masked,
)
from amdjit.runtime.host_memory import is_pinned
from amdjit.runtime.memory import Memory, PooledMemory, ZeroedMemory
from amdjit.runtime.place import keep_for_graph
from amdjit.runtime.pool import current_pool
from amdjit.runtime.streams import Stream, handle_of
from amdjit.runtime.strides import (
    Shape,
    basic_view,
    byte_span,
    contiguous_strides,
    has_rows,
    is_c_contiguous,
)

if TYPE_CHECKING:
    from typing_extensions import Self


# How other libraries name the copy to the host.
_COPIES = ("numpy", "cpu", "get", "to_numpy", "asnumpy", "host", "to_host")


def _hint(name: str) -> str:
    if name in _COPIES:
        return ": the copy on the host is `a.copy_to_host()`"
    if not name.startswith("_") and hasattr(np.ndarray, name):
        return f": copy to the host first, `a.copy_to_host().{name}`, or write a kernel"
    return ""


class DeviceArray:
    """An n-dimensional array in a device's memory, shaped like a NumPy array.

    Indexing with integers, slices, None and ... returns views of the same memory; an integer for
    every axis returns a view without axes. `strides` are in bytes. `address` is the device address
    of the first element; after the memory is freed, reading it raises LaunchError. `launch_key`
    caches what launches need to know about the array (`launching/array_facts.py`).
    """

    __slots__ = ("__weakref__", "_is_contiguous", "_owner", "_span", "address", "device", "dtype",
                 "launch_key", "shape", "strides")  # fmt: skip

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
        self._span: tuple[int, int] | None = None
        self._is_contiguous: bool | None = None
        self.launch_key: Any = None
        if isinstance(owner, Memory):
            owner.adopt(self)

    if not TYPE_CHECKING:  # which would treat every name as an attribute of the array

        def __getattr__(self, name: str) -> Any:
            # Python calls this for attributes that an array lacks, which includes the address of a
            # freed one.
            if name == "address":
                raise LaunchError(
                    f"the memory of this {self._described()} was freed, by free() or at the end "
                    "of a `with` block: free arrays after their last use"
                )
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            hint = _hint(name)
            # With the name and the array, Python suggests a similar name itself.
            raise AttributeError(message + hint, name=name, obj=self)

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

    @property
    def byte_span(self) -> tuple[int, int]:
        """The bytes that the elements cover, as (low, high) from `address`; (0, 0) if there are
        none."""
        if self._span is None:
            self._span = byte_span(self.shape, self.strides, self.dtype.itemsize)
        return self._span

    @property
    def allocation(self) -> tuple[int, int]:
        """The address and the bytes of the memory that the array lies in; of another library's
        memory, those of the array alone."""
        if isinstance(self._owner, Memory):
            return self._owner.address, self._owner.nbytes
        low, high = self.byte_span
        return self.address + low, high - low

    @property
    def has_end(self) -> bool:
        """Whether the elements are all in memory: those of an address alone may not be."""
        return getattr(self._owner, "has_end", True)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another in C order."""
        if self._is_contiguous is None:
            self._is_contiguous = is_c_contiguous(self.shape, self.strides, self.dtype.itemsize)
        return self._is_contiguous

    @property
    def is_in_fortran_order(self) -> bool:
        """Whether the elements lie one after another with the first index fastest, and not in C
        order."""
        strides = self.strides[::-1]
        return not self.is_contiguous and is_c_contiguous(self.shape[::-1], strides, self.itemsize)

    @property
    def has_rows(self) -> bool:
        """Whether neighbours along the last axis are adjacent and no stride is negative."""
        return has_rows(self.shape, self.strides, self.dtype.itemsize)

    @property
    def T(self) -> Self:
        """A view with the axes reversed."""
        return self._view(0, self.shape[::-1], self.strides[::-1])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no axes has no length")
        return self.shape[0]

    def __getitem__(self, key: object) -> Self:
        view = basic_view(key, self.shape, self.strides)
        return self._view(view.offset, view.shape, view.strides)

    def reshape(self, *shape: int | Shape) -> Self:
        """Return a view of another shape with as many elements; one extent may be -1.

        The array must be C-contiguous."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if not self.is_contiguous:
            raise ValueError(
                "only a C-contiguous DeviceArray can be reshaped without a copy; this one is "
                "strided"
            )
        # NumPy applies its own rules for -1 and for sizes that do not fit, to an array without
        # memory.
        new_shape = np.broadcast_to(np.int8(0), self.shape).reshape(wanted).shape
        return self._view(0, new_shape, contiguous_strides(new_shape, self.itemsize))

    def copy_to_host(
        self, out: NDArray[Any] | None = None, stream: Stream | None = None
    ) -> NDArray[Any]:
        """Copy to a NumPy array, a new one or `out` of the same shape and type, and return it.

        First waits for the work of `stream`, None for the default stream. With a stream and an
        `out` of pinned memory (`amdjit.pinned_empty`), both contiguous, it returns at once: `out`
        has the data when the stream has done its work.
        """
        refuse_masked(out, "out")
        if self.is_in_fortran_order and (out is None or out.flags.f_contiguous):
            across = self.T.copy_to_host(None if out is None else out.T, stream)
            return across.T if out is None else out
        if out is None:
            out = np.empty(self.shape, self.dtype)
        self._check_same(out, "out")
        if not out.flags.writeable:
            raise ValueError("out is read-only")
        if self.size == 0:
            return out
        handle = handle_of(stream, self.device)
        if self.is_contiguous and out.flags.c_contiguous:
            wait = handle is None or not is_pinned(self.device, out)
            keep_for_graph(handle, self, out)
            self.device.copy_to_host(bytes_of(out), self.address, handle, wait)
            return out
        low, host = self._download_span(handle)
        out[...] = np.ndarray(self.shape, self.dtype, host, -low, self.strides)
        return out

    def copy_from_host(self, source: ArrayLike, stream: Stream | None = None) -> None:
        """Copy a host array of the same shape and type into this one.

        Returns when the source may change. With a stream and a source in pinned memory
        (`amdjit.pinned_empty`), both contiguous, it returns at once, and the source must stay as it
        is until the stream has done its work.

        The memory that a strided view spans is read and written back: meanwhile nothing else may
        change the elements between.
        """
        refuse_masked(source, "the source")
        self._check_writable()
        array = np.asarray(source, self.dtype if not isinstance(source, np.ndarray) else None)
        self._check_same(array, "the source")
        if self.size == 0:
            return
        if self.is_in_fortran_order:
            self.T.copy_from_host(array.T, stream)
            return
        handle = handle_of(stream, self.device)
        if self.is_contiguous:
            whole = np.ascontiguousarray(array)
            wait = handle is None or not is_pinned(self.device, whole)
            keep_for_graph(handle, self, whole)
            self.device.copy_to_device(self.address, bytes_of(whole), handle, wait)
            return
        low, host = self._download_span(handle)
        np.ndarray(self.shape, self.dtype, host, -low, self.strides)[...] = array
        self.device.copy_to_device(self.address + low, bytes_of(host), handle)

    @property
    def is_read_only(self) -> bool:
        """Whether the library that the memory comes from forbids to write to it."""
        return getattr(self._owner, "is_read_only", False)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface, version 3, which ROCm builds of CuPy and PyTorch read too.

        It tells consumers to wait for the default stream. AttributeError for memory that is not a
        GPU's, and for types that the interface cannot name.
        """
        return cuda_array_interface(self)

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
        """Return a DLPack capsule over this memory, or over a copy.

        stream: the consumer's, whose later work comes after that of the current stream and of the
        default stream; 0 and None are the default stream, -1 leaves out the wait. Work of other
        streams with non_blocking=True must be waited for before. max_version: from (1, 0) on the
        capsule is a versioned one.
        dl_device: where the consumer wants the memory; for the host, (1, 0), it is copied.
        BufferError where that cannot be done, or not without a copy and copy=False.
        """
        return capsule(self, DlpackRequest(stream, max_version, dl_device, copy))

    def lender(self) -> object:
        """Return an object that keeps this memory alive while another library uses it."""
        owner = self._owner
        return owner.lease() if isinstance(owner, Memory) else owner

    def copy(self, stream: Stream | None = None) -> DeviceArray:
        """Return a C-contiguous copy on the same device."""
        duplicate = empty(self.device, self.shape, self.dtype)
        duplicate.copy_from_host(self.copy_to_host(stream=stream), stream)
        return duplicate

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(
                "`copy=False` is not possible: a NumPy array of a DeviceArray is always a copy; "
                "numpy.from_dlpack may share memory"
            )
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return self._described()

    def _described(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device.name})"

    def _view(self, offset: int, shape: Shape, strides: Shape) -> Self:
        return type(self)(
            self.device, self.address + offset, shape, self.dtype, strides, self._owner
        )

    def _check_writable(self) -> None:
        if self.is_read_only:
            raise ValueError("this array is read-only: its memory is another library's")

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


def empty(device: Device, shape: int | Shape, dtype: DTypeLike = np.float32) -> DeviceArray:
    """Return a new C-contiguous array of arbitrary contents."""
    extents, kind = extents_of(shape), element_type(dtype)
    nbytes = math.prod(extents) * kind.itemsize
    pool = current_pool(device)
    memory = Memory(device, nbytes) if pool is None else PooledMemory(device, pool, nbytes)
    return _over(memory, extents, kind)


def zeros(
    device: Device, shape: int | Shape, dtype: DTypeLike = np.float32, stream: Stream | None = None
) -> DeviceArray:
    """Return a new array of zeros, which the device writes in the order of the stream."""
    handle = handle_of(stream, device)
    if current_pool(device) is not None:
        return full(device, shape, 0, dtype, stream)
    extents, kind = extents_of(shape), element_type(dtype)
    return _over(ZeroedMemory(device, math.prod(extents) * kind.itemsize, handle), extents, kind)


def full(
    device: Device,
    shape: int | Shape,
    value: Any,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> DeviceArray:
    """Return a new array with `value` in every element; by default of NumPy's type for it.

    A value of several elements is broadcast."""
    handle = handle_of(stream, device)
    kind = element_type(np.asarray(value).dtype if dtype is None else dtype)
    if kind.names is None and np.ndim(value):
        host = np.full(extents_of(shape), value, kind)
        return to_device(device, host, stream)
    pattern = element_bytes(value, kind)
    array = empty(device, shape, kind)
    device.fill(array.address, pattern, array.size, handle)
    return array


def _over(memory: Memory, shape: Shape, dtype: np.dtype[Any]) -> DeviceArray:
    strides = contiguous_strides(shape, dtype.itemsize)
    return DeviceArray(
        memory.device, memory.address, shape=shape, dtype=dtype, strides=strides, owner=memory
    )


def to_device(device: Device, array: ArrayLike, stream: Stream | None = None) -> DeviceArray:
    """Return a copy of a host array, or a DeviceArray of the same device as it is.

    The copy is C-contiguous, and in Fortran order if the array is.
    """
    if isinstance(array, DeviceArray):
        if array.device is device:
            return array
        array = array.copy_to_host()
    refuse_masked(array, "the source")
    host = np.asarray(array)
    if host.flags.fnc:
        return to_device(device, host.T, stream).T
    result = empty(device, host.shape, host.dtype)
    result.copy_from_host(host, stream)
    return result


# What a DeviceArray shows to other libraries: DLPack and the CUDA array interface.

# The array API standard, `__dlpack__`: on ROCm 0 is the default stream; 1 and 2, CUDA's numbers for
# its legacy and its per-thread default stream, mean nothing.
_NO_WAIT, _CUDA_ONLY = -1, (1, 2)
# The CUDA array interface, "Synchronization": 0 would be ambiguous, 1 is the legacy default stream.
_LEGACY_STREAM = 1


class DlpackRequest(NamedTuple):
    """What a consumer asks of `__dlpack__`."""

    stream: int | None
    max_version: tuple[int, int] | None
    dl_device: tuple[int, int] | None
    copy: bool | None


def cuda_array_interface(array: DeviceArray) -> dict[str, Any]:
    """Return the CUDA array interface, version 3. AttributeError where an array has none."""
    if array.device.dlpack_device[0] != dlpack.ROCM:
        raise AttributeError(
            f"the memory of {array.device.name} is the host's: use numpy.from_dlpack or "
            "copy_to_host()"
        )
    # 2: a type of ml_dtypes, of which NumPy gives some a name that others would misread.
    if array.dtype.kind == "V" or array.dtype.isbuiltin == 2:
        raise AttributeError(f"the CUDA array interface has no name for {array.dtype}: use DLPack")
    array.device.share(array.address)
    return {
        "shape": array.shape,
        "typestr": array.dtype.str,
        "data": (array.address if array.size else 0, array.is_read_only),
        "strides": None if array.is_contiguous else array.strides,
        "stream": _LEGACY_STREAM,
        "version": 3,
    }


def capsule(array: DeviceArray, request: DlpackRequest) -> object:
    """Return a DLPack capsule over the memory of an array, or over a copy.

    BufferError where that cannot be done, or not without a copy that the consumer forbids.
    """
    here = array.device.dlpack_device
    wanted = here
    if request.dl_device is not None:
        wanted = int(request.dl_device[0]), int(request.dl_device[1])
    if wanted == here and not request.copy:
        _let_wait(array.device, request.stream)
        array.device.share(array.address)
        return dlpack.export(_described(array, is_copy=False), request.max_version)
    if request.copy is False:
        raise BufferError(
            f"the memory is on DLPack device {here}, not on {wanted}: leave out copy=False"
        )
    if wanted == (dlpack.CPU, 0):
        host = array.copy_to_host()
        copied = dlpack.Tensor(
            dlpack.address_of(host),
            wanted,
            dtype=host.dtype,
            shape=host.shape,
            strides=host.strides,
            owner=host,
            read_only=False,
            is_copy=True,
        )
        return dlpack.export(copied, request.max_version)
    if wanted != here:
        raise BufferError(
            f"the memory is on DLPack device {here}; amdjit copies it to the host, (1, 0), not to "
            f"{wanted}"
        )
    duplicate = array.copy()
    _let_wait(array.device, request.stream)
    return dlpack.export(_described(duplicate, is_copy=True), request.max_version)


def _described(array: DeviceArray, is_copy: bool) -> dlpack.Tensor:
    return dlpack.Tensor(
        array.address if array.size else 0,
        array.device.dlpack_device,
        dtype=array.dtype,
        shape=array.shape,
        strides=array.strides,
        owner=array.lender(),
        read_only=array.is_read_only and not is_copy,
        is_copy=is_copy,
    )


def _let_wait(device: Device, stream: int | None) -> None:
    """Make later work of a consumer's stream wait for the current stream, the default stream, and
    the streams that the default stream waits for."""
    if stream is not None and (not isinstance(stream, int) or isinstance(stream, bool)):
        raise TypeError(f"a DLPack stream is an integer or None, not {stream!r}")
    if stream == _NO_WAIT:
        return
    if device.dlpack_device[0] != dlpack.ROCM:
        if stream is not None:
            raise BufferError(f"{device.name} has no streams of others: give stream=None")
        return
    if stream in _CUDA_ONLY or (stream or 0) < 0:
        raise BufferError(
            f"stream={stream} means nothing on ROCm: give 0 or None for the default stream, -1 for "
            "no wait, or the handle of a stream"
        )
    later = device.external_stream(stream or 0)
    # Not a set: handles need not be hashable. The default stream is None.
    for earlier in (None, handle_of(None, device)):
        if earlier is not later:
            event = device.create_event(timing=False)
            device.record_event(event, earlier)
            device.wait_event(later, event)
